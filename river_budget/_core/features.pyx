# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""The values of the vectors: numbers in columns and lists, arrays in matrices; see `features.pxd`."""

import math
import numbers
import sys

import numpy as np

from river_budget.kernels import Category

from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_CheckExact
from libc.math cimport signbit
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)

# A tuple: if the check of the last member of a union is interrupted, CPython 3.11 answers yes.
cdef tuple NUMBERS = (int, float, numbers.Number)

cdef enum:
    # A feature is in a column if at least one in so many vectors has a value of it other than 0.
    SHARE = 8
    LINE = 64  # bytes of a line of the cache
    # The largest number of parts of a small name, and of characters of each of them.
    MOST_PARTS = 4
    MOST_CHARACTERS = 100

cdef object LARGEST_INT = 2**63


def zero_matrix(shape, dtype):
    """Return an array of zeros that begins at a line of the cache. Nothing interrupts it."""
    cdef Py_ssize_t start, n_bytes = math.prod(shape) * dtype.itemsize
    cdef unsigned char[::1] memory = np.zeros(n_bytes + LINE, np.uint8)
    past_line = <size_t> &memory[0] % LINE
    start = (LINE - past_line) % LINE
    return memory.base[start : start + n_bytes].view(dtype).reshape(shape)


cdef bint is_small(name) except -1:
    if PyTuple_CheckExact(name) or type(name) is Category:
        return len(<tuple> name) <= MOST_PARTS and all([is_small_part(part) for part in <tuple> name])
    return is_small_part(name)


cdef bint is_small_part(part) except -1:
    if PyUnicode_CheckExact(part):
        return len(<str> part) <= MOST_CHARACTERS
    return PyFloat_CheckExact(part) or (PyLong_CheckExact(part) and -LARGEST_INT <= part <= LARGEST_INT)


cdef void *checked(void *memory) except NULL nogil:
    if memory == NULL:
        with gil:
            raise MemoryError
    return memory


cdef int reallocate(void **memory, size_t n_bytes) except -1 nogil:
    memory[0] = checked(realloc(memory[0], n_bytes + 1))


cdef uint64_t mixed(uint64_t h) noexcept nogil:
    """Return a number all of whose bits depend on all bits of another one (the end of splitmix64)."""
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL
    return h ^ (h >> 31)


cdef inline bint is_stored(double value) noexcept nogil:
    """Return whether a value takes a place in a list; -0.0 does, as its sign is kept."""
    return value != 0.0 or signbit(value)


cdef int32_t find(Feature *feature, Py_ssize_t slot) noexcept nogil:
    """Return the index of the entry of a slot in a list; -1 if there is none."""
    for e in range(feature.length):
        if feature.entries[e].slot == slot:
            return e
    return -1


cdef int set_length(Feature *feature, int32_t length) except -1 nogil:
    """Set the length of a list, whose room grows and shrinks in larger steps."""
    room = length + length // 2
    if length > feature.room or length < feature.room // 4:
        reallocate(<void **> &feature.entries, room * sizeof(Entry))
        feature.room = room
    feature.length = length


