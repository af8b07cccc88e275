"""The losses of gradient descent."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["check_loss", "slope_of"]

# Beyond this margin, the logistic loss counts as 0: its slope is below 1e-43.
LARGEST_MARGIN = 100.0


def _hinge(margin: float) -> float:
    return float(margin < 1)


def _logistic(margin: float) -> float:
    if margin > LARGEST_MARGIN:
        return 0.0
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1 + odds)


SLOPES: dict[str, Callable[[float], float]] = {"hinge": _hinge, "logistic": _logistic}


def check_loss(loss: str) -> None:
    """Raise ValueError unless a loss is known."""
    if loss not in SLOPES:
        raise ValueError(f"loss must be one of {list(SLOPES)}, got {loss!r}")


def slope_of(loss: str, margin: float) -> float:
    """Return the size of the derivative of a loss at a margin, from 0 to 1."""
    return SLOPES[loss](margin)
