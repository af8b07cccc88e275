# cython: language_level=3, wraparound=False
"""The Cholesky factor of a growing Gram matrix."""

import numpy as np

from river_budget._arrays import padded
from river_budget._state import floats, require

from river_budget._core.loops cimport loops


cdef class GramFactor:
    """The Cholesky factor L of a Gram matrix, K = LL', with L lower triangular.

    L is stored in packed rows, so adding a vector appends a row, and both substitutions read memory
    in order. Earlier rows never change, so no error accumulates.
    """

    cdef readonly Py_ssize_t n
    cdef double[::1] packed  # with room for more

    def __cinit__(self):
        self.packed = np.empty(0)

    def __reduce__(self):
        return type(self), (), (self.state(), self.n)

    def __setstate__(self, learned):
        self.restore(*learned)

    cdef int check(self, const double[::1] values) except -1:
        if values.shape[0] != self.n:
            raise ValueError(f"expected {self.n} values, got {values.shape[0]}")

    def forward(self, const double[::1] row):
        """Return z = L^-1 k (n,) for the kernel row k of x (n,).

        `z.z` is the squared norm of the projection of x onto the span.
        """
        self.check(row)
        cdef double[::1] z = np.empty(self.n)
        if self.n:
            loops.forward(&self.packed[0], &row[0], &z[0], self.n)
        return z.base

    def backward(self, const double[::1] z):
        """Return d = L'^-1 z = K^-1 k (n,), the coefficients of the projection (Eq. 8)."""
        self.check(z)
        cdef double[::1] d = np.array(z)
        if self.n:
            loops.backward(&self.packed[0], &d[0], self.n)
        return d.base

    def append(self, const double[::1] z, double distance):
        """Add a vector, given `forward` of its kernel row (n,) and its distance from the span, positive."""
        self.check(z)
        cdef Py_ssize_t end = self.n * (self.n + 1) // 2
        if end + self.n + 1 > self.packed.shape[0]:
            self.packed = padded(self.packed.base, 2 * end + self.n + 1)
        self.packed.base[end : end + self.n] = z
        self.packed[end + self.n] = distance
        self.n += 1

    def truncate(self, Py_ssize_t n):
        self.n = n

    @property
    def nbytes(self):
        return self.packed.nbytes

    def matrix(self):
        """Return L as a matrix (n, n)."""
        factor = np.zeros((self.n, self.n))
        factor[np.tril_indices(self.n)] = self.state()["rows"]
        return factor

    def state(self):
        """Return the packed rows of L (n (n + 1) / 2,)."""
        return {"rows": self.packed.base[: self.n * (self.n + 1) // 2].copy()}

    def restore(self, state, Py_ssize_t n):
        rows = floats(state["rows"], (n * (n + 1) // 2,))
        require((rows[np.cumsum(np.arange(n) + 1) - 1] > 0).all(), "the Gram factor is singular")
        self.packed, self.n = rows, n
