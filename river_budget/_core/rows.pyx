# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel rows of examples over the vectors; see `rows.pxd`."""

import numpy as np

from cpython.object cimport PyObject
from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from river_budget._core.features import zero_matrix

from river_budget._core.features cimport (
    Feature, Features, Layout, Matrices, Matrix, checked, reallocate, value_of,
)
from river_budget._core.loops cimport loops

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil

cdef enum:
    # Zeros are left out if there are this many more of them than other values.
    FEWEST_ZEROS = 32

# Above this value of gamma times the largest squared norm, differences of squared norms lose
# significant digits of kernel values: the error is about 1e-16 times that value.
cdef double CANCELS_ABOVE = 1e5

# A name that no example has, to test whether a kernel reads all names.
UNKNOWN_NAME = object()


cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil:
    if spec.function == IDENTITY:
        return statistic
    if spec.function == POWER:
        return pow(spec.gamma * statistic + spec.coef0, spec.degree)
    return 1.0


cdef inline double weight(Inner *inner, double scale) noexcept nogil:
    """Return the weight of a term, given the inverse scale of the feature."""
    return fabs(scale) if inner.statistic == MANHATTAN_DISTANCE else scale * scale


cdef PyObject *layout_of(Rows self, Py_ssize_t slot) noexcept nogil:
    return PyList_GET_ITEM(<PyObject *> self.layouts, slot)


cdef double *divide(double *memory, Point *p, Py_ssize_t n_inner, Py_ssize_t n_elements) noexcept:
    """Give a point memory for each kernel and element; return what is behind it."""
    p.own, p.extra, p.elements = memory, memory + n_inner, memory + 2 * n_inner
    return p.elements + n_elements


