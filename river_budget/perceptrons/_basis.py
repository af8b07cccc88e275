"""A linearly independent part of a support set."""

from __future__ import annotations

import math
from collections.abc import Callable

from river_budget._arrays import Floats
from river_budget.support import GramFactor

# A vector is numerically in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


class Basis:
    """The vectors that are apart from the span of those before them in a given order.

    Apart is a vector whose squared distance from the span is above a fraction of its squared norm.
    `kept` are the chosen vectors, in order, and `factor` is the Cholesky factor of their Gram matrix.
    """

    __slots__ = ("_gram", "factor", "kept")

    def __init__(self, gram: Floats, order: list[int], apart: float = IN_SPAN) -> None:
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
