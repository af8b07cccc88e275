# The expert of repeated labels: which label comes next, given the last one and the length of its run.
#
# It knows nothing of features. For each label, it counts at which lengths its runs ended or went on, and
# which labels came after them; lengths are counted by the power of two below them. It says what is likely
# to come by these counts alone, and 1 / C for each of C labels while it does not know the last label.
#
# A round has two steps: `predict`, which changes nothing, and `count`. In between, `is_prompt` says whether
# the label of the round is prompt: whether its example was predicted after the last label had come. If it
# is late, other labels came in between, and the last one is no hint to it: such a round predicts 1 / C,
# counts nothing, and forgets the last label. `Experts` sets it, as it owns the tickets of predictions; it
# is true again after each round, and is no part of the state.
cdef enum:
    # Runs are counted by the power of two below their length: 1, 2 to 3, 4 to 7, ..., at least 1,024.
    N_BINS = 11


cdef class Repeats:
    # For each label, the number of times that a run of it ended at each length, that it went on,
    # and that each other label followed (labels, 2 N_BINS + labels).
    cdef double[:, ::1] counts
    cdef Py_ssize_t last, length       # the last label, and the length of its run; -1 if unknown
    cdef bint is_prompt                # whether nothing was learned since the example of the round was predicted

    # Compute the probabilities of the next label (labels,).
    cdef void predict(self, double[::1] probabilities) noexcept nogil
    # Count the label of the round after the last one, or forget that if it is late.
    cdef void count(self, Py_ssize_t label) noexcept nogil
    # Return the counts with room for a number of labels, which `Experts` puts in their place.
    cdef object widened(self, Py_ssize_t n_labels)
