# cython: language_level=3, boundscheck=False, wraparound=False
"""The Cholesky factor of a growing Gram matrix."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.string cimport memcpy

import numpy as np

from river_budget._state import floats, require

from river_budget._core.loops cimport loops


cdef class GramFactor:
    """The Cholesky factor L of a Gram matrix, K = LL', with L lower triangular.

    L is stored in packed rows, so adding a vector appends a row, and both substitutions read memory
    in order. Earlier rows never change, so no error accumulates.
    """

    cdef readonly Py_ssize_t n
    cdef Py_ssize_t room  # for so many doubles
    cdef double *packed

    def __dealloc__(self):
        PyMem_Free(self.packed)

    def __reduce__(self):
        return _restored, (type(self), self.state(), self.n)

    cdef Py_ssize_t size(self) noexcept:
        return self.n * (self.n + 1) // 2

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for so many doubles."""
        if size <= self.room:
            return 0
        packed = <double *> PyMem_Realloc(self.packed, size * sizeof(double))
        if packed == NULL:
            raise MemoryError
        self.packed, self.room = packed, size
        return 0

    cdef int check(self, const double[::1] values) except -1:
        require(values.shape[0] == self.n, f"expected {self.n} values, got {values.shape[0]}")

    def forward(self, const double[::1] row):
        """Return z = L^-1 k (n,); `z.z` is the squared norm of the projection of x onto the span.

        Parameters
        ----------
        row
            The kernel row k of x (n,).
        """
        self.check(row)
        cdef double[::1] z = np.empty(self.n)
        if self.n:
            loops.forward(self.packed, &row[0], &z[0], self.n)
        return z.base

    def backward(self, const double[::1] z):
        """Return d = L'^-1 z = K^-1 k (n,), the coefficients of the projection (Eq. 8)."""
        self.check(z)
        cdef double[::1] d = np.array(z)
        if self.n:
            loops.backward(self.packed, &d[0], self.n)
        return d.base

    def append(self, const double[::1] z, double distance):
        """Add a vector.

        Parameters
        ----------
        z
            The result of `forward` for its kernel row (n,).
        distance
            Its distance from the span of the other vectors, positive.
        """
        self.check(z)
        cdef Py_ssize_t end = self.size()
        if end + self.n + 1 > self.room:
            self.reserve(2 * end + self.n + 1)
        if self.n:
            memcpy(self.packed + end, &z[0], self.n * sizeof(double))
        self.packed[end + self.n] = distance
        self.n += 1

    def truncate(self, Py_ssize_t n):
        """Remove all vectors but the first n."""
        require(0 <= n <= self.n, f"there are {self.n} vectors, not {n}")
        self.n = n

    @property
    def nbytes(self):
        """Memory of the factor in bytes."""
        return self.room * sizeof(double)

    def matrix(self):
        """Return L as a matrix (n, n)."""
        factor = np.zeros((self.n, self.n))
        factor[np.tril_indices(self.n)] = self.rows()
        return factor

    def rows(self):
        """Return the packed rows of L (n (n + 1) / 2,)."""
        cdef double[::1] rows = np.empty(self.size())
        if self.n:
            memcpy(&rows[0], self.packed, self.size() * sizeof(double))
        return rows.base

    def state(self):
        """Return the packed rows of L."""
        return {"rows": self.rows()}

    def restore(self, state, Py_ssize_t n):
        """Restore a factor from its state for n vectors."""
        array = floats(state["rows"], (n * (n + 1) // 2,))
        require((array[np.cumsum(np.arange(n) + 1) - 1] > 0).all(), "the Gram factor is singular")
        cdef const double[::1] rows = array
        self.reserve(rows.shape[0])
        self.n = n
        if n:
            memcpy(self.packed, &rows[0], rows.shape[0] * sizeof(double))


def _restored(cls, state, n):
    factor = cls()
    factor.restore(state, n)
    return factor
