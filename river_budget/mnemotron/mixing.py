"""The mixture of the experts: a hedge with forgetting, two mixers, and a hedge over these three."""

from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._state import State, floats, require
from river_budget.mnemotron._mixing_compiled import HEDGE, LOG_WEIGHTS, softmax


class Mixture:
    """The weights of the experts: the rows of `_mixing_compiled` (4, experts).

    `top` are the weights of the three in the forecast and their logarithms (2, 3), and `counts` are
    1 more than the number of examples of each label.
    """

    __slots__ = ("counts", "top", "weights")

    def __init__(self, n_experts: int) -> None:
        self.weights: Floats = np.full((4, n_experts), 1.0 / n_experts)
        self.top: Floats = np.full((2, 3), 1.0 / 3.0)
        self.weights[LOG_WEIGHTS] = self.top[LOG_WEIGHTS] = 0.0
        self.counts: Floats = np.ones(2)

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        n_before = len(self.counts)
        self.counts = padded(self.counts, n_labels)
        self.counts[n_before:] = 1.0

    def state(self) -> State:
        """Return all weights and counts, without the weights that follow from their logarithms."""
        return {
            "weights": np.delete(self.weights, HEDGE, axis=0), "top": self.top[LOG_WEIGHTS].copy(),
            "counts": self.counts.copy(),
        }  # fmt: skip

    def restore(self, state: State) -> None:
        given = floats(state["weights"], (3, self.weights.shape[1]))
        self.weights = np.insert(given, HEDGE, 0.0, axis=0)
        self.top[LOG_WEIGHTS] = floats(state["top"], (3,))
        self.counts = floats(state["counts"], self.counts.shape)
        require((self.counts >= 1).all(), "the numbers of examples of the labels are wrong")
        for weights in (self.weights, self.top):
            softmax(weights, LOG_WEIGHTS, weights, HEDGE)
