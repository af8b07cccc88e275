# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model and their kernel rows; see `store.pxd` for who owns what."""

from collections.abc import Mapping
import copy
import sys

import numpy as np

from river_budget._features import (
    NOT_NUMBERS, another_length, as_double, category_of, checked_array, invalid_example, is_array,
    is_unknown, pack_rows,
)
from river_budget._state import require
from river_budget._vectors import restored_kernels, restored_order, restored_vectors, state_of
from river_budget.kernels.base import LARGEST as LARGEST_VALUE, Category

from cpython.bool cimport PyBool_Check
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Keys, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_Compare
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from river_budget._core.features cimport Layout, checked, new_layout, reallocate, value_of
from river_budget._core.loops cimport LANES
from river_budget._core.rows cimport (
    MANHATTAN_DISTANCE, SUM_OF_RATIONALS, Inner, Kernel, Rows, layout_of, raw_self_value,
)

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil
    Py_ssize_t PyList_GET_SIZE(PyObject *items) nogil
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1

cdef double LARGEST = LARGEST_VALUE

# Scratch memory for more features is given back when an example has few.
cdef Py_ssize_t LARGE_ROOM = 4096

cdef type NDARRAY = np.ndarray


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


cdef bint have_same_bytes(dict arrays, dict others) except -1:
    if arrays is None or others is None:
        return arrays is others
    return list(arrays) == list(others) and all(
        [array.tobytes() == others[name].tobytes() for name, array in arrays.items()]
    )


cdef object answers_of(kernel, dict x, list others):
    """Return what a function says of an example and others. Raises ValueError unless it is numbers."""
    answers = [kernel(x, z) for z in others]
    try:
        values = np.array(answers, np.float64)
        is_valid = values.ndim == 1 and (abs(values) <= LARGEST).all()
    except NOT_NUMBERS:
        is_valid = False
    if not is_valid:
        raise ValueError(f"{kernel} did not return a number up to {LARGEST} for {x!r}")
    return values


cdef tuple parts_of(dict x, means):
    """Return the numbers and the arrays of an example, and the names whose unknown values are means now.

    A text becomes a category, a feature with the value 1. A name without a mean is left out. Raises one
    of `NOT_NUMBERS` for other values.
    """
    cdef dict numbers = {}, arrays = {}
    cdef set filled = set()
    for name, value in list(x.items()):  # the code of a value may change x
        if PyFloat_Check(value) and value == value:
            numbers[name] = value
        elif isinstance(value, NDARRAY) and is_array(value):
            arrays[name] = value
        elif isinstance(value, str):
            numbers[category_of(name, value)] = 1.0
        elif means is None or not is_unknown(value):
            numbers[name] = as_double(value)
        elif (mean := means.mean(name)) is not None:
            numbers[name] = mean
            filled.add(name)
    return numbers, arrays, filled


cdef object copied(const void *numbers, Py_ssize_t n, dtype):
    return np.frombuffer((<const char *> numbers)[: n * sizeof(double)], dtype).copy()


cdef object in_use():
    return RuntimeError("the model is in use: by another thread, or by its own kernel")


cdef class Block:

    def __cinit__(self, list names, values, list dicts):
        cdef const double[:, ::1] view
        self.names, self.n_names, self.dicts = names, len(names), dicts
        if values is None:
            self.n_rows = len(dicts)
            return
        self.values = view = np.ascontiguousarray(values, np.float64)
        self.n_rows = view.shape[0]
        if view.shape[0] and view.shape[1]:
            self.data = &view[0, 0]

    def __getitem__(self, Py_ssize_t i):
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row {i} of {self.n_rows}")
        if self.dicts is not None:
            return self.dicts[i]
        return dict(zip(self.names, self.values[i].tolist()))

    def kept(self, rows):
        mask = np.asarray(rows, np.bool_)
        if self.values is not None:
            return Block(self.names, self.values[mask], None)
        return Block(self.names, None, [x for x, kept in zip(self.dicts, mask) if kept])

    def begin(self, labels, weights):
        require(
            len(labels) == self.n_rows and (weights is None or len(weights) == self.n_rows),
            "labels or weights are not those of the rows",
        )
        self.labels, self.weights, self.row = labels, weights, 0


