"""Changes of a hypothesis whose vectors have any coefficients, not one label and one rival each."""

from __future__ import annotations

from river_budget._arrays import Floats
from river_budget.support import Expansion, Target

__all__ = ["add_rows"]


def add_rows(hypothesis: Expansion, change: Floats) -> None:
    """Add a change to the coefficients of all labels (n, labels), by slots. Each row sums to 0."""
    # It is a sum of differences to the first label.
    for label in range(1, change.shape[1]):
        hypothesis.shift(Target(label, 0, 0.0), change[:, label])
