"""The span of the support vectors, and projections onto it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from river_budget._arrays import Floats, unpacked
from river_budget._core.expansion import Expansion
from river_budget._core.gram import forward_of
from river_budget._state import ROUNDING, Array, probe, require
from river_budget.base import Perceptron

# A vector is numerically in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


class Basis(NamedTuple):
    """Vectors that are apart from the span of those before them, and projections of the others."""

    kept: list[int]
    others: list[int]
    factor: Floats  # of the Gram matrix of those that are kept; see `_core.gram`
    weights: Floats  # of the projections (others, kept)

    def merged(self, rows: Floats) -> Floats:
        """Return rows, one for each vector, where those of the others have moved to the kept ones."""
        merged = np.zeros_like(rows)
        merged[self.kept] = rows[self.kept] + self.weights.T @ rows[self.others]
        return merged

    def project(self, f: Expansion) -> None:
        """Project the terms of the others, whose coefficients become 0."""
        f.change(self.merged(f.matrix) - f.matrix)


def basis_of(gram: Floats, order: Iterable[int], apart: float = IN_SPAN) -> Basis:
    """Return the basis of the vectors in an order; `apart` is as `IN_SPAN`."""
    kept: list[int] = []
    # What the factor has for all vectors, a row for each of those that are kept.
    rows = np.zeros_like(gram)
    for slot in order:
        n = len(kept)
        row = gram[slot] - rows[:n, slot] @ rows[:n]
        if row[slot] > apart * gram[slot, slot]:
            rows[n] = row / np.sqrt(row[slot])
            kept.append(slot)
    others = sorted(set(range(len(gram))) - set(kept))
    upper = rows[: len(kept), kept]
    factor: Floats = upper.T[np.tril_indices(len(kept))]
    weights: Any = np.linalg.solve(upper, rows[: len(kept), others]).T
    return Basis(kept, others, factor, weights)


class SpanPerceptron(Perceptron):
    """A perceptron with independent support vectors, which keeps the factor of their Gram matrix."""

    _apart = IN_SPAN
    _factor = Array("_n_packed", start=(0,))  # see `_core.gram`

    @property
    def _n_packed(self) -> int:
        return self.n_support * (self.n_support + 1) // 2

    def numerical_errors(self) -> dict[str, float]:
        factor = self._unpacked()
        error = np.abs(factor @ factor.T - self._f.store.gram()).max(initial=0.0)
        return {"factor": float(error), **super().numerical_errors()}

    def _unpacked(self) -> Floats:
        """Return the factor as a lower triangle (n_support, n_support)."""
        return np.tril(unpacked(self._factor[np.newaxis, : self._n_packed], self.n_support)[0])

    def _check_restored(self) -> None:
        super()._check_restored()
        factor, gram, v = self._unpacked(), self._f.store.gram(), probe(self.n_support)
        require((factor.diagonal() > 0).all(), "the Gram factor is singular")
        with np.errstate(over="ignore", invalid="ignore"):
            error = np.abs(factor @ (factor.T @ v) - gram @ v).max(initial=0.0)
        largest = ROUNDING * gram.diagonal().max(initial=0.0)
        require(error <= largest, "the Gram factor is not that of the vectors")

    def _on_rescaled(self) -> None:
        basis = basis_of(self._f.store.gram(), range(self._f.n), self._apart)
        self._factor = basis.factor
        self._merge(basis)
        super()._on_rescaled()

    def _merge(self, basis: Basis) -> None:
        """Project the vectors that are in the span of those before them, and remove them."""
        basis.project(self._f)
        self._f.remove(basis.others)

    def _projected(self) -> float:
        z = forward_of(self._factor, self._f)
        return float(z @ z)