cdef class Rows:

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        self.scaled = [False] * len(kernels) if scaled is None else list(scaled)
        self.factors, self.pooled = {}, 1.0
        self.features, self.matrices = Features(), Matrices(dtype)
        self.n_kernels, self.layouts = len(kernels), []
        self.z = <Kernel *> checked(calloc(self.n_kernels + 1, sizeof(Kernel)))
        self.inners = <Inner *> checked(calloc(self.n_kernels + 1, sizeof(Inner)))
        self.by_slot, self.by_feature = np.zeros((0, 0)), np.zeros((2, 0))

    def __dealloc__(self):
        free(self.z)
        free(self.inners)
        free(self.inserted)
        free(self.scales)

    # Kernels.

    cdef int set_kernels(self, tuple kernels) except -1:
        cdef Inner *inner
        cdef Spec *spec
        cdef Py_ssize_t i, g, slot
        cdef double n_names
        cdef double[::1] memory
        cdef double *rest
        is_scaled = bool(self.factors) or self.pooled != 1.0
        places, self.kernels, self.is_selective = {}, kernels, True
        self.n_inner = 0
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
            g = self.z[i].inner = places.setdefault(key, len(places))
            inner = &self.inners[g]
            if g == self.n_inner:
                self.n_inner += 1
                inner.statistic, inner.leader, inner.is_scaled = spec.statistic, i, key[1]
                inner.reads_all, inner.n_names, inner.gamma = reads_all, spec.n_names, spec.gamma
            inner.gamma = max(inner.gamma, spec.gamma)
            if spec.n_names > 0.0:  # each element of an array counts in a sum of rationals
                n_names = spec.n_names
                for name, a in self.matrices.place_of.items():
                    if kernel.active([name]) is None:
                        inner.n_names = max(0.0, inner.n_names - 1.0)
                        spec.n_names += self.matrices.all[a].size
                spec.n_names += inner.n_names - n_names
                spec.gamma *= spec.n_names / n_names
                inner.gamma = spec.gamma
        n_of_all = 2 * self.n_inner + self.matrices.n_elements
        memory = self.by_kernel = np.zeros(2 * n_of_all + self.n_inner * self.matrices.n + 1)
        rest = divide(&memory[0], &self.point, self.n_inner, self.matrices.n_elements)
        rest = divide(rest, &self.other, self.n_inner, self.matrices.n_elements)
        for g in range(self.n_inner):
            self.inners[g].of_matrices = rest + g * self.matrices.n
            for name, a in self.matrices.place_of.items():
                self.inners[g].of_matrices[a] = self.scale_of(g, name)
        self.resize(self.room)
        self.set_capacity(self.capacity)
        reallocate(<void **> &self.scales, self.scales_room * self.n_inner * sizeof(double))
        for name, row in self.features.index.items():
            set_scales(self, name, row)
        for slot in range(self.n):
            self.load(slot)
            self.set_statistics(slot, &self.other)

    cdef double scale_of(self, Py_ssize_t g, name) except? -1.0:
        cdef Inner *inner = &self.inners[g]
        if not inner.reads_all and self.kernels[inner.leader].active([name]) is not None:
            return 0.0
        return self.factors.get(name, self.pooled) if inner.is_scaled else 1.0

    cdef list active(self, list names):
        positions = set()
        for kernel in self.kernels:
            own = kernel.active(names)
            positions.update(range(len(names)) if own is None else own)
        return sorted(positions)

    # Vectors.

    cdef int resize(self, Py_ssize_t room) except -1:
        cdef Py_ssize_t kept = min(room, self.by_feature.shape[1])
        cdef double[:, ::1] memory = np.zeros((8 + 2 * self.n_inner, room))
        memory.base[:2, :kept] = self.by_feature[:2, :kept]
        self.by_feature, self.room = memory.base, room
        self.version += 1
        self.point.values, self.fresh, self.other.values = &memory[0, 0], &memory[1, 0], &memory[2, 0]
        self.terms, self.weights = &memory[3, 0], &memory[4, 0]
        self.columns_of = <const double **> &memory[5, 0]
        self.point.nonzero, self.other.nonzero = <int32_t *> &memory[6, 0], <int32_t *> &memory[7, 0]
        self.point.scales = &memory[7, 0] + room
        self.other.scales = self.point.scales + self.n_inner * room

    cdef int set_capacity(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t i, n = self.n_kernels, n_tables = 2 * n + 1 + self.n_inner
        cdef double[:, ::1] memory
        for i in range(n):
            n_tables += self.z[i].inner >= 0 and self.z[i].spec.function <= POWER
        memory = zero_matrix((n_tables, max(capacity, 8)), np.dtype(np.float64))
        kept = self.by_slot[:n_tables]
        memory.base[: len(kept), : kept.shape[1]] = kept
        self.by_slot = memory.base
        self.rows, self.other_rows, self.zeros = &memory[0, 0], &memory[n, 0], &memory[2 * n, 0]
        for i in range(self.n_inner):
            self.inners[i].statistics = &memory[2 * n + 1 + i, 0]
        for i in range(n):
            self.z[i].norms = NULL
            if self.z[i].inner >= 0 and self.z[i].spec.function <= POWER:
                n_tables -= 1
                self.z[i].norms = &memory[n_tables, 0]
        if capacity > self.capacity:
            reallocate(<void **> &self.inserted, capacity * sizeof(int64_t))
            self.features.extend(capacity)
            self.matrices.extend(capacity)
            self.capacity = capacity

    cdef int clear(self) except -1:
        self.n, self.layouts = 0, []
        self.features.clear()
        self.matrices.set_tables({})

    cdef int assign_rows(self, Layout layout) except -1:
        cdef Py_ssize_t j, n_used
        try:
            for j in range(layout.m):
                name, n_used = layout.columns[j], self.features.n_used
                layout.rows[j] = self.features.row_of(name)
                if self.features.n_used > n_used:
                    set_scales(self, name, layout.rows[j])
        except BaseException:
            self.features.sweep()
            raise

    cdef int set_features(self, Point *p, Layout layout) except -1 nogil:
        cdef Py_ssize_t g, j
        p.m, p.n_known, p.rows = layout.m, layout.m, layout.rows
        if p.m > self.room:
            with gil:
                self.resize(p.m)
        for g in range(self.n_inner):
            for j in range(p.m):
                p.scales[g * self.room + j] = self.scales[p.rows[j] * self.n_inner + g]

    cdef int load(self, Py_ssize_t slot) except -1 nogil:
        cdef Point *p = &self.other
        cdef PyObject *layout = layout_of(self, slot)
        cdef Py_ssize_t j
        self.set_features(p, <Layout> layout)
        for j in range(p.m):
            p.values[j] = value_of(&self.features.rows[p.rows[j]], slot)
        self.matrices.load(slot, p.elements)
        self.measure(p)

    cdef void measure(self, Point *p) noexcept nogil:
        cdef Py_ssize_t g, i, j, n = 0
        cdef Inner *inner
        cdef double *scales
        cdef double total, v
        for j in range(p.m):
            p.nonzero[n] = <int32_t> j
            n += p.values[j] != 0.0
        p.n_nonzero = n
        for g in range(self.n_inner):
            inner, scales, total = &self.inners[g], p.scales + g * self.room, 0.0
            if inner.statistic == SUM_OF_RATIONALS:
                total = inner.n_names
                for j in range(p.m):
                    if scales[j] != 0.0:
                        v = p.values[j]
                        total -= 1.0
                        total += 1.0 / (1.0 + inner.gamma * (scales[j] * scales[j]) * v * v)
            elif inner.statistic == MANHATTAN_DISTANCE:
                for i in range(n):
                    j = p.nonzero[i]
                    total += fabs(scales[j]) * fabs(p.values[j])
            else:
                for i in range(n):
                    j = p.nonzero[i]
                    total += (scales[j] * scales[j]) * (p.values[j] * p.values[j])
            p.own[g] = total

    cdef double own_statistic(self, Point *p, Py_ssize_t g) noexcept nogil:
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
            total += weight(inner, inner.of_matrices[a]) * sum
        return total

    cdef void set_statistics(self, Py_ssize_t slot, Point *p) noexcept nogil:
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

    # Kernel rows.

    cdef int kernel_rows(self, Point *p, double *rows) except -1 nogil:
        cdef Py_ssize_t i, j, g, n = (self.n + 7) // 8 * 8
        cdef Inner *inner
        cdef Kernel *kernel
        cdef Spec *spec
        cdef double *row
        cdef double raw
        if n == 0:
            return 0
        for i in range(self.n_kernels):
            g = self.z[i].inner
            if g >= 0:
                inner, row = &self.inners[g], rows + i * self.capacity
                if inner.leader == i:
                    numbers_row(self, p, inner, g, n, row)
                    add_arrays(self, p, inner, g, row)
                else:
                    memcpy(row, rows + inner.leader * self.capacity, n * sizeof(double))
        for i in range(self.n_kernels):
            kernel, spec, row = &self.z[i], &self.z[i].spec, rows + i * self.capacity
            if kernel.inner < 0:
                continue
            if spec.function == EXPONENTIAL:
                loops.exponential(spec.gamma, n, row)
            elif spec.function == RATIONAL:
                loops.rational(spec.gamma, n, row)
            elif spec.function == POWER:
                loops.power(spec.gamma, spec.coef0, spec.degree, n, row)
            elif spec.function == MEAN:
                for j in range(n):
                    row[j] = row[j] / spec.n_names if spec.n_names > 0.0 else 1.0
            if spec.normalized and kernel.norms != NULL:
                raw = raw_self_value(spec, self.own_statistic(p, kernel.inner))
                loops.normalize(sqrt(raw), kernel.norms, n, row)
            memset(row + self.n, 0, (n - self.n) * sizeof(double))

    cdef object squared_distances(self, Point *p):
        cdef Inner inner = self.inners[0]
        cdef double[::1] row = np.zeros(self.n + 8)
        inner.statistic, inner.gamma = SQUARED_DISTANCE, 1.0
        if self.inners[0].statistic <= SQUARED_DISTANCE:  # these have the same self statistics
            numbers_row(self, p, &inner, 0, (self.n + 7) // 8 * 8, &row[0])
        else:
            exact_row(self, p, &inner, 0, self.n, &row[0])
        add_arrays(self, p, &inner, 0, &row[0])
        return row.base[: self.n]


cdef int set_scales(Rows self, name, Py_ssize_t row) except -1:
    """Set the inverse scales of a feature row, and make room for those of all rows."""
    cdef Py_ssize_t g
    if self.scales_room != self.features.room:
        self.scales_room = self.features.room
        reallocate(<void **> &self.scales, self.scales_room * self.n_inner * sizeof(double))
    for g in range(self.n_inner):
        self.scales[row * self.n_inner + g] = self.scale_of(g, name)


cdef int numbers_row(
    Rows self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
) except -1 nogil:
    """Compute inner statistics of numbers: plain sums if x has all features of the vectors."""
    cdef const double *scales = p.scales + g * self.room
    cdef Py_ssize_t j, k = 0, n_listed = 0, n_nonzero = 0
    cdef double factor = inner.gamma if inner.statistic == SUM_OF_RATIONALS else 1.0
    cdef Feature *feature
    if (
        inner.statistic == DOT_PRODUCT or p.n_known < self.features.n_used
        or inner.reads_all and 2 * p.n_nonzero + FEWEST_ZEROS < p.m
    ):
        return sparse_row(self, p, inner, g, n, row)
    for j in range(p.m):
        if scales[j] == 0.0:
            continue
        self.columns_of[k] = self.zeros
        if p.rows[j] >= 0:
            feature = &self.features.rows[p.rows[j]]
            if feature.column != NULL:
                self.columns_of[k] = feature.column
            else:
                n_listed += feature.length != 0
        self.terms[k] = p.values[j]
        self.weights[k] = factor * weight(inner, scales[j])
        n_nonzero += p.values[j] != 0.0
        k += 1
    if n_listed or 2 * n_nonzero + FEWEST_ZEROS < k:
        return sparse_row(self, p, inner, g, n, row)
    loops.sums[inner.reads_all and not inner.is_scaled][inner.statistic](
        self.terms, self.weights, self.columns_of, k, n, row
    )
    if inner.statistic == SUM_OF_RATIONALS:
        loops.combine(inner.n_names - k, self.zeros, 1.0, n, row)


cdef int sparse_row(
    Rows self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
) except -1 nogil:
    """Compute inner statistics where features are missing, are 0 or are in lists.

    A distance follows from self statistics and from the features that x shares with a vector. If it
    would lose significant digits, the terms of all features are summed instead.
    """
    cdef const double *scales = p.scales + g * self.room
    cdef bint is_product = inner.statistic <= SQUARED_DISTANCE
    cdef bint is_rational = inner.statistic == SUM_OF_RATIONALS
    cdef Py_ssize_t i, j, k = 0
    cdef double v, w, constant, limit = CANCELS_ABOVE / inner.gamma
    cdef Feature *feature
    if not is_rational and inner.statistic != DOT_PRODUCT and (
        p.own[g] > limit or loops.exceeds(inner.statistics, limit, self.n)
    ):
        return exact_row(self, p, inner, g, n, row)
    for i in range(p.n_nonzero):
        j = p.nonzero[i]
        if scales[j] != 0.0 and p.rows[j] >= 0:
            feature = &self.features.rows[p.rows[j]]
            if feature.column != NULL:
                v, w = p.values[j], weight(inner, scales[j])
                self.columns_of[k] = feature.column
                self.terms[k] = v * w if is_product else v
                self.weights[k] = inner.gamma * w if is_rational else w
                k += 1
    loops.overlaps[inner.statistic](self.terms, self.weights, self.columns_of, k, n, row)
    for i in range(p.n_nonzero):
        j = p.nonzero[i]
        if scales[j] != 0.0 and p.rows[j] >= 0:
            add_listed(inner, p.values[j], scales[j], &self.features.rows[p.rows[j]], row)
    if inner.statistic != DOT_PRODUCT:
        constant = p.own[g] - (inner.n_names if is_rational else 0.0)
        w = -2.0 if inner.statistic == SQUARED_DISTANCE else 1.0
        loops.combine(constant, inner.statistics, w, n, row)


cdef void add_listed(
    Inner *inner, double v, double scale, Feature *feature, double *row
) noexcept nogil:
    """Add what a feature adds to inner statistics, if its values are in a list."""
    cdef Py_ssize_t slot
    cdef int32_t e
    cdef double s, d, w = weight(inner, scale), y = inner.gamma * w
    for e in range(feature.length if feature.column == NULL else 0):
        slot, s = feature.entries[e].slot, feature.entries[e].value
        d = v - s
        if inner.statistic <= SQUARED_DISTANCE:
            row[slot] += w * v * s
        elif inner.statistic == MANHATTAN_DISTANCE:
            row[slot] += w * ((fabs(d) - fabs(v)) - fabs(s))
        else:
            d = 1.0 / (1.0 + y * d * d) - 1.0 / (1.0 + y * v * v)
            row[slot] += d + (1.0 - 1.0 / (1.0 + y * s * s))


cdef int exact_row(
    Rows self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
) except -1 nogil:
    """Sum squared or absolute differences over all features.

    The terms of features that x lacks are summed with twice the digits, and so in any order.
    """
    cdef bint is_square = inner.statistic == SQUARED_DISTANCE
    cdef Py_ssize_t j, r, i
    cdef double d, w, total, rest, term
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
        w = weight(inner, p.scales[g * self.room + j])
        for i in range(n):
            d = p.values[j] - feature[i]
            row[i] += w * (d * d if is_square else fabs(d))
    for r in range(self.features.room):
        if self.features.rows[r].mark == self.features.mark or not self.features.rows[r].count:
            continue
        self.features.copy(<int32_t> r, n, feature)
        w = weight(inner, self.scales[r * self.n_inner + g])
        for i in range(n):
            term = w * (feature[i] * feature[i] if is_square else fabs(feature[i]))
            total = high[i] + term
            rest = total - high[i]
            low[i] += (high[i] - (total - rest)) + (term - rest)
            high[i] = total
    for i in range(n):
        row[i] += high[i] + low[i]
    free(feature)


cdef void add_arrays(Rows self, Point *p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil:
    """Add the inner statistics of arrays, those that no vector has among them."""
    cdef Py_ssize_t a, i
    cdef double w
    cdef Matrix *matrix
    for a in range(self.matrices.n):
        w, matrix = weight(inner, inner.of_matrices[a]), &self.matrices.all[a]
        if inner.statistic == SUM_OF_RATIONALS:
            w *= inner.gamma
        if w != 0.0:
            loops.add_arrays[not self.matrices.is_float][inner.statistic](
                w, p.elements + matrix.start, matrix.values, matrix.size, self.n, row
            )
    if p.extra[g] != 0.0 and inner.statistic in (SQUARED_DISTANCE, MANHATTAN_DISTANCE):
        for i in range(self.n):
            row[i] += p.extra[g]
