# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The arrays of the vectors by names; see `matrices.pxd`."""

import numpy as np

from river_budget._features import another_length

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from river_budget._core.features cimport reallocate
from river_budget._core.loops cimport aligned_bytes, aligned_free


cdef class Matrices:

    def __cinit__(self, dtype):
        self.dtype, self.place_of = np.dtype(dtype), {}
        self.is_float = self.dtype == np.float32

    def __dealloc__(self):
        self.release()

    cdef void release(self) noexcept:
        cdef Py_ssize_t a
        for a in range(self.n):
            aligned_free(self.all[a].values)
            free(self.all[a].present)
        free(self.all)

    cdef int clear(self) except -1:
        """Forget all arrays. The capacity stays."""
        self.release()
        self.all, self.n, self.n_elements, self.place_of = NULL, 0, 0, {}
        return 0

    cdef int check_length(self, object name, object array) except -1:
        cdef Py_ssize_t size
        if name in self.place_of:
            size = self.all[<Py_ssize_t> self.place_of[name]].size
            if len(array) != size:
                raise another_length(name, array, size)
        return 0

    cdef int allocate(self, Matrix *matrix, Py_ssize_t old, Py_ssize_t new) except -1:
        """Move a matrix to memory for another number of slots."""
        cdef size_t n_bytes = matrix.size * (4 if self.is_float else 8)
        cdef char *values = <char *> aligned_bytes(new * n_bytes)
        if values == NULL:
            raise MemoryError
        if old:
            memcpy(values, matrix.values, old * n_bytes)
        memset(values + old * n_bytes, 0, (new - old) * n_bytes)
        aligned_free(matrix.values)
        matrix.values = values
        reallocate(<void **> &matrix.present, new)
        memset(matrix.present + old, 0, new - old)
        return 0

    cdef int extend(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t a
        for a in range(self.n):
            self.allocate(&self.all[a], self.capacity, capacity)
        self.capacity = capacity
        return 0

    cdef int add(self, object name, Py_ssize_t size) except -1:
        reallocate(<void **> &self.all, (self.n + 1) * sizeof(Matrix))
        memset(&self.all[self.n], 0, sizeof(Matrix))
        self.all[self.n].size = size
        self.allocate(&self.all[self.n], 0, self.capacity)
        self.place_of[name] = self.n
        self.n += 1
        return self.order()

    cdef int drop(self, object name) except -1:
        cdef Py_ssize_t a = self.place_of.pop(name)
        aligned_free(self.all[a].values)
        free(self.all[a].present)
        self.n -= 1
        return self.order()

    cdef int order(self) except -1:
        """Bring the matrices into the order of names, so that sums depend on the vectors alone."""
        cdef Py_ssize_t i
        cdef Matrix *ordered = <Matrix *> malloc((self.n + 1) * sizeof(Matrix))
        if ordered == NULL:
            raise MemoryError
        names = sorted(self.place_of, key=repr)
        self.n_elements = 0
        for i, name in enumerate(names):
            ordered[i] = self.all[<Py_ssize_t> self.place_of[name]]
            ordered[i].start = self.n_elements
            self.n_elements += ordered[i].size
        free(self.all)
        self.all = ordered
        self.place_of = {name: i for i, name in enumerate(names)}
        return 0

    cdef bint put(self, dict arrays, Py_ssize_t slot) except -1:
        cdef Matrix *matrix
        cdef Py_ssize_t a, n_bytes
        cdef const char[::1] raw
        new = arrays.keys() - self.place_of.keys()
        for name in new:
            self.add(name, len(arrays[name]))
        unused = []
        for name, a in self.place_of.items():
            matrix = &self.all[a]
            n_bytes = matrix.size * (4 if self.is_float else 8)
            matrix.count += (name in arrays) - matrix.present[slot]
            matrix.present[slot] = name in arrays
            if name in arrays:
                raw = arrays[name].view(np.int8)
                memcpy(matrix.values + slot * n_bytes, &raw[0], n_bytes)
            else:
                memset(matrix.values + slot * n_bytes, 0, n_bytes)
            if matrix.count == 0:
                unused.append(name)
        for name in unused:
            self.drop(name)
        return bool(new or unused)

    cdef dict at(self, Py_ssize_t slot):
        cdef Py_ssize_t a
        cdef char[::1] raw
        arrays = {}
        for name, a in self.place_of.items():
            if self.all[a].present[slot]:
                arrays[name] = array = np.empty(self.all[a].size, self.dtype)
                raw = array.view(np.int8)
                memcpy(&raw[0], self.all[a].values + slot * raw.shape[0], raw.shape[0])
        return arrays

    cdef void load(self, Py_ssize_t slot, double *elements) noexcept nogil:
        cdef Py_ssize_t a, j, size
        cdef double *own
        cdef const float *floats
        cdef const double *doubles
        for a in range(self.n):
            size, own = self.all[a].size, elements + self.all[a].start
            if self.is_float:
                floats = <const float *> self.all[a].values + slot * size
                for j in range(size):
                    own[j] = floats[j]
            else:
                doubles = <const double *> self.all[a].values + slot * size
                memcpy(own, doubles, size * sizeof(double))

    cdef size_t n_bytes(self):
        """Return the size of the matrices."""
        return self.capacity * (self.n_elements * (4 if self.is_float else 8) + self.n)
