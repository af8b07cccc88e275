# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model and their kernel rows; see `store.pxd` for who owns what."""

from collections.abc import Mapping
import contextlib
import copy
import os
import sys

import numpy as np

from river_budget._checks import shown
from river_budget._core.features import zero_matrix
from river_budget._features import (
    NOT_NUMBERS, as_double, category_of, check_name, checked_array, dict_of, invalid_example, is_array,
    is_unknown, pack_rows, small_category_of,
)
from river_budget._state import require
from river_budget._vectors import restored_kernels, restored_order, restored_sizes, restored_vectors, state_of
from river_budget.kernels import LARGEST as LARGEST_VALUE, Category

from cpython.bool cimport PyBool_Check
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Keys, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.tuple cimport PyTuple_Check
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_Compare
from libc.math cimport INFINITY, fabs, isfinite, pow, sqrt
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from river_budget._core.features cimport (
    Feature, Features, Layout, Matrices, Matrix, checked, hash_of, hash_of_bytes, is_small, mixed
)
from river_budget._core.loops cimport LANES, loops

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1

cdef enum:                            # statistics and functions, as in `kernels`
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN
cdef enum:
    # Names that no vector has are forgotten if there are this many more of them than others.
    MOST_UNUSED = 256
    # Zeros are left out if there are this many more of them than other values.
    FEWEST_ZEROS = 32

cdef double LARGEST = LARGEST_VALUE

# Numbers in the self statistics of a point.
cdef Py_ssize_t N_OWN = sizeof(Own) // sizeof(double)

# In the place of all names that have no feature row.
cdef object UNSEEN = object()

# The number of forks from the first process to this one, and the thread that made the last of them. It is
# the only thread of its process at first, but later ones may get the identifiers of those before.
cdef int64_t n_forks = 0
cdef unsigned long forker = 0

IN_USE = "the model is in use, by another thread or its own kernel: two threads need two models, or a lock"
LEFT_IN_USE = (
    "the model was in use when this process was forked, so its copy here may be half changed: load it from a "
    "checkpoint, or copy it before the fork, while no other thread uses it"
)


def _count_fork():
    global n_forks, forker
    n_forks, forker = n_forks + 1, PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)

# Above this value of gamma times the largest squared norm, differences of squared norms lose
# significant digits of kernel values: the error is about 1e-16 times that value.
cdef double CANCELS_ABOVE = 1e5


cdef dict as_dict(list names, const double *values, dict arrays, dict own):
    """Return an example or a vector, whose parts are copies: what functions have of it, if there are any."""
    if own is not None:
        return copy.deepcopy(own)
    numbers = {name: values[j] for j, name in enumerate(names)}
    return numbers | {name: np.array(array) for name, array in (arrays or {}).items()}


cdef class Block:

    def __cinit__(self, list names, rows, bint has_numbers):
        self.n_rows, self.names, self.rows = len(rows), names, rows
        self.numbers = rows if has_numbers else None

    def __getitem__(self, Py_ssize_t i):
        row = self.rows[i]
        # Functions get the numbers that a dict has, and not NumPy's, which `sum` adds up otherwise.
        values = row.tolist() if row.dtype.kind in "biuf" else row
        return dict(zip(self.names, values, strict=True))

    def begin(self, labels, weights):
        is_whole = len(labels) == len(weights) == self.n_rows
        require(is_whole, "labels or weights are not those of the rows")
        self.labels, self.weights, self.row = labels, weights, 0


