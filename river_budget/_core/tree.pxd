# The tree that says which region an example falls into.
#
# It is a sequence of splits. There is one region, 0, at first; split k divides a region that is there, and its
# examples with a value above a threshold are in the new region k + 1 from then on. So there is no other tree than
# one that grew: any sequence in which split k divides one of the regions 0 to k is valid, with no cycle
# and no region that is reached twice or never.
#
# A tree never changes: `divided` returns another one, with one more region.
from libc.stdint cimport int64_t

from river_budget._core.example cimport PackedExample
from river_budget._core.readings cimport Readings


cdef class Tree:
    cdef readonly Readings features        # of the splits
    cdef readonly double[::1] thresholds
    cdef readonly int64_t[::1] regions     # the region that each split divides
    cdef readonly Py_ssize_t n_regions
    # Where an example goes at each split: to a later one, or, as -1 - r, into region r.
    cdef Py_ssize_t[::1] low, high

    # Return the region of an example.
    cdef Py_ssize_t find(self, PackedExample packed) except -1 nogil
