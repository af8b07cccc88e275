# The maintenance of a full support set, where no validation examples tell which vector to remove.
#
# What to remove, and when, is decided on the page of an algorithm; here are the loops of three algorithms that would
# be slow in Python. `Neighbours` is for one that projects a removed vector onto its nearest one, `draw` for those
# that remove a vector at random, and `best_merging` for one that merges two. `uniform` gives random numbers: each
# follows from a key and the number of the round, so that a copy and a model that was loaded draw the same.
#
# `Neighbours` knows the nearest other vector of each vector, the oldest among ties, and the projections onto it. It
# computes the Gram matrix when it is first needed. As long as examples only replace vectors, `on_put` keeps it up to
# date, and has to be called before each `put`. The last bits of a kernel value depend on the vectors that were there
# when it was computed, so the matrix is learned, and saved with the model. The nearest vectors follow from it.
#
# It owns the matrix; the vectors are those of the hypothesis `f`, which is the algorithm's.
from libc.stdint cimport int64_t

from river_budget._core.expansion cimport Expansion


cdef class Neighbours:
    cdef readonly Expansion f
    cdef readonly double[:, ::1] gram  # (n, n), without elements until it is needed
    cdef int64_t[::1] nearest          # (n,), negative if it is not known

    cdef object set_gram(self, triangle)
    cdef (double, double) shares(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t nearest_to(self, Py_ssize_t i) noexcept
