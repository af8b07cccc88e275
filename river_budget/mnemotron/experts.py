"""All that Mnemotron has learned beside its support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints, padded
from river_budget._state import State, floats, integers, require
from river_budget.mnemotron._mixing_compiled import HEDGE, LOG_WEIGHTS, softmax
from river_budget.mnemotron._repeats_compiled import N_BINS
from river_budget.mnemotron.posteriors import Posteriors


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


class Repeats:
    """Counts of the next label, given the last one and the length of its run, which are in `recent`.

    For each label, they are the number of times that a run of it ended at each length, that it went
    on, and that each other label followed (labels, 2 bins + labels); (0, 0) if nothing is counted.
    """

    __slots__ = ("counts", "recent")

    def __init__(self, is_used: bool) -> None:
        self.counts: Floats = np.zeros((2, 2 * N_BINS + 2) if is_used else (0, 0))
        self.recent: Ints = np.array([-1, 0], np.int64)

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        if len(self.counts):
            columns = padded(self.counts.T, 2 * N_BINS + n_labels)
            self.counts = padded(columns.T, n_labels)

    def state(self) -> State:
        return {"counts": self.counts.copy(), "recent": self.recent.copy()}

    def restore(self, state: State) -> None:
        self.counts = floats(state["counts"], self.counts.shape)
        self.recent = integers(state["recent"], (2,))
        require((self.counts >= 0).all(), "a count of labels is negative")
        last, length = self.recent.tolist()
        require(-1 <= last < max(1, len(self.counts)) and length >= 0, "the last label is unknown")


class Experts:
    """The posteriors of the experts, their mixture, and the expert of repeated labels, if used."""

    __slots__ = ("mixture", "posteriors", "repeats")

    def __init__(
        self, pairs: Sequence[Sequence[tuple[float, float]]], budget: int, repeats: bool
    ) -> None:
        experts = [(z, *pair) for z, own in enumerate(pairs) for pair in own]
        self.posteriors = Posteriors(experts, len(pairs), budget)
        self.mixture = Mixture(len(experts) + repeats)
        self.repeats = Repeats(repeats)

    @property
    def n_labels(self) -> int:
        return len(self.mixture.counts)

    @property
    def hedge(self) -> Floats:
        """The weights of the posteriors in the hedge, with a sum of 1 (experts,)."""
        weights = self.mixture.weights[HEDGE, : len(self.posteriors.experts)]
        return weights / weights.sum()

    def mean(self, n: int, kernel: int | None = None) -> Floats:
        """Return the mean coefficients of the hedge, of all kernels or of one (columns, n)."""
        weights = self.hedge
        if kernel is not None:
            weights = np.where(self.posteriors.kernel_of == kernel, weights, 0.0)
        return self.posteriors.mean(weights, n)

    def new_outputs(self) -> Floats:
        """Return an array for the outputs of `_update.forecast`."""
        n_posteriors, n_experts = len(self.posteriors.experts), self.mixture.weights.shape[1]
        return np.empty((n_posteriors + 2 * n_experts + 4, self.n_labels))

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the compiled forecast."""
        own, mixture, repeats = self.posteriors, self.mixture, self.repeats
        means = own.experts, own.scales, own.means
        return *means, mixture.weights, mixture.top, repeats.counts, repeats.recent

    @property
    def learning(self) -> tuple[Any, ...]:
        """The further arguments of the compiled update."""
        own = self.posteriors
        return own.covariances, own.changes, own.inverses, self.mixture.counts

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        means = self.posteriors.widened(n_labels)
        self.repeats.widen(n_labels)
        self.mixture.widen(n_labels)
        self.posteriors.means = means

    @property
    def nbytes(self) -> int:
        parts: Any = self.posteriors, self.mixture, self.repeats
        return sum(getattr(part, name).nbytes for part in parts for name in part.__slots__)

    def state(self, n: int) -> State:
        return {
            "posteriors": self.posteriors.state(n),
            "mixture": self.mixture.state(),
            "repeats": self.repeats.state(),
        }

    def restore(self, state: State, n: int) -> None:
        self.posteriors.restore(state["posteriors"], n)
        self.mixture.restore(state["mixture"])
        self.repeats.restore(state["repeats"])
