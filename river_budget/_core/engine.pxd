# What a classifier learns natively, and the rounds in which it learns: of one example, or of the rows of a block.
#
# For an `Engine`, labels are columns: the classifier looks up the column of a label, and asks for a round. A subclass
# says how the example of the store is answered and learned, and makes room for labels. The rest is the same for all:
# who may use the model, new labels, blocks, and scores that are still known.
#
# What is learned lasts, and is copied and saved: the vectors of the store, the numbers of labels, rounds and mistakes,
# `sums`, and what a subclass adds. What belongs to one round is scratch, which the next round overwrites, and nothing
# saves it: the example of the store with its kernel rows, `answers` with `answered_at`, `is_open`, and in an
# `Expansion` its `y` and its log.
#
# A round packs an example into the store (`evaluate`), computes the scores of all labels (`forecast`), and learns
# (`learn`), which says what is due after it: an update by the algorithm, or new scales. If it asks for an update, the
# round is open until `commit` or `roll_back`, and no other forecast or round can begin in between. Most engines learn
# within the round and never open one. `scan` does the same for the rows of a block, one after the other and without
# the GIL, up to a row after which something is due.
#
# What always holds:
# - `answers` are the scores at the example of the store if `answered_at` equals the `stamp` of the store. Whatever
#   changes the hypothesis sets `answered_at` to -1. So `learn_one` of the example that was predicted last computes no
#   scores again. This is about speed alone: if it were always -1, the same would be learned.
# - A refused example raises ValueError and changes nothing that is learned.
# - Whoever learns claims the engine for its thread, and releases it: no other thread may call, even while Python runs
#   an update. Within a call, `is_busy` refuses calls by the code of values and of garbage collection.
#
# The classifier owns the engine, which owns the store.
from libc.stdint cimport int64_t, uint64_t

from river_budget._core.store cimport Block, Store
from river_budget._core.sums cimport Sums
from river_budget._core.tickets cimport Ticket

cdef enum:                            # what is due after a round or a `scan`, added up
    DUE_UPDATE = 1                    # the algorithm has to update, and to `commit`
    DUE_SCALES = 2                    # scales or width are due

cdef class Engine:
    cdef readonly Store store
    cdef readonly Py_ssize_t n_labels
    cdef public int64_t n_rounds, n_mistakes
    cdef int64_t[::1] rounds_of       # the rounds of each label (n_labels,)
    cdef public Sums sums             # of the learned examples; None if no scales are learned, or no longer
    cdef public bint is_balanced      # whether an example counts more if its label is rare so far
    cdef public int64_t scales_due_at # the number of the round after which scales are due, at the latest

    # What belongs to one round.
    cdef double *answers              # the scores (n_labels,) at the example of the store, once computed
    cdef int64_t answered_at          # `stamp` of the store when they were computed; -1: they are not known
    cdef bint is_open                 # whether the update of the round is still under way
    cdef bint is_busy                 # whether native code runs that may run Python code or give up the GIL

    # What a subclass defines. Compute the scores at the example of the store.
    cdef int answer(self) except -1 nogil
    # Begin the round of an example, given the ticket that it had when it was asked about, or None. Return whether
    # another example has taken its place in the store meanwhile.
    cdef bint prepare(self, Ticket ticket) except -1 nogil
    # Raise ValueError unless a ticket may be one of the engine.
    cdef int require_own(self, Ticket ticket) except -1
    # Return a ticket for the example of the store with its fingerprint, or None if the engine needs none.
    cdef Ticket ticket_of(self, uint64_t fingerprint)
    # Note that the example of the store was predicted, and that its label may come later.
    cdef int note_prediction(self) except -1
    # Learn the example of the store, whose scores are known; return DUE_UPDATE and DUE_SCALES, added up.
    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil
    # Make room for new labels in all that is kept for each of them. If memory runs out, nothing changes: the
    # method calls that of `Engine` when all new memory is there, and before its first change.
    cdef int set_labels(self, Py_ssize_t n_labels) except -1
    # Return the probabilities of labels in the last answer, or None if they are the softmax of the scores.
    cdef list last_probabilities(self)
    # And for Python: `arguments`, those of its constructor, the store among them; `own_state()`, what is learned
    # beside the vectors and what `Engine` has; and `restore_own(state)`, which is called when these are restored.

    # Return the column with the largest score at x, the first among ties.
    cpdef Py_ssize_t best(self, x) except -1
    # Learn an example; return what is due.
    cpdef int round(self, x, Py_ssize_t label, double weight, double threshold, Ticket ticket=*) except -1
    # Learn the next rows of a block, up to a row after which something is due; return what is due.
    cpdef int scan(self, Block block, double threshold) except -1
    # Let only this thread use the engine, and let every thread use it again.
    cpdef claim(self)
    cpdef release(self)
    cdef int require_free(self) except -1
    cdef int require_closed(self) except -1
    cdef int begin(self) except -1
    cdef int evaluate(self, x) except -1
    cdef int predict(self, x) except -1
    cdef Py_ssize_t first_of_largest(self) noexcept nogil
    cdef int forecast(self) except -1 nogil
    cdef int end_round(self, Py_ssize_t label) noexcept nogil
    cdef Py_ssize_t rival_of_label(self, Py_ssize_t label) noexcept nogil
