# The values of some features in the example of a store, wherever they are in it.
#
# A feature is a number by its name, or an element of an array. Where the numbers are is looked up when the list
# of names is another one than that of the last example, and holds while it is the same. A feature that the
# example lacks is 0, as for kernels. Readings never change what they read: others take their place.
#
# `locate` may fail, as names may have code of their own; after it, `value` cannot.
from libc.stdint cimport int64_t

from river_budget._core.example cimport PackedExample


cdef class Readings:
    cdef readonly list names
    cdef readonly Py_ssize_t n
    cdef readonly int64_t[::1] elements    # of the arrays with these names; -1: the name is that of a number
    cdef bint has_arrays
    cdef list columns                      # the last list of names
    cdef Py_ssize_t[::1] places            # where the features are in it; -1: nowhere
    cdef double[::1] of_arrays             # the elements of arrays in the last example (n,)
    cdef double[::1] values                # of the last example that was read (n,)

    # Look up the features of an example.
    cdef int locate(self, PackedExample packed) except -1 nogil
    # Return the value of a feature, after `locate`.
    cdef double value(self, PackedExample packed, Py_ssize_t j) noexcept nogil
    # Take all values.
    cdef int read(self, PackedExample packed) except -1 nogil
    # Return readings of these features, and of more.
    cdef Readings extended(self, list names, list elements)

    cdef int look_up(self, PackedExample packed) except -1
    cdef int read_arrays(self, PackedExample packed) except -1
