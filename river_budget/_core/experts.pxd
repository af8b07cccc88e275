# Mnemotron's experts over one store, and the rounds.
#
# An expert gives each label a probability. Most experts are Gaussian processes on the same support set,
# each with a kernel, a forgetting factor and a noise variance: these are the `Posteriors`. If they are
# used, the next one predicts from repeated labels (`Repeats`), and the last one is an archive, an
# engine of another model, which keeps it, and follows it after a round. Two mixtures and a `Switch` between
# them weigh them. Scores are twice the probability of each label minus 1; exactly -f and f for two labels.
#
# A round first takes the ticket of its example, which tells how late its label is and what was said of it, and
# may rehearse (`prepare`): then the weights learn an exemplar of a label that has been away, see `rehearsal.pxd`.
# Without a ticket, a label counts as prompt, unless its ticket may have been dropped. The rest is `learn`: store
# the example if it is novel enough, move the weights, update the posteriors. Rounds include their update, so
# none of them stays open. All that can fail comes first (`stage`), and puts into `saved` what `roll_back` takes
# back; from the moment that `finish` clears `saved`, nothing fails until the example is learned. At last,
# `watch` adds it to running sums, and watches rounding errors.
from libc.stdint cimport int64_t

from river_budget._core.engine cimport Engine
from river_budget._core.mixture cimport Mixture
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.repeats cimport Repeats
from river_budget._core.store cimport Store
from river_budget._core.switch cimport Switch
from river_budget._core.tickets cimport Ticket, Tickets


cdef class Experts(Engine):
    cdef readonly Posteriors posteriors
    cdef readonly Repeats repeats
    cdef readonly Rehearsal rehearsal
    cdef readonly Switch switch            # between two mixtures of all experts
    cdef readonly Mixture mixture          # the prompt one of these, which chooses support vectors
    cdef readonly Switch last              # the one whose forecast the model gives; this one, if there is no other
    cdef readonly Engine archive           # None if it is not used
    cdef readonly tuple arguments          # of the constructor
    cdef bint uses_repeats                 # whether they are an expert
    cdef readonly Tickets tickets          # the predictions that wait for their labels
    cdef double novelty                    # the least one of an example that becomes a support vector
    cdef readonly double[::1] shares       # of the posteriors in the hedge, with a sum of 1
    # Of a round: the ticket of its example, or None; its place among `tickets`, or -1; and how many examples were
    # learned since it was predicted, -1 if that is unknown.
    cdef Ticket ticket
    cdef Py_ssize_t waiting
    cdef int64_t age
    cdef Py_ssize_t first_row              # of its own in a ticket
    # Of a round: what it has to take back if it fails, stores and what they saved; the number of vectors before
    # it; and the slots of the example among vectors and exemplars, or -1.
    cdef list saved
    cdef Py_ssize_t n_before, slot, exemplar

    cdef void answer_by(self, Switch switch) noexcept nogil
    # Return how much a label counts in hedges, with a share of 1.
    cdef double balance(self, Py_ssize_t label, double share) noexcept nogil
    cdef void compute_shares(self) noexcept nogil
    # Return how many rows of probabilities a ticket has, and write those of the last forecast.
    cdef Py_ssize_t n_rows(self) noexcept nogil
    cdef void write(self, float *said) noexcept
    cdef int take_ticket(self, Ticket ticket) except -1 nogil
    cdef int follow_ticket(self, int64_t age) noexcept nogil
    cdef void forget_ticket(self) noexcept nogil
    cdef void learn_weights(self, Switch switch, Py_ssize_t label, double hedges, Py_ssize_t row) noexcept nogil
    cdef int stage(self, Py_ssize_t label, double weight) except -1 nogil
    cdef int learn_archive(self, Py_ssize_t label, double weight, double threshold) except -1 nogil
    cdef int finish(self, Py_ssize_t label) noexcept nogil
    cdef int watch(self) except -1 nogil
    cdef int put(self, Store store, Py_ssize_t slot) except -1