cdef class Store:
    """Vectors under one or several kernels, and one example beside them."""

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        self.n_kernels, self.layouts, self.layout = len(kernels), [], Layout([])
        self.scaled = [False] * self.n_kernels if scaled is None else list(scaled)
        self.factors, self.pooled = {}, 1.0
        self.features, self.matrices = Features(), Matrices(dtype)
        self.z = <Kernel *> checked(calloc(self.n_kernels + 1, sizeof(Kernel)))
        self.inners = <Inner *> checked(calloc(self.n_kernels + 1, sizeof(Inner)))
        self.own_values = <double *> checked(calloc(self.n_kernels + 1, sizeof(double)))
        self.by_slot, self.by_feature = np.zeros((self.n_kernels, 0)), np.zeros((8, 0))
        if any([kernel.spec is None for kernel in kernels]):
            self.objects = []
        resize(self, 8)
        set_vectors(self, [], tuple(kernels), 0, 0)

    def __dealloc__(self):
        free(self.z)
        free(self.inners)
        free(self.own_values)

    # Use.

    cdef int begin(self) except -1 nogil:
        self.require_free(self.is_busy)
        self.is_busy = True

    cdef int require_free(self, bint is_busy) except -1 nogil:
        if is_busy or self.owner and is_foreign(self):
            with gil:
                raise RuntimeError(IN_USE if self.process == n_forks else LEFT_IN_USE)
        self.process = n_forks

    def __enter__(self):
        self.begin()

    def __exit__(self, *error):
        self.is_busy = False

    # The example.

    cpdef int evaluate(self, object x) except -1:
        self.begin()
        try:
            if type(x) is not dict:
                if not isinstance(x, Mapping):
                    raise invalid_example(x, False)
                x = dict_of(x)
            if self.objects is not None and not (self.has_rows and are_equal(x, self.snapshot)):
                self.has_rows = False
                check_names(list(x))
                self.snapshot = copy.deepcopy(x)
                call_functions(self, self.snapshot, self.objects, self.rows)
                call_functions(self, self.snapshot, None, self.own_values)
            if self.n_inner:
                pack(self, x)
            take(self)
        finally:
            self.is_busy = False

    cpdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil:
        if not 0 <= i < block.n_rows:
            with gil:
                raise IndexError(f"row {i} of {block.n_rows}")
        if block.numbers is None:
            with gil:
                return self.evaluate(block[i])
        return evaluate_values(self, block.names, &block.numbers[i, 0])

    cdef int evaluate_like(self, Store other) except -1 nogil:
        if other.arrays is not None or other.objects is not None:
            with gil:
                return self.evaluate(other.example())
        return evaluate_values(self, other.layout.names, other.point.values)

    cdef uint64_t fingerprint(self) except? 0 nogil:
        cdef uint64_t total = 1
        if self.layout.hashes == NULL:
            with gil:
                self.layout.hash_names()
        for j in range(self.layout.m):
            total += hash_of_number(self.layout.hashes[j], self.point.values[j])
        if self.arrays is not None or self.filled is not None or self.snapshot is not None:
            with gil:
                total += hash_of_parts(self)
        return total

    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil:
        self.begin()
        try:
            self.check_slot(slot)
            load(self, slot)
            kernel_rows(self, &self.other, self.other_rows)
            if self.objects is not None:
                with gil:
                    call_functions(self, self.objects[slot], self.objects, self.other_rows)
        finally:
            self.is_busy = False
        return self.other_rows

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil:
        own = &self.z[kernel]
        if own.inner < 0:
            with gil:
                with self:
                    return self.kernels[kernel](self.objects[slot], self.objects[slot])
        if own.norms == NULL:
            return 1.0
        return own.norms[slot] > 0.0 if own.spec.normalized else own.norms[slot]

    # Changes of vectors.

    cpdef int put(self, Py_ssize_t slot) except -1 nogil:
        self.begin()
        try:
            if not 0 <= slot <= self.n:
                with gil:
                    raise IndexError(f"slot {slot} cannot be filled: there are {self.n}")
            self.has_rows = False
            self.stamp += 1
            with gil:
                make_room(self, slot)
                is_gone = store(self, slot, self.layout, &self.point, self.arrays, self.snapshot)
                self.inserted[slot], self.n_inserted = self.n_inserted, self.n_inserted + 1
                if is_gone:
                    set_vectors(self, vectors_of(self), self.kernels, self.n_inserted, self.capacity)
        finally:
            self.is_busy = False

    def remove(self, slots):
        """Remove vectors; return the former slots of the others, in their new order (n,)."""
        with self:
            for slot in slots:
                self.check_slot(slot)
            kept = np.setdiff1d(np.arange(self.n), list(slots)).astype(np.int64)
            rows = self.by_slot[: self.n_kernels, kept]
            vectors = [vector_at(self, slot) for slot in kept]
            set_vectors(self, vectors, self.kernels, self.n_inserted, self.capacity)
            self.by_slot[: self.n_kernels] = 0.0
            self.by_slot[: self.n_kernels, : self.n] = rows
        return kept

    def rescale(self, kernels, factors, pooled):
        with self:
            require(len(kernels) == self.n_kernels, f"expected {self.n_kernels} kernels")
            if tuple(kernels) != self.kernels:
                self.array_sizes = dict(self.matrices.sizes)
            self.factors, self.pooled = dict(factors), pooled
            set_vectors(self, vectors_of(self), tuple(kernels), self.n_inserted, self.capacity)

    def empty_like(self):
        store = Store(self.kernels, self.dtype, self.scaled)
        store.__setstate__(([], 0, self.factors, self.pooled, self.array_sizes, self.means))
        return store

    cpdef tuple save(self, Py_ssize_t slot):
        self.begin()
        try:
            vector = vector_at(self, slot) if slot < self.n else None
            return slot, vector, self.kernels, self.array_sizes, self.n_inserted
        finally:
            self.is_busy = False

    def undo(self, saved):
        slot, vector, kernels, array_sizes, n_inserted = saved
        with self:
            self.array_sizes = array_sizes
            vectors = vectors_of(self)
            vectors[slot : slot + 1] = [] if vector is None else [vector]
            set_vectors(self, vectors, kernels, n_inserted, len(vectors))

    # Blocks.

    def block(self, columns, rows):
        """Return validated rows of a frame. Raises ValueError that names the row."""
        names, sizes = list(columns), {}
        numbers = pack_rows(rows) if self.objects is None and rows.size else None
        block = Block(names, rows if numbers is None else numbers, numbers is not None)
        with self:
            if numbers is not None:
                # Statistics grow with the sizes of values: if these are valid, all rows are.
                with contextlib.suppress(ValueError):
                    largest = abs(np.asfortranarray(numbers)).max(axis=0)  # this order is ten times as fast
                    pack(self, dict(zip(names, largest.tolist())))
                    admit(self)
                    return block
            for i in range(block.n_rows):
                try:
                    check_row(self, block[i], sizes)
                except ValueError as error:
                    raise ValueError(f"row {i}: {error}") from None
        return block

    # What Python asks.

    @property
    def dtype(self):
        return self.matrices.dtype.name

    @property
    def names(self):
        with self:
            numbers = [name for name in self.features.index if self.has_name(name)]
        return dict.fromkeys([*numbers, *self.matrices.place_of]).keys()

    cdef bint has_name(self, name) except -1:
        cdef PyObject *row = PyDict_GetItemWithError(self.features.index, name)
        return row != NULL and self.features.rows[<Py_ssize_t> <object> row].count > 0

    @property
    def insertion_order(self):
        with self:
            return self.by_slot[2 * self.n_kernels + 1].view(np.int64)[: self.n].copy()

    @property
    def by_age(self):
        return np.argsort(self.insertion_order)

    cdef int check_slot(self, Py_ssize_t slot) except -1 nogil:
        if not 0 <= slot < self.n:
            with gil:
                raise IndexError(f"slot {slot} is not in use: there are {self.n}")

    cdef int check_kernel(self, Py_ssize_t kernel) except -1:
        if not 0 <= kernel < self.n_kernels:
            raise IndexError(f"kernel {kernel} of {self.n_kernels}")

    def example(self):
        return as_dict(self.layout.names, self.point.values, self.arrays, self.snapshot)

    def self_value(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.own_values[kernel]

    def row(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.by_slot[kernel, : self.n].copy()

    def is_flat(self, double low, double high):
        least, most = INFINITY, -INFINITY
        for i in range(self.n):
            least, most = min(least, self.rows[i]), max(most, self.rows[i])
        return self.n > 0 and (most < low or least > high)

    def vector(self, Py_ssize_t slot):
        with self:
            self.check_slot(slot)
            names, values, arrays, own, _ = vector_at(self, slot)
        return as_dict(names, <const double *> PyBytes_AS_STRING(values), arrays, own)

    def row_of(self, Py_ssize_t slot, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        self.rows_of(slot)
        return self.by_slot[self.n_kernels + kernel, : self.n].copy()

    def gram(self, Py_ssize_t kernel=0):
        rows = [self.row_of(slot, kernel) for slot in range(self.n)]
        return np.array(rows).reshape(self.n, self.n)

    def self_values(self, Py_ssize_t kernel=0):
        cdef double[::1] values = np.empty(self.n)
        self.check_kernel(kernel)
        for slot in range(self.n):
            values[slot] = self.self_value_of(slot, kernel)
        return values.base

    def distances(self, slot=None):
        inner = self.inners[0]
        p = &self.point if slot is None else &self.other
        cdef double[::1] row = np.zeros(self.n + 8)
        if self.z[0].inner < 0:  # in feature space
            return self.self_values() - 2 * (self.row() if slot is None else self.row_of(slot))
        inner.statistic, inner.gamma, inner.factor = SQUARED_DISTANCE, 1.0, 1.0
        with self:
            if slot is not None:
                self.check_slot(slot)
                load(self, slot)
            elif not self.has_found:
                find_rows(self)
            if self.inners[0].statistic <= SQUARED_DISTANCE:  # these have the same self statistics
                numbers_row(self, p, &inner, 0, &row[0])
            else:
                exact_row(self, p, &inner, 0, &row[0])
            add_arrays(self, p, &inner, 0, &row[0])
        return row.base[: self.n]

    @property
    def nbytes(self):
        with self:
            forget_names(self, 0)
            index = self.features.index
            parts = [self, index, *index, *[name[1] for name in index if type(name) is Category]]
            parts += self.layouts
            if self.objects is not None:
                parts += [self.objects, *self.objects, *[v for x in self.objects for v in x.values()]]
            tables = [self.by_slot, *[table for pair in self.matrices.tables.values() for table in pair]]
            n_bytes = 8 * self.capacity + self.features.n_bytes() + sum([t.nbytes for t in tables])
            return n_bytes + sum({id(part): sys.getsizeof(part) for part in parts}.values())

    # State.

    def __reduce__(self):
        with self:
            learned = (
                vectors_of(self), self.n_inserted, self.factors, self.pooled, self.array_sizes, self.means
            )
        return Store, (self.kernels, self.dtype, self.scaled), learned

    def __setstate__(self, state):
        with self:
            vectors, n_inserted, self.factors, self.pooled, self.array_sizes, self.means = state
            set_vectors(self, vectors, self.kernels, n_inserted, len(vectors))

    def state(self):
        for kernel in self.kernels:
            require(kernel.spec is not None, f"{kernel} cannot be stored: its function is code")
        with self:
            vectors, sizes = vectors_of(self), self.array_sizes
        counts = {"n_inserted": self.n_inserted, "array_sizes": sizes}
        return {"kernels": self.kernels, **state_of(vectors), **counts}

    def restore(self, state):
        vectors = restored_vectors(state)
        order, n_inserted = restored_order(state, len(vectors))
        kernels, sizes = restored_kernels(state, self.kernels), restored_sizes(state)
        with self:
            self.array_sizes = sizes
            set_vectors(self, [], kernels, n_inserted, 0)
        for slot, x in enumerate(vectors):
            pack(self, x)
            admit(self)  # without a kernel value for each vector before it
            self.put(slot)
            self.inserted[slot] = order[slot]
        self.n_inserted = n_inserted


# Use.

cdef bint is_foreign(Store self) noexcept nogil:
    """Return whether the owner is another thread than this one."""
    thread = PyThread_get_thread_ident()
    return self.owner != thread or self.process != n_forks and thread != forker


# Kernels.

cdef int set_kernels(Store self, tuple kernels) except -1:
    """Derive the inner statistics that kernels share, for the arrays that there are."""
    is_scaled = bool(self.factors) or self.pooled != 1.0
    places, self.kernels, self.n_inner = {}, kernels, 0
    names = [kernel.known for kernel in kernels]
    self.known = None if None in names else frozenset().union(*names)
    self.named = set(self.factors).union(*[known for known in names if known is not None])
    for i, kernel in enumerate(kernels):
        if kernel.spec is None:
            self.z[i].inner = -1
            continue
        spec = &self.z[i].spec
        spec[0] = kernel.spec._asdict()
        key = spec.statistic, is_scaled and self.scaled[i], None if kernel.known is None else i
        g = self.z[i].inner = places.setdefault(key, len(places))
        inner = &self.inners[<Py_ssize_t> g]
        if g == self.n_inner:
            self.n_inner += 1
            inner.statistic, inner.leader, inner.n_names = spec.statistic, i, spec.n_names
            inner.is_plain = not key[1] and kernel.known is None
            inner.gamma, inner.factor = spec.gamma, 1.0
        inner.gamma = max(inner.gamma, spec.gamma)
        if spec.n_names > 0.0:  # each element of an array counts in a sum of rationals
            sizes = [size for name, size in (self.array_sizes or {}).items() if name in kernel.known]
            inner.n_names = spec.n_names - len(sizes)
            n_terms = inner.n_names + sum(sizes)
            spec.gamma *= n_terms / spec.n_names
            spec.n_names, inner.factor = n_terms, spec.gamma


cdef double scale_of(Store self, Py_ssize_t g, name) except? -1.0:
    """Return the inverse scale of a feature in an inner statistic; 0 if it is not read."""
    inner = &self.inners[g]
    if inner.is_plain:
        return 1.0
    known = self.kernels[inner.leader].known
    if known is not None and name not in known:
        return 0.0
    return self.factors.get(name, self.pooled) if self.scaled[inner.leader] else 1.0


cdef double scale_of_array(Store self, Py_ssize_t g, name, Py_ssize_t size) except? -1.0:
    """Return the inverse scale of an array in an inner statistic; 0 if it is not read."""
    cdef bint has_names = self.kernels[self.inners[g].leader].known is not None
    if has_names and (self.array_sizes or {}).get(name) != size:
        return 0.0
    return scale_of(self, g, name)


cdef bint hides(Store self, list names) except -1:
    """Return whether no kernel reads one of the names."""
    return self.known is not None and not self.known.issuperset(names)


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


# Memory.

cdef int resize(Store self, Py_ssize_t room) except -1:
    """Make room for the features of the example, and of any vector."""
    kept = min(room, self.by_feature.shape[1])
    cdef double[:, ::1] memory = np.zeros((8, room))
    memory.base[:, :kept] = self.by_feature[:, :kept]
    self.by_feature, self.room = memory.base, room
    self.point.values, self.fresh, self.other.values = &memory[0, 0], &memory[1, 0], &memory[2, 0]
    self.terms, self.weights = &memory[3, 0], &memory[4, 0]
    self.columns_of = <const double **> &memory[5, 0]
    self.point.nonzero, self.other.nonzero = <int32_t *> &memory[6, 0], <int32_t *> &memory[7, 0]


cdef int set_tables(Store self, Py_ssize_t capacity) except -1:
    """Make memory for slots, kernels and arrays. The rows of the example stay."""
    cdef Py_ssize_t i, n = self.n_kernels, place = 2 * n + 2 + self.n_inner
    has_norms = [self.z[i].inner >= 0 and self.z[i].spec.function <= POWER for i in range(n)]
    shape = place + sum(has_norms), max(capacity, 8)
    cdef double[:, ::1] by_slot = zero_matrix(shape, np.dtype(np.float64))
    cdef double[:, ::1] by_point = np.zeros(
        (2, N_OWN * self.n_inner + self.matrices.n_elements + 1)
    )
    kept = self.by_slot[:n, :capacity]
    by_slot.base[:n, : kept.shape[1]] = kept
    self.rows, self.other_rows, self.zeros = &by_slot[0, 0], &by_slot[n, 0], &by_slot[2 * n, 0]
    self.inserted = <int64_t *> &by_slot[2 * n + 1, 0]
    for i in range(self.n_inner):
        self.inners[i].statistics = &by_slot[2 * n + 2 + i, 0]
    for i in range(n):
        self.z[i].norms = NULL
        if has_norms[i]:
            self.z[i].norms = &by_slot[place, 0]
            place += 1
    self.point.own, self.other.own = <Own *> &by_point[0, 0], <Own *> &by_point[1, 0]
    self.point.elements = &by_point[0, N_OWN * self.n_inner]
    self.other.elements = &by_point[1, N_OWN * self.n_inner]
    scales = [
        scale_of_array(self, g, name, self.matrices.sizes[name])
        for g in range(self.n_inner) for name in self.matrices.place_of
    ]
    self.lacks_arrays = not (self.array_sizes or {}).items() <= self.matrices.sizes.items()
    self.of_matrices = np.array(scales, np.float64).reshape(self.n_inner, self.matrices.n)
    self.by_slot, self.by_point, self.capacity = by_slot.base, by_point.base, capacity


# Packing.

cdef int set_layout(Store self, list names) except -1:
    """Take other names for the example."""
    layout = Layout(names)
    if layout.m > self.room:
        resize(self, layout.m)
    self.layout, self.has_found, self.has_rows = layout, False, False


cdef int pack(Store self, dict x) except -1:
    """Convert an example to doubles in `fresh`, and to arrays. Raises ValueError if it has other values."""
    cdef dict numbers, arrays
    cdef set filled = None
    if self.matrices.n or self.arrays is not None or not pack_numbers(self, x):
        numbers, arrays, filled = parts_of(self, x)
        if not pack_numbers(self, numbers):
            raise invalid_example(x, self.means is not None)
        if not self.has_rows or bytes_of(arrays) != bytes_of(self.arrays):
            self.has_rows, self.arrays = False, arrays
            set_elements(self, &self.point, arrays)
    if filled is not self.filled and not self.keeps_filled:
        self.filled = filled


cdef bint pack_numbers(Store self, dict x) except -1:
    """Convert the values of a dict; return whether all are finite floats or integers, and are read."""
    cdef Py_ssize_t place = 0
    cdef int overflow = 0
    cdef PyObject *key
    cdef PyObject *item
    n, j, names = len(x), 0, <PyObject *> self.layout.names
    cdef bint has_names = n == self.layout.m
    if n > self.room:
        resize(self, n)
    while j < n and PyDict_Next(x, &place, &key, &item):
        if PyFloat_Check(<object> item):
            number = PyFloat_AS_DOUBLE(<object> item)
        elif PyLong_CheckExact(<object> item) or PyBool_Check(<object> item):
            number = <double> PyLong_AsLongLongAndOverflow(<object> item, &overflow)
        else:
            return False
        if overflow or not isfinite(number):
            return False
        self.fresh[j] = number
        has_names = has_names and (
            key == PyList_GET_ITEM(names, j) or is_same(key, PyList_GET_ITEM(names, j))
        )
        j += 1
    if not has_names:
        own = PyDict_Keys(x)
        check_names(own)
        if hides(self, own):
            return False
        set_layout(self, own)
        n = len(own)
    return j == n  # unless the code of a name has changed the dict


cdef int check_names(list names) except -1:
    """Raise ValueError if a name cannot be that of a feature; the parts of categories were checked."""
    for name in names:
        is_known = PyUnicode_CheckExact(name) or type(name) is Category
        if not is_known and not is_ordinary(name, 2):
            check_name(name)


cdef bint is_ordinary(name, int depth) except -1:
    """Return whether a name is a text, a small number or a tuple of such, as most are."""
    cdef int overflow = 0
    if PyUnicode_CheckExact(name) or PyFloat_CheckExact(name):
        return True
    if PyLong_CheckExact(name):
        PyLong_AsLongLongAndOverflow(name, &overflow)
        return not overflow
    if not PyTuple_Check(name) or depth == 0:
        return False
    for part in <tuple> name:
        if not is_ordinary(part, depth - 1):
            return False
    return True


cdef int set_elements(Store self, Point *p, dict arrays) except -1:
    """Unpack the arrays of a point."""
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
            inner, scale = &self.inners[g], scale_of_array(self, g, name, len(array))
            p.own[g].absent += size(inner, scale) * size_of(inner, array)
    for g in range(self.n_inner):
        if self.lacks_arrays and self.inners[g].statistic == SUM_OF_RATIONALS:
            p.own[g].rationals = rationals_of(self, g, arrays or {})


cdef double size_of(Inner *inner, array) except? -1.0:
    """Return the sum of the elements of an array as terms of a distance."""
    elements = array.astype(np.float64)
    return abs(elements).sum() if inner.statistic == MANHATTAN_DISTANCE else np.dot(elements, elements)


cdef double rationals_of(Store self, Py_ssize_t g, dict arrays) except? -1.0:
    """Return the terms of a sum of rationals for the arrays that no vector has, of which all are 0."""
    total, known = 0.0, self.kernels[self.inners[g].leader].known
    for name, size in self.array_sizes.items():
        if name not in known or self.matrices.sizes.get(name) == size:
            continue
        elements = np.asarray(arrays.get(name, ()), np.float64)
        is_read = len(elements) == size
        w = weight(&self.inners[g], scale_of_array(self, g, name, size))
        total += (1.0 / (1.0 + w * elements**2)).sum() if is_read else size
    return total


cdef int evaluate_values(Store self, list names, const double *values) except -1 nogil:
    """Evaluate an example of valid numbers."""
    cdef bint is_special
    self.begin()
    try:
        is_special = self.matrices.n or self.arrays is not None or self.filled is not None
        if is_special or <PyObject *> names != <PyObject *> self.layout.names:
            with gil:
                if is_special or hides(self, names):
                    pack(self, as_dict(names, values, None, None))
                    return take(self)
                set_layout(self, names)
        memcpy(self.fresh, values, self.layout.m * sizeof(double))
        take(self)
    finally:
        self.is_busy = False


cdef int take(Store self) except -1 nogil:
    """Make what was packed the example, and compute its rows unless it is the last one."""
    if self.has_rows and not memcmp(self.fresh, self.point.values, self.layout.m * sizeof(double)):
        return 0
    admit(self)
    kernel_rows(self, &self.point, self.rows)
    self.has_rows = True
    self.stamp += 1


cdef int admit(Store self) except -1 nogil:
    """Make what was packed the example, without kernel rows. Raises ValueError if something overflows."""
    self.has_rows = False
    memcpy(self.point.values, self.fresh, self.layout.m * sizeof(double))
    if self.has_found:
        measure(self, &self.point)
    else:
        with gil:
            forget_names(self, self.features.n_used + MOST_UNUSED)
            find_rows(self)
    for i in range(self.n_kernels):
        spec, g = &self.z[i].spec, self.z[i].inner
        if g >= 0:
            own = &self.point.own[g]
            raw, unscaled = raw_self_value(spec, own.whole), raw_self_value(spec, own.unscaled)
            if not (max(raw, unscaled) <= LARGEST and max(own.whole, own.unscaled) <= LARGEST):
                with gil:
                    raise invalid_example(self.example(), self.means is not None)
            self.own_values[i] = (raw > 0.0) if spec.normalized else raw


cdef int check_row(Store self, dict x, dict sizes) except -1:
    """Raise ValueError if an example is invalid, or has other arrays than those of some sizes."""
    self.has_rows = False
    if self.objects is not None:
        call_functions(self, x, None, self.own_values)
    if not self.n_inner:
        return 0
    pack(self, x)
    admit(self)
    for name, value in x.items():
        shape = value.shape if is_array(value) else ()
        if sizes.setdefault(name, shape) != shape:
            raise ValueError(f"feature {name!r} is an array of another length, or a number, in a row before")


cdef bint is_same(PyObject *name, PyObject *other) except -1:
    if PyUnicode_CheckExact(<object> name) and PyUnicode_CheckExact(<object> other):
        return PyUnicode_Compare(<object> name, <object> other) == 0
    own = <object> name  # its code may change the dict that it is from
    return PyObject_RichCompareBool(own, <object> other, Py_EQ)


cdef bint are_equal(dict x, dict z) except -1:
    """Return whether two examples have equal values of equal types, and the same order of names."""
    try:
        # The texts tell 0.0 from -0.0, and types and orders inside of values from others.
        return bool(x == z) and repr(x) == repr(z)
    except (TypeError, ValueError):  # the comparison of arrays is not a single boolean
        return False


cdef list bytes_of(dict arrays):
    return [(name, array.tobytes()) for name, array in (arrays or {}).items()]


cdef tuple parts_of(Store self, dict x):
    """Return the numbers and the arrays of an example, and the names whose unknown values are means now.

    A text becomes a category, a feature with the value 1. Names without a mean, and those that no kernel
    reads, are left out.
    """
    cdef dict numbers = {}, arrays = {}
    cdef set filled = set()
    check_names(PyDict_Keys(x))
    try:
        for name, value in list(x.items()):  # the code of a value may change x
            if PyFloat_Check(value) and value == value:
                numbers[name] = value
            elif isinstance(value, str):
                of_text = small_category_of if is_small(name) and is_small(value) else category_of
                numbers[of_text(name, value)] = 1.0
            elif is_array(value):
                arrays[name] = value
            elif self.means is None or not is_unknown(value):
                numbers[name] = as_double(value)
            elif (mean := self.means.mean(name)) is not None:
                numbers[name] = mean
                filled.add(name)
    except NOT_NUMBERS:
        raise invalid_example(x, self.means is not None) from None
    arrays = {name: checked_array(name, value, self.matrices.dtype) for name, value in arrays.items()}
    for name in arrays.keys() | self.matrices.sizes.keys():
        n = len(arrays.get(name, ()))
        if name in x and n != self.matrices.sizes.get(name, 0 if self.has_name(name) else n):
            raise ValueError(
                f"feature {name!r} is an array of another length, or a number, in support vectors"
            )
    if self.known is not None:
        numbers, arrays = [
            {name: part[name] for name in part if name in self.known} for part in (numbers, arrays)
        ]
    return numbers, arrays or None, filled or None


cdef inline uint64_t hash_of_number(uint64_t name, double value) noexcept nogil:
    cdef uint64_t bits
    value += 0.0  # 0.0 and -0.0 are equal
    memcpy(&bits, &value, sizeof(double))
    return mixed(name ^ mixed(bits))


cdef uint64_t hash_of_parts(Store self) except? 0:
    """Return what arrays and the dict of functions add to a fingerprint, less what unknown values have added."""
    cdef uint64_t total = 0
    cdef bytes text
    for name, array in (self.arrays or {}).items():
        text = array.tobytes()
        total += mixed(hash_of(name) ^ hash_of_bytes(text, len(text)))
    for j in range(self.layout.m if self.filled is not None else 0):
        if self.layout.names[j] in self.filled:
            total -= hash_of_number(self.layout.hashes[j], self.point.values[j])
    if self.snapshot is not None:
        text = repr(sorted(map(repr, self.snapshot.items()))).encode(errors="surrogatepass")
        total += hash_of_bytes(text, len(text))
    return total


# Points.

cdef int look_up(Store self, Layout layout, bint adds) except -1:
    """Look up the feature rows of all names; new names get rows if asked for, or if their scales differ."""
    for j in range(layout.m):
        if layout.rows[j] == 0:
            row = PyDict_GetItemWithError(self.features.index, layout.names[j])
            if row != NULL:
                layout.rows[j] = <int32_t> <object> row
            elif adds or layout.names[j] in self.named:
                add_row(self, layout.names[j])
                layout.rows[j] = <int32_t> self.features.n_rows - 1


cdef int add_row(Store self, name) except -1:
    features = self.features
    if features.n_rows == features.room:
        features.set_room(features.room + max(features.room // 2, <Py_ssize_t> 8))
    for g in range(self.n_inner):
        features.scales[features.n_rows * self.n_inner + g] = scale_of(self, g, name)
    features.rows[features.n_rows] = Feature(0, 0, 0, NULL, NULL, NULL)
    # The name may run Python code, which may raise: it is known from here on.
    features.index[name] = features.n_rows
    features.n_rows += 1


cdef int find_rows(Store self) except -1:
    """Look up the feature rows of the example's names, and measure it."""
    look_up(self, self.layout, False)
    set_features(self, &self.point, self.layout)
    self.has_found = True
    measure(self, &self.point)


cdef void set_features(Store self, Point *p, Layout layout) noexcept nogil:
    """Make the features of a layout, whose rows were looked up, those of a point."""
    p.m, p.n_known, p.rows = layout.m, 0, layout.rows
    for j in range(p.m):
        p.n_known += self.features.rows[p.rows[j]].count > 0


cdef int load(Store self, Py_ssize_t slot) except -1 nogil:
    """Make the vector in a slot the other point."""
    p, layout = &self.other, layout_of(self, slot)
    set_features(self, p, <Layout> layout)
    for j in range(p.m):
        p.values[j] = self.features.value(p.rows[j], slot)
    if self.matrices.n:
        with gil:
            set_elements(self, p, self.matrices.at(slot))
    measure(self, p)


cdef inline double scale_at(Store self, int32_t row, Py_ssize_t g) noexcept nogil:
    return self.features.scales[row * self.n_inner + g]


cdef void measure(Store self, Point *p) noexcept nogil:
    """Set the self statistics of numbers and arrays."""
    cdef Py_ssize_t n = 0
    for j in range(p.m):
        p.nonzero[n] = <int32_t> j
        n += p.values[j] != 0.0
    p.n_nonzero = n
    for g in range(self.n_inner):
        inner = &self.inners[g]
        squares, total = 0.0, inner.n_names if inner.statistic == SUM_OF_RATIONALS else 0.0
        for i in range(n):
            v, w = p.values[p.nonzero[i]], scale_at(self, p.rows[p.nonzero[i]], g)
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


# Kernel rows.

cdef int kernel_rows(Store self, Point *p, double *rows) except -1 nogil:
    """Compute the kernel rows of an example or a vector (n_kernels, capacity)."""
    n = (self.n + 7) // 8 * 8
    for i in range(self.n_kernels):
        g = self.z[i].inner
        if g >= 0:
            inner, row = &self.inners[g], rows + i * self.capacity
            if inner.leader == i:
                numbers_row(self, p, inner, g, row)
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
            norm = sqrt(raw_self_value(spec, p.own[kernel.inner].whole))
            loops.normalize(norm, kernel.norms, n, row)
        memset(row + self.n, 0, (n - self.n) * sizeof(double))


cdef int numbers_row(Store self, Point *p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil:
    """Compute inner statistics of numbers.

    They are plain sums if x has all features of the vectors, in columns, and few zeros. Otherwise, they
    follow from self statistics and from the features that x shares with a vector. If a distance would then
    lose significant digits, the terms of all features are summed instead.
    """
    cdef bint is_rational = inner.statistic == SUM_OF_RATIONALS
    cdef bint is_distance = not is_rational and inner.statistic != DOT_PRODUCT
    n, k = (self.n + 7) // 8 * 8, -1
    if (
        inner.statistic != DOT_PRODUCT and p.n_known == self.features.n_used
        and 2 * p.n_nonzero + FEWEST_ZEROS >= p.m
    ):
        k = gather(self, p, inner, g, True)
    if k >= 0:
        loops.sums[inner.is_plain][inner.statistic](self.terms, self.weights, self.columns_of, k, n, row)
        if is_rational:
            loops.combine(inner.n_names - k, self.zeros, 1.0, n, row)
        return 0
    own, limit = p.own[g].numbers, CANCELS_ABOVE / inner.gamma
    if is_distance and (own > limit or loops.exceeds(inner.statistics, limit, self.n)):
        return exact_row(self, p, inner, g, row)
    k = gather(self, p, inner, g, False)
    for j in range(k if inner.statistic <= SQUARED_DISTANCE else 0):
        self.terms[j] *= self.weights[j]
    loops.overlaps[inner.statistic](self.terms, self.weights, self.columns_of, k, n, row)
    for i in range(p.n_nonzero):
        j = p.nonzero[i]
        w, feature = scale_at(self, p.rows[j], g), &self.features.rows[p.rows[j]]
        if w != 0.0 and feature.column == NULL:
            add_listed(inner, p.values[j], weight(inner, w), feature, row)
    if inner.statistic != DOT_PRODUCT:
        constant = own - (inner.n_names if is_rational else 0.0)
        w = -2.0 if inner.statistic == SQUARED_DISTANCE else 1.0
        loops.combine(constant, inner.statistics, w, n, row)


cdef Py_ssize_t gather(Store self, Point *p, Inner *inner, Py_ssize_t g, bint is_all) noexcept nogil:
    """Gather the terms of x, all or those of values other than 0 in columns; return their number.

    All terms cannot be gathered, for -1, if some are in lists.
    """
    cdef Py_ssize_t k = 0
    factor = inner.factor  # read once
    for i in range(p.m if is_all else p.n_nonzero):
        j = i if is_all else p.nonzero[i]
        w, feature = scale_at(self, p.rows[j], g), &self.features.rows[p.rows[j]]
        if w == 0.0 or feature.column == NULL and not is_all:
            continue
        if feature.column == NULL and feature.length:
            return -1
        self.columns_of[k] = feature.column if feature.column != NULL else self.zeros
        self.terms[k], self.weights[k] = p.values[j], factor * size(inner, w)
        k += 1
    return k


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


cdef int exact_row(Store self, Point *p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil:
    """Sum squared or absolute differences over all features: those of x, and others of each vector.

    Their order follows from x and the vectors alone, and so do the bits.
    """
    is_shared = <char *> checked(calloc(self.features.n_rows + 1, 1))
    for j in range(p.m):
        is_shared[p.rows[j]] = True
    for slot in range(self.n):
        layout, row[slot] = layout_of(self, slot), 0.0
        for j in range(p.m):
            r = p.rows[j]
            difference = p.values[j] - self.features.value(r, slot)
            row[slot] += weight(inner, scale_at(self, r, g)) * size(inner, difference)
        for j in range((<Layout> layout).m):
            r = (<Layout> layout).rows[j]
            if not is_shared[r]:
                s = self.features.value(r, slot)
                row[slot] += weight(inner, scale_at(self, r, g)) * size(inner, s)
    free(is_shared)


cdef void add_arrays(Store self, Point *p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil:
    """Add the inner statistics of arrays, those that no vector has among them."""
    for a in range(self.matrices.n):
        w, matrix = weight(inner, self.of_matrices[g, a]), &self.matrices.all[a]
        if w != 0.0:
            loops.add_arrays[not self.matrices.is_float][inner.statistic](
                w, p.elements + matrix.start, matrix.values, matrix.size, self.n, row
            )
    absent = p.own[g].rationals if inner.statistic == SUM_OF_RATIONALS else p.own[g].absent
    if absent != 0.0 and inner.statistic != DOT_PRODUCT:
        for i in range(self.n):
            row[i] += absent


# Kernels that are Python functions.

cdef int call_functions(Store self, dict x, list others, double *values) except -1:
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


cdef PyObject *layout_of(Store self, Py_ssize_t slot) noexcept nogil:
    return PyList_GET_ITEM(<PyObject *> self.layouts, slot)


# Vectors.

cdef int make_room(Store self, Py_ssize_t slot) except -1:
    """Make room for the example in a slot, and set the parameters that kernels leave open."""
    has_new = self.arrays is not None and self.arrays.keys() - self.matrices.place_of.keys()
    if slot == self.capacity or has_new or self.array_sizes is None:
        names, kernels = list(self.layout.names if self.snapshot is None else self.snapshot), self.kernels
        if self.array_sizes is None:
            self.array_sizes = {name: len(array) for name, array in (self.arrays or {}).items()}
        if self.arrays is not None:
            width = 1.0 / max(self.layout.m + sum(map(len, self.arrays.values())), 1)
            names.extend(self.arrays)
            kernels = [k.resolve(names, width) if k.learns_scales else k for k in kernels]
        resolved = tuple([kernel.resolve(names) for kernel in kernels])
        n_slots = max(slot + 1, self.capacity)
        set_vectors(self, vectors_of(self), resolved, self.n_inserted, n_slots, self.arrays)
    look_up(self, self.layout, True)
    if not self.has_found:
        find_rows(self)


cdef bint store(Store self, Py_ssize_t slot, Layout layout, Point *p, dict arrays, dict own) except -1:
    """Store a point in a slot, instead of any other vector; return whether arrays of a name are gone."""
    cdef Layout old = self.layouts[slot] if slot < self.n else None
    # If memory lacks, all vectors have their parts, so that the change can be taken back.
    if self.objects is not None:
        self.objects[slot:slot + 1] = [own]
    if old is None:
        self.layouts.append(layout)
        self.n += 1
        self.features.set_n(self.n)
    if self.features.replace(layout, p.values, old, slot):
        self.has_found = False
    self.layouts[slot] = layout
    for g in range(self.n_inner):
        self.inners[g].statistics[slot] = p.own[g].numbers
    for i in range(self.n_kernels):
        kernel = &self.z[i]
        if kernel.norms != NULL:
            raw = raw_self_value(&kernel.spec, p.own[kernel.inner].whole)
            kernel.norms[slot] = sqrt(raw) if kernel.spec.normalized else raw
    return self.matrices.n > 0 and self.matrices.put(arrays or {}, slot, old is None)


cdef tuple vector_at(Store self, Py_ssize_t slot):
    """Return the names, values, arrays, object and insertion number of the vector in a slot."""
    cdef Layout layout = self.layouts[slot]
    packed = PyBytes_FromStringAndSize(NULL, layout.m * sizeof(double))
    values = <double *> PyBytes_AS_STRING(packed)
    for j in range(layout.m):
        values[j] = self.features.value(layout.rows[j], slot)
    arrays = self.matrices.at(slot) if self.matrices.n else None
    own = None if self.objects is None else self.objects[slot]
    return layout.names, packed, arrays, own, self.inserted[slot]


cdef list vectors_of(Store self):
    return [vector_at(self, slot) for slot in range(self.n)]


cdef int forget_names(Store self, Py_ssize_t most) except -1:
    """Forget the names that no vector has, if there are more of them than so many. The example stays known."""
    has_rows, stamp = self.has_rows, self.stamp
    if len(self.features.index) > self.features.n_used + most:
        set_vectors(self, vectors_of(self), self.kernels, self.n_inserted, self.capacity)
        self.has_rows, self.stamp = has_rows, stamp


cdef int set_vectors(
    Store self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays=None
) except -1:
    """Change vectors and kernels; make room for at least so many slots, and for arrays of the example.

    The rows of the example stay. An exception does not keep the change from happening, as code of names,
    or an interrupt, may raise in the middle of it.
    """
    # Names that cannot be looked up raise before the first change.
    dict.fromkeys([name for vector in vectors for name in vector[0]])
    try:
        build(self, vectors, kernels, n_inserted, n_slots, arrays)
    except BaseException:
        # If memory lacks, there was enough for as few slots.
        build(self, vectors, kernels, n_inserted, len(vectors), arrays)
        raise


cdef int build(
    Store self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays
) except -1:
    capacity = max(<Py_ssize_t> LANES, 1 << (n_slots - 1).bit_length()) if n_slots else 0
    every = [arrays or {}, *[vector[2] or {} for vector in vectors]]
    self.matrices.clear(capacity, {name: len(own[name]) for own in every for name in own})
    set_kernels(self, kernels)
    set_tables(self, capacity)
    self.features.clear(capacity, self.n_inner)
    add_row(self, UNSEEN)
    self.features.index.clear()
    self.objects = None if self.objects is None else []
    self.n, self.layouts, layouts = 0, [], {}
    resize(self, max([8, self.layout.m] + [len(vector[0]) for vector in vectors]))
    for names, values, held, own, inserted in vectors:
        layout = layouts.setdefault(id(names), Layout(names))
        look_up(self, layout, True)
        set_features(self, &self.other, layout)
        memcpy(self.other.values, PyBytes_AS_STRING(values), len(values))
        set_elements(self, &self.other, held)
        measure(self, &self.other)
        store(self, self.n, layout, &self.other, held, own)
        self.inserted[self.n - 1] = inserted
    set_layout(self, [] if hides(self, self.layout.names) else self.layout.names)
    set_elements(self, &self.point, self.arrays)
    self.n_inserted = n_inserted
    self.stamp += 1
