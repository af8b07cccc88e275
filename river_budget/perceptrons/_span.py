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

# A vector counts as one in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


class Basis(NamedTuple):
    """Some vectors that are independent, and the projections of all other vectors onto their span."""

    kept: list[int]  # The slots of the independent vectors.
    others: list[int]  # The slots of the other vectors.
    factor: Floats  # The packed factor of the Gram matrix of the kept vectors; see `_core.gram`.
    weights: Floats  # The coefficients of the projections of the others (others, kept).

    def merged(self, rows: Floats) -> Floats:
        """Return the coefficients (vectors, labels) after the projection: 0 for the others."""
        merged = np.zeros_like(rows)
        merged[self.kept] = rows[self.kept] + self.weights.T @ rows[self.others]
        return merged

    def project(self, f: Expansion) -> None:
        """Project the terms of the others in a hypothesis. Their coefficients become 0."""
        f.change(self.merged(f.matrix) - f.matrix)


def basis_of(gram: Floats, order: Iterable[int], apart: float = IN_SPAN) -> Basis:
    """Return a basis of vectors with a Gram matrix.

    The slots in `order` are kept one by one, unless the squared distance of a vector from the span of
    those before it is at most the fraction `apart` of its squared norm.
    """
    kept: list[int] = []
    # The upper triangle of a Cholesky factor: a row for each kept vector, a column for each vector.
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
    """A perceptron whose support vectors are independent. It keeps the factor of their Gram matrix."""

    # As `apart` of `basis_of`.
    _apart = IN_SPAN
    # The packed lower triangle; see `_core.gram`.
    _factor = Array("_n_packed", start=(0,))

    @property
    def _n_packed(self) -> int:
        return self.n_support * (self.n_support + 1) // 2

    def numerical_errors(self) -> dict[str, float]:
        factor = self._unpacked()
        error = np.abs(factor @ factor.T - self._f.store.gram()).max(initial=0.0)
        return {"factor": float(error), **super().numerical_errors()}

    def _unpacked(self) -> Floats:
        """Return the factor as a lower triangle (n_support, n_support)."""
        return np.tril(unpacked(self._factor[: self._n_packed], self.n_support))

    def _check_restored(self) -> None:
        super()._check_restored()
        factor, gram = self._unpacked(), self._f.store.gram()
        require((factor.diagonal() > 0).all(), "the Gram factor is singular")

        v = probe(self.n_support)
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
        """Remove the support vectors that are not in the basis, whose terms are projected onto it."""
        basis.project(self._f)
        self._f.remove(basis.others)

    def _projected(self) -> float:
        z = forward_of(self._factor, self._f)
        return float(z @ z)
