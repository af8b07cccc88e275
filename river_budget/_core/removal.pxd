# Which vector to remove: validation examples, and their losses after each removal.
#
# A full hypothesis gets a new vector and has to lose one. Without a vector, each validation example has
# another score, and the table says without which one the losses of all examples are least. For that it
# keeps the kernel value of each example (rows) and each vector (columns), and the scores of the examples,
# so that all losses take one pass through the table.
#
# `ValidationTable` has examples in a store of their own, or, without one, the vectors are the examples. Its
# `f` and the stores are the algorithm's. All but labels and counts follows from the hypothesis, and
# so does the number of labels whenever an example comes: `derive` computes it anew. A `CountedTable`
# has vectors, which are the examples, and counts the labels of the examples that were nearest to them.
#
# In a round that updates a table, an example may be *offered*, and the incoming vector *joins*. They are
# kept beyond what is in use until `finish` or `count`, which also commit the hypothesis. Nothing of
# an update may come after that, so there is nothing to take back.
from libc.stdint cimport int64_t

from river_budget._core.expansion cimport Expansion
from river_budget._core.store cimport Store


cdef class ValidationTable:
    cdef readonly Expansion f
    cdef readonly Store store             # of the examples; that of f if they are its vectors
    cdef bint is_own                      # whether they are
    cdef readonly Py_ssize_t m, n, n_labels
    cdef Py_ssize_t m_joined              # with the example that has joined
    cdef readonly Py_ssize_t most_vectors, most_examples
    # All lengths are room: rows for examples, columns for vectors in groups of 8.
    cdef readonly double[:, ::1] table    # kernel values
    cdef double[:, ::1] scores, joined    # (labels, rows) without and with the vector that has joined
    cdef readonly int64_t[::1] columns    # the labels of the examples
    # What each vector adds to the score of its label and takes from that of its rival.
    cdef readonly double[::1] steps
    cdef int64_t[::1] labels, rivals
    # The loss after the removal of each vector, and scratch memory.
    cdef readonly double[::1] sums
    # How many examples of each label a vector was nearest to, in a `CountedTable`, and the weights that
    # follow from that (labels, rows); where the first one is NaN, they have to be computed anew.
    cdef readonly double[:, ::1] counts, weights

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n) except -1
    cpdef finish(self, Py_ssize_t slot=*, Py_ssize_t place=*)
    cdef int end(self, Py_ssize_t slot, Py_ssize_t place) except -1
    cdef void add_term(self, Py_ssize_t slot, double step) noexcept


cdef class CountedTable(ValidationTable):
    cdef bint ranks                       # whether a larger kernel value always means a smaller distance
    cdef object betainc                   # SciPy's function

    cpdef Py_ssize_t nearest(self, Py_ssize_t slot) except -1
