# cython: language_level=3, wraparound=False
"""The Cholesky factor L of a Gram matrix, K = LL', as the packed rows of a lower triangle.

A vector adds a row, so earlier rows never change, and no error accumulates. Rows that are not in use may
follow: how many are is known from the vectors.
"""

import numpy as np

from river_budget._arrays import padded
from river_budget._state import require

from river_budget._core.expansion cimport Expansion
from river_budget._core.loops cimport loops


cdef Py_ssize_t end_of(const double[::1] factor, Py_ssize_t n) except -1:
    """Return where the rows of n vectors end."""
    cdef Py_ssize_t end = n * (n + 1) // 2
    require(end <= factor.shape[0], "a Gram factor has too few rows")
    return end


cdef object solution(const double[::1] factor, const double *row, Py_ssize_t n):
    cdef double[::1] z = np.empty(n)
    if end_of(factor, n):
        loops.forward(&factor[0], row, &z[0], n)
    return z.base


def forward(const double[::1] factor, const double[::1] row):
    """Return z = L^-1 k (n,) for the kernel row k of x; `z.z` is the squared norm of its projection."""
    return solution(factor, &row[0] if row.shape[0] else NULL, row.shape[0])


def forward_of(const double[::1] factor, Expansion f):
    """Return `forward` of the row of the example of f."""
    return solution(factor, f.store.rows, f.store.n)


def backward(const double[::1] factor, const double[::1] z):
    """Return L'^-1 z = K^-1 k (n,), the coefficients of the projection."""
    cdef double[::1] d = np.array(z)
    if end_of(factor, z.shape[0]):
        loops.backward(&factor[0], &d[0], z.shape[0])
    return d.base


def appended(factor, const double[::1] z, double distance):
    """Return the factor with a vector, given `forward` of its kernel row and its distance from the span."""
    cdef Py_ssize_t n = z.shape[0], end = end_of(factor, n)
    if end + n + 1 > len(factor):
        factor = padded(factor, 2 * end + n + 1)
    factor[end : end + n] = z
    factor[end + n] = distance
    return factor
