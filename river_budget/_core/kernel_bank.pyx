# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""Kernels, their scales, and kernel rows over vectors; see `kernel_bank.pxd`."""

import numpy as np

from river_budget._checks import shown
from river_budget._core.features import zero_matrix
from river_budget._features import NOT_NUMBERS
from river_budget.kernels import LARGEST as LARGEST_VALUE

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from river_budget._core.features cimport Feature, Layout, checked
from river_budget._core.loops cimport loops

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil

cdef enum:                            # statistics and functions, as in `kernels`
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN
cdef enum:
    # Zeros are left out if there are this many more of them than other values.
    FEWEST_ZEROS = 32

cdef double LARGEST = LARGEST_VALUE

# In the place of all names that have no feature row.
cdef object UNSEEN = object()

# Above this value of gamma times the largest squared norm, differences of squared norms lose
# significant digits of kernel values: the error is about 1e-16 times that value.
cdef double CANCELS_ABOVE = 1e5

# Numbers in the self statistics of a point.
cdef Py_ssize_t N_OWN = sizeof(Own) // sizeof(double)


cdef class Point:

    cdef int set_room(self, Py_ssize_t room) except -1:
        cdef double[:, ::1] memory = np.zeros((2, room))
        if self.by_feature is not None:
            kept = min(room, self.room)
            memory.base[0, :kept] = self.by_feature[0, :kept]
        self.values, self.nonzero = &memory[0, 0], <int32_t *> &memory[1, 0]
        self.by_feature, self.room = memory.base, room

    cdef int set_sizes(self, Py_ssize_t n_inner, Py_ssize_t n_elements) except -1:
        cdef double[::1] memory = np.zeros(N_OWN * n_inner + n_elements + 1)
        self.own, self.elements = <Own *> &memory[0], &memory[N_OWN * n_inner]
        self.by_statistic = memory.base


cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil:
    """Return k(x, x) before normalization."""
    if spec.function == IDENTITY:
        return statistic
    if spec.function == POWER:
        return pow(spec.gamma * statistic + spec.coef0, spec.degree)
    return 1.0


cdef inline double size(Inner *inner, double v) noexcept nogil:
    """Return a difference as a term of a distance."""
    return fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v


cdef inline double weight(Inner *inner, double scale) noexcept nogil:
    """Return the weight of the terms of a feature, given its inverse scale."""
    return inner.factor * size(inner, scale)


cdef double size_of(Inner *inner, array) except? -1.0:
    """Return the sum of the elements of an array as terms of a distance."""
    elements = array.astype(np.float64)
    return abs(elements).sum() if inner.statistic == MANHATTAN_DISTANCE else np.dot(elements, elements)


cdef void add_listed(Inner *inner, double v, double w, Feature *feature, double *row) noexcept nogil:
    """Add what a feature, whose values are in a list, adds to inner statistics."""
    for e in range(feature.length):
        slot, s = feature.entries[e].slot, feature.entries[e].value
        d = v - s
        if inner.statistic <= SQUARED_DISTANCE:
            row[slot] += w * v * s
        elif inner.statistic == MANHATTAN_DISTANCE:
            row[slot] += w * ((fabs(d) - fabs(v)) - fabs(s))
        else:
            d = 1.0 / (1.0 + w * d * d) - 1.0 / (1.0 + w * v * v)
            row[slot] += d + (1.0 - 1.0 / (1.0 + w * s * s))


