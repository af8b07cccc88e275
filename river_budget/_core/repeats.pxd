# The expert of repeated labels: which label comes next, given the last one and the length of its run.
#
# It knows nothing of features. For each label, it counts at which lengths its runs ended or went on, and
# which labels came after them; lengths are counted by the power of two below them. It says what is likely
# to come by these counts alone, and 1 / C for each of C labels if the last label is not known.
#
# The last label and the bin of the length of its run are a `Place`. A round predicts from its `place`, which is
# where the labels stand now, and then counts which label came. If the label is late, others came since its example
# was predicted. Then `Experts` sets the place from which that was predicted, and the label counts the less, the
# more came in between. What that place told was said then, and is in the ticket; now the expert abstains. After
# each round, the place is where the labels stand again.
cdef enum:
    # Runs are counted by the power of two below their length: 1, 2 to 3, 4 to 7, ..., at least 1,024.
    N_BINS = 11

cdef struct Place:
    Py_ssize_t label, bin              # the label is -1 if it is not known


# Return whether a place may be that of a number of labels.
cdef bint is_place(Place place, Py_ssize_t n_labels) noexcept nogil


cdef class Repeats:
    # For each label, the number of times that a run of it ended at each length, that it went on,
    # and that each other label followed (labels, 2 N_BINS + labels).
    cdef double[:, ::1] counts
    cdef Py_ssize_t last, length       # the last label, and the length of its run; -1 before the first
    cdef Place place                   # from where the round predicts, and counts
    cdef bint abstains                 # whether it predicts 1 / C, although the place is known

    # Compute the probabilities of the next label (labels,).
    cdef void predict(self, double[::1] probabilities) noexcept nogil
    # Count the label that came in a place, with a share of 1, and make it the last one.
    cdef void count(self, Py_ssize_t label, double share) noexcept nogil
    # Make the place of the round where the labels stand now.
    cdef void stand(self) noexcept nogil
    # Return the counts with room for a number of labels, which `Experts` puts in their place.
    cdef object widened(self, Py_ssize_t n_labels)
