# What Mnemotron keeps of labels that went away, and when it goes through that again.
#
# If tasks come one after the other, the mixture of the experts forgets which of them were right about the
# labels of earlier tasks. So two examples of each label, its exemplars, stay in a store of their own. While
# enough labels are absent, each round begins with a rehearsal: the weights of the experts learn an exemplar
# of an absent label, in turn, and share the step with the example of the round. Support vectors of absent
# labels are not replaced while these have at most their share of the budget.
#
# A label is absent if more rounds have passed since its last example than 50, and than 5 times its mean gap.
# Exemplars are the examples of a label with the numbers 16, 64, 256, ..., the newest two of them. Which
# round rehearses what follows from the sequence of learned examples alone.
#
# A round calls `begin`; `take` and `kept`, in the order in which they are needed; once nothing can fail any
# more, `keep` for an example that is now an exemplar; and `count` at its end. `begin` and `kept` write only
# what the round itself reads; the rest changes in the last two. `Experts` puts examples into the store of
# exemplars and takes them back, so that this is a part of its transaction.
from libc.stdint cimport int64_t

from river_budget._core.store cimport Store

# What is known of a label: the rounds of its first and its last example, and the places of its exemplars,
# from 1 on (0: none). And in a round, the number of its vectors, and its absence.
cdef enum:
    FIRST
    LAST
    OLDER
    NEWER
    VECTORS
    IS_ABSENT
    N_FIELDS


cdef class Rehearsal:
    cdef readonly Store store          # the exemplars
    cdef double share                  # of the next rehearsal in its round; 0: there is none
    cdef Py_ssize_t label              # of its example
    cdef int64_t[:, ::1] labels        # what is known of each label (labels, N_FIELDS)
    cdef int64_t[::1] owners           # the label of each vector of the model (budget,)
    cdef char[::1] is_kept             # which of them must not be replaced in a round (budget,)
    cdef Py_ssize_t turn, next_turn    # label and age of the example rehearsed last, and of the next

    # Find absent labels; return the slot of the exemplar of the next round, or -1.
    cdef int64_t begin(self, int64_t n_rounds, const int64_t[::1] rounds_of) noexcept nogil
    # Return the slot for the example of a store, or -1 if by its number it is no exemplar of its label.
    cdef Py_ssize_t take(self, Py_ssize_t label, int64_t number, Store store) except -2 nogil
    # Keep the vectors of absent labels that have at most their share of them; NULL: no one's.
    cdef const char *kept(self, Py_ssize_t n) noexcept nogil
    # Make what was taken, and is in a slot, the newer exemplar of a label.
    cdef void keep(self, Py_ssize_t label, Py_ssize_t slot) noexcept nogil
    # End the round of the example with a number among those of its label.
    cdef void count(self, Py_ssize_t label, int64_t number, int64_t n_rounds) noexcept nogil
    # Return what is known of labels with room for a number of them, which `Experts` puts in its place.
    cdef object widened(self, Py_ssize_t n_labels)
