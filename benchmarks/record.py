"""Figures that are kept in a file while a benchmark runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

# A named tuple of figures.
F = TypeVar("F", bound=tuple)


def parsed(found: dict, figures: Callable[..., F]) -> dict[str, dict[str, F]]:
    """Return what a file has as figures by stream and model."""
    return {
        stream: {model: figures(**saved) for model, saved in row.items()}
        for stream, row in found["results"].items()
    }


class Record(Generic[F]):
    """The figures so far, in a JSON file if there is a path.

    Parameters
    ----------
    path
        The file, which may exist.
    settings
        What the figures depend on; a file of other settings is not continued.
    figures
        The class of the figures of a model on a stream.

    """

    def __init__(self, path: Path | None, settings: dict[str, Any], figures: Callable[..., F]):
        self.path, self.settings = path, settings
        self.results: dict[str, dict[str, F]] = {}
        if path is not None and path.exists():
            found = json.loads(path.read_text())
            if found["settings"] != settings:
                raise SystemExit(f"{path} has the settings {found['settings']}, not {settings}")
            self.results = parsed(found, figures)

    def add(self, stream: str, model: str, figures: F) -> None:
        self.results.setdefault(stream, {})[model] = figures
        if self.path is not None:
            results = {
                stream: {model: figures._asdict() for model, figures in row.items()}
                for stream, row in self.results.items()
            }
            draft = self.path.with_suffix(".draft")
            draft.write_text(json.dumps({"settings": self.settings, "results": results}, indent=1))
            draft.replace(self.path)
