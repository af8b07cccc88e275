# Mnemotron's experts over one store: their mixture, and the rounds.
#
# An expert gives each label a probability. Most experts are Gaussian processes on the same support set,
# each with a kernel, a forgetting factor and a noise variance: these are the `Posteriors`. If they are
# used, the next one predicts from repeated labels (`Repeats`), and the last one is an archive, an
# engine of another model, which keeps it, and follows it after a round.
#
# There are two layers of weights. A hedge and two mixers, a slow and a fast one, each weigh the experts;
# a second hedge weighs these three, and its mean is the forecast. Scores are twice the probability of each
# label minus 1; exactly -f and f for two labels.
#
# A round first finds the ticket of its example, which tells whether its label is prompt, and may rehearse
# (`prepare`): then the weights learn an exemplar of a label that has been away, see `rehearsal.pxd`. The
# rest is `learn`: store the example if it is novel enough, move the weights, update the posteriors. Rounds
# include their update, so none of them stays open. All that can fail comes first, and puts into `saved`
# what `roll_back` takes back; from the moment that `saved` is cleared, nothing fails until the example is
# learned.
from libc.stdint cimport int64_t

from river_budget._core.engine cimport Engine
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.repeats cimport Repeats
from river_budget._core.store cimport Store
from river_budget._core.tickets cimport Tickets


cdef class Experts(Engine):
    cdef readonly Posteriors posteriors
    cdef readonly Repeats repeats
    cdef readonly Rehearsal rehearsal
    cdef readonly Engine archive           # None if it is not used
    cdef readonly tuple arguments          # of the constructor
    cdef bint uses_repeats                 # whether they are an expert
    cdef Tickets tickets                   # the predictions that wait for their labels, if repeats are used
    cdef Py_ssize_t ticket                 # that of the example of a round, or -1
    cdef double novelty                    # the least one of an example that becomes a support vector
    cdef list saved                        # what a round that fails has to take back: stores, and what they saved
    # The log weights of the hedge, the weights of the slow and of the fast mixer, and the log weights of
    # the three in the forecast (3 experts + 3,); what a round adds to them; the weights of the experts in
    # the hedge, and of the three in the forecast (experts + 3,).
    cdef Py_ssize_t n_experts
    cdef double[::1] learned, steps
    cdef readonly double[::1] weights
    cdef readonly double[::1] shares       # of the posteriors in the hedge, with a sum of 1
    # The last forecast: probabilities (experts, labels), their logarithms, up to a term for each expert,
    # and the three mixtures and the forecast (4, labels).
    cdef double[:, ::1] probabilities, logs, mixtures

    cdef void mix(self) noexcept nogil
    cdef void add_steps(self, Py_ssize_t label, double share, double charge) noexcept nogil
    cdef void normalize(self) noexcept nogil
    cdef int find_ticket(self, int64_t asked_at) except -1 nogil
    cdef int put(self, Store store, Py_ssize_t slot) except -1
