"""The span of the support vectors, and projections onto it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from river_budget._arrays import Floats, unpacked
from river_budget._core.gram import appended, backward, forward, forward_of
from river_budget._state import Array, require
from river_budget.base import Perceptron

# A vector is numerically in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


def merge_dependent(
    gram: Floats, order: Iterable[int], merge: Callable[..., None], apart: float = IN_SPAN
) -> tuple[list[int], Floats]:
    """Project vectors onto the span of those that are apart from the ones before them in an order.

    `apart` is that distance, as in `IN_SPAN`, and `merge` is `Expansion.merge`. Returned are the
    slots of the projected vectors, and the factor of the Gram matrix of the others.
    """
    kept: list[int] = []
    factor = np.empty(0)
    for slot in order:
        z = forward(factor, gram[slot, kept])
        square = gram[slot, slot] - float(z @ z)
        if square > apart * gram[slot, slot]:
            factor = appended(factor, z, math.sqrt(square))
            kept.append(slot)
    others = sorted(set(range(len(gram))) - set(kept))
    for slot, row in zip(others, gram[np.ix_(others, kept)], strict=True):
        merge(slot, kept, backward(factor, forward(factor, row)))
    return others, factor


class SpanPerceptron(Perceptron):
    """A perceptron with independent support vectors, which keeps the factor of their Gram matrix."""

    _apart = IN_SPAN
    _factor = Array("_n_packed", start=(0,))  # see `_core.gram`

    @property
    def _n_packed(self) -> int:
        return self.n_support * (self.n_support + 1) // 2

    def numerical_errors(self) -> dict[str, float]:
        factor = np.tril(unpacked(self._factor[np.newaxis, : self._n_packed], self.n_support)[0])
        error = np.abs(factor @ factor.T - self._f.store.gram()).max(initial=0.0)
        return {"factor": float(error), **super().numerical_errors()}

    def _check_restored(self) -> None:
        super()._check_restored()
        diagonal = self._factor[np.cumsum(np.arange(self.n_support) + 1) - 1]
        require((diagonal > 0).all(), "the Gram factor is singular")

    def _on_rescaled(self) -> None:
        gram = self._f.store.gram()
        removed, self._factor = merge_dependent(gram, range(len(gram)), self._merge, self._apart)
        self._remove(removed)
        super()._on_rescaled()

    def _merge(self, slot: int, others: Sequence[int], weights: Floats) -> None:
        self._f.merge(slot, others, weights)

    def _remove(self, slots: Sequence[int]) -> None:
        self._f.remove(slots)

    def _projected(self) -> float:
        z = forward_of(self._factor, self._f)
        return float(z @ z)
