# cython: language_level=3, wraparound=False, cdivision=True
"""Random Fourier features of examples, from names and a seed; see `fourier.pxd`."""

from libc.math cimport cos, sin, sqrt
from libc.stdint cimport int8_t
from libc.stdlib cimport free
from libc.string cimport memset

from fractions import Fraction
from hashlib import shake_256
import math
import numbers
import sys

import numpy as np

from river_budget.kernels.base import Category

from river_budget._core.features cimport reallocate
from river_budget._core.symmetric cimport DOUBLES, loops

# Names, and arrays, whose frequencies are kept.
cdef Py_ssize_t MOST_COLUMNS = 1000
cdef Py_ssize_t MOST_ARRAYS = 16

# Shorter arrays are padded with zeros up to this length, so that their projections are nearly normal.
cdef Py_ssize_t SMALLEST_SIZE = 64


def text_of(name):
    """Return a text that equal names share, on any machine; other names than numbers, texts, None and
    tuples of these are told apart by their `repr`."""
    if isinstance(name, tuple):
        return f"({','.join([text_of(part) for part in name])},)"
    if isinstance(name, frozenset):
        return f"{{{','.join(sorted([text_of(part) for part in name]))}}}"
    if isinstance(name, numbers.Real) and math.isfinite(name):
        return str(Fraction(name if isinstance(name, numbers.Rational) else float(name)))
    return repr(str(name)) if isinstance(name, str) else repr(name)


def bits_of(seed, name, n_bytes):
    """Return random bytes that follow from a seed and a name."""
    return shake_256(f"{seed}:{text_of(name)}".encode(errors="surrogatepass")).digest(n_bytes)


def frequencies_of(seed, name, n):
    """Return n normal numbers that follow from a seed and a name, as float32."""
    bits = np.frombuffer(bits_of(seed, name, 8 * n), "<u4").reshape(2, n)
    u, v = (bits + 0.5) / 2.0**32
    return (np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v)).astype(np.float32)


def signs_of(seed, name, size, n):
    """Return the signs of an array feature, padded to a size, for n projections (blocks, 3, size)."""
    shape = (-(-n // size), 3, size)
    bits = np.frombuffer(bits_of(seed, name, math.prod(shape) // 8), np.uint8)
    return (2 * np.unpackbits(bits).astype(np.int8) - 1).reshape(shape)


def size_of(length):
    """Return the smallest power of two that an array of a length is padded to."""
    return max(SMALLEST_SIZE, 1 << (length - 1).bit_length())


cdef class Fourier:
    """Random Fourier features of the Gaussian kernel with gamma, of features that are scaled.

    Parameters
    ----------
    n
        Number of frequencies.
    seed
        A number.
    """

    def __init__(self, Py_ssize_t n, seed):
        self.n, self.seed, self.z = n, seed, np.zeros(n)
        self.rows, self.signs = {}, {}
        self.set_scales({}, 1.0, 0.0)

    def __dealloc__(self):
        free(self.frequencies)
        free(self.weights)

    def set_scales(self, dict factors, double pooled, double gamma):
        """Set the inverse scales of names, that of all others, and gamma."""
        self.factors, self.pooled, self.gamma = factors, pooled, gamma
        self.root = sqrt(2.0 * gamma)
        self.columns = None

    @property
    def scales(self):
        """The arguments of `set_scales`."""
        return self.factors, self.pooled, self.gamma

    @property
    def nbytes(self):
        parts = self.rows | self.factors
        texts = [name[1] for name in parts if type(name) is Category]
        names = sum([sys.getsizeof(part) for part in (self.rows, self.factors, *parts, *texts)])
        rows = sum([row.nbytes for row in self.rows.values()])
        signs = sum([16 + own.nbytes for own in self.signs.values()])
        return names + rows + signs + self.z.nbytes + 24 * self.room

    cdef int transform(
        self, list columns, const double *values, dict arrays, double *features
    ) except -1 nogil:
        cdef Py_ssize_t i, j
        cdef double *z = &self.z[0]
        cdef const float *own
        cdef double weight
        cdef bint is_cached = True
        if <void *> columns != <void *> self.columns:
            with gil:
                self.look_up(columns)
        memset(z, 0, self.n * sizeof(double))
        for j in range(self.n_columns):
            if values[j] == 0.0:
                continue
            own, weight = self.frequencies[j], values[j] * self.weights[j]
            if own == NULL:
                is_cached = False
                continue
            loops[DOUBLES].add_floats(z, weight, own, self.n)
        if not is_cached or arrays is not None:
            with gil:
                self.add_uncached(values)
                for name, array in (arrays or {}).items():
                    self.add_array(name, array)
        for i in range(self.n):
            features[i], features[self.n + i] = cos(z[i]), sin(z[i])
        return 0

    cdef int look_up(self, list columns) except -1:
        """Find the frequencies and weights of other names; the cache is emptied before it overflows."""
        cdef Py_ssize_t j, n = len(columns)
        cdef const float[::1] own
        self.columns = None
        if sum([name not in self.rows for name in columns]) > MOST_COLUMNS - len(self.rows):
            self.rows = {}
        if n > self.room or 16 * n + 64 < self.room:
            reallocate(<void **> &self.frequencies, (n + 1) * sizeof(void *))
            reallocate(<void **> &self.weights, (n + 1) * sizeof(double))
            self.room = n
        self.held = []
        for j in range(n):
            name = columns[j]
            if name not in self.rows and len(self.rows) < MOST_COLUMNS:
                self.rows[name] = frequencies_of(self.seed, name, self.n)
            row = self.rows.get(name)
            self.held.append(row)
            self.frequencies[j] = NULL
            if row is not None:
                own = row
                self.frequencies[j] = &own[0]
            self.weights[j] = self.root * <double> self.factors.get(name, self.pooled)
        self.columns, self.n_columns = columns, n
        return 0

    cdef int add_uncached(self, const double *values) except -1:
        """Add what names without a place in the cache add to the projections."""
        cdef Py_ssize_t j
        for j in range(len(self.columns)):
            if self.frequencies[j] == NULL and values[j] != 0.0:
                own = frequencies_of(self.seed, self.columns[j], self.n)
                np.asarray(self.z)[:] += values[j] * self.weights[j] * own.astype(np.float64)
        return 0

    cdef int add_array(self, name, array) except -1:
        """Add what an array adds to the projections: H D H D H D x of each block, as it is orthogonal."""
        cdef Py_ssize_t b, d, i, start, length = len(array), size = size_of(length)
        cdef double weight = self.root * <double> self.factors.get(name, self.pooled) / size
        cdef const double[::1] elements = np.ascontiguousarray(array, np.float64)
        cdef double[::1] x = np.empty(size)
        cdef const int8_t[:, :, ::1] signs
        if (name, length) not in self.signs:
            if len(self.signs) >= MOST_ARRAYS:
                self.signs = {}
            self.signs[name, length] = signs_of(self.seed, name, size, self.n)
        signs = self.signs[name, length]
        for b in range(signs.shape[0]):
            for i in range(size):
                x[i] = weight * elements[i] if i < length else 0.0
            for d in range(3):
                loops[DOUBLES].hadamard(&x[0], &signs[b, d, 0], size)
            start = b * size
            for i in range(min(size, self.n - start)):
                self.z[start + i] += x[i]
        return 0
