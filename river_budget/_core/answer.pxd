# What a model said of an example, until that is learned.
#
# `ask` of a classifier makes an answer. It copies the features and what the engine computed for each column,
# so that nothing that is learned, or that happens to the dict, reaches it later. What it tells is computed from
# that when it is first read. `learn` takes it with the label, once, also in another process.
#
# A wrapper takes the answer of the model inside, which nobody else has, and sets what it says otherwise: its
# label, its probabilities, or its gaps, which `Calibrated` learns from. A chain sets `x` to the example before
# the transformers; the classifier was asked about `features`.
#
# A classifier of another library has no scores. Its probabilities are asked for when they are read.
from libc.stdint cimport int64_t

from river_budget._core.tickets cimport Ticket


cdef class Answer:
    cdef public object label, gaps
    cdef dict given, features         # the example before and after transformers
    cdef readonly int64_t n_rounds    # the number of examples that the model had learned
    cdef readonly Ticket ticket       # for a late label; None: the model needs none
    cdef dict columns                 # those of the labels that were known, which a new label replaces
    cdef list column_scores           # of each column; None: the model has none
    cdef list column_probabilities    # of each column if the model has other ones than the softmax of scores
    cdef object known_probabilities   # by label, once they were set or asked for
    cdef object model                 # a weak reference; None after pickling
    cdef object kind                  # the class of the model
    cdef bint is_learned

    # Return the scores by column. Raises ValueError if the model has none.
    cdef list own_scores(self)
    # Return the probabilities by label that the model inside of all wrappers gives.
    cdef own_probabilities(self)
    # Return the model, or None if it is not known any more.
    cdef living_model(self)


# Return the values of columns by label, and the probabilities of labels given the scores of their columns.
cdef dict by_label(dict columns, list values)
cdef dict probabilities_of_scores(dict columns, list scores)
# Raise ValueError unless a model may learn an answer.
cpdef int check_answer(Answer answer, model) except -1
