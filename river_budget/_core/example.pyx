# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""One example as kernels read it; see `example.pxd`."""

import copy

import numpy as np

from river_budget._features import (
    NOT_NUMBERS, as_double, category_of, check_name, checked_array, invalid_example, is_array, is_unknown,
    small_category_of,
)
from river_budget.kernels import Category

from cpython.bool cimport PyBool_Check
from cpython.dict cimport PyDict_Keys, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.tuple cimport PyTuple_Check
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_Compare
from libc.math cimport isfinite
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from river_budget._core.features cimport Layout, hash_of, hash_of_bytes, is_small, mixed

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1


cdef dict as_dict(list names, const double *values, dict arrays, dict snapshot):
    """Return an example or a vector as a dict of copies: of its snapshot if it has one, else of its parts."""
    if snapshot is not None:
        return copy.deepcopy(snapshot)
    numbers = {name: values[j] for j, name in enumerate(names)}
    return numbers | {name: np.array(array) for name, array in (arrays or {}).items()}


cdef int check_names(list names) except -1:
    for name in names:
        # The parts of a category were checked when it was made.
        is_known = PyUnicode_CheckExact(name) or type(name) is Category
        if not is_known and not is_ordinary(name, 2):
            check_name(name)


cdef bint is_ordinary(name, int depth) except -1:
    """Return whether a name is a text, a small number, or a tuple of these that is nested at most `depth` times."""
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


cdef bint is_same(PyObject *name, PyObject *other) except -1:
    if PyUnicode_CheckExact(<object> name) and PyUnicode_CheckExact(<object> other):
        return PyUnicode_Compare(<object> name, <object> other) == 0
    held = <object> name  # as its code may change the dict that it is from
    return PyObject_RichCompareBool(held, <object> other, Py_EQ)


cdef bint are_equal(dict x, dict z) except -1:
    """Return whether two examples have equal values of equal types, and the same order of names."""
    try:
        # The texts also tell apart 0.0 and -0.0, and types and orders inside of values.
        return bool(x == z) and repr(x) == repr(z)
    except (TypeError, ValueError):  # the comparison of arrays is not a single boolean
        return False


cdef list bytes_of(dict arrays):
    return [(name, array.tobytes()) for name, array in (arrays or {}).items()]


cdef inline uint64_t hash_of_number(uint64_t name, double value) noexcept nogil:
    cdef uint64_t bits
    value += 0.0  # 0.0 and -0.0 are equal
    memcpy(&bits, &value, sizeof(double))
    return mixed(name ^ mixed(bits))


