"""A linearly independent part of a support set."""

from __future__ import annotations

import math
from collections.abc import Callable

from river_budget._arrays import Floats
from river_budget.support import GramFactor

__all__ = ["IN_SPAN", "Basis"]

# A vector is numerically in the span of others if its squared distance from the span is at most this
# fraction of its squared norm.
IN_SPAN = 1e-10


class Basis:
    """The vectors that are apart from the span of those before them.

    Parameters
    ----------
    gram
        The Gram matrix of all vectors (n, n).
    order
        The vectors to choose from, in order.
    apart
        The smallest squared distance of a chosen vector from the span, as a fraction of its squared
        norm.

    Attributes
    ----------
    kept
        The chosen vectors, in order.
    factor
        The Cholesky factor of their Gram matrix.

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

    def weights(self, row: Floats) -> Floats:
        """Return the coefficients of a projection onto the span of the chosen vectors (kept,).

        Parameters
        ----------
        row
            The inner product of the projected vector with each vector (n,).

        """
        return self.factor.backward(self.factor.forward(row[self.kept]))

    def merge_others(self, merge: Callable[[int, list[int], Floats], None]) -> list[int]:
        """Project all other vectors onto the span, and return their slots, which may be removed.

        Parameters
        ----------
        merge
            Replaces a vector by a linear combination of others; see `Expansion.merge`.

        """
        others = sorted(set(range(len(self._gram))) - set(self.kept))
        for slot in others:
            merge(slot, self.kept, self.weights(self._gram[slot]))
        return others
