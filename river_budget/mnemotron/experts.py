"""All that Mnemotron has learned beside its support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State
from river_budget.mnemotron._mixing_compiled import HEDGE
from river_budget.mnemotron.mixing import Mixture
from river_budget.mnemotron.posteriors import Posteriors
from river_budget.mnemotron.repeats import Repeats


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
