# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model and their kernel rows; see `store.pxd` for who owns what."""

from collections.abc import Mapping
import copy
import sys

import numpy as np

from river_budget._features import (
    NOT_NUMBERS, another_length, as_double, category_of, check_array, check_shape,
    invalid_example, is_number, is_unknown, pack_rows,
)
from river_budget._state import require
from river_budget._vectors import restored_kernels, restored_order, restored_vectors, state_of
from river_budget.kernels import spec as kernel_spec
from river_budget.kernels.base import Category

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from river_budget._core.features cimport Layout, checked, new_layout, reallocate, value_of
from river_budget._core.loops cimport LANES
from river_budget._core.rows cimport (
    MANHATTAN_DISTANCE, SUM_OF_RATIONALS, Inner, Kernel, Rows, free_point, raw_self_value,
)

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil
    Py_ssize_t PyList_GET_SIZE(PyObject *items) nogil

cdef double LARGEST = kernel_spec.LARGEST

# Scratch memory for more features is given back when an example has few.
cdef Py_ssize_t LARGE_ROOM = 4096

# What the values of an example are.
cdef enum:
    NUMBERS, ARRAYS, OTHER_NAMES, OTHER_VALUES

cdef type NDARRAY = np.ndarray


cdef bint is_same(PyObject *name, PyObject *other) except -1:
    own = <object> name  # its code may change the dict that it is from
    return PyObject_RichCompareBool(own, <object> other, Py_EQ)


cdef inline bint has_elements(value) except -1:
    return isinstance(value, NDARRAY) and value.ndim > 0


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


cdef tuple with_numbers(dict x, means):
    """Return an example of numbers, and the names whose values were unknown and are means now.

    A text becomes a category, a feature with the value 1. A name without a mean is left out. What is
    neither a text nor a number stays, and unknown values do if there are no means.
    """
    cdef dict numbers = {}
    cdef set filled = set()
    for name, value in x.items():
        if PyFloat_Check(value) and value == value or PyLong_CheckExact(value):
            numbers[name] = value
        elif isinstance(value, str):
            numbers[category_of(name, value)] = 1.0
        elif means is None or not is_unknown(value):
            numbers[name] = value
        elif (mean := means.mean(name)) is not None:
            numbers[name] = mean
            filled.add(name)
    return numbers, filled


cdef tuple squared(array, dtype):
    """Return a copy of an array with a type, and its squared norm; what is too large is infinite."""
    if array.dtype != np.float32:  # of which no square is too large
        with np.errstate(over="ignore"):
            return squared_quietly(array, dtype)
    return squared_quietly(array, dtype)


cdef tuple squared_quietly(array, dtype):
    copied = np.array(array, dtype)
    elements = copied.astype(np.float64)
    return copied, np.dot(elements, elements)


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
        self.labels, self.weights, self.row = labels, weights, 0
        require(
            len(labels) == self.n_rows and (weights is None or len(weights) == self.n_rows),
            "labels or weights are not those of the rows",
        )


