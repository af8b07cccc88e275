"""A square root of the inverse of a Gram matrix whose vectors are replaced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, floats, require

__all__ = ["GramRoot"]


class GramRoot:
    """A square root W of the inverse of a Gram matrix, `W W' = K^-1`.

    Unlike a factor of K, it tells how far each vector is from the span of all others. Its condition
    number is the root of that of K. An addition or a replacement takes O(n^2); `rebuild` removes
    the errors that accumulate.

    """

    __slots__ = ("_table", "n")

    def __init__(self) -> None:
        self.n = 0
        self._table: Floats = np.zeros((0, 0))

    @property
    def matrix(self) -> Floats:
        """W (n, n)."""
        return self._table[: self.n, : self.n]

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self._table.nbytes

    def project(self, row: Floats) -> tuple[Floats, float]:
        """Return the coefficients d = K^-1 k of a projection onto the span (n,), and its square.

        Parameters
        ----------
        row
            The kernel row k (n,).

        """
        z = row @ self.matrix
        return self.matrix @ z, float(z @ z)

    def append(self, d: Floats, square: float) -> None:
        """Add a vector.

        Parameters
        ----------
        d
            The coefficients of its projection (n,).
        square
            Its squared distance from the span, positive.

        """
        n, distance = self.n, math.sqrt(square)
        if n == len(self._table):
            table = np.zeros((max(8, 2 * n), max(8, 2 * n)))
            table[:n, :n] = self._table
            self._table = table
        self._table[:n, n], self._table[n, n] = -d / distance, 1 / distance
        self.n += 1

    def squares(self, d: Floats, square: float) -> Floats:
        """Return the squared distance of each vector from all others and another one (n,).

        The other one is given as in `append`.

        """
        return 1 / ((self.matrix**2).sum(axis=1) + d**2 / square)

    def project_slot(self, slot: int, d: Floats, square: float) -> Floats:
        """Return the coefficients of the projection of a vector onto all others and another one.

        That of the other one, which is given as in `append`, is in the slot itself (n,).

        """
        row, corner = self.matrix[slot], d[slot] / square
        weights = -(self.matrix @ row + d * corner)
        weights[slot] = corner
        return weights / (float(row @ row) + d[slot] * corner)

    def replace(self, slot: int, d: Floats, square: float) -> None:
        """Replace the vector in a slot by another one, which is given as in `append`."""
        matrix, distance = self.matrix, math.sqrt(square)
        column = -d / distance
        # A reflection that turns the row of the vector towards the column of the other one.
        axis, last = matrix[slot].copy(), column[slot]
        length = math.hypot(float(np.linalg.norm(axis)), last)
        tip = last + math.copysign(length, last)
        share = 2 / (float(axis @ axis) + tip**2)
        along = matrix @ axis + column * tip
        along[slot] = tip / distance
        matrix[slot] = 0.0
        matrix -= np.multiply.outer(share * along, axis)

    def rebuild(self, gram: Floats, order: Any) -> None:
        """Compute the root for a Gram matrix anew.

        Each vector has to be apart from the span of those before it in the given order.

        """
        self.n = len(gram)
        self._table = np.zeros_like(gram)
        factor: Any = np.linalg.cholesky(gram[np.ix_(order, order)])
        self._table[order] = np.linalg.inv(factor).T

    def state(self) -> State:
        """Return W."""
        return {"root": self.matrix.copy()}

    def restore(self, state: State, n: int) -> None:
        """Restore an empty root from its state for n vectors."""
        self._table = floats(state["root"], (n, n))
        self.n = n
        require(bool(self._table.any(axis=1).all()), "the root of the Gram matrix is singular")