cdef int add_column(Feature *feature, Py_ssize_t capacity) except -1 nogil:
    """Give a feature a new column of zeros."""
    memory = checked(calloc(capacity * sizeof(double) + LINE, 1))
    feature.memory = memory
    feature.column = <double *> ((<size_t> feature.memory + LINE - 1) // LINE * LINE)


cdef int settle(Feature *feature, Py_ssize_t n, Py_ssize_t capacity) except -1 nogil:
    """Move a feature to a column if enough of n vectors have it, else to a list."""
    cdef bint is_common = feature.length and feature.length * SHARE >= n
    if is_common and feature.column == NULL:
        move_to_column(feature, capacity)
    elif not is_common and feature.column != NULL:
        move_to_list(feature, capacity)


cdef int move_to_column(Feature *feature, Py_ssize_t capacity) except -1 nogil:
    add_column(feature, capacity)
    for e in range(feature.length):
        feature.column[feature.entries[e].slot] = feature.entries[e].value
    free(feature.entries)
    feature.entries, feature.room = NULL, 0


cdef int move_to_list(Feature *feature, Py_ssize_t capacity) except -1 nogil:
    cdef Py_ssize_t e = 0
    set_length(feature, feature.length)
    for slot in range(capacity):
        if is_stored(feature.column[slot]):
            feature.entries[e] = Entry(feature.column[slot], <int32_t> slot)
            e += 1
    free(feature.memory)
    feature.memory = feature.column = NULL


cdef uint64_t hash_of_bytes(const char *bytes, Py_ssize_t n) noexcept nogil:
    """Return a hash of bytes, which are mixed in words of eight."""
    cdef uint64_t word, h = n
    for i in range(0, n, 8):
        word = 0
        memcpy(&word, bytes + i, min(8, n - i))
        h = mixed(h ^ word)
    return h


cdef uint64_t hash_of(name) except? 0:
    """Return a hash of a name that is the same in each process; equal names have equal hashes."""
    cdef Py_ssize_t size
    cdef uint64_t h = 1
    cdef bytes text
    if PyUnicode_CheckExact(name) and PyUnicode_IS_ASCII(name):
        return hash_of_bytes(PyUnicode_AsUTF8AndSize(name, &size), size)
    if isinstance(name, tuple):
        for part in <tuple> name:
            h = mixed(h + hash_of(part))
        return h
    if isinstance(name, NUMBERS):  # Python's own hash of a number is the same in each process
        return mixed(<uint64_t> <Py_ssize_t> hash(name))
    if isinstance(name, frozenset):
        for part in name:
            h += mixed(hash_of(part))
        return h
    text = (str(name) if isinstance(name, str) else repr(name)).encode(errors="surrogatepass")
    return hash_of_bytes(text, len(text))


cdef class Layout:

    def __cinit__(self, list names):
        self.names, self.m = names, len(names)
        reallocate(<void **> &self.rows, self.m * sizeof(int32_t))
        memset(self.rows, 0, self.m * sizeof(int32_t))

    def __dealloc__(self):
        free(self.rows)
        free(self.hashes)

    cdef int hash_names(self) except -1:
        cdef uint64_t *hashes = <uint64_t *> checked(calloc(self.m + 1, sizeof(uint64_t)))
        try:
            for j in range(self.m):
                hashes[j] = hash_of(self.names[j])
        except BaseException:
            free(hashes)
            raise
        self.hashes = hashes

    def __sizeof__(self):
        return object.__sizeof__(self) + sys.getsizeof(self.names) + self.m * sizeof(int32_t)


cdef class Features:

    def __dealloc__(self):
        self.clear(0, 0)
        free(self.rows)
        free(self.scales)

    cdef int clear(self, Py_ssize_t capacity, Py_ssize_t n_scales) except -1:
        for r in range(self.n_rows):
            free(self.rows[r].memory)
            free(self.rows[r].entries)
        self.n_rows, self.n_used, self.n, self.index, self.layouts = 0, 0, 0, {}, []
        self.capacity, self.n_scales = capacity, n_scales
        self.set_room(0)

    cdef int set_room(self, Py_ssize_t room) except -1:
        if room > 2**31 - 1:
            raise MemoryError
        reallocate(<void **> &self.rows, room * sizeof(Feature))
        reallocate(<void **> &self.scales, room * self.n_scales * sizeof(double))
        self.room = room

    cdef int set_n_scales(self, Py_ssize_t n_scales) except -1:
        reallocate(<void **> &self.scales, self.room * n_scales * sizeof(double))
        self.n_scales = n_scales

    cdef int grow(self, Py_ssize_t capacity) except -1:
        for r in range(self.n_rows):
            old = self.rows[r]
            if old.column != NULL:
                add_column(&self.rows[r], capacity)
                memcpy(self.rows[r].column, old.column, self.capacity * sizeof(double))
                free(old.memory)
        self.capacity = capacity

    cdef bint has_name(self, name) except -1:
        cdef PyObject *row = PyDict_GetItemWithError(self.index, name)
        return row != NULL and self.rows[<Py_ssize_t> <object> row].count > 0

    cdef int set_n(self, Py_ssize_t n) except -1:
        # The least number of values of a common feature.
        least_before, least = (self.n + SHARE - 1) // SHARE, (n + SHARE - 1) // SHARE
        self.n = n
        if least != least_before:
            for r in range(self.n_rows):
                settle(&self.rows[r], n, self.capacity)

    cdef double value(self, int32_t row, Py_ssize_t slot) noexcept nogil:
        feature = &self.rows[row]
        if feature.column != NULL:
            return feature.column[slot]
        e = find(feature, slot)
        return feature.entries[e].value if e >= 0 else 0.0

    cdef int set_value(self, int32_t row, Py_ssize_t slot, double value) except -1 nogil:
        feature = &self.rows[row]
        if feature.column != NULL:
            feature.length += is_stored(value) - is_stored(feature.column[slot])
            feature.column[slot] = value
        else:
            e = find(feature, slot)
            if is_stored(value):
                if e < 0:
                    e = feature.length
                    set_length(feature, e + 1)
                feature.entries[e] = Entry(value, <int32_t> slot)
            elif e >= 0:
                # The last entry takes the place of this one.
                feature.entries[e] = feature.entries[feature.length - 1]
                set_length(feature, feature.length - 1)
        settle(feature, self.n, self.capacity)

    cdef bint replace(self, Layout layout, const double *values, Layout old, Py_ssize_t slot) except -1:
        cdef bint has_other_names = (
            old is None or old.m != layout.m
            or memcmp(old.rows, layout.rows, layout.m * sizeof(int32_t)) != 0
        )
        if has_other_names and old is not None:
            for j in range(old.m):
                feature = &self.rows[old.rows[j]]
                feature.count -= 1
                self.n_used -= feature.count == 0
                self.set_value(old.rows[j], slot, 0.0)
        for j in range(layout.m):
            feature = &self.rows[layout.rows[j]]
            if has_other_names:
                self.n_used += feature.count == 0
                feature.count += 1
            self.set_value(layout.rows[j], slot, values[j])
        return has_other_names

    cdef size_t n_bytes(self):
        cdef size_t total = self.n_rows * (sizeof(Feature) + self.n_scales * sizeof(double))
        for r in range(self.n_rows):
            if self.rows[r].column != NULL:
                total += self.capacity * sizeof(double) + LINE
            else:  # with the 16 bytes that `malloc` adds
                total += self.rows[r].room * sizeof(Entry) + 16
        return total


cdef class Matrices:

    def __cinit__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.is_float = self.dtype == np.float32

    def __dealloc__(self):
        free(self.all)

    cdef int clear(self, Py_ssize_t capacity, dict sizes) except -1:
        cdef char[:, ::1] raw
        reallocate(<void **> &self.all, len(sizes) * sizeof(Matrix))
        self.n, self.n_elements, self.sizes, self.place_of, self.tables = 0, 0, {}, {}, {}
        for name in sorted(sizes, key=repr):  # in an order that depends on the names alone, as sums follow it
            values = zero_matrix((capacity, sizes[name]), self.dtype)
            raw = values.view(np.int8)
            self.tables[name], self.place_of[name] = (values, np.zeros(capacity, bool)), self.n
            self.all[self.n] = Matrix(sizes[name], self.n_elements, &raw[0, 0])
            self.sizes[name] = sizes[name]
            self.n_elements += sizes[name]
            self.n += 1

    cdef int grow(self, Py_ssize_t capacity) except -1:
        cdef char[:, ::1] raw
        for place, (name, (old_values, was_present)) in enumerate(list(self.tables.items())):
            values, is_present = zero_matrix((capacity, self.sizes[name]), self.dtype), np.zeros(capacity, bool)
            values[: len(old_values)] = old_values
            is_present[: len(was_present)] = was_present
            raw = values.view(np.int8)
            self.tables[name] = values, is_present
            self.all[<Py_ssize_t> place].values = &raw[0, 0]

    cdef bint put(self, dict arrays, Py_ssize_t slot, bint is_new) except -1:
        has_unused = False
        for name in arrays if is_new else self.tables:
            values, is_present = self.tables[name]
            values[slot], is_present[slot] = arrays.get(name, 0.0), name in arrays
            has_unused |= not (is_present[slot] or is_present.any())
        return has_unused

    cdef dict at(self, Py_ssize_t slot):
        # NumPy makes a SystemError of an interrupt in `copy`, but not in `array`.
        tables = self.tables.items()
        return {name: np.array(values[slot]) for name, (values, is_present) in tables if is_present[slot]}
