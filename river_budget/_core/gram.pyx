# cython: language_level=3, wraparound=False, infer_types=True
"""The Cholesky factor L of a Gram matrix, K = LL', as the packed rows of a lower triangle.

A new vector adds a row, so earlier rows never change, and no error accumulates. The array may be longer than the
rows in use, whose number is that of the vectors. The algorithm owns it.
"""

import numpy as np

from river_budget._arrays import padded
from river_budget._state import require

from river_budget._core.expansion cimport Expansion
from river_budget._core.loops cimport loops


cdef Py_ssize_t end_of(const double[::1] factor, Py_ssize_t n) except -1:
    """Return the length of the rows of n vectors. Raises ValueError if the factor is shorter."""
    end = n * (n + 1) // 2
    require(end <= factor.shape[0], "a Gram factor has too few rows")
    return end


def forward_of(const double[::1] factor, Expansion f):
    """Return z = L^-1 k (n,) for the kernel row k of the example, whose projection has the squared norm `z.z`."""
    n = f.store.vectors.n
    cdef double[::1] z = np.empty(n)
    if end_of(factor, n):
        loops.forward(&factor[0], f.store.bank.rows, &z[0], n)
    return z.base


def backward(const double[::1] factor, const double[::1] z):
    """Return L'^-1 z = K^-1 k (n,), the coefficients of the projection, given z = L^-1 k."""
    cdef double[::1] d = np.array(z)
    if end_of(factor, z.shape[0]):
        loops.backward(&factor[0], &d[0], z.shape[0])
    return d.base


def appended(factor, const double[::1] z, double distance):
    """Return the factor with a row for the example, given its `forward_of` and its distance from the span."""
    n = z.shape[0]
    end = end_of(factor, n)
    if end + n + 1 > len(factor):
        factor = padded(factor, 2 * end + n + 1)
    factor[end : end + n] = z
    factor[end + n] = distance
    return factor
