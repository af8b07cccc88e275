# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel rows of examples over the vectors; see `rows.pxd`."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from river_budget._core.features cimport (
    Feature, Features, Layout, checked, reallocate, slots_of, value_of, widen,
)
from river_budget._core.loops cimport aligned_free, loops
from river_budget._core.matrices cimport Matrices, Matrix

cdef enum:
    # Zeros are left out if there are this many more of them than other values.
    FEWEST_ZEROS = 32

# Above this value of gamma times the largest squared norm, differences of squared norms lose
# significant digits of kernel values: the error is about 1e-16 times that value.
cdef double CANCELS_ABOVE = 1e5

# A name that no example has, to test whether a kernel reads all names.
UNKNOWN_NAME = object()


cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil:
    """Return k(x, x) before normalization."""
    if spec.function == IDENTITY:
        return statistic
    if spec.function == POWER:
        return pow(spec.gamma * statistic + spec.coef0, spec.degree)
    return 1.0


cdef double[::1] squares(const double *values, Py_ssize_t n):
    cdef Py_ssize_t i
    cdef double[::1] result = np.empty(n + 1)  # never without an element, so that it has an address
    for i in range(n):
        result[i] = values[i] * values[i]
    return result


cdef void add_listed(
    Inner *inner, double v, double w, Feature *feature, double *row
) noexcept nogil:
    """Add what a feature in a list adds to inner statistics."""
    cdef int32_t *slots = slots_of(feature)
    cdef int32_t e
    cdef double s, d, g = inner.gamma * w
    for e in range(feature.length):
        s = feature.values[e]
        d = v - s
        if inner.statistic <= SQUARED_DISTANCE:
            row[slots[e]] += w * v * s
        elif inner.statistic == MANHATTAN_DISTANCE:
            row[slots[e]] += w * ((fabs(d) - fabs(v)) - fabs(s))
        else:
            d = 1.0 / (1.0 + g * d * d) - 1.0 / (1.0 + g * v * v)
            row[slots[e]] += d + (1.0 - 1.0 / (1.0 + g * s * s))


cdef void apply(Kernel *kernel, double statistic, Py_ssize_t n, double *row) noexcept nogil:
    """Convert inner statistics of x to kernel values, given the self statistic of x."""
    cdef Spec *spec = &kernel.spec
    cdef Py_ssize_t i
    if spec.function == EXPONENTIAL:
        loops.exponential(spec.gamma, n, row)
    elif spec.function == RATIONAL:
        loops.rational(spec.gamma, n, row)
    elif spec.function == POWER:
        loops.power(spec.gamma, spec.coef0, spec.degree, n, row)
    elif spec.function == MEAN:
        for i in range(n):
            row[i] = row[i] / spec.n_names if spec.n_names > 0.0 else 1.0
    if spec.normalized and kernel.norms != NULL:
        loops.normalize(sqrt(raw_self_value(spec, statistic)), kernel.norms, n, row)


cdef void free_point(Point *p) noexcept:
    """Free what a point owns; its values may be those of others."""
    free(p.weights)
    free(p.own)
    free(p.extra)
    free(p.elements)


