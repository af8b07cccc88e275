# The rounds of a model over the examples of a store: of one example, or of the rows of a block.
#
# An `Engine` is what a classifier learns natively. For the engine, labels are columns; the classifier looks
# up the column of a label, and asks for a round. A subclass says how the example of the store is answered
# and learned, and makes room for labels. The rest is the same for all: who may use the model, new labels,
# blocks, and answers that are still known.
#
# A round packs an example into the store (`evaluate`), computes the scores of all labels (`forecast`), and
# learns (`learn`), which says what is due after it: an update by the algorithm, or new scales. It is open
# from the moment that it asks for an update until `commit` or `roll_back`, and no other forecast or round
# can begin in between. Most engines learn within the round and never open one. `scan` does the same for the
# rows of a block, one after the other and without the GIL, up to a row after which something is due.
#
# `answers` are the scores at the example of the store as long as `answered_at` is the `stamp` of that; it is
# set to -1 by whatever changes the hypothesis. So `learn_one` of the example that was predicted last
# computes no scores again. This is about speed alone: if it were always -1, the same would be learned.
#
# Who learns claims the engine for its thread, and releases it: no other thread may call, also while Python
# runs an update. Within a call, `is_busy` refuses the code of values and of garbage collection.
from libc.stdint cimport int64_t

from river_budget._core.store cimport Block, Store
from river_budget._core.sums cimport Sums

cdef enum:                            # what `round` and `scan` return, added up
    DUE_UPDATE = 1                    # the algorithm has to update, and to `commit`
    DUE_SCALES = 2                    # scales or width are due

cdef class Engine:
    cdef readonly Store store
    cdef readonly Py_ssize_t n_labels
    cdef public int64_t n_rounds, n_mistakes
    cdef int64_t[::1] rounds_of       # the rounds of each label (n_labels,)
    cdef public bint is_balanced      # whether an example counts more if its label is rare so far
    cdef public int64_t scales_due_at # the number of the round after which scales are due, at the latest
    cdef public Sums sums             # of the learned examples, or None
    cdef double *answers              # the scores (n_labels,) at the example of the store, once computed
    cdef int64_t answered_at          # `stamp` of the store when they were computed; -1: they are not known

    # Whether native code runs that may run Python code or give up the GIL, and whether a round is open. The
    # only thread that may use the engine is the owner of the store.
    cdef bint is_busy, is_open

    # What a subclass defines. Compute the scores at the example of the store.
    cdef int answer(self) except -1 nogil
    # Begin the round of an example that was asked about when the model had learned so many (-1: unknown);
    # return whether another example has taken its place in the store.
    cdef bint prepare(self, int64_t asked_at) except -1 nogil
    # Note that the example of the store was predicted, and that its label may come later.
    cdef int note_prediction(self) except -1 nogil
    # Learn the example of the store, whose scores are known; return DUE_UPDATE and DUE_SCALES, added up.
    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil
    # Give all that is kept for each label a place for new ones, or nothing if memory lacks. It ends
    # with a call of the method of `Engine`, before the first change.
    cdef int set_labels(self, Py_ssize_t n_labels) except -1
    # And for Python `arguments`, those of its constructor, with the store; `own_state`, all else that is
    # learned but the numbers of rounds; and `restore_own`, which takes it when all of these are there.

    cpdef Py_ssize_t best(self, x) except -1
    cpdef int round(
        self, x, Py_ssize_t label, double weight, double threshold, int64_t asked_at=*
    ) except -1
    cpdef int scan(self, Block block, double threshold) except -1
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
