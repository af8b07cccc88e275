"""All that Mnemotron has learned beside its support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State
from river_budget.mnemotron.mixing import Mixture
from river_budget.mnemotron.posteriors import Posteriors
from river_budget.mnemotron.repeats import Repeats

__all__ = ["Experts"]


class Experts:
    """The posteriors of the experts and their mixture.

    Parameters
    ----------
    pairs
        The pairs of forgetting factor and noise variance of each kernel.
    budget
        Maximum number of support vectors.
    repeats
        Whether an expert predicts repeated labels.

    """

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
        """Number of labels."""
        return len(self.mixture.counts)

    @property
    def hedge(self) -> Floats:
        """The weights of the posteriors in the hedge, with a sum of 1 (experts,)."""
        weights = self.mixture.hedge[: len(self.posteriors.experts)]
        return weights / weights.sum()

    @property
    def kernel_weights(self) -> Floats:
        """The sum of these weights for each kernel (kernels,)."""
        weights: Any = np.bincount(self.posteriors.kernel_of, self.hedge)
        return weights

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
        posteriors, mixture, repeats = self.posteriors, self.mixture, self.repeats
        return (
            posteriors.experts, posteriors.scales, posteriors.means, mixture.weights, mixture.top,
            repeats.counts, repeats.recent,
        )  # fmt: skip

    @property
    def learning(self) -> tuple[Any, ...]:
        """The further arguments of the compiled update."""
        posteriors = self.posteriors
        return (
            posteriors.covariances, posteriors.changes, posteriors.inverses, self.mixture.counts
        )  # fmt: skip

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        means = self.posteriors.widened(n_labels)
        self.repeats.widen(n_labels)
        self.mixture.widen(n_labels)
        self.posteriors.means = means

    @property
    def nbytes(self) -> int:
        """Memory of all arrays in bytes."""
        parts = (self.posteriors, self.mixture, self.repeats)
        return sum(array.nbytes for part in parts for array in part.arrays)

    def state(self, n: int) -> State:
        """Return the state of all parts, with n support vectors."""
        return {
            "posteriors": self.posteriors.state(n),
            "mixture": self.mixture.state(),
            "repeats": self.repeats.state(),
        }

    def restore(self, state: State, n: int) -> None:
        """Restore all parts from their state."""
        self.posteriors.restore(state["posteriors"], n)
        self.mixture.restore(state["mixture"])
        self.repeats.restore(state["repeats"])
