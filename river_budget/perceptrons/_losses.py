"""The losses of gradient descent."""

from __future__ import annotations

import math

LOSSES = ["hinge", "logistic"]

# Beyond this margin, the logistic loss counts as 0: its slope is below 1e-43.
LARGEST_MARGIN = 100.0


def check_loss(loss: str) -> None:
    """Raise ValueError unless a loss is known."""
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {LOSSES}, got {loss!r}")


def slope_of(loss: str, margin: float) -> float:
    """Return the size of the derivative of a loss at a margin, from 0 to 1."""
    if loss == "hinge":
        return float(margin < 1)
    if margin > LARGEST_MARGIN:
        return 0.0
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1 + odds)