cdef class PackedExample:
    """One example, packed for kernels."""

    def __cinit__(self, KernelBank bank):
        self.bank, self.point, self.layout = bank, Point(), Layout([])
        self.set_room(8)

    cdef int set_room(self, Py_ssize_t room) except -1:
        cdef double[::1] fresh = np.zeros(room)
        self.bank.set_room(room)
        self.fresh, self.fresh_memory = &fresh[0], fresh.base
        self.point.set_room(room)

    # Packing.

    cdef int pack(self, dict x) except -1:
        cdef dict numbers, arrays
        cdef set filled = None
        if self.bank.matrices.n or self.arrays is not None or not self.pack_numbers(x):
            numbers, arrays, filled = self.parts_of(x)
            if not self.pack_numbers(numbers):
                raise self.invalid(x)
            if not self.has_rows or bytes_of(arrays) != bytes_of(self.arrays):
                self.has_rows, self.arrays = False, arrays
                self.bank.unpack(self.point, arrays)
        if filled is not self.filled and not self.keeps_filled:
            self.filled = filled

    cdef bint pack_numbers(self, dict x) except -1:
        """Convert the values of a dict; return whether all are finite floats or integers that some kernel reads."""
        cdef Py_ssize_t position = 0
        cdef int overflow = 0
        cdef PyObject *key
        cdef PyObject *item
        n, j, names = len(x), 0, <PyObject *> self.layout.names
        cdef bint has_names = n == self.layout.m
        if n > self.point.room:
            self.set_room(n)
        while j < n and PyDict_Next(x, &position, &key, &item):
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
            new_names = PyDict_Keys(x)
            check_names(new_names)
            if self.bank.hides(new_names):
                return False
            self.set_layout(new_names)
            n = len(new_names)
        return j == n  # unless the code of a name has changed the dict

    cdef tuple parts_of(self, dict x):
        """Return the numbers and the arrays of an example, and the names whose unknown values are means now.

        A text becomes a category, a feature with the value 1. Unknown values without a mean are left out, and so
        is what no kernel reads.
        """
        cdef dict numbers = {}, arrays = {}
        cdef set filled = set()
        known = self.bank.known
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
            raise self.invalid(x) from None
        dtype = self.bank.matrices.dtype
        arrays = {name: checked_array(name, value, dtype) for name, value in arrays.items()}
        self.check_lengths(x, arrays)
        if known is not None:
            numbers = {name: value for name, value in numbers.items() if name in known}
            arrays = {name: value for name, value in arrays.items() if name in known}
        return numbers, arrays or None, filled or None

    cdef int check_lengths(self, dict x, dict arrays) except -1:
        """Raise ValueError if an array of an example differs in length from those of a vector, 0 for a number."""
        sizes, features = self.bank.matrices.sizes, self.bank.features
        for name in arrays.keys() | sizes.keys():
            length = len(arrays.get(name, ()))
            if name in x and length != sizes.get(name, 0 if features.has_name(name) else length):
                raise ValueError(f"feature {name!r} is an array of another length, or a number, in support vectors")

    cdef bint take_snapshot(self, dict x) except -1:
        if self.has_rows and are_equal(x, self.snapshot):
            return False
        self.has_rows = False
        check_names(list(x))
        self.snapshot = copy.deepcopy(x)
        return True

    # Rows.

    cdef int set_layout(self, list names) except -1:
        layout = Layout(names)
        if layout.m > self.point.room:
            self.set_room(layout.m)
        self.layout, self.has_found, self.has_rows = layout, False, False

    cdef int find_rows(self) except -1:
        self.bank.look_up(self.layout, False)
        self.bank.place(self.point, self.layout)
        self.has_found = True
        self.bank.measure(self.point)

    cdef int forget_rows(self) except -1:
        self.set_layout([] if self.bank.hides(self.layout.names) else self.layout.names)
        self.bank.unpack(self.point, self.arrays)

    # What others ask.

    cdef dict as_dict(self):
        return as_dict(self.layout.names, self.point.values, self.arrays, self.snapshot)

    cdef object invalid(self, x):
        return invalid_example(x, self.means is not None)

    cdef uint64_t fingerprint(self) except? 0 nogil:
        cdef uint64_t total = 1
        if self.layout.hashes == NULL:
            with gil:
                self.layout.hash_names()
        for j in range(self.layout.m):
            total += hash_of_number(self.layout.hashes[j], self.point.values[j])
        if self.arrays is not None or self.filled is not None or self.snapshot is not None:
            with gil:
                total += self.hash_of_parts()
        return total

    cdef uint64_t hash_of_parts(self) except? 0:
        """Return what arrays and the snapshot add to a fingerprint, less what the means of unknown values added."""
        cdef uint64_t total = 0
        cdef bytes text
        for name, array in (self.arrays or {}).items():
            text = array.tobytes()
            total += mixed(hash_of(name) ^ hash_of_bytes(text, len(text)))
        if self.filled is not None:
            for j in range(self.layout.m):
                if self.layout.names[j] in self.filled:
                    total -= hash_of_number(self.layout.hashes[j], self.point.values[j])
        if self.snapshot is not None:
            text = repr(sorted(map(repr, self.snapshot.items()))).encode(errors="surrogatepass")
            total += hash_of_bytes(text, len(text))
        return total
