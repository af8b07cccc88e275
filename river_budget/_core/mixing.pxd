# The mixture of Mnemotron's experts: their weights, and the forecast from their probabilities.
#
# `Mixture` owns the outputs of a forecast, too: whoever forecasts fills `probabilities`, `mix`
# computes the rest, and `add_steps` reads all of them.

cdef enum:                             # the rows of weights
    LOG_WEIGHTS                        # the logarithms of those of a hedge
    HEDGE
    SLOW_MIXER
    FAST_MIXER


cdef class Mixture:
    cdef readonly Py_ssize_t n_experts, n_labels
    cdef double[:, ::1] weights        # of a hedge and two mixers (4, experts)
    cdef double[:, ::1] top            # of a hedge of these three (2, 3)
    cdef double[::1] counts            # 1 more than the number of examples of each label (labels,)
    # The last forecast.
    cdef double[:, ::1] probabilities  # (experts, labels)
    cdef double[:, ::1] logs           # their logarithms, up to a term for each expert
    cdef double[:, ::1] mixtures       # the three mixtures and the forecast (4, labels)

    # The changes of all weights in this round: of the hedge, the mixers and the top (3 experts + 3,).
    cdef double[::1] steps

    cdef void mix(self) noexcept nogil
    # Begin the changes of a round.
    cdef void begin(self) noexcept nogil
    # Add a share of the changes by the label of the last forecast.
    cdef void add_steps(self, Py_ssize_t label, double share) noexcept nogil
    # Make the changes, and count the label of the round.
    cdef void update(self, Py_ssize_t label) noexcept nogil
    cdef void take_logarithms(self) noexcept nogil


cdef class Repeats:
    # For each label, the number of times that a run of it ended at each length, that it went on,
    # and that each other label followed (labels, 2 N_BINS + labels).
    cdef double[:, ::1] counts
    cdef Py_ssize_t last, length       # the last label, and the length of its run; -1 if unknown
    # Whether the last label is known in this round: its example is the one that was predicted last.
    cdef bint is_known

    cdef void predict(self, double[::1] probabilities) noexcept nogil
    cdef void count(self, Py_ssize_t label) noexcept nogil


# Compute the softmax of n logits; `weights` may be these.
cdef void softmax(const double *logits, double *weights, Py_ssize_t n) noexcept nogil
