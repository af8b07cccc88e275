"""The span of the support vectors, and projections onto it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.gram import GramFactor
from river_budget._state import Part
from river_budget.base import Perceptron

# A vector is numerically in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


class Basis:
    """The vectors, `kept`, that are apart from the span of those before them in an order.

    A vector is apart if its squared distance from the span is above a fraction of its squared norm.
    `factor` is the Cholesky factor of their Gram matrix.
    """

    __slots__ = ("_gram", "factor", "kept")

    def __init__(self, gram: Floats, order: Iterable[int], apart: float = IN_SPAN) -> None:
        self._gram = gram
        self.factor = GramFactor()
        self.kept: list[int] = []
        for slot in order:
            z = self.factor.forward(gram[slot, self.kept])
            square = gram[slot, slot] - float(z @ z)
            if square > apart * gram[slot, slot]:
                self.factor.append(z, math.sqrt(square))
                self.kept.append(slot)

    def merge_others(self, merge: Callable[[int, list[int], Floats], None]) -> list[int]:
        """Project all other vectors onto the span by `Expansion.merge`, and return their slots."""
        others = sorted(set(range(len(self._gram))) - set(self.kept))
        for slot in others:
            z = self.factor.forward(self._gram[slot, self.kept])
            merge(slot, self.kept, self.factor.backward(z))
        return others


class SpanPerceptron(Perceptron):
    """A perceptron with independent support vectors, which keeps the factor of their Gram matrix."""

    # A vector is apart from the span of others above this fraction; see `Basis`.
    _apart = IN_SPAN
    _factor = Part(GramFactor, restore=["n_support"])

    def numerical_errors(self) -> dict[str, float]:
        factor = self._factor.matrix()
        error = np.abs(factor @ factor.T - self._f.store.gram()).max(initial=0.0)
        return {"factor": float(error), **super().numerical_errors()}

    def _derive(self) -> None:
        self._factor.truncate(self.n_support)

    def _on_rescaled(self) -> None:
        basis = Basis(self._f.store.gram(), range(self.n_support), self._apart)
        self._remove(basis.merge_others(self._merge))
        self._factor = basis.factor
        super()._on_rescaled()

    def _merge(self, slot: int, others: Sequence[int], weights: Floats) -> None:
        self._f.merge(slot, others, weights)

    def _remove(self, slots: Sequence[int]) -> None:
        self._f.remove(slots)

    def _projected(self) -> float:
        z = self._factor.forward(self._f.row)
        return float(z @ z)
