# Which vector a full hypothesis loses: validation examples, and their losses after each removal.
#
# A hypothesis that is full gets a new vector and has to lose one. Each removal changes the scores of the validation
# examples, and the table says after which removal their losses are least. For that it keeps the kernel values of all
# examples (rows) and vectors (columns), and the scores of the examples, so that all losses take one pass through the
# table.
#
# A `ValidationTable` has its examples in a store of their own or, without one, the vectors are the examples. A
# `CountedTable` is of the second kind, and counts, for each vector, the labels of the examples of rounds that were
# nearest to it.
#
# In a round that updates a table, an example may be *offered*, and the incoming vector *joins*. They are kept behind
# the m examples and n vectors in use until `finish` or `count`, which also commit the hypothesis. Nothing of an
# update may come after that, so there is nothing to take back.
#
# What always holds between rounds:
# - There is a column for each vector of the hypothesis, and a row for each example, in the order of their slots.
# - All but the labels of examples and the counts follows from the hypothesis: `derive` computes it anew. If the
#   hypothesis has new labels, the tables follow with the next example.
#
# The table owns its arrays. `f` and both stores are the algorithm's.
from libc.stdint cimport int64_t

from river_budget._core.expansion cimport Expansion
from river_budget._core.store cimport Store


cdef class ValidationTable:
    cdef readonly Expansion f
    cdef readonly Store store             # of the examples; that of f if the vectors are the examples
    cdef bint has_vectors_only            # whether the vectors are the examples
    cdef readonly Py_ssize_t m, n, n_labels  # examples, vectors, labels
    cdef Py_ssize_t m_joined              # the examples in a round: m, or m + 1 if one more counts
    cdef readonly Py_ssize_t most_vectors, most_examples
    # All lengths are room: rows for examples, columns for vectors in groups of 8.
    cdef readonly double[:, ::1] table    # kernel values
    cdef double[:, ::1] scores, joined    # (labels, rows) without and with the vector that has joined
    cdef readonly int64_t[::1] example_labels
    # Of each vector: its label, its rival, and what it adds to the score of the one and takes from the other.
    cdef int64_t[::1] labels, rivals
    cdef readonly double[::1] steps
    # The losses after the removal of each vector, and behind them scratch memory.
    cdef readonly double[::1] sums
    # Of a `CountedTable`: how many examples of each label a vector was nearest to, and the weights of labels that
    # follow from that (labels, rows). If the first weight of a vector is NaN, they have to be computed anew.
    cdef readonly double[:, ::1] counts, weights

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n) except -1
    cpdef finish(self, Py_ssize_t slot=*, Py_ssize_t place=*)
    cdef int commit(self, Py_ssize_t slot, Py_ssize_t place) except -1
    cdef void add_term(self, Py_ssize_t slot, double step) noexcept


cdef class CountedTable(ValidationTable):
    cdef bint ranks                       # whether a larger kernel value always means a smaller distance
    cdef object betainc                   # SciPy's function

    cpdef Py_ssize_t nearest(self, Py_ssize_t slot) except -1
