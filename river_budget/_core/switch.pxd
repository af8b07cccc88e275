# A switch between two mixtures of the same experts, for labels that may be late.
#
# The experts have learned other examples since a late label's own was predicted. So what they say now, of an example
# whose near relatives they know by now, tells little of what their forecasts are worth. The `prompt` mixture learns
# from that alone: it is the mixture of a model whose labels come at once. The `late` one learns half from that, and
# half from what the experts said when the example was predicted. The forecast is a mean of both, weighed by how
# probable each of them made the labels when these were predicted.
#
# Until the first late label, `late` sleeps: the forecast is that of `prompt`, and both would have the same weights.
# `wake` is the moment from which on they differ. It comes after a round's first steps, and before `learn`.
#
# Rows of what was said: of each expert, of the hedge and of both mixers in `late`, and of `prompt` and `late`
# themselves (experts + 5, labels). `write` copies those of the last forecast, for a ticket; `learn` takes them.
#
# As in a `Mixture`, none of these fails, and the log weights of the hedges may be exchanged, those of both mixtures.
from river_budget._core.mixture cimport Mixture

cdef enum:
    N_OF_MIXTURES = 5                      # rows beside those of the experts


cdef class Switch:
    cdef readonly Mixture prompt, late
    cdef readonly bint is_awake            # whether a label was late so far
    cdef readonly Py_ssize_t n_rows        # of what is said
    cdef Py_ssize_t n_hedges               # log weights of the hedges in one mixture
    # Of both mixtures: how probable they made labels, as log weights; what a round adds; and the weights that follow.
    cdef double[2] log_weights, steps, weights
    cdef double[::1] forecast              # (labels,)

    # Compute the forecast from the probabilities of the experts, which are those of `prompt`.
    cdef void mix(self) noexcept nogil
    cdef void write(self, float *rows) noexcept
    cdef void forget_steps(self) noexcept nogil
    # Add what a rehearsed label changes; see `Mixture.add_steps`.
    cdef void add_steps(self, Py_ssize_t label, double hedges, double mixers, double charge) noexcept nogil
    cdef void wake(self) noexcept nogil
    # Add what the label of the round changes, given what was said of its example to a number of labels when it was
    # predicted, or NULL if that is unknown. The probabilities of experts are those of that time afterwards.
    cdef void learn(
        self, Py_ssize_t label, double hedges, double mixers, const float *said, Py_ssize_t n_known
    ) noexcept nogil
    cdef void add_steps_of_then(
        self, Py_ssize_t label, double hedges, const float *said, Py_ssize_t n_known
    ) noexcept nogil
    cdef void read(self, const float *said, Py_ssize_t n_known) noexcept nogil
    cdef void apply(self) noexcept nogil
    cdef void normalize(self) noexcept nogil
    # As those of `Mixture`, for arrays of (2, experts + 3).
    cdef void take_hedges(self, const double *log_weights) noexcept nogil
    cdef void give_hedges(self, double *log_weights) noexcept nogil
    cdef void take_steps(self, double *steps) noexcept nogil
    cdef void return_steps(self, const double *steps) noexcept nogil
    cdef void apply_to(self, double *log_weights, const double *steps) noexcept nogil
    cdef tuple widened(self, Py_ssize_t n_labels)
    cdef int widen(self, tuple arrays) except -1