cdef class Store:
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
        free_point(&self.point)
        free(self.own_values)
        free(self.packed)
        free(self.fresh)
        free(self.read)

    cdef int require_own(self) except -1 nogil:
        """Raise RuntimeError if another thread uses the vectors."""
        if self.owner and self.owner != PyThread_get_thread_ident():
            with gil:
                raise in_use()

    cdef int enter(self) except -1 nogil:
        """Begin a call, which has to end by `is_busy = False`, without names that no vector has.

        `with self` does both, and takes longer.
        """
        self.begin()
        if PyList_GET_SIZE(<PyObject *> self.features.unused):
            with gil:
                self.sweep()

    cdef int begin(self) except -1 nogil:
        self.require_own()
        if self.is_busy:
            with gil:
                raise in_use()
        self.is_busy = True

    def __enter__(self):
        self.enter()

    def __exit__(self, *error):
        self.is_busy = False

    cdef int sweep(self) except -1:
        """Free names that no vector has any more."""
        try:
            self.features.sweep()
            if self.features.is_sparse:
                self.refill(self.vectors_at(range(self.n)))
        except BaseException:
            self.is_busy = False
            raise

    # Memory.

    cdef int resize(self, Py_ssize_t room) except -1 nogil:
        cdef size_t n_bytes = room * sizeof(double)
        Rows.resize(self, room)
        reallocate(<void **> &self.point.weights, self.n_inner * n_bytes)
        reallocate(<void **> &self.packed, n_bytes)
        reallocate(<void **> &self.fresh, n_bytes)
        reallocate(<void **> &self.read, n_bytes)
        self.values = self.point.values = self.packed if self.layout.active == NULL else self.read
        self.found = -1

    cdef int renew(self) except -1:
        """Derive all that follows from the kernels, also for the example."""
        Rows.renew(self)
        self.set_sizes(&self.point)
        self.set_layout(self.layout.names)
        self.read_values()
        return self.set_elements()

    # Packing.

    cdef int set_layout(self, list names) except -1:
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
        self.layout, self.columns = layout, layout.columns
        if room > self.room or (self.room > LARGE_ROOM and 16 * room < self.room):
            self.resize(room)
        self.found, self.has_rows = -1, False

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
                self.point.weights[g * self.room + j] = (
                    self.inners[g].weights[r] if r >= 0 else self.weight_of(g, name)
                )
        self.point.m, self.point.rows = layout.m, layout.rows
        self.found = self.version + self.features.version

    cdef int pack(self, dict x) except -1:
        """Convert the values of a dict to doubles in `fresh`, and its arrays."""
        if self.matrices.n or self.arrays is not None or self.pack_numbers(x) == ARRAYS:
            self.pack_arrays(x)

    cdef int pack_numbers(self, dict x) except -1:
        """Convert the values of a dict to doubles; return NUMBERS, or ARRAYS if it has some."""
        cdef int found
        numbers, filled = x, ()
        try:
            found = self.pack_values(numbers)
            if found == OTHER_VALUES:
                numbers, filled = with_numbers(x, self.means)
                found = self.pack_values(numbers)
            if found == OTHER_NAMES:
                self.has_example = False
                self.set_layout(list(numbers))
                found = self.pack_values(numbers)
            if found == OTHER_VALUES:
                raise ValueError("a value is not a number")
        except NOT_NUMBERS:
            raise invalid_example(x, self.limiting_kernel(), self.means is not None) from None
        if found == OTHER_NAMES:
            raise RuntimeError("the names of an example have changed while they were read")
        if not self.keeps_filled:
            self.filled, self.has_filled = filled, bool(filled)
        return found

    cdef int pack_values(self, dict x) except -1:
        """Convert the values of a dict to doubles, up to the first array or value of other types."""
        cdef Py_ssize_t place = 0, j = 0
        cdef bint has_names = True
        cdef double number
        cdef Layout layout = self.layout
        cdef PyObject *names = <PyObject *> layout.names
        cdef PyObject *key
        cdef PyObject *item
        while PyDict_Next(x, &place, &key, &item):
            if PyFloat_Check(<object> item):
                number = PyFloat_AS_DOUBLE(<object> item)
            elif PyLong_CheckExact(<object> item):
                number = PyLong_AsDouble(<object> item)
            else:
                # Their code may change the dict, so these are references of our own.
                name, value = <object> key, <object> item
                if has_elements(value):
                    return ARRAYS
                if isinstance(value, str) or not is_number(value):
                    return OTHER_VALUES
                number = as_double(value)
            if number != number:
                return OTHER_VALUES
            has_names = has_names and j < layout.n_names and (
                key == PyList_GET_ITEM(names, j)
                or is_same(key, PyList_GET_ITEM(names, j))
            )
            if has_names:
                self.fresh[j] = number
            j += 1
        return NUMBERS if has_names and j == layout.n_names else OTHER_NAMES

    cdef int take(self) except -1 nogil:
        """Make what was packed the example, and compute its rows unless it is the last one."""
        cdef size_t n_bytes = self.layout.n_names * sizeof(double)
        if self.has_rows and not memcmp(self.fresh, self.packed, n_bytes):
            return 0
        self.admit()
        self.kernel_rows(&self.point, self.rows)
        self.has_rows = self.has_example = True
        self.stamp += 1

    cdef int admit(self) except -1 nogil:
        """Make what was packed the example, without kernel rows. Raises ValueError if it is invalid."""
        cdef Py_ssize_t j
        self.has_rows = self.has_example = False
        self.packed, self.fresh = self.fresh, self.packed
        self.read_values()
        if self.found != self.version + self.features.version:
            with gil:
                self.find_rows()
        self.measure(&self.point)
        if not self.is_valid():
            with gil:
                # A variable for the dict would take the GIL in every call.
                raise invalid_example(
                    {self.layout.names[j]: self.packed[j] for j in range(self.layout.n_names)}
                    | (self.arrays or {}),
                    self.limiting_kernel(),
                )

    cdef void read_values(self) noexcept nogil:
        """Select the values that some kernel reads."""
        cdef Py_ssize_t j
        self.values = self.point.values = self.packed
        if self.layout.active != NULL:
            self.values = self.point.values = self.read
            for j in range(self.layout.m):
                self.read[j] = self.packed[self.layout.active[j]]

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
                    if self.point.weights[g * self.room + j] != 0.0:
                        v = self.point.values[j]
                        magnitude += fabs(v) if inner.statistic == MANHATTAN_DISTANCE else v * v
            statistic = self.own_statistic(&self.point, g)
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

    # Kernel rows.

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
                    self.write_rows(self.objects[slot], self.other_rows)
        finally:
            self.is_busy = False
        return self.other_rows

    # Kernels that are Python functions.

    cdef int write_rows(self, dict x, double *rows) except -1:
        """Write what the functions say of an example and each vector."""
        cdef Py_ssize_t i, slot
        for i, kernel in enumerate(self._kernels):
            if self.z[i].inner < 0:
                for slot, value in enumerate(answers_of(kernel, x, self.objects)):
                    rows[i * self.capacity + slot] = value

    cdef int evaluate_object(self, dict x) except -1:
        """Call the functions for an example, unless it is the last one."""
        cdef Py_ssize_t i
        if self.has_rows and are_equal(x, self.snapshot):
            return 0
        self.has_rows = self.has_example = False
        self.snapshot = copy.deepcopy(x)
        self.write_rows(self.snapshot, self.rows)
        for i, kernel in enumerate(self._kernels):
            if self.z[i].inner < 0:
                self.own_values[i] = answers_of(kernel, self.snapshot, [self.snapshot])[0]
                if self.own_values[i] < 0.0:
                    raise ValueError(f"{kernel} of {x!r} and itself is negative")

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
                    self.resolve()
            if self.found != self.version + self.features.version:
                with gil:
                    self.find_rows()
            self.has_rows = False
            self.stamp += 1
            if self.fits(slot):
                for j in range(self.point.m):
                    self.features.set_value(self.point.rows[j], slot, self.values[j])
            else:
                with gil:
                    self.place_anew(slot)
            self.measure(&self.point)
            self.set_statistics(slot, &self.point)
            self.inserted[slot] = self.n_inserted
            self.n_inserted += 1
        finally:
            self.is_busy = False

    cdef int place_anew(self, Py_ssize_t slot) except -1:
        """Store the example in a slot of a vector with other names, or a new one."""
        cdef Layout layout = self.layout
        self.reserve()
        self.store(layout, self.values, self.arrays, self.snapshot, slot)
        if self.layout is not layout:  # there is a new kind of arrays
            self.find_rows()

    cdef int reserve(self) except -1:
        if self.found != self.version + self.features.version or self.point.n_known < self.point.m:
            self.assign_rows(self.layout)
            self.set_features(&self.point, self.layout)
            self.found = self.version + self.features.version

    cdef bint fits(self, Py_ssize_t slot) noexcept nogil:
        """Return whether the example has the names of the vector in a slot, and numbers only."""
        if self.arrays is not None or self.objects is not None or self.matrices.n or slot == self.n:
            return False
        return (
            self.point.m == self.point.n_known == (<Layout> self.layouts[slot]).m
            and not memcmp(
                self.point.rows, (<Layout> self.layouts[slot]).rows, self.point.m * sizeof(int32_t)
            )
        )

    cdef int resolve(self) except -1:
        """Set the parameters that kernels leave open."""
        cdef list names = list(self.columns if self.snapshot is None else self.snapshot)
        kernels = self._kernels
        if self.arrays is not None:
            names.extend(self.arrays)
            n_features = len(self.columns) + sum(map(len, self.arrays.values()))
            width = 1.0 / max(n_features, 1)
            kernels = [k.with_width(width, names) if k.learns_scales else k for k in kernels]
        kernels = tuple([kernel.resolve(names) for kernel in kernels])
        if kernels != self._kernels:
            self.set_kernels(kernels)

    cdef int store(
        self, Layout layout, const double *values, dict arrays, dict object_, Py_ssize_t slot
    ) except -1:
        """Store a vector, whose names have feature rows, in a slot, instead of any other one."""
        if slot == self.capacity:
            self.set_capacity(max(<Py_ssize_t> LANES, 2 * self.capacity))
        if slot == self.n:
            self.n += 1
            self.features.set_n(self.n)
        old = <object> self.layouts[slot] if self.layouts[slot] != NULL else None
        self.features.replace(layout, values, old, slot)
        Py_INCREF(layout)
        Py_XDECREF(self.layouts[slot])  # not the last reference
        self.layouts[slot] = <PyObject *> layout
        if self.objects is not None:
            self.objects[slot:slot + 1] = [object_]
        if (arrays is not None or self.matrices.n) and self.matrices.put(arrays or {}, slot):
            self.set_kernels(self._kernels)

    # Arrays.

    cdef int pack_arrays(self, dict x) except -1:
        """Pack an example that may have arrays. Those that some kernel reads get the dtype of the store."""
        self.check_kinds(x)
        numbers = {name: value for name, value in x.items() if not has_elements(value)}
        arrays = {name: value for name, value in x.items() if has_elements(value)} or None
        for name, value in (arrays or {}).items():
            check_shape(name, value)
            arrays[name], square = squared(value, self.matrices.dtype)
            self.matrices.check_length(name, arrays[name])
            if not square <= LARGEST:
                check_array(name, value)
                raise ValueError(f"feature {name!r} is an array with too large a value")
        if arrays and self.is_selective:
            names = list(arrays)
            arrays = {names[j]: arrays[names[j]] for j in self.active(names)}
        self.pack_numbers(numbers)
        if not self.has_rows or not have_same_bytes(arrays, self.arrays):
            self.has_rows = self.has_example = False
            self.arrays = arrays
            self.set_elements()

    cdef int check_kinds(self, dict x) except -1:
        """Raise ValueError if a feature is a number in an example and an array in vectors, or otherwise."""
        for name, value in x.items():
            if has_elements(value):
                if name in self.features.index:
                    raise ValueError(f"feature {name!r} is an array, but a number in support vectors")
            elif name in self.matrices.place_of:
                raise ValueError(f"feature {name!r} is {value!r}, but an array in support vectors")

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

    # Vectors as a whole.

    cdef tuple vector_at(self, Py_ssize_t slot):
        """Return the layout, values, arrays and object of the vector in a slot."""
        self.load(slot)
        values = (<char *> self.other.values)[: self.other.m * sizeof(double)]
        arrays = self.matrices.at(slot) if self.matrices.n else None
        own = None if self.objects is None else self.objects[slot]
        return <object> self.layouts[slot], values, arrays, own

    cdef list vectors_at(self, slots):
        return [self.vector_at(slot) for slot in slots]

    cdef int set_vector(self, tuple vector, Py_ssize_t slot) except -1:
        cdef bytes values = vector[1]
        self.assign_rows(vector[0])
        self.store(vector[0], <const double *> <const char *> values, vector[2], vector[3], slot)
        self.load(slot)
        self.set_statistics(slot, &self.other)

    cdef int refill(self, list vectors) except -1:
        """Store other vectors, in new tables."""
        try:
            self.fill(vectors)
        except BaseException:  # by the code of a name: an interrupt must not lose vectors
            self.fill(vectors)
            raise

    cdef int fill(self, list vectors) except -1:
        cdef Py_ssize_t slot
        had_matrices = self.matrices.n > 0
        self.objects = None if self.objects is None else []
        self.clear()
        for slot in range(len(vectors)):
            self.set_vector(vectors[slot], slot)
        if had_matrices:
            self.set_kernels(self._kernels)
        self.has_rows = False
        self.stamp += 1

    # What the .pxd promises.

    cdef int evaluate(self, object x) except -1:
        self.enter()
        try:
            if type(x) is not dict:
                if not isinstance(x, Mapping):
                    raise invalid_example(x)
                x = dict(x)
            if self.objects is not None:
                self.evaluate_object(x)
            if self.n_inner:
                self.pack(x)
                self.take()
            elif not self.has_rows:
                self.has_rows = self.has_example = True
                self.stamp += 1
        finally:
            self.is_busy = False

    cdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil:
        if block.data == NULL or self.matrices.n or self.arrays is not None:
            with gil:
                return self.evaluate(block[i])
        return self.evaluate_values(block.names, block.data + i * block.n_names)

    cdef int evaluate_like(self, Store other) except -1 nogil:
        cdef bint has_others = other.arrays is not None or other.objects is not None
        if has_others or self.arrays is not None or self.matrices.n:
            with gil:
                return self.evaluate(other.example())
        return self.evaluate_values(other.columns, other.values)

    cdef int evaluate_values(self, list names, const double *values) except -1 nogil:
        """Evaluate an example of valid numbers."""
        self.enter()
        try:
            if <PyObject *> names != <PyObject *> self.layout.names:
                with gil:
                    self.has_example = self.has_example and names == self.layout.names
                    self.set_layout(names)
            self.has_filled = False
            memcpy(self.fresh, values, self.layout.n_names * sizeof(double))
            self.take()
        finally:
            self.is_busy = False

    cdef object limiting_kernel(self):
        """Return the kernel that error messages name, None if it may be a default."""
        kernel = self._kernels[0]
        return None if kernel.is_radial or self.n_kernels > 1 else kernel

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil:
        cdef Kernel *own = &self.z[kernel]
        if own.inner < 0:
            with gil:
                with self:
                    return self._kernels[kernel](self.objects[slot], self.objects[slot])
        if own.norms == NULL:
            return 1.0
        return own.norms[slot] > 0.0 if own.spec.normalized else own.norms[slot]

    # Python.

    @property
    def kernels(self):
        return self._kernels

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

    def set_example(self, x):
        self.evaluate(x)

    def set_row(self, Block block, Py_ssize_t i):
        if not 0 <= i < block.n_rows:
            raise IndexError(f"row {i} of {block.n_rows}")
        self.evaluate_row(block, i)

    cdef int check_kernel(self, Py_ssize_t kernel) except -1:
        if not 0 <= kernel < self.n_kernels:
            raise IndexError(f"kernel {kernel} of {self.n_kernels}")

    cdef int check_slot(self, Py_ssize_t slot) except -1:
        if not 0 <= slot < self.n:
            raise IndexError(f"slot {slot} is not in use: there are {self.n}")

    def row(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return copied(self.rows + kernel * self.capacity, self.n, np.float64)

    def self_value(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.own_values[kernel]

    def example(self):
        cdef Py_ssize_t j
        if self.objects is not None:
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
        self.require_own()
        self.check_slot(slot)
        if self.objects is not None:
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
        return copied(self.rows_of(slot) + kernel * self.capacity, self.n, np.float64)

    def gram(self, Py_ssize_t kernel=0):
        rows = [self.row_of(slot, kernel) for slot in range(self.n)]
        return np.array(rows, np.float64).reshape(self.n, self.n)

    def self_values(self, Py_ssize_t kernel=0):
        cdef Py_ssize_t slot
        cdef double[::1] values = np.empty(self.n)
        self.check_kernel(kernel)
        for slot in range(self.n):
            values[slot] = self.self_value_of(slot, kernel)
        return values.base

    def distances(self):
        if self.z[0].inner < 0:  # in feature space
            return self.self_values() - 2 * self.row()
        with self:
            if self.found != self.version + self.features.version:
                self.find_rows()
            return self.squared_distances(&self.point)

    def distances_of(self, Py_ssize_t slot):
        self.check_slot(slot)
        if self.z[0].inner < 0:
            return self.self_values() - 2 * self.row_of(slot)
        with self:
            self.load(slot)
            return self.squared_distances(&self.other)

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
            self.refill(self.vectors_at(kept))
            if self.n_kernels * self.capacity:
                memset(self.rows, 0, self.n_kernels * self.capacity * sizeof(double))
            for slot in range(self.n):
                self.inserted[slot] = inserted[slot]
                for i in range(self.n_kernels):
                    self.rows[i * self.capacity + slot] = rows[i][slot]
        return kept

    def block(self, columns, rows):
        """Return validated rows of a frame. Raises ValueError that names the row."""
        cdef Block block
        cdef Py_ssize_t i = 0
        cdef size_t n_bytes = len(columns) * sizeof(double)
        names = list(columns)
        values = pack_rows(rows) if self.objects is None else None
        if values is None:
            return self.block_of_dicts(names, rows)
        block = Block(names, values, None)
        with self:
            self.has_example, self.arrays = False, None
            self.set_layout(names)
            self.set_elements()
            try:
                if block.n_rows:
                    self.check_kinds(block[0])
                for i in range(block.n_rows):
                    if block.data != NULL:
                        memcpy(self.fresh, block.data + i * block.n_names, n_bytes)
                    self.admit()
            except ValueError as error:
                raise ValueError(f"row {i}: {error}") from None
        return block

    cdef Block block_of_dicts(self, list names, rows):
        """Return rows as dicts. Their numbers and arrays are valid, and fit each other."""
        cdef Store empty = self.empty_like()
        # Functions get the numbers that a dict has, and not NumPy's, which `sum` adds up otherwise.
        if rows.dtype.kind in "biuf":
            rows = rows.tolist()
        block = [dict(zip(names, row, strict=True)) for row in rows]
        sizes = {}
        with self:  # frees names that no vector has any more
            pass
        for i, x in enumerate(block):
            try:
                empty.evaluate(x)
                if self.n_inner:
                    self.check_kinds(x)
                for name, value in x.items() if self.n_inner else ():
                    size = len(value) if has_elements(value) else 0
                    if size:
                        self.matrices.check_length(name, value)
                    other = sizes.setdefault(name, size)
                    if size and other and size != other:
                        raise another_length(name, value, other)
                    require(bool(size) == bool(other), f"feature {name!r} is a number and an array")
            except ValueError as error:
                raise ValueError(f"row {i}: {error}") from None
        return Block(names, None, block)

    def rescale(self, kernels, factors, pooled):
        with self:
            require(len(kernels) == self.n_kernels, f"expected {self.n_kernels} kernels")
            self.factors, self.pooled = dict(factors), pooled
            self.has_rows = False
            self.stamp += 1
            self.set_kernels(tuple(kernels))

    def empty_like(self):
        store = Store(self._kernels, self.matrices.dtype.name, self.scaled)
        store.rescale(self._kernels, self.factors, self.pooled)
        store.means = self.means
        return store

    # Transactions.

    def save(self, Py_ssize_t slot):
        self.enter()
        try:
            vector = self.vector_at(slot) if slot < self.n else None
            inserted = self.inserted[slot] if slot < self.n else 0
            return slot, vector, inserted, self.n_inserted, self._kernels
        finally:
            self.is_busy = False

    def undo(self, saved):
        try:
            self.take_back(saved)
        except BaseException:  # as in `refill`
            self.take_back(saved)
            raise

    cdef int take_back(self, tuple saved) except -1:
        cdef Py_ssize_t slot
        slot, vector, inserted, n_inserted, kernels = saved
        with self:
            self.n_inserted = n_inserted
            if vector is not None:
                self.set_vector(vector, slot)
                self.inserted[slot] = inserted
            elif slot < self.n:
                self.refill(self.vectors_at(range(slot)))
            self.has_rows = False
            self.stamp += 1
            if self._kernels != kernels:
                self.set_kernels(kernels)

    # State.

    @property
    def nbytes(self):
        cdef Py_ssize_t i, slot
        cdef Layout layout
        cdef size_t n = (2 * self.n_kernels + self.n_inner + 1) * self.capacity  # doubles
        self.enter()  # without names that no vector has
        self.is_busy = False
        index = self.features.index
        parts = [self, index, *index, *[name[1] for name in index if type(name) is Category]]
        for i in range(self.n_kernels):
            n += self.capacity if self.z[i].norms != NULL else 0
        n += self.weights_room * self.n_inner
        n_bytes = 8 * n + 16 * self.capacity + self.features.n_bytes() + self.matrices.n_bytes()
        for slot in range(self.n):
            layout = <Layout> self.layouts[slot]
            parts += [layout, layout.columns]
        if self.objects is not None:
            parts += [self.objects, *self.objects, *[v for x in self.objects for v in x.values()]]
        # An example like the newest vector is always counted, so that the figure does not depend on
        # the last call.
        m = (<Layout> self.layouts[self.insertion_order.argmax()]).m if self.n else 0
        n_bytes += m * (60 + 16 * self.n_inner) + 16 * self.matrices.n_elements
        return n_bytes + sum({id(part): sys.getsizeof(part) for part in parts}.values())

    cdef list dumped(self):
        """Return names, bytes of values, arrays and object of each vector."""
        with self:
            vectors = self.vectors_at(range(self.n))
        return [((<Layout> layout).columns, *rest) for layout, *rest in vectors]

    def __reduce__(self):
        inserted = self.insertion_order
        state = (self.dumped(), inserted, self.n_inserted, self.factors, self.pooled, self.means)
        return Store, (self._kernels, self.matrices.dtype.name, self.scaled), state

    def __setstate__(self, state):
        vectors, inserted, self.n_inserted, factors, pooled, self.means = state
        self.rescale(self._kernels, factors, pooled)
        layouts = {id(names): new_layout(names) for names, *_ in vectors}
        for slot, (names, values, arrays, own) in enumerate(vectors):
            self.set_vector((layouts[id(names)], values, arrays, own), slot)
            self.inserted[slot] = inserted[slot]

    def state(self):
        for kernel in self._kernels:
            require(kernel.spec is not None, f"{kernel} cannot be stored: its function is code")
        return {
            "kernels": self._kernels,
            **state_of([vector[:3] for vector in self.dumped()]),
            "inserted": self.insertion_order,
            "n_inserted": self.n_inserted,
        }

    def restore(self, state):
        cdef Py_ssize_t slot
        vectors = restored_vectors(state)
        inserted, n_inserted = restored_order(state, len(vectors))
        self.rescale(restored_kernels(state, self._kernels), self.factors, self.pooled)
        self.n_inserted = n_inserted
        for slot, x in enumerate(vectors):
            self.pack(x)
            self.admit()  # without a kernel value for each vector before it
            self.has_example = True
            self.put(slot)
            self.inserted[slot] = inserted[slot]
        self.n_inserted = n_inserted
