# Which vector of a hypothesis to remove: validation examples, and their losses after each removal.
#
# A `ValidationTable` has kernel values of examples (rows) and vectors (columns), and the scores of
# the examples. The example of a round *joins* as the last vector, all removals are evaluated, and one
# vector is removed, whose slot the last one takes. In a `VectorTable` the examples are the vectors; in
# a `CountedTable` they also count the labels of the examples that were nearest to them.
#
# All but the labels of examples and the counts follows from the hypothesis: `derive` sets it anew
# after a change of the kernel. `take_back` takes back the last round exactly, without a kernel value.
# The tables follow the number of labels of the hypothesis whenever an example comes.
from libc.stdint cimport int64_t

from river_budget._core.expansion cimport Expansion


cdef struct Term:                         # what a vector adds to the scores
    double step, alpha
    int64_t label, rival


cdef class ValidationTable:
    cdef readonly Py_ssize_t m, n, n_labels
    cdef readonly Py_ssize_t most_vectors, most_examples
    cdef readonly dict arrays             # owns the arrays below, by name; their lengths are room
    cdef double[:, ::1] table             # kernel values (examples, vectors in groups of 8)
    cdef double[:, ::1] scores            # (labels, examples)
    cdef int64_t[::1] columns             # the labels of the examples
    # What each vector adds to the score of its label and takes from that of its rival.
    cdef double[::1] steps, alphas
    cdef int64_t[::1] labels, rivals
    cdef double[::1] sums                 # the loss after the removal of each vector

    # What the last round has changed, before that: sizes, all scores, the column and the term of a
    # removed vector, and the row and the label of an example; slots that are new stand for none.
    cdef int64_t changed_in               # the number of the round; 0: nothing is kept
    cdef Py_ssize_t old_m, old_n, old_slot, old_example
    cdef double[:, ::1] old_scores
    cdef double[::1] old_column, old_row
    cdef Term old_term
    cdef int64_t old_label

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n, Py_ssize_t n_labels) except -1
    cdef void keep(self, Expansion f) noexcept
    cdef void keep_row(self, Py_ssize_t i) noexcept
    cdef Term term(self, Py_ssize_t slot) noexcept
    cdef void set_term(self, Py_ssize_t slot, Term term) noexcept
    cdef void join_last(self, Expansion f) noexcept
    cdef void add_term(self, Py_ssize_t slot, double sign) noexcept


cdef class VectorTable(ValidationTable):
    pass


cdef class CountedTable(VectorTable):
    cdef readonly bint ranks              # whether a larger kernel value means a smaller distance
    cdef double[:, ::1] counts, weights   # (labels, vectors); weights to compute anew are NaN
    # The last change of counts: its round, the slots, and their counts before (2, labels).
    cdef int64_t counted_in
    cdef Py_ssize_t[2] counted
    cdef double[:, ::1] old_counts

    cpdef Py_ssize_t nearest_to_example(self, Expansion f) except -2
    cpdef int count_at(self, Expansion f, Py_ssize_t slot) except -1
    cdef void keep_counts(self, Expansion f, Py_ssize_t first, Py_ssize_t second) noexcept
