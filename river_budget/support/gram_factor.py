"""The Cholesky factor of a growing Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._state import State, floats, require

__all__ = ["GramFactor"]


class GramFactor:
    """The Cholesky factor R of a Gram matrix, K = R'R, with R upper triangular.

    R is stored in packed columns, so adding a vector appends a column. Earlier columns never
    change, so no error accumulates.

    """

    __slots__ = ("_packed", "n")

    def __init__(self) -> None:
        self.n = 0
        self._packed: Floats = np.zeros(0)
        # Import it now, not in the middle of a stream.
        _dtpsv()

    def forward(self, row: Floats) -> Floats:
        """Return z = R'^-1 k (n,); `z.z` is the squared norm of the projection of x onto the span.

        Parameters
        ----------
        row
            The kernel row k of x (n,).

        """
        return _dtpsv()(self.n, self._columns, row, trans=1) if self.n else np.zeros(0)

    def backward(self, z: Floats) -> Floats:
        """Return d = R^-1 z = K^-1 k (n,), the coefficients of the projection (Eq. 8)."""
        return _dtpsv()(self.n, self._columns, z) if self.n else np.zeros(0)

    def append(self, z: Floats, distance: float) -> None:
        """Add a vector.

        Parameters
        ----------
        z
            The result of `forward` for its kernel row (n,).
        distance
            Its distance from the span of the other vectors, positive.

        """
        end = self._columns.size
        if end + self.n + 1 > len(self._packed):
            self._packed = padded(self._packed, 2 * end + self.n + 1)
        self._packed[end : end + self.n] = z
        self._packed[end + self.n] = distance
        self.n += 1

    @property
    def nbytes(self) -> int:
        """Memory of the factor in bytes."""
        return self._packed.nbytes

    def matrix(self) -> Floats:
        """Return R as a matrix (n, n)."""
        factor = np.zeros((self.n, self.n))
        factor.T[np.tril_indices(self.n)] = self._columns
        return factor

    def state(self) -> State:
        """Return the packed columns of R."""
        return {"columns": self._columns.copy()}

    def restore(self, state: State, n: int) -> None:
        """Restore an empty factor from its state for n vectors."""
        self._packed = floats(state["columns"], (n * (n + 1) // 2,))
        self.n = n
        require(
            (self._packed[np.cumsum(np.arange(n) + 1) - 1] > 0).all(), "the Gram factor is singular"
        )

    @property
    def _columns(self) -> Floats:
        return self._packed[: self.n * (self.n + 1) // 2]


def _dtpsv() -> Any:
    """Return the BLAS solver for packed triangular matrices."""
    from scipy.linalg.blas import dtpsv  # type: ignore[attr-defined]  # slow to import

    return dtpsv
