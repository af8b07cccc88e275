# What is kept for labels that are absent: two held-out examples of each, by which the weights of the
# experts are rehearsed, and their vectors.
from libc.stdint cimport int64_t

from river_budget._core.store cimport Store


cdef class Rehearsal:
    cdef readonly Store store         # the held-out examples, which no expert learns
    cdef double share                 # of the next rehearsal in its round; 0: there is none
    cdef Py_ssize_t label             # of its example
    cdef int64_t[:, ::1] labels       # what is known of each label (labels, N_FIELDS)
    cdef int64_t[::1] owners          # the label of each vector of the model; -1: none (budget,)
    cdef char[::1] is_kept            # which of them must not be replaced in a round (budget,)
    cdef Py_ssize_t turn, next_turn   # label and age of the example rehearsed last, and of the next

    # Return whether the next round rehearses, which then sets `share`, `label` and the turn.
    cdef bint begin(self, int64_t n_rounds) noexcept nogil
    cdef dict example(self)
    # Hold out the example of a store if it is due, and return whether it is.
    cdef bint hold(self, Py_ssize_t label, Store store) except -1 nogil
    # Return which of n vectors must not be replaced in this round; NULL: any may be.
    cdef const char *kept(self, Py_ssize_t n, int64_t n_rounds) noexcept nogil
    # Set that the vector in a slot is now one of a label.
    cdef void place(self, Py_ssize_t slot, Py_ssize_t label) noexcept nogil
    # Count a label, and end the round.
    cdef void count(self, Py_ssize_t label, int64_t n_rounds) noexcept nogil
    cdef bint is_absent(self, Py_ssize_t label, int64_t n_rounds) noexcept nogil
