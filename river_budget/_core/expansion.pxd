# A hypothesis f over a store: scores g_c = scale * <A[c], row> of each label c.
#
# A has a row for each label, two labels included (g_0 = -g_1 exactly), padded to the capacity of the
# store. The expansion also holds the round: it counts, decides whether the algorithm has to act, and
# keeps what an update overwrites until `commit`.
from libc.stdint cimport int64_t

from river_budget._core.store cimport Block, Store


cdef class Example:                   # one for each Expansion, overwritten by every round
    cdef readonly Py_ssize_t label, rival
    cdef readonly double margin, weight, self_value


cdef class Expansion:
    cdef readonly Store store
    cdef readonly Py_ssize_t n_labels
    cdef readonly Example y           # of the last round
    cdef double *table                # A (n_labels, capacity), without the common factor; 0 from n on
    cdef double scale                 # the common factor of A
    cdef double *answers              # the scores (n_labels,) at the example with `stamp`
    cdef int64_t stamp                # that of the store when they were computed
