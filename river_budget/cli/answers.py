"""Runs that answer with one model, and what they look at before the first answer."""

from __future__ import annotations

import dataclasses
from typing import Any

from river_budget.cli import options, schema
from river_budget.cli.app import notes
from river_budget.cli.files import Reader
from river_budget.cli.runs import Run


@dataclasses.dataclass
class Answering(Run):
    """Answers with one model, which may know the columns of earlier input."""

    strict: options.Strict = False

    def check_names(self, record: dict[str, Any], reader: Reader) -> None:
        """Warn if an input has other columns than the model knows. Raises ValueError if that is asked."""
        text = schema.difference(record.get("feature_names", []), reader)
        if text and self.strict:
            raise ValueError(text)
        if text:
            notes.warning(text)
