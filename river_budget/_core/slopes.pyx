# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""The slopes of a mixture's mean at its support vectors, which tell how relevant each feature is.

The mean is `sum_z A_z . k_z(x)` over the kernels z, with a column of coefficients A for each label. Its slope
along a feature is in units of the scaled feature, without relevances. With the difference e of x and a vector,
the weight w of the feature (its squared inverse scale) and its plain inverse scale f, kernel z adds to it

    squared distance t  sum_i A_i k'(t_i) 2 w e_i / f      k' = -gamma k^2 or, of a Gaussian kernel, -gamma k
    sum of rationals    sum_i A_i (-2 w e_i) / (1 + w e_i^2)^2 / (f M)
    dot product         (sum_i A_i gamma w s_i / (|x| |s_i|) - (A . k) gamma w x / |x|^2) / f

where |x|^2 = k(x, x) before normalization, and 1 without it. Powers above 1, Manhattan distances and Python
functions are left out.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport qsort
from libc.string cimport memset

from river_budget._core.features cimport Entry, Feature
from river_budget._core.kernel_bank cimport Inner, Kernel, KernelBank
from river_budget._core.loops cimport loops
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.store cimport Store

cdef enum:                             # statistics and functions, as in `kernels`
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN


cdef int by_slot(const void *a, const void *b) noexcept nogil:
    return (<const Entry *> a).slot - (<const Entry *> b).slot


cdef double product(Feature *feature, const double *weights, Py_ssize_t n) noexcept nogil:
    """Return the inner product of the values of a feature in all vectors and weights."""
    cdef double total = 0.0
    if feature.column != NULL:
        return loops.inner(weights, feature.column, n)
    for e in range(feature.length):
        total += weights[feature.entries[e].slot] * feature.entries[e].value
    return total


cdef inline double rational_slope(double difference, double weight) noexcept nogil:
    """Return the derivative of 1 / (1 + weight difference^2)."""
    value = 1.0 / (1.0 + weight * difference * difference)
    return -2.0 * weight * difference * value * value


cdef double rational_product(
    Feature *feature, double x, double weight, const double *means, double *slopes, Py_ssize_t n
) noexcept nogil:
    """Return the inner product of coefficients and the slopes of a feature's terms at its value x."""
    cdef double total = 0.0, present = 0.0
    if feature.column != NULL:
        for i in range(n):
            slopes[i] = rational_slope(x - feature.column[i], weight)
        return loops.inner(means, slopes, n)
    for e in range(feature.length):
        mean = means[feature.entries[e].slot]
        present += mean
        total += mean * rational_slope(x - feature.entries[e].value, weight)
    if x != 0.0:
        for i in range(n):
            present -= means[i]
        total -= present * rational_slope(x, weight)
    return total


