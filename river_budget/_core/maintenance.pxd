# The maintenance of a full support set, where no validation examples tell which vector to remove.
#
# Three algorithms have a loop here that would be slow in Python. `Neighbours` is for one that projects a
# removed vector onto its nearest one, `draw` for those that remove one at random, and `best_merging` for one that
# merges two. `uniform` gives their random numbers: each follows from a key and the number of the
# round, so that a copy and a model that was loaded draw the same. What to remove, and when, is
# decided on the page of the algorithm.
#
# `Neighbours` has the nearest other vector of each one, the oldest among ties, and projections onto that. The
# Gram matrix is computed when it is needed, and follows as long as examples replace vectors: `on_put` has
# to be called before each. The last bits of a kernel value depend on the vectors that were there when it
# was computed, so it is learned, and saved with the model; the nearest vectors follow from it.
from libc.stdint cimport int64_t

from river_budget._core.expansion cimport Expansion


cdef class Neighbours:
    cdef readonly Expansion f
    cdef readonly double[:, ::1] gram  # (n, n), without elements until it is needed
    cdef int64_t[::1] nearest          # (n,), negative if it is not known

    cdef object set_gram(self, triangle)
    cdef (double, double) shares(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t nearest_to(self, Py_ssize_t i) noexcept
