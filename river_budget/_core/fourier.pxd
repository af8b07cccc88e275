# Random Fourier features of examples: who owns what.
#
# The frequencies of a name follow from it and the seed, so that the order of names never matters, and
# none is a part of the state. A cache has those of the last names, and of no more than MOST_COLUMNS.
# An array is projected by signs and Hadamard transforms, which take the place of a dense matrix.
from libc.stdint cimport int8_t

cdef class Fourier:
    cdef readonly Py_ssize_t n        # frequencies, half the number of features
    cdef readonly object seed
    cdef dict factors                 # inverse scales of names
    cdef double pooled, gamma, root   # that of all others; gamma, and the root of 2 gamma
    cdef dict rows                    # names -> their frequencies, float32 arrays (n,)
    cdef dict signs                   # (name, length) -> int8 array (blocks, 3, size)
    cdef list columns                 # the last list of names
    cdef list held                    # the arrays of their frequencies; None: not in the cache
    cdef const float **frequencies    # (room,), NULL: not in the cache
    cdef double *weights              # (room,)
    cdef Py_ssize_t room, n_columns
    cdef double[::1] z                # the projections (n,)

    # Compute cosines and sines of the projections of an example (2 n,), from the values of its numbers
    # and its arrays, which may be None. Takes the GIL for arrays and names that differ from the last.
    cdef int transform(
        self, list columns, const double *values, dict arrays, double *features
    ) except -1 nogil
    # Private.
    cdef int look_up(self, list columns) except -1
    cdef int add_uncached(self, const double *values) except -1
    cdef int add_array(self, name, array) except -1
