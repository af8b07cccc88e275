"""Fields of streams: each declares a parameter, with its default, its description and its check."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from river_budget import _checks

Check = Callable[[str, Any], None]


def parameter(doc: str, check: Check | None = None, default: Any = dataclasses.MISSING) -> Any:
    """Return the field of a parameter, with its description and its check."""
    return dataclasses.field(default=default, metadata={"doc": doc, "check": check})


def _checked(check: Check) -> Callable[[Any, str], Any]:
    return lambda default, doc: parameter(doc, check, default)


count = _checked(_checks.check_count)
real = _checked(_checks.check_real)
positive = _checked(_checks.check_positive)
not_negative = _checked(_checks.check_not_negative)
probability = _checked(_checks.check_probability)


def length(default: int | None = None) -> Any:
    """Return the field of the number of examples. Without a default, a stream is endless."""
    end = "." if default else "; endless by default."
    return parameter(f"Number of examples{end}", _checks.check_count, default)


def seed() -> Any:
    """Return the field of a seed."""
    return parameter("Random number generator seed for reproducibility.", default=None)
