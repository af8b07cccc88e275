# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model and their kernel rows; see `store.pxd` for who owns what."""

from collections.abc import Mapping
import copy
import sys

import numpy as np

from river_budget._features import (
    NOT_NUMBERS, another_length, as_double, check_array, check_features, check_shape,
    invalid_example, is_array, pack_rows,
)
from river_budget._state import require
from river_budget._vectors import restored_kernels, restored_order, restored_vectors, state_of
from river_budget.kernels import spec as kernel_spec

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.math cimport INFINITY, fabs, isfinite, pow, signbit, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from river_budget._core.features cimport (
    Feature, Features, Layout, new_layout, reallocate, slots_of, value_of, widen,
)
from river_budget._core.matrices cimport Matrices, Matrix
from river_budget._core.loops cimport (
    LANES, Loops, OverColumns, aligned_bytes, aligned_free, aligned_zeros, loops,
)

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil

# As in `kernels.spec`.
cdef enum:
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN
cdef double LARGEST = kernel_spec.LARGEST

cdef enum:
    # Zeros are left out if there are this many more of them than other values.
    FEWEST_ZEROS = 32
    # Scratch memory for more features is given back when an example has few.
    LARGE_ROOM = 4096

# What the values of an example are.
cdef enum:
    NUMBERS, ARRAYS, OTHER_NAMES

# Above this value of gamma times the largest squared norm, differences of squared norms lose
# significant digits of kernel values: the error is about 1e-16 times that value.
cdef double CANCELS_ABOVE = 1e5

# A name that no example has, to test whether a kernel reads all names.
UNKNOWN_NAME = object()

cdef type NDARRAY = np.ndarray


cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil:
    """Return k(x, x) before normalization."""
    if spec.function == IDENTITY:
        return statistic
    if spec.function == POWER:
        return pow(spec.gamma * statistic + spec.coef0, spec.degree)
    return 1.0


cdef bint is_same(name, other) except -1:
    return PyObject_RichCompareBool(name, other, Py_EQ)


cdef inline bint has_elements(value) except -1:
    return isinstance(value, NDARRAY) and value.ndim > 0


cdef double as_number(value) except? -1:
    if PyLong_CheckExact(value):
        return PyLong_AsDouble(value)
    return as_double(value)


cdef double[::1] powers(const double *values, Py_ssize_t n, int power):
    """Return powers of values; ones if there are none."""
    cdef Py_ssize_t i
    cdef double[::1] result = np.ones(n + 1)
    for i in range(n if values != NULL else 0):
        result[i] = values[i] if power == 1 else values[i] * values[i]
    return result


cdef void add_listed(Inner *inner, double v, double w, Feature *feature, double *row) noexcept nogil:
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


cdef OverColumns loop_of(Inner *inner) noexcept nogil:
    """Return the loop of plain sums."""
    if inner.statistic == SQUARED_DISTANCE:
        return loops.squares if inner.is_plain else loops.weighted_squares
    return loops.absolutes if inner.statistic == MANHATTAN_DISTANCE else loops.rationals


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


cdef bint are_equal(dict x, dict z) except -1:
    """Return whether two examples have equal values of equal types, and the same order of names."""
    try:
        # The texts tell 0.0 from -0.0, and types and orders inside of values from others.
        return bool(x == z) and repr(x) == repr(z)
    except (TypeError, ValueError):  # the comparison of arrays is not a single boolean
        return False


cdef bint have_same_bytes(dict arrays, dict others) except -1:
    if arrays is None or others is None:
        return arrays is others
    return list(arrays) == list(others) and all(
        [array.tobytes() == others[name].tobytes() for name, array in arrays.items()]
    )


cdef class Block:

    def __len__(self):
        return self.n_rows

    def __getitem__(self, Py_ssize_t i):
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row {i} of {self.n_rows}")
        if self.dicts is not None:
            return self.dicts[i]
        return dict(zip(self.names, self.values[i].tolist()))

    def kept(self, rows):
        mask = np.asarray(rows, np.bool_)
        if self.values is not None:
            return block_of(self.names, self.values[mask], None)
        return block_of(self.names, None, [x for x, kept in zip(self.dicts, mask) if kept])


cdef Block block_of(list names, values, list dicts):
    cdef Block block = Block.__new__(Block)
    cdef const double[:, ::1] view
    block.names, block.dicts = names, dicts
    if values is None:
        block.n_rows = len(dicts)
        return block
    block.values = np.ascontiguousarray(values, np.float64)
    view = block.values
    block.n_rows = view.shape[0]
    if view.shape[0] and view.shape[1]:
        block.data = &view[0, 0]
    return block