cdef class KernelBank:
    """Kernels, and what follows from them for vectors and one example."""

    def __cinit__(self, tuple kernels, list scaled, Features features, Matrices matrices):
        self.n_kernels, self.scaled = len(kernels), scaled
        self.features, self.matrices = features, matrices
        self.factors, self.pooled, self.relevances = {}, 1.0, {}
        self.z = <Kernel *> checked(calloc(self.n_kernels + 1, sizeof(Kernel)))
        self.inners = <Inner *> checked(calloc(self.n_kernels + 1, sizeof(Inner)))
        self.own_values = <double *> checked(calloc(self.n_kernels + 1, sizeof(double)))
        self.by_slot = np.zeros((self.n_kernels, 0))

    def __dealloc__(self):
        free(self.z)
        free(self.inners)
        free(self.own_values)

    # Kernels and scales.

    cdef int set_kernels(self, tuple kernels) except -1:
        is_scaled = bool(self.factors) or self.pooled != 1.0
        places, self.kernels, self.n_inner = {}, kernels, 0
        names = [kernel.known for kernel in kernels]
        self.known = None if None in names else frozenset().union(*names)
        self.named = set(self.factors).union(self.relevances, *[known for known in names if known is not None])
        for i, kernel in enumerate(kernels):
            if kernel.spec is None:
                self.z[i].inner = -1
                continue
            spec = &self.z[i].spec
            spec[0] = kernel.spec._asdict()
            has_relevances = kernel.has_relevances and bool(self.relevances)
            own_names = None if kernel.known is None else i
            key = spec.statistic, is_scaled and self.scaled[i], has_relevances, own_names
            g = self.z[i].inner = places.setdefault(key, len(places))
            inner = &self.inners[<Py_ssize_t> g]
            if g == self.n_inner:
                self.n_inner += 1
                inner.statistic, inner.leader, inner.n_names = spec.statistic, i, spec.n_names
                inner.is_plain = not (key[1] or has_relevances) and kernel.known is None
                inner.gamma, inner.factor = spec.gamma, 1.0
            inner.gamma = max(inner.gamma, spec.gamma)
            if spec.n_names > 0.0:  # each element of an array counts in a sum of rationals
                sizes = [size for name, size in (self.array_sizes or {}).items() if name in kernel.known]
                inner.n_names = spec.n_names - len(sizes)
                n_terms = inner.n_names + sum(sizes)
                spec.gamma *= n_terms / spec.n_names
                spec.n_names, inner.factor = n_terms, spec.gamma

    cdef double scale_of(self, Py_ssize_t g, name) except? -1.0:
        """Return the inverse scale of a feature in an inner statistic; 0 if it is not read."""
        inner = &self.inners[g]
        if inner.is_plain:
            return 1.0
        kernel = self.kernels[inner.leader]
        if kernel.known is not None and name not in kernel.known:
            return 0.0
        scale = self.factors.get(name, self.pooled) if self.scaled[inner.leader] else 1.0
        return scale * self.relevances.get(name, 1.0) if kernel.has_relevances else scale

    cdef double scale_of_array(self, Py_ssize_t g, name, Py_ssize_t size) except? -1.0:
        """Return the inverse scale of an array in an inner statistic; 0 if it is not read."""
        cdef bint has_names = self.kernels[self.inners[g].leader].known is not None
        if has_names and (self.array_sizes or {}).get(name) != size:
            return 0.0
        return self.scale_of(g, name)

    cdef bint hides(self, list names) except -1:
        """Return whether no kernel reads one of the names."""
        return self.known is not None and not self.known.issuperset(names)

    cdef int set_scales(self) except -1:
        features = self.features
        features.set_n_scales(self.n_inner)
        for name, row in [(UNSEEN, 0), *features.index.items()]:
            self.set_scales_of(row, name)

    cdef int set_scales_of(self, Py_ssize_t row, name) except -1:
        for g in range(self.n_inner):
            self.features.scales[row * self.n_inner + g] = self.scale_of(g, name)

    # Memory.

    cdef int set_capacity(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t n = self.n_kernels
        has_norms = [self.z[i].inner >= 0 and self.z[i].spec.function <= POWER for i in range(n)]
        shape = 2 * n + 1 + self.n_inner + sum(has_norms), max(capacity, 8)
        by_slot, kept = zero_matrix(shape, np.dtype(np.float64)), self.by_slot[:n, :capacity]
        by_slot[:n, : kept.shape[1]] = kept
        scales = [
            self.scale_of_array(g, name, self.matrices.sizes[name])
            for g in range(self.n_inner) for name in self.matrices.place_of
        ]
        self.lacks_arrays = not (self.array_sizes or {}).items() <= self.matrices.sizes.items()
        self.of_matrices = np.array(scales, np.float64).reshape(self.n_inner, self.matrices.n)
        self.set_tables(by_slot, capacity)

    cdef int grow(self, Py_ssize_t capacity) except -1:
        by_slot = zero_matrix((len(self.by_slot), max(capacity, 8)), np.dtype(np.float64))
        by_slot[:, : self.by_slot.shape[1]] = self.by_slot
        self.set_tables(by_slot, capacity)

    cdef int set_tables(self, double[:, ::1] by_slot, Py_ssize_t capacity) except -1:
        """Take other memory for rows, statistics and norms."""
        cdef Py_ssize_t n = self.n_kernels, place = 2 * n + 1 + self.n_inner
        self.rows, self.other_rows, self.zeros = &by_slot[0, 0], &by_slot[n, 0], &by_slot[2 * n, 0]
        for i in range(self.n_inner):
            self.inners[i].statistics = &by_slot[2 * n + 1 + i, 0]
        for i in range(n):
            self.z[i].norms = NULL
            if self.z[i].inner >= 0 and self.z[i].spec.function <= POWER:
                self.z[i].norms = &by_slot[place, 0]
                place += 1
        self.by_slot, self.capacity = by_slot.base, capacity

    cdef int set_room(self, Py_ssize_t room) except -1:
        cdef double[:, ::1] memory = np.zeros((3, room))
        self.terms, self.weights = &memory[0, 0], &memory[1, 0]
        self.columns_of = <const double **> &memory[2, 0]
        self.by_feature = memory.base

    # Points.

    cdef int look_up(self, Layout layout, bint adds) except -1:
        for j in range(layout.m):
            if layout.rows[j] == 0:
                row = PyDict_GetItemWithError(self.features.index, layout.names[j])
                if row != NULL:
                    layout.rows[j] = <int32_t> <object> row
                elif adds or layout.names[j] in self.named:
                    self.add_row(layout.names[j])
                    layout.rows[j] = <int32_t> self.features.n_rows - 1

    cdef int add_row(self, name) except -1:
        features = self.features
        if features.n_rows == features.room:
            features.set_room(features.room + max(features.room // 2, <Py_ssize_t> 8))
        self.set_scales_of(features.n_rows, name)
        features.rows[features.n_rows] = Feature(0, 0, 0, NULL, NULL, NULL)
        # The name may run Python code, which may raise: it is known from here on.
        features.index[name] = features.n_rows
        features.n_rows += 1

    cdef int add_unseen(self) except -1:
        self.add_row(UNSEEN)
        self.features.index.clear()

    cdef void place(self, Point p, Layout layout) noexcept nogil:
        p.m, p.n_known, p.rows = layout.m, 0, layout.rows
        for j in range(p.m):
            p.n_known += self.features.rows[p.rows[j]].count > 0

    cdef int unpack(self, Point p, dict arrays) except -1:
        cdef double[::1] elements
        memset(p.elements, 0, self.matrices.n_elements * sizeof(double))
        for g in range(self.n_inner):
            p.own[g].absent = p.own[g].rationals = 0.0
        for name, array in (arrays or {}).items():
            if name in self.matrices.place_of:
                elements = array.astype(np.float64)
                matrix = &self.matrices.all[<Py_ssize_t> self.matrices.place_of[name]]
                memcpy(p.elements + matrix.start, &elements[0], elements.nbytes)
                continue
            for g in range(self.n_inner):
                inner, scale = &self.inners[g], self.scale_of_array(g, name, len(array))
                p.own[g].absent += size(inner, scale) * size_of(inner, array)
        for g in range(self.n_inner):
            if self.lacks_arrays and self.inners[g].statistic == SUM_OF_RATIONALS:
                p.own[g].rationals = self.rationals_of(g, arrays or {})

    cdef double rationals_of(self, Py_ssize_t g, dict arrays) except? -1.0:
        """Return the terms of a sum of rationals for the arrays that no vector has, of which all are 0."""
        total, known = 0.0, self.kernels[self.inners[g].leader].known
        for name, size in self.array_sizes.items():
            if name not in known or self.matrices.sizes.get(name) == size:
                continue
            elements = np.asarray(arrays.get(name, ()), np.float64)
            is_read = len(elements) == size
            w = weight(&self.inners[g], self.scale_of_array(g, name, size))
            total += (1.0 / (1.0 + w * elements**2)).sum() if is_read else size
        return total

    cdef inline double scale_at(self, int32_t row, Py_ssize_t g) noexcept nogil:
        return self.features.scales[row * self.n_inner + g]

    cdef void measure(self, Point p) noexcept nogil:
        cdef Py_ssize_t n = 0
        for j in range(p.m):
            p.nonzero[n] = <int32_t> j
            n += p.values[j] != 0.0
        p.n_nonzero = n
        for g in range(self.n_inner):
            inner = &self.inners[g]
            squares, total = 0.0, inner.n_names if inner.statistic == SUM_OF_RATIONALS else 0.0
            for i in range(n):
                v, w = p.values[p.nonzero[i]], self.scale_at(p.rows[p.nonzero[i]], g)
                if w == 0.0:
                    continue
                squares, w = squares + size(inner, v), weight(inner, w)
                if inner.statistic == SUM_OF_RATIONALS:
                    total = (total - 1.0) + 1.0 / (1.0 + w * v * v)
                else:
                    total += w * size(inner, v)
            p.own[g].unscaled, p.own[g].numbers = squares, total
            total += p.own[g].absent
            for a in range(self.matrices.n if inner.statistic != SUM_OF_RATIONALS else 0):
                sum, matrix = 0.0, &self.matrices.all[a]
                for j in range(matrix.start, matrix.start + matrix.size):
                    sum += size(inner, p.elements[j])
                total += weight(inner, self.of_matrices[g, a]) * sum
            p.own[g].whole = total

    cdef void derive(self, Py_ssize_t slot, Point p) noexcept nogil:
        for g in range(self.n_inner):
            self.inners[g].statistics[slot] = p.own[g].numbers
        for i in range(self.n_kernels):
            kernel = &self.z[i]
            if kernel.norms != NULL:
                raw = raw_self_value(&kernel.spec, p.own[kernel.inner].whole)
                kernel.norms[slot] = sqrt(raw) if kernel.spec.normalized else raw

    # Self values.

    cdef bint take_self_values(self, Point p) noexcept nogil:
        for i in range(self.n_kernels):
            spec, g = &self.z[i].spec, self.z[i].inner
            if g >= 0:
                own = &p.own[g]
                raw, unscaled = raw_self_value(spec, own.whole), raw_self_value(spec, own.unscaled)
                if not (max(raw, unscaled) <= LARGEST and max(own.whole, own.unscaled) <= LARGEST):
                    return False
                self.own_values[i] = (raw > 0.0) if spec.normalized else raw
        return True

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) noexcept nogil:
        own = &self.z[kernel]
        if own.norms == NULL:
            return 1.0
        return own.norms[slot] > 0.0 if own.spec.normalized else own.norms[slot]

    # Kernel rows.

    cdef int write_rows(self, Point p, double *rows) except -1 nogil:
        n = (self.features.n + 7) // 8 * 8
        for i in range(self.n_kernels):
            g = self.z[i].inner
            if g >= 0:
                inner, row = &self.inners[g], rows + i * self.capacity
                if inner.leader == i:
                    self.numbers_row(p, inner, g, row)
                    self.add_arrays(p, inner, g, row)
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
                norm = sqrt(raw_self_value(spec, p.own[kernel.inner].whole))
                loops.normalize(norm, kernel.norms, n, row)
            memset(row + self.features.n, 0, (n - self.features.n) * sizeof(double))

    cdef int write_distances(self, Point p, double *row) except -1 nogil:
        inner = self.inners[0]
        inner.statistic, inner.gamma, inner.factor = SQUARED_DISTANCE, 1.0, 1.0
        if self.inners[0].statistic <= SQUARED_DISTANCE:  # these have the same self statistics
            self.numbers_row(p, &inner, 0, row)
        else:
            self.exact_row(p, &inner, 0, row)
        self.add_arrays(p, &inner, 0, row)

    cdef int numbers_row(self, Point p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil:
        """Compute inner statistics of numbers.

        They are plain sums if x has all features of the vectors, in columns, and few zeros. Otherwise, they
        follow from self statistics and from the features that x shares with a vector. If a distance would then
        lose significant digits, the terms of all features are summed instead.
        """
        cdef bint is_rational = inner.statistic == SUM_OF_RATIONALS
        cdef bint is_distance = not is_rational and inner.statistic != DOT_PRODUCT
        n, k = (self.features.n + 7) // 8 * 8, -1
        if (
            inner.statistic != DOT_PRODUCT and p.n_known == self.features.n_used
            and 2 * p.n_nonzero + FEWEST_ZEROS >= p.m
        ):
            k = self.gather(p, inner, g, True)
        if k >= 0:
            loops.sums[inner.is_plain][inner.statistic](self.terms, self.weights, self.columns_of, k, n, row)
            if is_rational:
                loops.combine(inner.n_names - k, self.zeros, 1.0, n, row)
            return 0
        own, limit = p.own[g].numbers, CANCELS_ABOVE / inner.gamma
        if is_distance and (own > limit or loops.exceeds(inner.statistics, limit, self.features.n)):
            return self.exact_row(p, inner, g, row)
        k = self.gather(p, inner, g, False)
        for j in range(k if inner.statistic <= SQUARED_DISTANCE else 0):
            self.terms[j] *= self.weights[j]
        loops.overlaps[inner.statistic](self.terms, self.weights, self.columns_of, k, n, row)
        for i in range(p.n_nonzero):
            j = p.nonzero[i]
            w, feature = self.scale_at(p.rows[j], g), &self.features.rows[p.rows[j]]
            if w != 0.0 and feature.column == NULL:
                add_listed(inner, p.values[j], weight(inner, w), feature, row)
        if inner.statistic != DOT_PRODUCT:
            constant = own - (inner.n_names if is_rational else 0.0)
            w = -2.0 if inner.statistic == SQUARED_DISTANCE else 1.0
            loops.combine(constant, inner.statistics, w, n, row)

    cdef Py_ssize_t gather(self, Point p, Inner *inner, Py_ssize_t g, bint is_all) noexcept nogil:
        """Gather the terms of x, all or those of values other than 0 in columns; return their number.

        All terms cannot be gathered, for -1, if some are in lists.
        """
        cdef Py_ssize_t k = 0
        factor = inner.factor  # read once
        for i in range(p.m if is_all else p.n_nonzero):
            j = i if is_all else p.nonzero[i]
            w, feature = self.scale_at(p.rows[j], g), &self.features.rows[p.rows[j]]
            if w == 0.0 or feature.column == NULL and not is_all:
                continue
            if feature.column == NULL and feature.length:
                return -1
            self.columns_of[k] = feature.column if feature.column != NULL else self.zeros
            self.terms[k], self.weights[k] = p.values[j], factor * size(inner, w)
            k += 1
        return k

    cdef int exact_row(self, Point p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil:
        """Sum squared or absolute differences over all features: those of x, and others of each vector.

        Their order follows from x and the vectors alone, and so do the bits.
        """
        is_shared = <char *> checked(calloc(self.features.n_rows + 1, 1))
        for j in range(p.m):
            is_shared[p.rows[j]] = True
        for slot in range(self.features.n):
            layout, row[slot] = PyList_GET_ITEM(<PyObject *> self.features.layouts, slot), 0.0
            for j in range(p.m):
                r = p.rows[j]
                difference = p.values[j] - self.features.value(r, slot)
                row[slot] += weight(inner, self.scale_at(r, g)) * size(inner, difference)
            for j in range((<Layout> layout).m):
                r = (<Layout> layout).rows[j]
                if not is_shared[r]:
                    s = self.features.value(r, slot)
                    row[slot] += weight(inner, self.scale_at(r, g)) * size(inner, s)
        free(is_shared)

    cdef void add_arrays(self, Point p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil:
        """Add the inner statistics of arrays, those that no vector has among them."""
        for a in range(self.matrices.n):
            w, matrix = weight(inner, self.of_matrices[g, a]), &self.matrices.all[a]
            if w != 0.0:
                loops.add_arrays[not self.matrices.is_float][inner.statistic](
                    w, p.elements + matrix.start, matrix.values, matrix.size, self.features.n, row
                )
        absent = p.own[g].rationals if inner.statistic == SUM_OF_RATIONALS else p.own[g].absent
        if absent != 0.0 and inner.statistic != DOT_PRODUCT:
            for i in range(self.features.n):
                row[i] += absent

    cdef int call_functions(self, dict x, list others, double *values) except -1:
        """Write what the functions say of an example and others (n_kernels, capacity), or itself (n_kernels,)."""
        stride = 1 if others is None else self.capacity
        for i in range(self.n_kernels):
            if self.z[i].inner >= 0:
                continue
            kernel = self.kernels[i]
            answers = [kernel(x, z) for z in ([x] if others is None else others)]
            try:
                numbers = np.array(answers, np.float64)
                is_valid = numbers.ndim == 1 and (abs(numbers) <= LARGEST).all()
            except NOT_NUMBERS:
                is_valid = False
            if not is_valid:
                raise ValueError(f"{kernel} did not return a number up to {LARGEST} for {shown(x)}")
            if others is None and numbers[0] < 0.0:
                raise ValueError(f"{kernel} of {shown(x)} and itself is negative")
            for slot in range(len(answers)):
                values[i * stride + slot] = numbers[slot]
