# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The arrays of the vectors by names; see `matrices.pxd`."""

from libc.stdlib cimport free

import math

import numpy as np

from river_budget._arrays import padded
from river_budget._features import another_length

from river_budget._core.features cimport reallocate


def aligned_zeros(shape, dtype):
    """Return an array of zeros that begins at a line of the cache."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


cdef class Matrices:

    def __cinit__(self, dtype):
        self.dtype, self.place_of, self.tables = np.dtype(dtype), {}, {}
        self.is_float = self.dtype == np.float32

    def __dealloc__(self):
        free(self.all)

    cdef int check_length(self, object name, object array) except -1:
        if name in self.place_of:
            size = self.all[<Py_ssize_t> self.place_of[name]].size
            if len(array) != size:
                raise another_length(name, array, size)

    cdef int extend(self, Py_ssize_t capacity) except -1:
        tables = {}
        for name, (values, present) in self.tables.items():
            extended = aligned_zeros((capacity, values.shape[1]), self.dtype)
            extended[: self.capacity] = values
            tables[name] = extended, padded(present, capacity)
        self.set_tables(tables)
        self.capacity = capacity

    cdef int set_tables(self, dict tables) except -1:
        """Take other matrices, in the order of names, so that sums depend on the vectors alone."""
        cdef char[:, ::1] raw
        ordered = {name: tables[name] for name in sorted(tables, key=repr)}
        place_of = {name: a for a, name in enumerate(ordered)}
        reallocate(<void **> &self.all, len(ordered) * sizeof(Matrix))
        self.n, self.n_elements, self.place_of = 0, 0, {}
        for values, _ in ordered.values():
            raw = values.view(np.int8)
            self.all[self.n] = Matrix(values.shape[1], self.n_elements, &raw[0, 0])
            self.n_elements += values.shape[1]
            self.n += 1
        self.tables, self.place_of = ordered, place_of

    cdef bint put(self, dict arrays, Py_ssize_t slot) except -1:
        cdef dict tables = dict(self.tables), used = {}
        for name in arrays.keys() - tables.keys():
            values = aligned_zeros((self.capacity, len(arrays[name])), self.dtype)
            tables[name] = values, np.zeros(self.capacity, bool)
        for name, (values, present) in tables.items():
            values[slot], present[slot] = arrays.get(name, 0.0), name in arrays
            if present[slot] or present.any():
                used[name] = values, present
        if used.keys() == self.tables.keys():
            return False
        self.set_tables(used)
        return True

    cdef dict at(self, Py_ssize_t slot):
        return {
            name: values[slot].copy()
            for name, (values, present) in self.tables.items() if present[slot]
        }

    cdef void load(self, Py_ssize_t slot, double *elements) noexcept nogil:
        cdef Py_ssize_t a, j, place
        for a in range(self.n):
            place = slot * self.all[a].size
            own = elements + self.all[a].start
            for j in range(self.all[a].size):
                if self.is_float:
                    own[j] = (<const float *> self.all[a].values)[place + j]
                else:
                    own[j] = (<const double *> self.all[a].values)[place + j]

    cdef size_t n_bytes(self):
        """Return the size of the matrices."""
        return self.capacity * (self.n_elements * (4 if self.is_float else 8) + self.n)