cdef class Store:
    """Vectors under one or several kernels, and one example beside them."""

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        cdef Py_ssize_t n_kernels = len(kernels)
        self.scaled = [False] * n_kernels if scaled is None else list(scaled)
        self.factors, self.pooled, self.features, self.matrices = {}, 1.0, Features(), Matrices(dtype)
        self.z = <Kernel *> calloc(n_kernels + 1, sizeof(Kernel))
        self.self_values = <double *> calloc(n_kernels + 1, sizeof(double))
        if self.z == NULL or self.self_values == NULL:
            raise MemoryError
        self.n_kernels = n_kernels
        self.layout = new_layout([])
        self.columns = self.layout.columns
        self.resize(8)
        if any(kernel.spec is None for kernel in kernels):
            self.objects, self.has_objects = [], True
        self.set_kernels(tuple(kernels))

    def __dealloc__(self):
        cdef Py_ssize_t i
        self.free_vectors()
        self.free_inners()
        for i in range(self.n_kernels):
            aligned_free(self.z[i].norms)
        for memory in (
            <size_t> self.rows, <size_t> self.other_rows, <size_t> self.zeros,
        ):
            aligned_free(<void *> <size_t> memory)
        for memory in (
            <size_t> self.z, <size_t> self.self_values, <size_t> self.inserted,
            <size_t> self.layouts, <size_t> self.packed, <size_t> self.fresh, <size_t> self.read,
            <size_t> self.other_values, <size_t> self.columns_of, <size_t> self.terms,
            <size_t> self.term_weights, <size_t> self.listed,
            <size_t> self.point.weights, <size_t> self.point.own, <size_t> self.point.extra,
            <size_t> self.other.weights, <size_t> self.other.own, <size_t> self.other.extra,
            <size_t> self.point.elements, <size_t> self.other.elements,
        ):
            free(<void *> <size_t> memory)

    cdef int enter(self) except -1 nogil:
        """Claim the store for a call, which has to end by `is_busy = False`."""
        if self.is_busy:
            with gil:
                raise RuntimeError("the model is in use: by another thread, or by its own kernel")
        self.is_busy = True
        return 0

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
        self.inners = <Inner *> calloc(self.n_kernels + 1, sizeof(Inner))
        if self.inners == NULL:
            raise MemoryError
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
        return 0

    cdef int renew(self) except -1:
        """Derive all that follows from the kernels, scales and vectors."""
        cdef Py_ssize_t g, i, slot
        cdef bint needs_norms
        cdef size_t n_bytes = self.n_inner * sizeof(double)
        self.version += 1
        self.resize(self.room)
        for point in (<size_t> &self.point, <size_t> &self.other):
            reallocate(<void **> &(<Point *> <size_t> point).own, n_bytes)
            reallocate(<void **> &(<Point *> <size_t> point).extra, n_bytes)
            memset((<Point *> <size_t> point).extra, 0, n_bytes)
        for g in range(self.n_inner):
            widen(&self.inners[g].statistics, 0, self.capacity)
            if not self.inners[g].is_plain:
                reallocate(<void **> &self.inners[g].weights, self.weights_room * sizeof(double))
            reallocate(<void **> &self.inners[g].of_matrices, self.matrices.n * sizeof(double))
            for name, a in self.matrices.place_of.items():
                self.inners[g].of_matrices[a] = self.weight_of(g, name)
        reallocate(<void **> &self.point.elements, self.matrices.n_elements * sizeof(double))
        reallocate(<void **> &self.other.elements, self.matrices.n_elements * sizeof(double))
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
        self.set_layout(self.layout.names)
        self.read_values()
        self.set_elements()
        return 0

    cdef double weight_of(self, Py_ssize_t g, name) except -1:
        """Return the weight of a feature in an inner statistic; 0 if it is not read."""
        cdef Inner *inner = &self.inners[g]
        cdef double factor = 1.0
        if self._kernels[inner.leader].active([name]) is not None:
            return 0.0
        if inner.is_scaled:
            factor = self.factors.get(name, self.pooled)
        return fabs(factor) if inner.statistic == MANHATTAN_DISTANCE else factor * factor

    cdef int set_weights(self, name, Py_ssize_t row) except -1:
        cdef Py_ssize_t g
        for g in range(self.n_inner):
            if not self.inners[g].is_plain:
                self.inners[g].weights[row] = self.weight_of(g, name)
        return 0

    # Memory.

    cdef int resize(self, Py_ssize_t room) except -1 nogil:
        """Make room for the features of one example."""
        cdef size_t n_bytes = room * sizeof(double)
        reallocate(<void **> &self.packed, n_bytes)
        reallocate(<void **> &self.fresh, n_bytes)
        reallocate(<void **> &self.read, n_bytes)
        reallocate(<void **> &self.other_values, n_bytes)
        reallocate(<void **> &self.terms, n_bytes)
        reallocate(<void **> &self.term_weights, n_bytes)
        reallocate(<void **> &self.columns_of, room * sizeof(double *))
        reallocate(<void **> &self.listed, room * sizeof(int32_t))
        reallocate(<void **> &self.point.weights, self.n_inner * n_bytes)
        reallocate(<void **> &self.other.weights, self.n_inner * n_bytes)
        self.room = room
        self.values = self.point.values = self.packed if self.layout.active == NULL else self.read
        return 0

    cdef int set_capacity(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t i, old = self.capacity
        self.features.extend(capacity)
        for i in range(self.n_inner):
            widen(&self.inners[i].statistics, old, capacity)
        for i in range(self.n_kernels):
            if self.z[i].norms != NULL:
                widen(&self.z[i].norms, old, capacity)
        self.matrices.extend(capacity)
        widen(&self.zeros, old, capacity)
        widen(&self.other_rows, 0, self.n_kernels * capacity)
        cdef double *rows = NULL
        widen(&rows, 0, self.n_kernels * capacity)
        for i in range(self.n_kernels):
            if old:
                memcpy(rows + i * capacity, self.rows + i * old, old * sizeof(double))
        aligned_free(self.rows)
        self.rows = rows
        reallocate(<void **> &self.inserted, capacity * sizeof(int64_t))
        reallocate(<void **> &self.layouts, capacity * sizeof(PyObject *))
        memset(self.layouts + old, 0, (capacity - old) * sizeof(PyObject *))
        self.capacity = capacity
        return 0

    cdef void free_vectors(self) noexcept:
        """Forget all vectors and feature rows. The capacity stays."""
        cdef Py_ssize_t i
        for i in range(self.n):
            Py_XDECREF(self.layouts[i])
            self.layouts[i] = NULL
        if self.objects is not None:
            self.objects = []
        self.n = 0

    # Packing.

    cdef int set_layout(self, list names) except -1:
        """Take other names for the example."""
        cdef Layout layout = Layout()
        cdef Py_ssize_t j, room = len(names)
        active = self.active(names) if self.is_selective and self.n_inner else None
        layout.names = names
        layout.columns = names if active is None else [names[j] for j in active]
        layout.n_names, layout.m = room, len(layout.columns)
        reallocate(<void **> &layout.rows, layout.m * sizeof(int32_t))
        if active is not None:
            reallocate(<void **> &layout.active, layout.m * sizeof(int32_t))
            for j in range(layout.m):
                layout.active[j] = active[j]
        self.layout, self.columns = layout, layout.columns
        if room > self.room or (self.room > LARGE_ROOM and 16 * room < self.room):
            self.resize(room)
        self.found, self.has_rows = -1, False
        return 0

    cdef list active(self, list names):
        """Return the positions of the names that some kernel reads."""
        positions = set()
        for kernel in self._kernels:
            own = kernel.active(names)
            positions.update(range(len(names)) if own is None else own)
        return sorted(positions)

    cdef int find_rows(self) except -1:
        """Look up the feature rows of the example, and the weights of its features."""
        cdef Layout layout = self.layout
        cdef Py_ssize_t j, g
        cdef PyObject *row
        cdef int32_t r
        self.point.n_known = 0
        for j in range(layout.m):
            name = layout.columns[j]
            row = PyDict_GetItemWithError(self.features.index, name)
            r = -1 if row == NULL else <int32_t> <object> row
            layout.rows[j] = r
            self.point.n_known += r >= 0
            for g in range(self.n_inner):
                if not self.inners[g].is_plain:
                    self.point.weights[g * self.room + j] = (
                        self.inners[g].weights[r] if r >= 0 else self.weight_of(g, name)
                    )
        self.point.m, self.point.rows = layout.m, layout.rows
        self.found = self.version + self.features.version
        return 0

    cdef int pack(self, dict x) except -1:
        """Convert the values of a dict to doubles in `fresh`; return whether it has arrays."""
        cdef int found = self.pack_values(x)
        if found == OTHER_NAMES:
            self.has_example = False
            self.set_layout(list(x))
            found = self.pack_values(x)
        if found == OTHER_NAMES:
            raise RuntimeError("the names of an example have changed while they were read")
        return found

    cdef int pack_values(self, dict x) except -1:
        """Convert the values of a dict to doubles, up to the first other name or array."""
        cdef Py_ssize_t place = 0, j = 0
        cdef Layout layout = self.layout
        cdef PyObject *names = <PyObject *> layout.names
        cdef PyObject *key
        cdef PyObject *value
        while PyDict_Next(x, &place, &key, &value):
            if PyFloat_Check(<object> value):
                number = PyFloat_AS_DOUBLE(<object> value)
            elif has_elements(<object> value):
                return ARRAYS
            else:
                number = as_number(<object> value)
            if j == layout.n_names or (
                key != PyList_GET_ITEM(names, j)
                and not is_same(<object> key, <object> PyList_GET_ITEM(names, j))
            ):
                return OTHER_NAMES
            self.fresh[j] = number
            j += 1
        return NUMBERS if j == layout.n_names else OTHER_NAMES

    cdef int take(self) except -1 nogil:
        """Make what was packed the example, and compute its rows unless it is the last one."""
        cdef Py_ssize_t n_names = self.layout.n_names
        cdef double *last = self.packed
        if self.has_rows and not memcmp(self.fresh, last, n_names * sizeof(double)):
            return 0
        self.has_rows = self.has_example = False
        self.packed, self.fresh = self.fresh, last
        self.read_values()
        return self.compute()

    cdef void read_values(self) noexcept nogil:
        """Select the values that some kernel reads."""
        cdef Py_ssize_t j
        self.values = self.point.values = self.packed
        if self.layout.active != NULL:
            self.values = self.point.values = self.read
            for j in range(self.layout.m):
                self.read[j] = self.packed[self.layout.active[j]]

    cdef int compute(self) except -1 nogil:
        """Compute rows and self values of the example."""
        if self.found != self.version + self.features.version:
            with gil:
                self.find_rows()
        self.measure(&self.point)
        if not self.is_valid():
            with gil:
                raise self.too_large()
        self.kernel_rows(&self.point, self.rows)
        self.has_rows = self.has_example = True
        self.stamp += 1
        return 0

    cdef void measure(self, Point *p) noexcept nogil:
        """Set the self statistics of the numbers."""
        cdef Py_ssize_t g, j
        cdef Inner *inner
        cdef double *weights
        cdef double total, v, w
        for g in range(self.n_inner):
            inner = &self.inners[g]
            weights = NULL if inner.is_plain else p.weights + g * self.room
            total = 0.0
            if inner.statistic == SUM_OF_RATIONALS:
                total = inner.n_names
                for j in range(p.m):
                    w = 1.0 if weights == NULL else weights[j]
                    if w != 0.0:
                        v = p.values[j]
                        total -= 1.0
                        total += 1.0 / (1.0 + inner.gamma * w * v * v)
            elif inner.statistic == MANHATTAN_DISTANCE:
                for j in range(p.m):
                    w = 1.0 if weights == NULL else weights[j]
                    total += w * fabs(p.values[j])
            elif weights == NULL:
                for j in range(p.m):
                    total += p.values[j] * p.values[j]
            else:
                for j in range(p.m):
                    total += weights[j] * (p.values[j] * p.values[j])
            p.own[g] = total

    cdef bint is_valid(self) noexcept nogil:
        """Return whether the example is finite, and neither squares nor kernel values overflow."""
        cdef Py_ssize_t g, i, j
        cdef Kernel *kernel
        cdef Inner *inner
        cdef double magnitude, statistic, v, raw
        if self.layout.active != NULL:
            for j in range(self.layout.n_names):
                if not isfinite(self.packed[j]):
                    return False
        for g in range(self.n_inner):
            inner = &self.inners[g]
            magnitude = self.point.own[g]
            if not inner.is_plain or inner.statistic == SUM_OF_RATIONALS:
                # In the units of the user.
                magnitude = 0.0
                for j in range(self.point.m):
                    if inner.is_plain or self.point.weights[g * self.room + j] != 0.0:
                        v = self.point.values[j]
                        magnitude += fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v
            statistic = self.own_statistic(&self.point, g)
            if not magnitude <= LARGEST or (self.has_arrays and statistic > LARGEST):
                return False
            for i in range(self.n_kernels):
                kernel = &self.z[i]
                if kernel.inner != g:
                    continue
                raw = raw_self_value(&kernel.spec, statistic)
                if not (raw <= LARGEST and raw_self_value(&kernel.spec, magnitude) <= LARGEST):
                    return False
                self.self_values[i] = (raw > 0.0) if kernel.spec.normalized else raw
        return True

    cdef double own_statistic(self, Point *p, Py_ssize_t g) noexcept nogil:
        """Return the self statistic of numbers and arrays."""
        cdef Inner *inner = &self.inners[g]
        cdef Py_ssize_t a, e
        cdef double sum, v, total = p.own[g] + p.extra[g]
        if inner.statistic == SUM_OF_RATIONALS:
            return total
        for a in range(self.matrices.n):
            sum = 0.0
            for e in range(self.matrices.all[a].start, self.matrices.all[a].start + self.matrices.all[a].size):
                v = p.elements[e]
                sum += fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v
            total += inner.of_matrices[a] * sum
        return total

    # Kernel rows.

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
        return 0

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
        cdef const double *weights = NULL if inner.is_plain else p.weights + g * self.room
        cdef Py_ssize_t j, k = 0, n_listed = 0, n_nonzero = 0
        cdef double factor = inner.gamma if inner.statistic == SUM_OF_RATIONALS else 1.0
        cdef Feature *feature
        for j in range(p.m):
            if weights != NULL and weights[j] == 0.0:
                continue
            self.columns_of[k] = self.zeros
            if p.rows[j] >= 0:
                feature = &self.features.rows[p.rows[j]]
                if feature.column != NULL:
                    self.columns_of[k] = feature.column
                else:
                    n_listed += feature.length != 0
            self.terms[k] = p.values[j]
            self.term_weights[k] = factor if weights == NULL else factor * weights[j]
            n_nonzero += p.values[j] != 0.0
            k += 1
        if inner.statistic == DOT_PRODUCT or not (
            p.n_known == self.features.n_used and n_listed == 0 and 2 * n_nonzero + FEWEST_ZEROS >= k
        ):
            return self.sparse_row(p, inner, g, n, row)
        loop_of(inner)(self.terms, self.term_weights, self.columns_of, k, n, row)
        if inner.statistic == SUM_OF_RATIONALS:
            loops.combine(inner.n_names - k, self.zeros, 1.0, n, row)
        return 0

    cdef int sparse_row(
        self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
    ) except -1 nogil:
        """Compute inner statistics where features are missing, are 0 or are in lists.

        A distance follows from self statistics and from the features that x shares with a vector.
        If it would lose significant digits, the terms of all features are summed instead.
        """
        cdef const double *weights = NULL if inner.is_plain else p.weights + g * self.room
        cdef bint is_product = inner.statistic <= SQUARED_DISTANCE
        cdef Py_ssize_t j, k = 0, n_listed = 0
        cdef double v, w
        cdef Feature *feature
        if inner.statistic in (SQUARED_DISTANCE, MANHATTAN_DISTANCE) and self.cancels(p, inner, g):
            return self.exact_row(p, inner, p.weights + g * self.room, n, row)
        for j in range(p.m):
            v, w = p.values[j], 1.0 if weights == NULL else weights[j]
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
        if is_product:
            loops.products(self.terms, self.term_weights, self.columns_of, k, n, row)
        elif inner.statistic == MANHATTAN_DISTANCE:
            loops.absolute_overlaps(self.terms, self.term_weights, self.columns_of, k, n, row)
        else:
            loops.rational_overlaps(self.terms, self.term_weights, self.columns_of, k, n, row)
        for k in range(n_listed):
            j = self.listed[k]
            w = 1.0 if weights == NULL else weights[j]
            add_listed(inner, p.values[j], w, &self.features.rows[p.rows[j]], row)
        if inner.statistic == SQUARED_DISTANCE:
            loops.combine(p.own[g], inner.statistics, -2.0, n, row)
        elif inner.statistic == MANHATTAN_DISTANCE:
            loops.combine(p.own[g], inner.statistics, 1.0, n, row)
        elif inner.statistic == SUM_OF_RATIONALS:
            loops.combine(p.own[g] - inner.n_names, inner.statistics, 1.0, n, row)
        return 0

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
        cdef double w, d, total, rest, term
        cdef double *feature = <double *> calloc(3 * n, sizeof(double))
        cdef double *high = feature + n
        cdef double *low = high + n
        if feature == NULL:
            with gil:
                raise MemoryError
        memset(row, 0, n * sizeof(double))
        self.features.mark += 1
        for j in range(p.m):
            w = 1.0 if inner.is_plain else weights[j]
            if p.rows[j] >= 0:
                self.features.rows[p.rows[j]].mark = self.features.mark
                self.features.copy(p.rows[j], n, feature)
            else:
                memset(feature, 0, n * sizeof(double))
            for i in range(n):
                d = p.values[j] - feature[i]
                row[i] += w * (d * d) if inner.statistic == SQUARED_DISTANCE else w * fabs(d)
        for r in range(self.features.room):
            if self.features.rows[r].mark == self.features.mark or not self.features.rows[r].count:
                continue
            w = 1.0 if inner.is_plain else inner.weights[r]
            self.features.copy(<int32_t> r, n, feature)
            for i in range(n):
                d = feature[i]
                term = w * (d * d) if inner.statistic == SQUARED_DISTANCE else w * fabs(d)
                total = high[i] + term
                rest = total - high[i]
                low[i] += (high[i] - (total - rest)) + (term - rest)
                high[i] = total
        for i in range(n):
            row[i] += high[i] + low[i]
        free(feature)
        return 0

    cdef int load(self, Py_ssize_t slot) except -1 nogil:
        """Make the vector in a slot the other point, with its self statistics."""
        cdef Point *p = &self.other
        cdef Py_ssize_t j, g
        p.m = p.n_known = (<Layout> self.layouts[slot]).m
        p.rows = (<Layout> self.layouts[slot]).rows
        if p.m > self.room:
            self.resize(p.m)
            self.found = -1
        p.values = self.other_values
        for j in range(p.m):
            p.values[j] = value_of(&self.features.rows[p.rows[j]], slot)
        for g in range(self.n_inner):
            if not self.inners[g].is_plain:
                for j in range(p.m):
                    p.weights[g * self.room + j] = self.inners[g].weights[p.rows[j]]
        self.matrices.load(slot, p.elements)
        self.measure(p)
        return 0

    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil:
        self.enter()
        try:
            if slot < 0 or slot >= self.n:
                with gil:
                    self.check_slot(slot)
            self.load(slot)
            self.kernel_rows(&self.other, self.other_rows)
            if self.has_objects:
                with gil:
                    self.write_rows(self.called(self.objects[slot]), self.other_rows)
        finally:
            self.is_busy = False
        return self.other_rows

    # Kernels that are Python functions.

    cdef dict called(self, dict x):
        """Return what the functions say of an example and each vector, by kernels."""
        rows = {}
        for i, kernel in enumerate(self._kernels):
            if self.z[i].inner < 0:
                rows[i] = row = np.array([kernel(x, s) for s in self.objects], np.float64)
                if not np.isfinite(row).all():
                    raise ValueError(
                        f"{kernel} returned a value that is not finite for {x!r}"
                    )
        return rows

    cdef int write_rows(self, dict values, double *rows) except -1:
        cdef Py_ssize_t i, slot
        for i, row in values.items():
            for slot in range(self.n):
                rows[i * self.capacity + slot] = row[slot]
        return 0

    cdef int evaluate_objects(self, dict x) except -1:
        """Call the functions for an example, unless it is the last one."""
        cdef Py_ssize_t i
        if self.has_rows and self.snapshot is not None and are_equal(x, self.snapshot):
            return 0
        self.has_rows = self.has_example = False
        self.snapshot = None
        snapshot = copy.deepcopy(x)
        self.called_rows = self.called(snapshot)
        for i in self.called_rows:
            self.self_values[i] = self._kernels[i](snapshot, snapshot)
        self.snapshot = snapshot
        return 0

    # Changes of vectors.

    cdef int set_statistics(self, Py_ssize_t slot, Point *p) noexcept nogil:
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
        return 0

    cdef int put(self, Py_ssize_t slot) except -1 nogil:
        self.enter()
        try:
            self.place(slot)
        finally:
            self.is_busy = False
        return 0

    cdef int place(self, Py_ssize_t slot) except -1 nogil:
        """Store the example in a slot."""
        if not self.has_example or slot > self.n or slot < 0:
            with gil:
                raise ValueError(f"there is no example for slot {slot}")
        if self.n_inserted == 0:
            with gil:
                self.resolve()
        if self.found != self.version + self.features.version:
            with gil:
                self.find_rows()
        self.has_rows = False
        self.stamp += 1
        if self.fits(slot):
            self.overwrite(slot)
        else:
            with gil:
                self.store(self.layout, self.values, self.arrays, self.snapshot, slot)
                self.find_rows()
        self.measure(&self.point)
        self.set_statistics(slot, &self.point)
        self.inserted[slot] = self.n_inserted
        self.n_inserted += 1
        if self.features.is_sparse:
            with gil:
                self.refill(self.vectors_at(range(self.n)))
        return 0

    cdef bint fits(self, Py_ssize_t slot) noexcept nogil:
        """Return whether the example has the names of the vector in a slot, and numbers only."""
        if slot == self.n or self.matrices.n or self.has_arrays or self.has_objects:
            return False
        return (
            self.point.m == self.point.n_known == (<Layout> self.layouts[slot]).m
            and not memcmp(
                self.point.rows, (<Layout> self.layouts[slot]).rows, self.point.m * sizeof(int32_t)
            )
        )

    cdef int overwrite(self, Py_ssize_t slot) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.point.m):
            self.features.set_value(self.point.rows[j], slot, self.values[j])
        return 0

    cdef int resolve(self) except -1:
        """Set the parameters that kernels leave open."""
        cdef Py_ssize_t n_features = len(self.columns)
        names, kernels = list(self.columns if self.snapshot is None else self.snapshot), []
        if self.has_arrays:
            names, n_features = [*names, *self.arrays], n_features + sum(map(len, self.arrays.values()))
        for kernel in self._kernels:
            if self.has_arrays and kernel.learns_scales:
                kernel = kernel.with_width(1.0 / max(n_features, 1), names)
            kernels.append(kernel.resolve(names))
        if tuple(kernels) != self._kernels:
            self.set_kernels(tuple(kernels))
        return 0

    cdef int store(
        self, Layout layout, const double *values, dict arrays, dict object_, Py_ssize_t slot
    ) except -1:
        """Store a vector in a slot, instead of any other one."""
        cdef Py_ssize_t j
        cdef Feature *feature
        if slot == self.capacity:
            self.set_capacity(max(<Py_ssize_t> LANES, 2 * self.capacity))
        self.assign_rows(layout)
        if slot == self.n:
            self.n += 1
            self.features.set_n(self.n)
        old = <object> self.layouts[slot] if self.layouts[slot] != NULL else None
        self.features.replace(layout, values, old, slot)
        Py_INCREF(layout)
        self.layouts[slot] = <PyObject *> layout
        if old is not None:
            Py_DECREF(old)
        if self.has_objects:
            self.objects[slot:slot + 1] = [object_]
        if arrays is not None or self.matrices.n:
            if self.matrices.put(arrays or {}, slot):
                self.set_kernels(self._kernels)
        return 0

    cdef int assign_rows(self, Layout layout) except -1:
        """Look up the feature rows of all names; a name that has none gets one, with its weights."""
        cdef Py_ssize_t j, g, n_used
        for j in range(layout.m):
            name, n_used = layout.columns[j], self.features.n_used
            layout.rows[j] = self.features.row_of(name)
            if self.features.n_used > n_used:
                self.set_weights_room(self.features.room)
                self.set_weights(name, layout.rows[j])
        return 0

    cdef int set_weights_room(self, Py_ssize_t room) except -1:
        cdef Py_ssize_t g
        if room == self.weights_room:
            return 0
        for g in range(self.n_inner):
            if not self.inners[g].is_plain:
                reallocate(<void **> &self.inners[g].weights, room * sizeof(double))
        self.weights_room = room
        return 0

    # Arrays.

    cdef dict converted(self, dict x):
        """Return the arrays of an example that some kernel reads, with the dtype of the store."""
        arrays = {}
        for name, value in x.items():
            check_shape(name, value)
            if name in self.features.index:
                raise ValueError(f"feature {name!r} is an array, but a number in support vectors")
            self.matrices.check_length(name, value)
            with np.errstate(over="ignore"):  # what is too large for the type becomes infinite
                array = np.array(value, self.matrices.dtype)
            if not np.dot(array, array.astype(np.float64)) <= LARGEST:
                check_array(name, value)
                raise ValueError(f"feature {name!r} is an array with too large a value")
            arrays[name] = array
        if not self.is_selective:
            return arrays
        names = list(arrays)
        return {names[j]: arrays[names[j]] for j in self.active(names)}

    cdef int pack_arrays(self, dict x) except -1:
        """Pack an example that may have arrays."""
        numbers = {name: value for name, value in x.items() if not is_array(value)}
        self.check_numbers(numbers)
        arrays = {name: value for name, value in x.items() if is_array(value)}
        arrays = self.converted(arrays) if arrays else None
        self.pack_numbers(numbers)
        if not self.has_rows or not have_same_bytes(arrays, self.arrays):
            self.has_rows = self.has_example = False
            self.arrays, self.has_arrays = arrays, arrays is not None
            self.set_elements()
        return 0

    cdef int check_numbers(self, dict numbers) except -1:
        """Raise ValueError if a feature that is a number is an array in some vector."""
        for name, value in numbers.items():
            if name in self.matrices.place_of:
                raise ValueError(f"feature {name!r} is {value!r}, but an array in support vectors")
        return 0

    cdef int set_elements(self) except -1:
        """Unpack the arrays of the example."""
        cdef Py_ssize_t g, a
        cdef double[::1] elements
        memset(self.point.extra, 0, self.n_inner * sizeof(double))
        memset(self.point.elements, 0, self.matrices.n_elements * sizeof(double))
        for name, array in (self.arrays or {}).items():
            elements = array.astype(np.float64)
            if name in self.matrices.place_of:
                a = self.matrices.place_of[name]
                memcpy(
                    self.point.elements + self.matrices.all[a].start, &elements[0],
                    self.matrices.all[a].size * sizeof(double),
                )
                continue
            for g in range(self.n_inner):
                is_sum = self.inners[g].statistic == MANHATTAN_DISTANCE
                own = abs(elements.base).sum() if is_sum else np.dot(elements, elements)
                self.point.extra[g] += self.weight_of(g, name) * own
        return 0

    # Vectors as a whole.

    cdef tuple vector_at(self, Py_ssize_t slot):
        """Return the layout, values, arrays and object of the vector in a slot."""
        self.load(slot)
        values = (<char *> self.other.values)[: self.other.m * sizeof(double)]
        arrays = self.matrices.at(slot) if self.matrices.n else None
        return <object> self.layouts[slot], values, arrays, self.objects[slot] if self.has_objects else None

    cdef list vectors_at(self, slots):
        return [self.vector_at(slot) for slot in slots]

    cdef int set_vector(self, tuple vector, Py_ssize_t slot) except -1:
        cdef bytes values = vector[1]
        self.store(vector[0], <const double *> <const char *> values, vector[2], vector[3], slot)
        self.load(slot)
        self.set_statistics(slot, &self.other)
        return 0

    cdef int refill(self, list vectors) except -1:
        """Store other vectors, in new tables."""
        cdef Py_ssize_t slot
        had_matrices = self.matrices.n > 0
        self.free_vectors()
        self.features.clear()
        self.matrices.clear()
        for slot in range(len(vectors)):
            self.set_vector(vectors[slot], slot)
        if had_matrices:
            self.set_kernels(self._kernels)
        self.has_rows = False
        self.stamp += 1
        return 0

    # What the .pxd promises.

    cdef int evaluate(self, object x) except -1:
        self.enter()
        try:
            if type(x) is not dict:
                if not isinstance(x, Mapping):
                    raise invalid_example(x)
                x = dict(x)
            if self.has_objects:
                self.evaluate_objects(x)
            if self.n_inner:
                self.evaluate_numbers(x)
            elif not self.has_rows:
                self.has_rows = self.has_example = True
                self.stamp += 1
            if self.has_objects:
                self.write_rows(self.called_rows, self.rows)
        finally:
            self.is_busy = False
        return 0

    cdef int evaluate_numbers(self, dict x) except -1:
        if self.matrices.n or self.has_arrays or self.pack_numbers(x):
            self.pack_arrays(x)
        return self.take()

    cdef int pack_numbers(self, dict x) except -1:
        try:
            return self.pack(x)
        except NOT_NUMBERS:
            raise invalid_example(x, self.limiting_kernel()) from None

    cdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil:
        if block.data == NULL or self.matrices.n or self.has_arrays:
            with gil:
                return self.evaluate(block[i])
        self.enter()
        try:
            if <PyObject *> block.names != <PyObject *> self.layout.names:
                with gil:
                    self.has_example = self.has_example and block.names == self.layout.names
                    self.set_layout(block.names)
            memcpy(self.fresh, block.data + i * self.layout.n_names, self.layout.n_names * sizeof(double))
            self.take()
        finally:
            self.is_busy = False
        return 0

    cdef object too_large(self):
        """Return an error that describes why the example is invalid."""
        cdef Py_ssize_t j
        x = {self.layout.names[j]: self.packed[j] for j in range(self.layout.n_names)}
        return invalid_example(x | (self.arrays or {}), self.limiting_kernel())

    cdef object limiting_kernel(self):
        """Return the kernel under which a value is too large first, for error messages."""
        numeric = [kernel for kernel in self._kernels if kernel.spec is not None]
        return next((kernel for kernel in numeric if not kernel.is_radial), numeric[0])

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil:
        cdef Kernel *own = &self.z[kernel]
        if own.inner < 0:
            with gil:
                return self._kernels[kernel](self.objects[slot], self.objects[slot])
        if own.norms == NULL:
            return 1.0
        return own.norms[slot] > 0.0 if own.spec.normalized else own.norms[slot]

    cdef Py_ssize_t oldest_slot(self) noexcept nogil:
        cdef Py_ssize_t slot, oldest = 0
        for slot in range(1, self.n):
            if self.inserted[slot] < self.inserted[oldest]:
                oldest = slot
        return oldest

    # Python.

    @property
    def kernels(self):
        return self._kernels

    @property
    def names(self):
        if self.has_objects and not self.n_inner:
            return {name for x in self.objects for name in x}
        return self.features.index.keys() | self.matrices.place_of.keys()

    def __getattr__(self, name):
        # The memory of these names is for other native modules, and no attribute in Python.
        if name == "inserted":
            return np.array([self.inserted[slot] for slot in range(self.n)], np.int64)
        if name == "self_values":
            return self.self_values_of
        raise AttributeError(f"a store has no {name!r}", name=name, obj=self)

    @property
    def by_age(self):
        return np.argsort(Store.__getattr__(self, "inserted"))

    @property
    def oldest(self):
        return self.oldest_slot()

    def set_example(self, x):
        self.evaluate(x)

    def set_row(self, Block block, Py_ssize_t i):
        if not 0 <= i < block.n_rows:
            raise IndexError(f"row {i} of {block.n_rows}")
        self.evaluate_row(block, i)

    cdef object copied(self, const double *values, Py_ssize_t n):
        cdef double[::1] copy = np.empty(n)
        if n:
            memcpy(&copy[0], values, n * sizeof(double))
        return copy.base

    cdef int check_kernel(self, Py_ssize_t kernel) except -1:
        if not 0 <= kernel < self.n_kernels:
            raise IndexError(f"kernel {kernel} of {self.n_kernels}")
        return 0

    cdef int check_slot(self, Py_ssize_t slot) except -1:
        if not 0 <= slot < self.n:
            raise IndexError(f"slots [{slot}] are not in use: there are {self.n}")
        return 0

    def row(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.copied(self.rows + kernel * self.capacity, self.n)

    def self_value(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.self_values[kernel]

    def example(self):
        cdef Py_ssize_t j
        if self.has_objects:
            return copy.deepcopy(self.snapshot)
        x = {self.columns[j]: self.values[j] for j in range(self.layout.m)}
        for name, array in (self.arrays or {}).items():
            x[name] = array.copy()
        return x

    def is_flat(self, double low, double high):
        cdef Py_ssize_t i
        cdef double least = INFINITY, most = -INFINITY
        for i in range(self.n):
            least, most = min(least, self.rows[i]), max(most, self.rows[i])
        return self.n > 0 and (most < low or least > high)

    def vector(self, Py_ssize_t slot):
        cdef Py_ssize_t j
        cdef Layout layout
        self.check_slot(slot)
        if self.has_objects:
            return copy.deepcopy(self.objects[slot])
        layout = <Layout> self.layouts[slot]
        x = {
            layout.columns[j]: value_of(&self.features.rows[layout.rows[j]], slot)
            for j in range(layout.m)
        }
        x.update(self.matrices.at(slot))
        return x

    def row_of(self, Py_ssize_t slot, Py_ssize_t kernel=0):
        self.check_slot(slot)
        self.check_kernel(kernel)
        return self.copied(self.rows_of(slot) + kernel * self.capacity, self.n)

    def gram(self, Py_ssize_t kernel=0):
        rows = [self.row_of(slot, kernel) for slot in range(self.n)]
        return np.array(rows, np.float64).reshape(self.n, self.n)

    def self_values_of(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        values = [self.self_value_of(slot, kernel) for slot in range(self.n)]
        return np.array(values, np.float64)

    def distances(self):
        if self.z[0].inner < 0:
            return self.function_distances(self.row())
        return self.squared_distances(&self.point)

    def distances_of(self, Py_ssize_t slot):
        self.check_slot(slot)
        if self.z[0].inner < 0:
            return self.function_distances(self.row_of(slot))
        self.load(slot)
        return self.squared_distances(&self.other)

    cdef object function_distances(self, row):
        """Return squared distances in feature space, less the common term k(x, x)."""
        return self.self_values_of() - 2 * row

    cdef object squared_distances(self, Point *p):
        """Return squared distances of the features that the first kernel reads, as it scales them."""
        cdef Inner inner = self.inners[0]
        cdef Py_ssize_t n = (self.n + 7) // 8 * 8
        cdef double[::1] row = np.zeros(n + 1), own, of_rows, of_matrices
        if self.found != self.version + self.features.version:
            self.find_rows()
        inner.statistic, inner.gamma = SQUARED_DISTANCE, 1.0
        if self.inners[0].statistic <= SQUARED_DISTANCE:
            self.inner_row(p, &inner, 0, n, &row[0])
        else:
            # The weights of absolute differences are roots of those of squares.
            power = 2 if self.inners[0].statistic == MANHATTAN_DISTANCE else 1
            of_matrices = powers(inner.of_matrices, self.matrices.n, power)
            own = powers(NULL if inner.is_plain else p.weights, p.m, power)
            of_rows = powers(inner.weights, self.weights_room, power)
            inner.weights, inner.of_matrices = &of_rows[0], &of_matrices[0]
            self.exact_row(p, &inner, &own[0], n, &row[0])
        self.add_arrays(p, &inner, 0, &row[0])
        return row.base[: self.n]

    def put_example(self, Py_ssize_t slot):
        self.put(slot)

    def remove(self, slots):
        cdef Py_ssize_t i, j, slot
        unused = set(slots) - set(range(self.n))
        if unused:
            raise IndexError(f"slots {sorted(unused)} are not in use: there are {self.n}")
        self.enter()
        try:
            kept = np.setdiff1d(np.arange(self.n), list(slots)).astype(np.int64)
            inserted = [self.inserted[slot] for slot in kept]
            rows = [[self.rows[i * self.capacity + j] for j in kept] for i in range(self.n_kernels)]
            self.refill(self.vectors_at(kept))
            if self.n_kernels * self.capacity:
                memset(self.rows, 0, self.n_kernels * self.capacity * sizeof(double))
            for slot in range(self.n):
                self.inserted[slot] = inserted[slot]
                for i in range(self.n_kernels):
                    self.rows[i * self.capacity + slot] = rows[i][slot]
        finally:
            self.is_busy = False
        return kept

    def block(self, columns, rows):
        names = list(columns)
        if self.has_objects or (rows.dtype.kind == "O" and any(map(is_array, rows.flat))):
            return self.block_of_dicts(names, rows)
        values = pack_rows(names, rows)
        block = block_of(names, values, None)
        self.enter()
        try:
            self.check_rows(block)
        finally:
            self.is_busy = False
        return block

    cdef int check_rows(self, Block block) except -1:
        """Raise ValueError unless all rows of a matrix are valid."""
        cdef Py_ssize_t i
        self.has_rows = self.has_example = False
        self.set_layout(block.names)
        self.find_rows()
        for i in range(block.n_rows):
            if block.data != NULL:
                memcpy(
                    self.packed, block.data + i * self.layout.n_names,
                    self.layout.n_names * sizeof(double),
                )
            self.read_values()
            self.measure(&self.point)
            if not self.is_valid():
                raise ValueError(f"row {i}: {self.too_large()}")
        return 0

    cdef Block block_of_dicts(self, list names, rows):
        """Return rows as dicts. Their numbers and arrays are valid, and fit each other."""
        cdef Store empty = self.empty_like()
        block = [dict(zip(names, row, strict=True)) for row in rows]
        sizes = {}
        for i, x in enumerate(block if self.n_inner else ()):
            try:
                empty.evaluate(x)
                for name, value in x.items():
                    size = len(value) if is_array(value) else 0
                    if size:
                        self.matrices.check_length(name, value)
                    other = sizes.setdefault(name, size)
                    if size and other and size != other:
                        raise another_length(name, value, other)
                    require(bool(size) == bool(other), f"feature {name!r} is a number and an array")
            except ValueError as error:
                raise ValueError(f"row {i}: {error}") from None
        return block_of(names, None, block)

    def rescale(self, kernels, factors, pooled):
        self.enter()
        try:
            require(len(kernels) == self.n_kernels, f"expected {self.n_kernels} kernels")
            self.factors, self.pooled = dict(factors), pooled
            self.has_rows = False
            self.stamp += 1
            self.set_kernels(tuple(kernels))
        finally:
            self.is_busy = False

    def empty_like(self):
        store = Store(self._kernels, self.matrices.dtype.name, self.scaled)
        store.rescale(self._kernels, self.factors, self.pooled)
        return store

    # Transactions.

    def save(self, Py_ssize_t slot):
        if slot < self.n:
            return slot, self.vector_at(slot), self.inserted[slot], self.n_inserted, self._kernels
        return slot, None, 0, self.n_inserted, self._kernels

    def undo(self, saved):
        cdef Py_ssize_t slot = saved[0]
        self.enter()
        try:
            self.n_inserted = saved[3]
            if saved[1] is not None:
                self.set_vector(saved[1], slot)
                self.inserted[slot] = saved[2]
            elif slot < self.n:
                self.refill(self.vectors_at(range(slot)))
            self.has_rows = False
            self.stamp += 1
            if self._kernels != saved[4]:
                self.set_kernels(saved[4])
        finally:
            self.is_busy = False

    # State.

    @property
    def nbytes(self):
        cdef Py_ssize_t a, i, slot, newest = 0
        cdef Layout layout
        cdef size_t n = (2 * self.n_kernels + self.n_inner + 1) * self.capacity  # doubles
        index = self.features.index
        containers = {id(index): index, **{id(name): name for name in index}}
        for i in range(self.n_kernels):
            n += self.capacity if self.z[i].norms != NULL else 0
        n += self.weights_room * self.n_inner
        n_bytes = 8 * n + self.features.n_bytes() + 16 * self.capacity
        for slot in range(self.n):
            layout = <Layout> self.layouts[slot]
            containers[id(layout)] = layout
            containers[id(layout.columns)] = layout.columns
            newest = slot if self.inserted[slot] > self.inserted[newest] else newest
        for part in containers.values():
            if isinstance(part, Layout):
                n_bytes += 4 * (<Layout> part).m
        n_bytes += self.matrices.n_bytes()
        if self.has_objects:
            containers.update((id(x), x) for x in [self.objects, *self.objects])
            containers.update((id(v), v) for x in self.objects for v in x.values())
        # An example like the newest vector is always counted, so that the figure does not depend on
        # the last call.
        m = (<Layout> self.layouts[newest]).m if self.n else 0
        n_bytes += m * (60 + 16 * self.n_inner) + 16 * self.matrices.n_elements
        return n_bytes + sys.getsizeof(self) + sum(map(sys.getsizeof, containers.values()))

    cdef list dumped(self):
        """Return names, bytes of values, arrays and object of each vector."""
        return [((<Layout> vector[0]).columns, *vector[1:]) for vector in self.vectors_at(range(self.n))]

    def __reduce__(self):
        inserted = Store.__getattr__(self, "inserted")
        state = (self.dumped(), inserted, self.n_inserted, self.factors, self.pooled)
        return Store, (self._kernels, self.matrices.dtype.name, self.scaled), state

    def __setstate__(self, state):
        vectors, inserted, self.n_inserted, factors, pooled = state
        self.rescale(self._kernels, factors, pooled)
        layouts = {}
        for slot, (names, values, arrays, own) in enumerate(vectors):
            layout = layouts.get(id(names))
            if layout is None:
                layout = layouts[id(names)] = new_layout(names)
            self.set_vector((layout, values, arrays, own), slot)
            self.inserted[slot] = inserted[slot]

    def state(self):
        for kernel in self._kernels:
            require(kernel.spec is not None, f"{kernel} cannot be stored: its function is code")
        return {
            "kernels": self._kernels,
            **state_of([vector[:3] for vector in self.dumped()]),
            "inserted": Store.__getattr__(self, "inserted"),
            "n_inserted": self.n_inserted,
        }

    def restore(self, state):
        cdef Store empty
        cdef Layout layout = new_layout([])
        vectors = restored_vectors(state)
        inserted, n_inserted = restored_order(state, len(vectors))
        self.rescale(restored_kernels(state, self._kernels), self.factors, self.pooled)
        # An empty store checks a vector without a kernel value for each one before it.
        empty = self.empty_like()
        for slot, x in enumerate(vectors):
            empty.evaluate(x)
            if empty.columns != layout.columns:
                layout = new_layout(empty.columns)
            values = (<char *> empty.values)[: layout.m * sizeof(double)]
            arrays = self.converted(empty.arrays or {})
            self.check_numbers({name: x[name] for name in empty.columns})
            self.set_vector((layout, values, arrays, None), slot)
            self.inserted[slot] = inserted[slot]
        self.n_inserted = n_inserted
