"""The mixture of the experts: a hedge with forgetting, two mixers, and a hedge over these three."""

from __future__ import annotations

from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._state import State, floats, require

__all__ = ["LAYERS", "Mixture"]

# The mixtures under the top hedge.
LAYERS = ("hedge", "slow mixer", "fast mixer")


class Mixture:
    """The weights of the experts.

    Attributes
    ----------
    weights
        The log weights of the hedge, and the weights of the slow and of the fast mixer (3,
        experts).
    top
        The log weights of the three in the forecast (3,).
    counts
        1 more than the number of examples of each label (labels,).

    """

    __slots__ = ("counts", "top", "weights")

    def __init__(self, n_experts: int) -> None:
        self.weights: Floats = np.zeros((3, n_experts))
        self.weights[1:] = 1.0 / n_experts
        self.top: Floats = np.zeros(3)
        self.counts: Floats = np.ones(2)

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        n_before = len(self.counts)
        self.counts = padded(self.counts, n_labels)
        self.counts[n_before:] = 1.0

    @property
    def hedge(self) -> Floats:
        """The weights of the experts in the hedge, with a sum of 1 (experts,)."""
        return _normalized(self.weights[0])

    @property
    def layers(self) -> Floats:
        """The weights of the three mixtures in the forecast, with a sum of 1 (3,)."""
        return _normalized(self.top)

    @property
    def arrays(self) -> list[Floats]:
        """All arrays."""
        return [self.weights, self.top, self.counts]

    def state(self) -> State:
        """Return all weights and counts."""
        return {
            "weights": self.weights.copy(), "top": self.top.copy(), "counts": self.counts.copy()
        }  # fmt: skip

    def restore(self, state: State) -> None:
        """Restore weights and counts from their state."""
        self.weights = floats(state["weights"], self.weights.shape)
        self.top = floats(state["top"], (3,))
        self.counts = floats(state["counts"], self.counts.shape)
        require((self.counts >= 1).all(), "the numbers of examples of the labels are wrong")


def _normalized(log_weights: Floats) -> Any:
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()
