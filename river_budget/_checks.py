"""Warnings, and parameter checks. A check raises a ValueError that names the parameter and its range."""

from __future__ import annotations

import inspect
import math
import numbers
import warnings
from collections.abc import Sequence
from typing import Any

# With larger weights, products of coefficients and kernel values could overflow.
LARGEST_WEIGHT = 1e12
# A smaller weight is 0: its products with step sizes could underflow.
SMALLEST_WEIGHT = 1e-100

DTYPES = ("float32", "float64")


def warn(message: str) -> None:
    """Warn of the line that called the package. Native code has no frames."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").startswith("river_budget."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def check_real(name: str, value: Any) -> None:
    if not _is_real(value) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    if not _is_real(value) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")


def check_not_negative(name: str, value: Any) -> None:
    if not _is_real(value) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")


def check_weight(name: str, value: Any, least: float = 0) -> None:
    if not _is_real(value) or not least <= value <= LARGEST_WEIGHT:
        raise ValueError(
            f"{name} must be a number from {least:g} to {LARGEST_WEIGHT:g}, got {value!r}"
        )


def weight_of(w: Any) -> float:
    """Return the weight of an example as a float. Raises ValueError if it is invalid."""
    check_weight("w", w)
    return float(w) if w >= SMALLEST_WEIGHT else 0.0


def check_probability(name: str, value: Any) -> None:
    if not _is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")


def check_count(name: str, value: Any, most: int | None = None) -> None:
    """Raise ValueError unless the parameter is a whole number from 1 to `most`, if there is one."""
    is_whole = _is_real(value) and isinstance(value, numbers.Integral)
    if not is_whole or not 1 <= int(value) <= (math.inf if most is None else most):
        allowed = "of at least 1" if most is None else f"from 1 to {most:,}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}")


def check_indices(name: str, indices: Sequence[int], n: int, what: str) -> None:
    """Raise ValueError unless there are indices, and each is that of one of n things."""
    if not indices:
        raise ValueError(f"{name} must have at least one {what}, got none")
    for i in indices:
        if i not in range(n):
            error = f"{name} contains {i!r}, which is not a {what} index (number of {what}s: {n})"
            raise ValueError(error)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}")


def check_dtype(dtype: Any) -> None:
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype must be one of the strings {DTYPES}, got {dtype!r}")


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