cdef class Store(Rows):
    """Vectors under one or several kernels, and one example beside them."""

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        self.own_values = <double *> checked(calloc(self.n_kernels + 1, sizeof(double)))
        self.layout = new_layout([])
        self.columns = self.layout.columns
        self.resize(8)
        if any([kernel.spec is None for kernel in kernels]):
            self.objects = []
        self.set_kernels(tuple(kernels))

    def __dealloc__(self):
        free(self.own_values)

    # Use.

    cdef int require_own(self) except -1 nogil:
        if self.owner and self.owner != PyThread_get_thread_ident():
            with gil:
                raise in_use()

    cdef int begin(self) except -1 nogil:
        self.require_own()
        if self.is_busy:
            with gil:
                raise in_use()
        self.is_busy = True

    cdef int enter(self) except -1 nogil:
        self.begin()
        if PyList_GET_SIZE(<PyObject *> self.features.unused):
            with gil:
                try:
                    self.features.sweep()
                    if self.features.is_sparse:
                        refill(self, vectors_at(self, range(self.n)))
                except BaseException:
                    self.is_busy = False
                    raise

    def __enter__(self):
        self.enter()

    def __exit__(self, *error):
        self.is_busy = False

    # Kernels, and the names of the example.

    cdef int set_kernels(self, tuple kernels) except -1:
        try:
            change_kernels(self, kernels)
        except BaseException:  # an interrupt must not leave half of them
            change_kernels(self, kernels)
            raise

    cdef int find_rows(self) except -1:
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
                self.point.scales[g * self.room + j] = (
                    self.scales[r * self.n_inner + g] if r >= 0 else self.scale_of(g, name)
                )
        self.point.m, self.point.rows = layout.m, layout.rows
        self.found = self.version + self.features.version
        self.measure(&self.point)

    # The example.

    cdef int evaluate(self, object x) except -1:
        self.enter()
        try:
            if type(x) is not dict:
                if not isinstance(x, Mapping):
                    raise invalid_example(x)
                x = dict(x)
            if self.objects is not None and not (self.has_rows and are_equal(x, self.snapshot)):
                self.has_rows = self.has_example = False
                self.snapshot = copy.deepcopy(x)
                write_rows(self, self.snapshot, self.rows)
                write_own(self)
            if self.n_inner:
                pack(self, x)
                take(self)
            elif not self.has_rows:
                self.has_rows = self.has_example = True
                self.stamp += 1
        finally:
            self.is_busy = False

    cdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil:
        if block.data == NULL or self.matrices.n or self.arrays is not None:
            with gil:
                return self.evaluate(block[i])
        return evaluate_values(self, block.names, block.data + i * block.n_names)

    cdef int evaluate_like(self, Store other) except -1 nogil:
        cdef bint has_others = other.arrays is not None or other.objects is not None
        if has_others or self.arrays is not None or self.matrices.n:
            with gil:
                return self.evaluate(other.example())
        return evaluate_values(self, other.columns, other.point.values)

    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil:
        self.enter()
        try:
            if slot < 0 or slot >= self.n:
                with gil:
                    self.check_slot(slot)
            self.load(slot)
            self.kernel_rows(&self.other, self.other_rows)
            if self.objects is not None:
                with gil:
                    write_rows(self, self.objects[slot], self.other_rows)
        finally:
            self.is_busy = False
        return self.other_rows

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil:
        cdef Kernel *own = &self.z[kernel]
        if own.inner < 0:
            with gil:
                with self:
                    return self.kernels[kernel](self.objects[slot], self.objects[slot])
        if own.norms == NULL:
            return 1.0
        return own.norms[slot] > 0.0 if own.spec.normalized else own.norms[slot]

    # Changes of vectors.

    cdef int put(self, Py_ssize_t slot) except -1 nogil:
        cdef Py_ssize_t j
        self.begin()
        try:
            if not self.has_example or slot > self.n or slot < 0:
                with gil:
                    raise ValueError(f"there is no example for slot {slot}")
            if self.n_inserted == 0:
                with gil:
                    resolve(self)
            if not has_found(self):
                with gil:
                    self.find_rows()
            self.has_rows = False
            self.stamp += 1
            if fits(self, slot):
                for j in range(self.point.m):
                    self.features.set_value(self.point.rows[j], slot, self.point.values[j])
            else:
                with gil:
                    self.reserve()
                    store(self, self.layout, self.point.values, self.arrays, self.snapshot, slot)
                    if not has_found(self):  # there is a new kind of arrays
                        self.find_rows()
            self.set_statistics(slot, &self.point)
            self.inserted[slot] = self.n_inserted
            self.n_inserted += 1
        finally:
            self.is_busy = False

    cdef int reserve(self) except -1:
        if not has_found(self) or self.point.n_known < self.point.m:
            self.assign_rows(self.layout)
            self.set_features(&self.point, self.layout)
            self.measure(&self.point)
            self.found = self.version + self.features.version

    def put_example(self, Py_ssize_t slot):
        self.put(slot)

    def remove(self, slots):
        """Remove vectors; return the former slots of the others, in their new order (n,)."""
        cdef Py_ssize_t i, slot
        unused = set(slots) - set(range(self.n))
        if unused:
            raise IndexError(f"slots {sorted(unused)} are not in use: there are {self.n}")
        with self:
            kept = np.setdiff1d(np.arange(self.n), list(slots)).astype(np.int64)
            inserted = self.insertion_order[kept]
            rows = [self.row(i)[kept] for i in range(self.n_kernels)]
            refill(self, vectors_at(self, kept))
            if self.n_kernels * self.capacity:
                memset(self.rows, 0, self.n_kernels * self.capacity * sizeof(double))
            for slot in range(self.n):
                self.inserted[slot] = inserted[slot]
                for i in range(self.n_kernels):
                    self.rows[i * self.capacity + slot] = rows[i][slot]
        return kept

    def rescale(self, kernels, factors, pooled):
        with self:
            require(len(kernels) == self.n_kernels, f"expected {self.n_kernels} kernels")
            self.factors, self.pooled = dict(factors), pooled
            self.stamp += 1
            self.set_kernels(tuple(kernels))

    def empty_like(self):
        store = Store(self.kernels, self.dtype, self.scaled)
        store.rescale(self.kernels, self.factors, self.pooled)
        store.means = self.means
        return store

    # Transactions.

    cpdef tuple save(self, Py_ssize_t slot):
        self.enter()
        try:
            vector = vector_at(self, slot) if slot < self.n else None
            inserted = self.inserted[slot] if slot < self.n else 0
            return slot, vector, inserted, self.n_inserted, self.kernels
        finally:
            self.is_busy = False

    def undo(self, saved):
        try:
            take_back(self, saved)
        except BaseException:  # as in `refill`
            take_back(self, saved)
            raise

    # Blocks.

    def block(self, columns, rows):
        """Return validated rows of a frame. Raises ValueError that names the row."""
        cdef Block block
        names, sizes = list(columns), {}
        values = pack_rows(rows) if self.objects is None else None
        if values is None:
            # Functions get the numbers that a dict has, and not NumPy's, which `sum` adds up otherwise.
            listed = rows.tolist() if rows.dtype.kind in "biuf" else rows
            block = Block(names, None, [dict(zip(names, row, strict=True)) for row in listed])
        else:
            block = Block(names, values, None)
        with self:
            if block.data != NULL:
                # Statistics grow with the sizes of values: if these are valid, all rows are.
                try:
                    largest = abs(np.asfortranarray(values)).max(axis=0)  # this order is ten times as fast
                    pack(self, dict(zip(names, largest.tolist())))
                    admit(self)
                    return block
                except ValueError:
                    pass
            for i in range(block.n_rows):
                try:
                    self.check_row(block[i], sizes)
                except ValueError as error:
                    raise ValueError(f"row {i}: {error}") from None
        return block

    cdef int check_row(self, dict x, dict sizes) except -1:
        """Raise ValueError if an example is invalid, or has other arrays than those of some sizes."""
        self.has_rows = self.has_example = False
        if self.objects is not None:
            self.snapshot = x
            write_own(self)
        if not self.n_inner:
            return 0
        pack(self, x)
        admit(self)
        for name, value in x.items():
            size = len(value) if is_array(value) else 0
            other = sizes.setdefault(name, size)
            if size and other and size != other:
                raise another_length(name, value, other)
            require(bool(size) == bool(other), f"feature {name!r} is a number and an array")

    # What Python asks.

    @property
    def dtype(self):
        return self.matrices.dtype.name

    @property
    def names(self):
        if self.objects is not None and not self.n_inner:
            return dict.fromkeys(name for x in self.objects for name in x).keys()
        with self:  # without those that no vector has any more
            return dict.fromkeys([*self.features.index, *self.matrices.place_of]).keys()

    @property
    def insertion_order(self):
        self.require_own()
        return copied(self.inserted, self.n, np.int64)

    @property
    def by_age(self):
        return np.argsort(self.insertion_order)

    cdef int check_kernel(self, Py_ssize_t kernel) except -1:
        if not 0 <= kernel < self.n_kernels:
            raise IndexError(f"kernel {kernel} of {self.n_kernels}")

    cdef int check_slot(self, Py_ssize_t slot) except -1:
        if not 0 <= slot < self.n:
            raise IndexError(f"slot {slot} is not in use: there are {self.n}")

    def set_example(self, x):
        self.evaluate(x)

    def set_row(self, Block block, Py_ssize_t i):
        if not 0 <= i < block.n_rows:
            raise IndexError(f"row {i} of {block.n_rows}")
        self.evaluate_row(block, i)

    def example(self):
        cdef Py_ssize_t j
        if self.objects is not None:
            return copy.deepcopy(self.snapshot)
        x = {self.columns[j]: self.point.values[j] for j in range(self.layout.m)}
        for name, array in (self.arrays or {}).items():
            x[name] = array.copy()
        return x

    def self_value(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.own_values[kernel]

    def row(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return copied(self.rows + kernel * self.capacity, self.n, np.float64)

    def is_flat(self, double low, double high):
        cdef Py_ssize_t i
        cdef double least = INFINITY, most = -INFINITY
        for i in range(self.n):
            least, most = min(least, self.rows[i]), max(most, self.rows[i])
        return self.n > 0 and (most < low or least > high)

    def vector(self, Py_ssize_t slot):
        cdef Py_ssize_t j
        cdef Layout layout
        self.require_own()
        self.check_slot(slot)
        if self.objects is not None:
            return copy.deepcopy(self.objects[slot])
        layout = self.layouts[slot]
        x = {
            layout.columns[j]: value_of(&self.features.rows[layout.rows[j]], slot)
            for j in range(layout.m)
        }
        x.update(self.matrices.at(slot))
        return x

    def row_of(self, Py_ssize_t slot, Py_ssize_t kernel=0):
        self.check_slot(slot)
        self.check_kernel(kernel)
        return copied(self.rows_of(slot) + kernel * self.capacity, self.n, np.float64)

    def gram(self, Py_ssize_t kernel=0):
        rows = [self.row_of(slot, kernel) for slot in range(self.n)]
        return np.array(rows, np.float64).reshape(self.n, self.n)

    def self_values(self, Py_ssize_t kernel=0):
        cdef Py_ssize_t slot
        self.check_kernel(kernel)
        return np.array([self.self_value_of(slot, kernel) for slot in range(self.n)], np.float64)

    def distances(self):
        if self.z[0].inner < 0:  # in feature space
            return self.self_values() - 2 * self.row()
        with self:
            if not has_found(self):
                self.find_rows()
            return self.squared_distances(&self.point)

    def distances_of(self, Py_ssize_t slot):
        self.check_slot(slot)
        if self.z[0].inner < 0:
            return self.self_values() - 2 * self.row_of(slot)
        with self:
            self.load(slot)
            return self.squared_distances(&self.other)

    @property
    def nbytes(self):
        cdef Layout layout
        with self:  # frees names that no vector has
            index = self.features.index
        parts = [self, index, *index, *[name[1] for name in index if type(name) is Category]]
        for layout in self.layouts:
            parts += [layout, layout.columns]
        if self.objects is not None:
            parts += [self.objects, *self.objects, *[v for x in self.objects for v in x.values()]]
        matrices = [part.nbytes for pair in self.matrices.tables.values() for part in pair]
        n_bytes = self.by_slot.nbytes + 16 * self.capacity + sum(matrices)
        n_bytes += self.features.n_bytes() + 8 * self.scales_room * self.n_inner
        # An example like the newest vector is always counted, so that the figure does not depend on
        # the last call.
        m = (<Layout> self.layouts[self.insertion_order.argmax()]).m if self.n else 0
        n_bytes += m * (60 + 16 * self.n_inner) + 16 * self.matrices.n_elements
        return n_bytes + sum({id(part): sys.getsizeof(part) for part in parts}.values())

    # State.

    def __reduce__(self):
        inserted = self.insertion_order
        state = (dumped(self), inserted, self.n_inserted, self.factors, self.pooled, self.means)
        return Store, (self.kernels, self.dtype, self.scaled), state

    def __setstate__(self, state):
        vectors, inserted, self.n_inserted, factors, pooled, self.means = state
        self.rescale(self.kernels, factors, pooled)
        layouts = {id(names): new_layout(names) for names, *_ in vectors}
        for slot, (names, values, arrays, own) in enumerate(vectors):
            set_vector(self, (layouts[id(names)], values, arrays, own), slot)
            self.inserted[slot] = inserted[slot]

    def state(self):
        for kernel in self.kernels:
            require(kernel.spec is not None, f"{kernel} cannot be stored: its function is code")
        return {
            "kernels": self.kernels,
            **state_of([vector[:3] for vector in dumped(self)]),
            "inserted": self.insertion_order,
            "n_inserted": self.n_inserted,
        }

    def restore(self, state):
        cdef Py_ssize_t slot
        vectors = restored_vectors(state)
        inserted, n_inserted = restored_order(state, len(vectors))
        self.rescale(restored_kernels(state, self.kernels), self.factors, self.pooled)
        self.n_inserted = n_inserted
        for slot, x in enumerate(vectors):
            pack(self, x)
            admit(self)  # without a kernel value for each vector before it
            self.has_example = True
            self.put(slot)
            self.inserted[slot] = inserted[slot]
        self.n_inserted = n_inserted


cdef inline bint has_found(Store self) noexcept nogil:
    """Return whether the feature rows of the example are those of its names by now."""
    return self.found == self.version + self.features.version


cdef int change_kernels(Store self, tuple kernels) except -1:
    cdef Py_ssize_t m = self.layout.m
    Rows.set_kernels(self, kernels)
    set_layout(self, self.layout.names)
    self.has_example = self.has_example and self.layout.m == m
    set_elements(self)


# Packing.

cdef int set_layout(Store self, list names) except -1:
    """Take other names for the example."""
    cdef Layout layout
    cdef Py_ssize_t j, room = len(names)
    active = self.active(names) if self.is_selective and self.n_inner else None
    layout = new_layout(names if active is None else [names[j] for j in active])
    layout.names, layout.n_names = names, room
    if active is not None:
        reallocate(<void **> &layout.active, layout.m * sizeof(int32_t))
        for j in range(layout.m):
            layout.active[j] = active[j]
    if room > self.room or (self.room > LARGE_ROOM and 16 * room < self.room):
        self.resize(max(room, 8))
    self.layout, self.columns = layout, layout.columns
    self.found, self.has_rows = -1, False


cdef void select(Store self) noexcept nogil:
    """Move the values that some kernel reads to the front."""
    cdef Py_ssize_t j
    if self.layout.active != NULL:
        for j in range(self.layout.m):
            self.fresh[j] = self.fresh[self.layout.active[j]]


cdef int pack(Store self, dict x) except -1:
    """Convert an example to doubles in `fresh`, and to arrays. Raises ValueError if it has other values."""
    cdef dict arrays
    if not self.matrices.n and self.arrays is None and pack_numbers(self, x):
        self.has_filled = self.has_filled and self.keeps_filled
        return 0
    check_kinds(self, x)
    try:
        numbers, arrays, filled = parts_of(x, self.means)
        if not pack_numbers(self, numbers):
            raise ValueError("a value is not finite")
    except NOT_NUMBERS:
        raise invalid_example(x, limiting_kernel(self), self.means is not None) from None
    if not self.keeps_filled:
        self.filled, self.has_filled = filled, bool(filled)
    for name, value in arrays.items():
        arrays[name] = checked_array(name, value, self.matrices.dtype)
        if name in self.matrices.place_of:
            size = self.matrices.all[<Py_ssize_t> self.matrices.place_of[name]].size
            if len(arrays[name]) != size:
                raise another_length(name, arrays[name], size)
    if self.is_selective:
        names = list(arrays)
        arrays = {names[j]: arrays[names[j]] for j in self.active(names)}
    arrays = arrays or None
    if not self.has_rows or not have_same_bytes(arrays, self.arrays):
        self.has_rows = self.has_example = False
        self.arrays = arrays
        set_elements(self)


cdef bint pack_numbers(Store self, dict x) except -1:
    """Convert the values of a dict to doubles; return whether it has finite floats and integers only."""
    cdef Py_ssize_t place = 0, j = 0, n = len(x)
    cdef PyObject *names = <PyObject *> self.layout.names
    cdef bint has_names = n == self.layout.n_names
    cdef int overflow = 0
    cdef double number
    cdef PyObject *key
    cdef PyObject *item
    if n > self.room:
        self.resize(n)
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
        self.has_example = False
        set_layout(self, own)
        n = len(own)
    select(self)
    return j == n  # unless the code of a name has changed the dict


cdef int check_kinds(Store self, dict x) except -1:
    """Raise ValueError if a feature is a number in an example and an array in vectors, or otherwise."""
    for name, value in x.items():
        if is_array(value):
            if name in self.features.index:
                raise ValueError(f"feature {name!r} is an array, but a number in support vectors")
        elif name in self.matrices.place_of:
            raise ValueError(f"feature {name!r} is {value!r}, but an array in support vectors")


cdef int set_elements(Store self) except -1:
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
            scale = self.scale_of(g, name)
            self.point.extra[g] += (abs(scale) if is_sum else scale * scale) * own


cdef int evaluate_values(Store self, list names, const double *values) except -1 nogil:
    """Evaluate an example of valid numbers."""
    self.enter()
    try:
        if <PyObject *> names != <PyObject *> self.layout.names:
            with gil:
                self.has_example = self.has_example and names == self.layout.names
                set_layout(self, names)
        self.has_filled = False
        memcpy(self.fresh, values, self.layout.n_names * sizeof(double))
        select(self)
        take(self)
    finally:
        self.is_busy = False


cdef int take(Store self) except -1 nogil:
    """Make what was packed the example, and compute its rows unless it is the last one."""
    if self.has_rows and not memcmp(self.fresh, self.point.values, self.layout.m * sizeof(double)):
        return 0
    admit(self)
    self.kernel_rows(&self.point, self.rows)
    self.has_rows = self.has_example = True
    self.stamp += 1


cdef int admit(Store self) except -1 nogil:
    """Make what was packed the example, without kernel rows. Raises ValueError if it is invalid."""
    self.has_rows = self.has_example = False
    memcpy(self.point.values, self.fresh, self.layout.m * sizeof(double))
    if has_found(self):
        self.measure(&self.point)
    else:
        with gil:
            self.find_rows()
    if not is_valid(self):
        with gil:
            raise too_large(self)


cdef object too_large(Store self):
    cdef Py_ssize_t j
    numbers = {self.columns[j]: self.point.values[j] for j in range(self.layout.m)}
    return invalid_example(numbers | (self.arrays or {}), limiting_kernel(self))


cdef object limiting_kernel(Store self):
    """Return the kernel that error messages name, None if it may be a default."""
    kernel = self.kernels[0]
    return None if kernel.is_radial or self.n_kernels > 1 else kernel


cdef bint is_valid(Store self) noexcept nogil:
    """Return whether neither squares nor kernel values of the example overflow; set its self values."""
    cdef Py_ssize_t g, i, j
    cdef Kernel *kernel
    cdef Inner *inner
    cdef double magnitude, statistic, v, raw
    for g in range(self.n_inner):
        inner = &self.inners[g]
        magnitude, statistic = self.point.own[g], self.own_statistic(&self.point, g)
        if inner.is_scaled or not inner.reads_all or inner.statistic == SUM_OF_RATIONALS:
            # In the units of the user.
            magnitude = 0.0
            for i in range(self.point.n_nonzero):
                j = self.point.nonzero[i]
                if self.point.scales[g * self.room + j] != 0.0:
                    v = self.point.values[j]
                    magnitude += fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v
        if not magnitude <= LARGEST or self.arrays is not None and statistic > LARGEST:
            return False
        for i in range(self.n_kernels):
            kernel = &self.z[i]
            if kernel.inner != g:
                continue
            raw = raw_self_value(&kernel.spec, statistic)
            if not (raw <= LARGEST and raw_self_value(&kernel.spec, magnitude) <= LARGEST):
                return False
            self.own_values[i] = (raw > 0.0) if kernel.spec.normalized else raw
    return True


# Kernels that are Python functions.

cdef int write_rows(Store self, dict x, double *rows) except -1:
    """Write what the functions say of an example and each vector."""
    cdef Py_ssize_t i, slot
    for i, kernel in enumerate(self.kernels):
        if self.z[i].inner < 0:
            for slot, value in enumerate(answers_of(kernel, x, self.objects)):
                rows[i * self.capacity + slot] = value


cdef int write_own(Store self) except -1:
    """Write what the functions say of the example and itself."""
    cdef Py_ssize_t i
    for i, kernel in enumerate(self.kernels):
        if self.z[i].inner < 0:
            self.own_values[i] = answers_of(kernel, self.snapshot, [self.snapshot])[0]
            if self.own_values[i] < 0.0:
                raise ValueError(f"{kernel} of {self.snapshot!r} and itself is negative")


# Vectors.

cdef bint fits(Store self, Py_ssize_t slot) noexcept nogil:
    """Return whether the example has the names of the vector in a slot, and numbers only."""
    if self.arrays is not None or self.objects is not None or self.matrices.n or slot == self.n:
        return False
    cdef PyObject *layout = layout_of(self, slot)
    return (
        self.point.m == self.point.n_known == (<Layout> layout).m
        and not memcmp(self.point.rows, (<Layout> layout).rows, self.point.m * sizeof(int32_t))
    )


cdef int resolve(Store self) except -1:
    """Set the parameters that kernels leave open."""
    cdef list names = list(self.columns if self.snapshot is None else self.snapshot)
    kernels = self.kernels
    if self.arrays is not None:
        names.extend(self.arrays)
        n_features = len(self.columns) + sum(map(len, self.arrays.values()))
        width = 1.0 / max(n_features, 1)
        kernels = [k.with_width(width, names) if k.learns_scales else k for k in kernels]
    kernels = tuple([kernel.resolve(names) for kernel in kernels])
    if kernels != self.kernels:
        self.set_kernels(kernels)


cdef int store(
    Store self, Layout layout, const double *values, dict arrays, dict own, Py_ssize_t slot
) except -1:
    """Store a vector, whose names have feature rows, in a slot, instead of any other one."""
    if slot == self.capacity:
        self.set_capacity(max(<Py_ssize_t> LANES, 2 * self.capacity))
    if slot == self.n:
        self.n += 1
        self.features.set_n(self.n)
    self.features.replace(layout, values, self.layouts[slot] if slot < len(self.layouts) else None, slot)
    self.layouts[slot:slot + 1] = [layout]
    if self.objects is not None:
        self.objects[slot:slot + 1] = [own]
    if (arrays is not None or self.matrices.n) and self.matrices.put(arrays or {}, slot):
        self.set_kernels(self.kernels)


cdef tuple vector_at(Store self, Py_ssize_t slot):
    """Return the layout, values, arrays and object of the vector in a slot."""
    cdef Layout layout = self.layouts[slot]
    cdef Py_ssize_t j
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, layout.m * sizeof(double))
    cdef double *values = <double *> PyBytes_AS_STRING(packed)
    for j in range(layout.m):
        values[j] = value_of(&self.features.rows[layout.rows[j]], slot)
    arrays = self.matrices.at(slot) if self.matrices.n else None
    return layout, packed, arrays, None if self.objects is None else self.objects[slot]


cdef list vectors_at(Store self, slots):
    return [vector_at(self, slot) for slot in slots]


cdef int set_vector(Store self, tuple vector, Py_ssize_t slot) except -1:
    cdef bytes values = vector[1]
    self.assign_rows(vector[0])
    store(self, vector[0], <const double *> <const char *> values, vector[2], vector[3], slot)
    self.load(slot)
    self.set_statistics(slot, &self.other)


cdef int refill(Store self, list vectors) except -1:
    """Store other vectors, in new tables."""
    try:
        fill(self, vectors)
    except BaseException:  # by the code of a name: an interrupt must not lose vectors
        fill(self, vectors)
        raise


cdef int fill(Store self, list vectors) except -1:
    cdef Py_ssize_t slot
    had_matrices = self.matrices.n > 0
    self.objects = None if self.objects is None else []
    self.clear()
    for slot in range(len(vectors)):
        set_vector(self, vectors[slot], slot)
    if had_matrices:
        self.set_kernels(self.kernels)
    self.has_rows = False
    self.stamp += 1


cdef int take_back(Store self, tuple saved) except -1:
    cdef Py_ssize_t slot
    slot, vector, inserted, n_inserted, kernels = saved
    with self:
        self.n_inserted = n_inserted
        if vector is not None:
            set_vector(self, vector, slot)
            self.inserted[slot] = inserted
        elif slot < self.n:
            refill(self, vectors_at(self, range(slot)))
        self.has_rows = False
        self.stamp += 1
        if self.kernels != kernels:
            self.set_kernels(kernels)


cdef list dumped(Store self):
    """Return names, bytes of values, arrays and object of each vector."""
    with self:
        vectors = vectors_at(self, range(self.n))
    return [((<Layout> layout).columns, *rest) for layout, *rest in vectors]