cdef class Rows:

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        self.scaled = [False] * len(kernels) if scaled is None else list(scaled)
        self.factors, self.pooled = {}, 1.0
        self.features, self.matrices = Features(), Matrices(dtype)
        self.z = <Kernel *> checked(calloc(len(kernels) + 1, sizeof(Kernel)))
        self.n_kernels = len(kernels)

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n):
            Py_XDECREF(self.layouts[i])
        self.free_inners()
        for i in range(self.n_kernels):
            aligned_free(self.z[i].norms)
        aligned_free(self.zeros)
        aligned_free(self.rows)
        aligned_free(self.other_rows)
        free(self.other.values)
        free_point(&self.other)
        free(self.z)
        free(self.layouts)
        free(self.inserted)
        free(self.columns_of)
        free(self.terms)
        free(self.term_weights)
        free(self.listed)

    # Kernels.

    cdef void free_inners(self) noexcept:
        cdef Py_ssize_t g
        for g in range(self.n_inner):
            aligned_free(self.inners[g].statistics)
            free(self.inners[g].weights)
            free(self.inners[g].of_matrices)
        free(self.inners)
        self.inners, self.n_inner = NULL, 0

    cdef int set_kernels(self, tuple kernels) except -1:
        """Change the kernels, and derive all that follows from them."""
        cdef Inner *inner
        cdef Spec *spec
        cdef Py_ssize_t i, g
        self.free_inners()
        self.inners = <Inner *> checked(calloc(self.n_kernels + 1, sizeof(Inner)))
        is_scaled = bool(self.factors) or self.pooled != 1.0
        places, self.is_selective = {}, True
        for i, kernel in enumerate(kernels):
            values = kernel.spec
            if values is None:
                self.z[i].inner = -1
                continue
            spec = &self.z[i].spec
            spec.statistic, spec.function, spec.degree = map(int, (values[0], values[1], values[4]))
            spec.gamma, spec.coef0, spec.n_names = values[2], values[3], values[5]
            spec.normalized = values[6]
            reads_all = kernel.active([UNKNOWN_NAME]) is None
            self.is_selective &= not reads_all
            has_own = not reads_all or spec.statistic == SUM_OF_RATIONALS
            key = spec.statistic, is_scaled and self.scaled[i], i if has_own else -1
            g = places.setdefault(key, len(places))
            self.z[i].inner = g
            inner = &self.inners[g]
            if g == self.n_inner:
                self.n_inner += 1
                inner.statistic, inner.leader, inner.is_scaled = spec.statistic, i, key[1]
                inner.is_plain = reads_all and not inner.is_scaled
                inner.n_names, inner.gamma = spec.n_names, spec.gamma
            inner.gamma = max(inner.gamma, spec.gamma)
            if spec.n_names > 0.0:
                self.count_elements(kernel, spec, inner)
        self._kernels = kernels
        return self.renew()

    cdef int count_elements(self, kernel, Spec *spec, Inner *inner) except -1:
        """Let each element of an array count in a sum of rationals."""
        cdef double n_names = spec.n_names
        for name, a in self.matrices.place_of.items():
            if kernel.active([name]) is None:
                inner.n_names = max(0.0, inner.n_names - 1.0)
                spec.n_names += self.matrices.all[a].size
        spec.n_names += inner.n_names - n_names
        spec.gamma *= spec.n_names / n_names
        inner.gamma = spec.gamma

    cdef int renew(self) except -1:
        """Derive all that follows from the kernels, scales and vectors."""
        cdef Py_ssize_t g, i, slot
        self.version += 1
        self.set_sizes(&self.other)
        for g in range(self.n_inner):
            widen(&self.inners[g].statistics, 0, self.capacity)
            reallocate(<void **> &self.inners[g].weights, self.weights_room * sizeof(double))
            reallocate(<void **> &self.inners[g].of_matrices, self.matrices.n * sizeof(double))
            for name, a in self.matrices.place_of.items():
                self.inners[g].of_matrices[a] = self.weight_of(g, name)
        for i in range(self.n_kernels):
            aligned_free(self.z[i].norms)
            self.z[i].norms = NULL
            if self.z[i].inner >= 0 and self.z[i].spec.function <= POWER:
                widen(&self.z[i].norms, 0, self.capacity)
        for name, row in self.features.index.items():
            self.set_weights(name, row)
        for slot in range(self.n):
            self.load(slot)
            self.set_statistics(slot, &self.other)

    cdef int set_sizes(self, Point *p) except -1:
        """Give a point the memory that the kernels and matrices need."""
        cdef size_t n_bytes = self.n_inner * sizeof(double)
        reallocate(<void **> &p.own, n_bytes)
        reallocate(<void **> &p.extra, n_bytes)
        reallocate(<void **> &p.weights, self.room * n_bytes)
        reallocate(<void **> &p.elements, self.matrices.n_elements * sizeof(double))
        memset(p.extra, 0, n_bytes)

    cdef double weight_of(self, Py_ssize_t g, name) except -1:
        """Return the weight of a feature in an inner statistic; 0 if it is not read."""
        cdef Inner *inner = &self.inners[g]
        cdef double factor
        if inner.is_plain:
            return 1.0
        if self._kernels[inner.leader].active([name]) is not None:
            return 0.0
        factor = self.factors.get(name, self.pooled) if inner.is_scaled else 1.0
        return fabs(factor) if inner.statistic == MANHATTAN_DISTANCE else factor * factor

    cdef int set_weights(self, name, Py_ssize_t row) except -1:
        """Set the weights of a feature row, and make room for those of all rows."""
        cdef Py_ssize_t g, room = self.features.room
        for g in range(self.n_inner):
            if room != self.weights_room:
                reallocate(<void **> &self.inners[g].weights, room * sizeof(double))
            self.inners[g].weights[row] = self.weight_of(g, name)
        self.weights_room = room

    cdef list active(self, list names):
        """Return the positions of the names that some kernel reads."""
        positions = set()
        for kernel in self._kernels:
            own = kernel.active(names)
            positions.update(range(len(names)) if own is None else own)
        return sorted(positions)

    # Vectors.

    cdef int resize(self, Py_ssize_t room) except -1 nogil:
        """Make room for the features of one example."""
        cdef size_t n_bytes = room * sizeof(double)
        reallocate(<void **> &self.other.values, n_bytes)
        reallocate(<void **> &self.other.weights, self.n_inner * n_bytes)
        reallocate(<void **> &self.terms, n_bytes)
        reallocate(<void **> &self.term_weights, n_bytes)
        reallocate(<void **> &self.columns_of, room * sizeof(double *))
        reallocate(<void **> &self.listed, room * sizeof(int32_t))
        self.room = room

    cdef int set_capacity(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t i, old = self.capacity
        cdef double *rows = NULL
        widen(&self.other_rows, 0, self.n_kernels * capacity)
        widen(&rows, 0, self.n_kernels * capacity)
        for i in range(self.n_kernels if old else 0):
            memcpy(rows + i * capacity, self.rows + i * old, old * sizeof(double))
        aligned_free(self.rows)
        self.rows = rows
        reallocate(<void **> &self.inserted, capacity * sizeof(int64_t))
        self.features.extend(capacity)
        self.matrices.extend(capacity)
        for i in range(self.n_inner):
            widen(&self.inners[i].statistics, old, capacity)
        for i in range(self.n_kernels):
            if self.z[i].norms != NULL:
                widen(&self.z[i].norms, old, capacity)
        widen(&self.zeros, old, capacity)
        reallocate(<void **> &self.layouts, capacity * sizeof(PyObject *))
        memset(self.layouts + old, 0, (capacity - old) * sizeof(PyObject *))
        self.capacity = capacity

    cdef int clear(self) except -1:
        """Forget all vectors. The capacity stays."""
        cdef Py_ssize_t i
        for i in range(self.n):
            Py_XDECREF(self.layouts[i])
            self.layouts[i] = NULL
        self.n = 0
        self.features.clear()
        self.matrices.set_tables({})

    cdef int load(self, Py_ssize_t slot) except -1 nogil:
        """Make the vector in a slot the other point, with its self statistics."""
        cdef Point *p = &self.other
        cdef Py_ssize_t j
        self.set_features(p, <Layout> self.layouts[slot])
        for j in range(p.m):
            p.values[j] = value_of(&self.features.rows[p.rows[j]], slot)
        self.matrices.load(slot, p.elements)
        self.measure(p)

    cdef int set_features(self, Point *p, Layout layout) except -1 nogil:
        """Set the features of a point to those of a layout, which all have rows."""
        cdef Py_ssize_t g, j
        p.m, p.n_known, p.rows = layout.m, layout.m, layout.rows
        if p.m > self.room:
            self.resize(p.m)
        for g in range(self.n_inner):
            for j in range(p.m):
                p.weights[g * self.room + j] = self.inners[g].weights[p.rows[j]]

    cdef void set_statistics(self, Py_ssize_t slot, Point *p) noexcept nogil:
        """Keep the self statistics of the vector in a slot, which is a point."""
        cdef Py_ssize_t g, i
        cdef Kernel *kernel
        cdef double raw
        for g in range(self.n_inner):
            self.inners[g].statistics[slot] = p.own[g]
        for i in range(self.n_kernels):
            kernel = &self.z[i]
            if kernel.norms != NULL:
                raw = raw_self_value(&kernel.spec, self.own_statistic(p, kernel.inner))
                kernel.norms[slot] = sqrt(raw) if kernel.spec.normalized else raw

    cdef int assign_rows(self, Layout layout) except -1:
        """Look up the feature rows of all names; a new name gets one, with its weights."""
        cdef Py_ssize_t j, n_used
        try:
            for j in range(layout.m):
                name, n_used = layout.columns[j], self.features.n_used
                layout.rows[j] = self.features.row_of(name)
                if self.features.n_used > n_used:
                    self.set_weights(name, layout.rows[j])
        except BaseException:
            self.features.sweep()
            raise

    # Kernel rows.

    cdef void measure(self, Point *p) noexcept nogil:
        """Set the self statistics of the numbers."""
        cdef Py_ssize_t g, j
        cdef Inner *inner
        cdef double *weights
        cdef double total, v
        for g in range(self.n_inner):
            inner = &self.inners[g]
            weights = p.weights + g * self.room
            total = inner.n_names if inner.statistic == SUM_OF_RATIONALS else 0.0
            if inner.statistic == SUM_OF_RATIONALS:
                for j in range(p.m):
                    if weights[j] != 0.0:
                        v = p.values[j]
                        total -= 1.0
                        total += 1.0 / (1.0 + inner.gamma * weights[j] * v * v)
            elif inner.statistic == MANHATTAN_DISTANCE:
                for j in range(p.m):
                    total += weights[j] * fabs(p.values[j])
            else:
                for j in range(p.m):
                    total += weights[j] * (p.values[j] * p.values[j])
            p.own[g] = total

    cdef double own_statistic(self, Point *p, Py_ssize_t g) noexcept nogil:
        """Return the self statistic of numbers and arrays."""
        cdef Inner *inner = &self.inners[g]
        cdef Matrix *matrix
        cdef Py_ssize_t a, e
        cdef double sum, v, total = p.own[g] + p.extra[g]
        if inner.statistic == SUM_OF_RATIONALS:
            return total
        for a in range(self.matrices.n):
            sum, matrix = 0.0, &self.matrices.all[a]
            for e in range(matrix.start, matrix.start + matrix.size):
                v = p.elements[e]
                sum += fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v
            total += inner.of_matrices[a] * sum
        return total

    cdef int kernel_rows(self, Point *p, double *rows) except -1 nogil:
        """Compute the kernel rows of an example or a vector (n_kernels, capacity)."""
        cdef Py_ssize_t i, g, n = (self.n + 7) // 8 * 8
        cdef Kernel *kernel
        cdef double *row
        if n == 0:
            return 0
        for i in range(self.n_kernels):
            g = self.z[i].inner
            if g >= 0:
                row = rows + i * self.capacity
                if self.inners[g].leader == i:
                    self.inner_row(p, &self.inners[g], g, n, row)
                    self.add_arrays(p, &self.inners[g], g, row)
                else:
                    memcpy(row, rows + self.inners[g].leader * self.capacity, n * sizeof(double))
        for i in range(self.n_kernels):
            kernel = &self.z[i]
            if kernel.inner >= 0:
                row = rows + i * self.capacity
                apply(kernel, self.own_statistic(p, kernel.inner), n, row)
                memset(row + self.n, 0, (n - self.n) * sizeof(double))

    cdef void add_arrays(self, Point *p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil:
        """Add the inner statistics of arrays, those that no vector has among them."""
        cdef Py_ssize_t a, i
        cdef double w
        cdef Matrix *matrix
        for a in range(self.matrices.n):
            w, matrix = inner.of_matrices[a], &self.matrices.all[a]
            if inner.statistic == SUM_OF_RATIONALS:
                w *= inner.gamma
            if w != 0.0:
                loops.add_arrays[not self.matrices.is_float][inner.statistic](
                    w, p.elements + matrix.start, matrix.values, matrix.size, self.n, row
                )
        if p.extra[g] != 0.0 and inner.statistic in (SQUARED_DISTANCE, MANHATTAN_DISTANCE):
            for i in range(self.n):
                row[i] += p.extra[g]

    cdef int inner_row(
        self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
    ) except -1 nogil:
        """Compute inner statistics of numbers: plain sums if x has all features of the vectors."""
        cdef const double *weights = p.weights + g * self.room
        cdef Py_ssize_t j, k = 0, n_listed = 0, n_nonzero = 0
        cdef double factor = inner.gamma if inner.statistic == SUM_OF_RATIONALS else 1.0
        cdef Feature *feature
        for j in range(p.m):
            if weights[j] == 0.0:
                continue
            self.columns_of[k] = self.zeros
            if p.rows[j] >= 0:
                feature = &self.features.rows[p.rows[j]]
                if feature.column != NULL:
                    self.columns_of[k] = feature.column
                else:
                    n_listed += feature.length != 0
            self.terms[k] = p.values[j]
            self.term_weights[k] = factor * weights[j]
            n_nonzero += p.values[j] != 0.0
            k += 1
        if inner.statistic == DOT_PRODUCT or n_listed or 2 * n_nonzero + FEWEST_ZEROS < k:
            return self.sparse_row(p, inner, g, n, row)
        if p.n_known < self.features.n_used:
            return self.sparse_row(p, inner, g, n, row)
        loops.sums[inner.is_plain][inner.statistic](
            self.terms, self.term_weights, self.columns_of, k, n, row
        )
        if inner.statistic == SUM_OF_RATIONALS:
            loops.combine(inner.n_names - k, self.zeros, 1.0, n, row)

    cdef int sparse_row(
        self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
    ) except -1 nogil:
        """Compute inner statistics where features are missing, are 0 or are in lists.

        A distance follows from self statistics and from the features that x shares with a vector.
        If it would lose significant digits, the terms of all features are summed instead.
        """
        cdef const double *weights = p.weights + g * self.room
        cdef bint is_product = inner.statistic <= SQUARED_DISTANCE
        cdef Py_ssize_t j, k = 0, n_listed = 0
        cdef double v, w, constant, factor
        cdef Feature *feature
        if inner.statistic in (SQUARED_DISTANCE, MANHATTAN_DISTANCE) and self.cancels(p, inner, g):
            return self.exact_row(p, inner, weights, n, row)
        for j in range(p.m):
            v, w = p.values[j], weights[j]
            if v == 0.0 or w == 0.0 or p.rows[j] < 0:
                continue
            feature = &self.features.rows[p.rows[j]]
            if feature.column != NULL:
                self.columns_of[k] = feature.column
                self.terms[k] = v * w if is_product else v
                self.term_weights[k] = inner.gamma * w if inner.statistic == SUM_OF_RATIONALS else w
                k += 1
            elif feature.length:
                self.listed[n_listed] = <int32_t> j
                n_listed += 1
        loops.overlaps[inner.statistic](
            self.terms, self.term_weights, self.columns_of, k, n, row
        )
        for k in range(n_listed):
            j = self.listed[k]
            add_listed(inner, p.values[j], weights[j], &self.features.rows[p.rows[j]], row)
        if inner.statistic != DOT_PRODUCT:
            constant = p.own[g] - (inner.n_names if inner.statistic == SUM_OF_RATIONALS else 0.0)
            factor = -2.0 if inner.statistic == SQUARED_DISTANCE else 1.0
            loops.combine(constant, inner.statistics, factor, n, row)

    cdef bint cancels(self, Point *p, Inner *inner, Py_ssize_t g) noexcept nogil:
        """Return whether statistics are too large to subtract without losing digits."""
        cdef double limit = CANCELS_ABOVE / inner.gamma
        cdef Py_ssize_t i, n_above = p.own[g] > limit
        for i in range(self.n):
            n_above += inner.statistics[i] > limit
        return n_above > 0

    cdef int exact_row(
        self, Point *p, Inner *inner, const double *weights, Py_ssize_t n, double *row
    ) except -1 nogil:
        """Sum squared or absolute differences over all self.features.

        The terms of features that x lacks are summed with twice the digits, and so in any order.
        """
        cdef Py_ssize_t j, r, i
        cdef double d, total, rest, term
        cdef double *feature = <double *> checked(calloc(3 * n + 1, sizeof(double)))
        cdef double *high = feature + n
        cdef double *low = high + n
        memset(row, 0, n * sizeof(double))
        self.features.mark += 1
        for j in range(p.m):
            if p.rows[j] >= 0:
                self.features.rows[p.rows[j]].mark = self.features.mark
                self.features.copy(p.rows[j], n, feature)
            else:
                memset(feature, 0, n * sizeof(double))
            for i in range(n):
                d = p.values[j] - feature[i]
                row[i] += weights[j] * (d * d if inner.statistic == SQUARED_DISTANCE else fabs(d))
        for r in range(self.features.room):
            if self.features.rows[r].mark == self.features.mark or not self.features.rows[r].count:
                continue
            self.features.copy(<int32_t> r, n, feature)
            for i in range(n):
                d = feature[i]
                term = d * d if inner.statistic == SQUARED_DISTANCE else fabs(d)
                term *= inner.weights[r]
                total = high[i] + term
                rest = total - high[i]
                low[i] += (high[i] - (total - rest)) + (term - rest)
                high[i] = total
        for i in range(n):
            row[i] += high[i] + low[i]
        free(feature)

    cdef object squared_distances(self, Point *p):
        """Return squared distances of features as the first kernel reads and scales them."""
        cdef Inner inner = self.inners[0]
        cdef Py_ssize_t n = (self.n + 7) // 8 * 8
        cdef const double *weights = p.weights
        cdef double[::1] row = np.zeros(n + 1), own, of_rows, of_matrices
        inner.statistic, inner.gamma = SQUARED_DISTANCE, 1.0
        if self.inners[0].statistic == MANHATTAN_DISTANCE:
            # The weights of absolute differences are roots of those of squares.
            own, of_rows = squares(p.weights, p.m), squares(inner.weights, self.weights_room)
            of_matrices = squares(inner.of_matrices, self.matrices.n)
            weights, inner.weights, inner.of_matrices = &own[0], &of_rows[0], &of_matrices[0]
        if self.inners[0].statistic <= SQUARED_DISTANCE:
            self.inner_row(p, &inner, 0, n, &row[0])
        else:
            self.exact_row(p, &inner, weights, n, &row[0])
        self.add_arrays(p, &inner, 0, &row[0])
        return row.base[: self.n]
