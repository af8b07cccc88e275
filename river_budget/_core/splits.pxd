# The statistics of the examples of a region, from which its split is chosen.
#
# They have two phases. The first 50 examples give the mean and the deviation of each feature; those that vary
# are candidates, at most 32 of them, at random. The range of each candidate is cut into 16 bins with about equal
# numbers of examples, if they are normal. The next 150 examples are counted: how many fell into each bin, and how
# many of each label. With more than 8 labels, each label has a code of 8 random signs in the place of its unit
# vector, so that the counts stay bounded. Then `best` tells which edge of a bin reduces the Gini impurity most.
#
# Features are the numbers, the categories and up to 32 random elements of each array that the first 50 examples
# have, 1,024 in all.
#
# A round has two steps: `stage`, which may fail and changes nothing that is learned, and `finish`.
cimport cython
from libc.stdint cimport int64_t, uint64_t

from river_budget._core.example cimport PackedExample
from river_budget._core.readings cimport Readings

cdef enum:
    N_MEASURED = 50                        # examples of the first phase
    N_EXAMPLES = 200                       # of both


cdef class Splits:
    cdef readonly int64_t n                # examples so far
    cdef Py_ssize_t n_labels
    cdef readonly Readings features        # all, or the candidates
    cdef double[:, ::1] moments            # mean and sum of squares (features, 2) in the first phase
    cdef double[:, ::1] edges              # (candidates, bins - 1) in the second one
    cdef float[:, ::1] counts              # of examples (candidates, bins)
    cdef float[:, :, ::1] sums             # of the codes of labels (candidates, bins, codes)
    # What `finish` puts in the place of these, None if nothing; and the number of random draws after it.
    cdef tuple staged
    cdef uint64_t n_draws

    # Read the example of a store, given the number of random draws so far.
    cdef int stage(self, PackedExample packed, uint64_t n_draws) except -1 nogil
    # Count it.
    cdef void finish(self, Py_ssize_t label) noexcept nogil
    # Return the sums for a number of labels, which `widen` puts in their place.
    cdef object widened(self, Py_ssize_t n_labels)
    cdef int widen(self, object sums, Py_ssize_t n_labels) except -1

    cdef int prepare(self, PackedExample packed, uint64_t n_draws) except -1
    cdef Readings with_new(self, PackedExample packed)
    cdef tuple candidates(self, Readings features, moments)
    cdef list drawn(self, Py_ssize_t n)
    cdef void take_staged(self) noexcept with gil