cdef class Slopes:
    """The slopes at one vector after the other, and the sums of their squares."""
    cdef Store store
    cdef KernelBank bank
    cdef Py_ssize_t n, n_columns
    cdef double[:, :, ::1] means      # A (kernels, columns, capacity)
    cdef double[:, ::1] along         # slopes at the vector, in the user's units (columns, feature rows)
    cdef double[::1] x                # values of the vector (feature rows,)
    cdef double[::1] weights, slopes  # scratch (capacity,)

    def __cinit__(self, Posteriors posteriors, shares):
        self.store, self.bank, self.n = posteriors.store, posteriors.store.bank, posteriors.store.vectors.n
        self.n_columns, n_rows = posteriors.n_columns, self.bank.features.n_rows
        self.means = np.zeros((self.bank.n_kernels, self.n_columns, self.bank.capacity))
        for z in range(self.bank.n_kernels):
            own = np.where(np.equal(posteriors.kernels, z), shares, 0.0)
            self.means.base[z, :, : self.n] = posteriors.mean(own, self.n)
        self.along, self.x = np.zeros((self.n_columns, n_rows)), np.zeros(n_rows)
        self.weights, self.slopes = np.zeros((2, self.bank.capacity))
        for r in range(n_rows):  # their order depends on the past, and so would the bits of sums
            feature = &self.bank.features.rows[r]
            if feature.column == NULL:
                qsort(feature.entries, feature.length, sizeof(Entry), by_slot)

    cdef int compute(self, Py_ssize_t slot) except -1:
        """Compute the slopes at a vector."""
        rows = self.store.rows_of(slot)
        loaded = self.store.vectors.loaded
        self.x[:], self.along[:] = 0.0, 0.0
        for j in range(loaded.m):
            self.x[loaded.rows[j]] = loaded.values[j]
        for z in range(self.bank.n_kernels):
            kernel, row = &self.bank.z[z], rows + z * self.bank.capacity
            if kernel.inner < 0:
                continue
            inner = &self.bank.inners[kernel.inner]
            for c in range(self.n_columns):
                if inner.statistic == SQUARED_DISTANCE:
                    self.add_distance(kernel, row, c, &self.means[z, c, 0])
                elif inner.statistic == SUM_OF_RATIONALS:
                    self.add_rationals(kernel, inner, c, &self.means[z, c, 0])
                elif inner.statistic == DOT_PRODUCT:
                    if kernel.spec.function == IDENTITY or kernel.spec.degree == 1:
                        self.add_dot_product(kernel, row, slot, c, &self.means[z, c, 0])

    cdef void add_distance(
        self, Kernel *kernel, const double *row, Py_ssize_t c, const double *means
    ) noexcept nogil:
        cdef double factor = -kernel.spec.gamma, total = 0.0
        for i in range(self.n):
            slope = factor * row[i] * (row[i] if kernel.spec.function == RATIONAL else 1.0)
            self.weights[i] = means[i] * slope
            total += self.weights[i]
        for r in range(self.x.shape[0]):
            scale = self.bank.scale_at(<int> r, kernel.inner)
            difference = self.x[r] * total - product(&self.bank.features.rows[r], &self.weights[0], self.n)
            self.along[c, r] += 2.0 * scale * scale * difference

    cdef void add_rationals(
        self, Kernel *kernel, Inner *inner, Py_ssize_t c, const double *means
    ) noexcept nogil:
        for r in range(self.x.shape[0]):
            scale, feature = self.bank.scale_at(<int> r, kernel.inner), &self.bank.features.rows[r]
            if scale != 0.0:
                weight = inner.factor * scale * scale
                slope = rational_product(feature, self.x[r], weight, means, &self.slopes[0], self.n)
                self.along[c, r] += slope / kernel.spec.n_names

    cdef void add_dot_product(
        self, Kernel *kernel, const double *row, Py_ssize_t slot, Py_ssize_t c, const double *means
    ) noexcept nogil:
        cdef double own = 0.0, gamma = 1.0 if kernel.spec.function == IDENTITY else kernel.spec.gamma
        for i in range(self.n):
            norms = kernel.norms[slot] * kernel.norms[i] if kernel.spec.normalized else 1.0
            self.weights[i] = gamma * means[i] / norms if norms > 0.0 else 0.0
            own += means[i] * row[i]
        norm = kernel.norms[slot]
        own = gamma * own / (norm * norm) if kernel.spec.normalized and norm > 0.0 else 0.0
        for r in range(self.x.shape[0]):
            scale = self.bank.scale_at(<int> r, kernel.inner)
            slope = product(&self.bank.features.rows[r], &self.weights[0], self.n) - own * self.x[r]
            self.along[c, r] += scale * scale * slope


def mean_squared_slopes(Posteriors posteriors not None, shares):
    """Return, for the name of each number, the mean square of the slopes along it over the vectors.

    `shares` are the weights of the experts (experts,). The squares of all columns are added up.
    """
    store, bank = posteriors.store, posteriors.store.bank
    cdef Slopes slopes = Slopes(posteriors, shares)
    squares = np.zeros(bank.features.n_rows)
    for slot in range(slopes.n):
        slopes.compute(slot)
        squares += np.square(slopes.along).sum(axis=0)
    return {
        name: float(squares[row]) / (slopes.n * bank.factors.get(name, bank.pooled) ** 2)
        for name, row in bank.features.index.items() if bank.features.has_name(name)
    }
