"""The Cholesky factor of a growing Gram matrix."""

from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._compile import compiled
from river_budget._state import State, floats, require

# Sums may be reordered, so that they are vectorised.
REORDERED = {"reassoc", "contract", "nsz"}


class GramFactor:
    """The Cholesky factor L of a Gram matrix, K = LL', with L lower triangular, in packed rows.

    Earlier rows never change, so no error accumulates.
    """

    __slots__ = ("_packed", "n")

    def __init__(self) -> None:
        self.n = 0
        self._packed: Floats = np.zeros(0)

    def forward(self, row: Floats) -> Floats:
        """Return z = L^-1 k for the kernel row k of x; z.z is the squared norm of its projection."""
        return _forward(self._packed, row)

    def backward(self, z: Floats) -> Floats:
        """Return d = L'^-1 z = K^-1 k (n,), the coefficients of the projection (Eq. 8)."""
        return _backward(self._packed, z)

    def append(self, z: Floats, distance: float) -> None:
        """Add a vector, given the result of `forward` and its positive distance from the span."""
        end = self._rows.size
        if end + self.n + 1 > len(self._packed):
            self._packed = padded(self._packed, 2 * end + self.n + 1)
        self._packed[end : end + self.n] = z
        self._packed[end + self.n] = distance
        self.n += 1

    @property
    def nbytes(self) -> int:
        return self._packed.nbytes

    def matrix(self) -> Floats:
        """Return L as a matrix (n, n)."""
        factor = np.zeros((self.n, self.n))
        factor[np.tril_indices(self.n)] = self._rows
        return factor

    def state(self) -> State:
        return {"rows": self._rows.copy()}

    def restore(self, state: State, n: int) -> None:
        self._packed = floats(state["rows"], (n * (n + 1) // 2,))
        self.n = n
        require(
            (self._packed[np.cumsum(np.arange(n) + 1) - 1] > 0).all(), "the Gram factor is singular"
        )

    @property
    def _rows(self) -> Floats:
        return self._packed[: self.n * (self.n + 1) // 2]


@compiled(fastmath=REORDERED)
def _forward(packed: Floats, right: Floats) -> Floats:
    """Solve L z = right for z (n,), given the packed rows of L."""
    n, start = len(right), 0
    z = np.empty(n)
    for i in range(n):
        row = packed[start : start + i + 1]
        known = 0.0
        for j in range(i):
            known += row[j] * z[j]
        z[i] = (right[i] - known) / row[i]
        start += i + 1
    return z


@compiled(fastmath=REORDERED)
def _backward(packed: Floats, right: Floats) -> Floats:
    """Solve L' d = right for d (n,), given the packed rows of L: four at a time, in half the time."""
    n = len(right)
    d, end = right.copy(), n * (n + 1) // 2
    for i in range(n - 1, n - n % 4 - 1, -1):
        end -= i + 1
        d[i] /= packed[end + i]
        for j in range(i):
            d[j] -= d[i] * packed[end + j]
    for i in range(n - n % 4 - 4, -1, -4):
        end -= 4 * i + 10
        first = packed[end : end + i + 1]
        second = packed[end + i + 1 : end + 2 * i + 3]
        third = packed[end + 2 * i + 3 : end + 3 * i + 6]
        fourth = packed[end + 3 * i + 6 : end + 4 * i + 10]
        d3 = d[i + 3] / fourth[i + 3]
        d2 = (d[i + 2] - d3 * fourth[i + 2]) / third[i + 2]
        d1 = (d[i + 1] - d3 * fourth[i + 1] - d2 * third[i + 1]) / second[i + 1]
        d0 = (d[i] - d3 * fourth[i] - d2 * third[i] - d1 * second[i]) / first[i]
        d[i], d[i + 1], d[i + 2], d[i + 3] = d0, d1, d2, d3
        for j in range(i):
            d[j] -= d0 * first[j] + d1 * second[j] + d2 * third[j] + d3 * fourth[j]
    return d
