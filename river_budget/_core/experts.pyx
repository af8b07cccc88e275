# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""Mnemotron's experts over one store, and the rounds; see `experts.pxd`."""

from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from river_budget._state import is_trusted, require

from river_budget._core.engine cimport Engine
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.repeats cimport Repeats
from river_budget._core.softmax cimport softmax
from river_budget._core.store cimport Store
from river_budget._core.switch cimport Switch
from river_budget._core.tickets cimport new_ticket, Ticket, Tickets

cdef enum:
    CHECK_INTERVAL = 64                    # changes of the support set between two checks of the inverses


cdef class Experts(Engine):

    def __init__(
        self, Store store not None, Store exemplars not None, pairs, Py_ssize_t budget, double novelty,
        bint repeats, Engine archive, Py_ssize_t most_pending,
    ):
        experts = [(z, float(factor), float(noise)) for z, own in enumerate(pairs) for factor, noise in own]
        n = len(experts) + repeats + (archive is not None)
        self.arguments = store, exemplars, pairs, budget, novelty, repeats, archive, most_pending
        self.store, self.novelty, self.archive, self.saved = store, novelty, archive, []
        self.posteriors, self.rehearsal = Posteriors(store, experts, budget), Rehearsal(exemplars, budget)
        self.repeats, self.uses_repeats, self.tickets, self.waiting = Repeats(), repeats, Tickets(most_pending), -1
        self.switch = self.last = Switch(n)
        self.mixture = self.switch.prompt
        self.shares = np.zeros(len(experts))
        self.compute_shares()
        self.set_labels(2)

    # Forecasts.

    cdef list last_probabilities(self):
        return self.last.forecast.base.tolist()

    def predict_probabilities(self, x):
        self.predict(x)
        return self.last_probabilities()

    cdef int answer(self) except -1 nogil:
        self.posteriors.forecast(self.mixture.probabilities)
        if self.uses_repeats:
            self.repeats.predict(self.mixture.probabilities[self.posteriors.n_experts])
        if self.archive is not None:
            self.archive.store.evaluate_like(self.store)
            self.archive.forecast()
            own = &self.mixture.probabilities[self.mixture.n_experts - 1, 0]
            for c in range(self.n_labels):  # its scores are twice the logits
                own[c] = 0.5 * self.archive.answers[c]
            softmax(own, own, self.n_labels)
        self.answer_by(self.switch)
        return 0

    cdef void answer_by(self, Switch switch) noexcept nogil:
        """Compute the forecast of a switch, and the scores of the model from it."""
        switch.mix()
        forecast = &switch.forecast[0]
        for c in range(self.n_labels):
            self.answers[c] = 2.0 * forecast[c] - 1.0
        if self.n_labels == 2:
            self.answers[0] = -self.answers[1]

    # Weights.

    cdef double balance(self, Py_ssize_t label, double share) noexcept nogil:
        """Return how much a label counts in hedges.

        A label with the share s of the examples counts 1 / sqrt(C s).
        """
        n_examples, total = self.rounds_of[label], self.n_labels + self.n_rounds
        return share * sqrt(<double> total / (self.n_labels * (n_examples + 1.0)))

    cdef void learn_weights(self, Switch switch, Py_ssize_t label, double hedges, Py_ssize_t row) noexcept nogil:
        """Add what the label of the round changes, given from which row of the ticket a switch has said its own."""
        share = 1.0 - self.rehearsal.share
        if self.age > 0 and not switch.is_awake:
            switch.wake()
        if self.ticket is None:
            switch.learn(label, hedges, share, NULL, 0)
        else:
            n_known = self.ticket.n_labels
            switch.learn(label, hedges, share, self.ticket.said + row * n_known, n_known)

    cdef void compute_shares(self) noexcept nogil:
        total = 0.0
        for e in range(self.shares.shape[0]):
            total += self.mixture.weights[e]
        for e in range(self.shares.shape[0]):
            self.shares[e] = self.mixture.weights[e] / total

    # Tickets.

    cdef Py_ssize_t n_rows(self) noexcept nogil:
        return self.switch.n_rows

    cdef void write(self, float *said) noexcept:
        self.switch.write(said)

    cdef int require_own(self, Ticket ticket) except -1:
        is_own = ticket.n_rows == self.n_rows() and ticket.n_labels <= self.n_labels
        require(is_own and ticket.n_rounds <= self.n_rounds, "the answer is that of another model")

    cdef Ticket ticket_of(self, uint64_t fingerprint):
        self.forecast()
        ticket = new_ticket(fingerprint, self.n_rounds, self.repeats.place, self.n_rows(), self.n_labels)
        self.write(ticket.said)
        return ticket

    cdef int note_prediction(self) except -1:
        fingerprint = self.store.packed.fingerprint()
        if not self.tickets.has(fingerprint, self.n_rounds):
            self.tickets.add(self.ticket_of(fingerprint))

    cdef int take_ticket(self, Ticket ticket) except -1 nogil:
        """Take a ticket for the round, or the one of the example of the store, if there is any."""
        if ticket is None and self.tickets.n > 0:
            with gil:
                self.waiting = self.tickets.find(self.store.packed.fingerprint())
                if self.waiting >= 0:
                    ticket = self.tickets.all[self.waiting]
        if ticket is None:
            return self.follow_ticket(-1 if self.tickets.has_dropped else 0)
        with gil:
            self.ticket = ticket
        return self.follow_ticket(self.n_rounds - ticket.n_rounds)

    cdef int follow_ticket(self, int64_t age) noexcept nogil:
        """Let repeats predict from where the labels stood so many examples ago; -1: unknown."""
        self.age = age
        if age == 0 or not self.uses_repeats:
            return 0
        if age < 0:
            self.repeats.place.label = -1
        else:
            self.repeats.place, self.repeats.abstains = self.ticket.place, True
        self.answered_at = -1

    cdef void forget_ticket(self) noexcept nogil:
        """End the use of a ticket by a round."""
        self.repeats.stand()
        self.waiting = -1
        if self.ticket is not None:
            with gil:
                self.ticket = None

    # Rounds.

    cdef bint prepare(self, Ticket ticket) except -1 nogil:
        """Rehearse: weigh the experts by an exemplar, if enough labels are absent.

        It takes the place of the example of the store then, and True is returned.
        """
        charge, slot = 0.0, self.rehearsal.begin(self.n_rounds, self.rounds_of)
        self.take_ticket(ticket)
        self.switch.forget_steps()
        if slot < 0:
            return False
        with gil:
            try:
                self.store.evaluate(self.rehearsal.store.vector(slot))
                self.forecast()
            except ValueError:  # a feature is an array of another length, or a number, by now
                self.rehearsal.share = 0.0
                return True
        if self.archive is not None:
            # The mixers are fitted to the exemplars of all absent labels, while the archive is not: with a
            # weight for each expert, they overfit by so much in expectation (Akaike).
            charge = self.mixture.n_experts / (2.0 * self.rehearsal.share * self.n_labels)
        label, share = self.rehearsal.label, self.rehearsal.share
        self.switch.add_steps(label, self.balance(label, share), share, charge)
        return True

    def roll_back(self):
        """Make a round that failed leave nothing behind; return False, as none is open."""
        while self.saved:
            store, saved = self.saved.pop()
            store.undo(saved)
        self.forget_ticket()
        self.answered_at = -1
        return self.archive is not None and self.archive.roll_back()

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        self.stage(label, weight)
        due = self.learn_archive(label, weight, threshold)
        due |= self.finish(label)
        self.watch()
        return due

    cdef int stage(self, Py_ssize_t label, double weight) except -1 nogil:
        """Do all that may fail; what was done before is taken back by `roll_back` then."""
        self.n_before = self.store.vectors.n
        self.exemplar = self.rehearsal.take(label, self.rounds_of[label] + 1, self.store)
        if self.exemplar >= 0:
            with gil:
                self.put(self.rehearsal.store, self.exemplar)
        kept = self.rehearsal.kept(self.n_before)
        self.slot = self.posteriors.compare(label, weight, self.novelty, &self.shares[0], kept)
        if self.slot >= 0:
            with gil:
                self.put(self.store, self.slot)

    cdef int learn_archive(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        """Let the archive learn, as the last one that may fail; return what is due."""
        if self.archive is None:
            return 0
        self.archive.forecast()
        return self.archive.learn(label, weight, threshold)

    cdef int finish(self, Py_ssize_t label) noexcept nogil:
        """Learn what was staged. Nothing fails; return what is due."""
        slot, exemplar = self.slot, self.exemplar
        if slot >= 0 or exemplar >= 0:
            with gil:
                self.saved.clear()
        if exemplar >= 0:
            self.rehearsal.keep(label, exemplar)
        if slot >= 0:
            self.rehearsal.owners[slot] = label
        self.learn_weights(self.switch, label, self.balance(label, 1.0 - self.rehearsal.share), self.first_row)
        due = self.end_round(label)
        self.switch.apply()
        self.compute_shares()
        self.rehearsal.count(label, self.rounds_of[label], self.n_rounds)
        if self.uses_repeats:
            self.repeats.count(label, 1.0 / (1.0 + self.age) if self.age >= 0 else 0.0)
        if self.waiting >= 0:
            with gil:
                self.tickets.close(self.waiting)
        self.forget_ticket()
        self.posteriors.update(slot, self.n_before)
        return due

    cdef int watch(self) except -1 nogil:
        """Add the example that was learned to running sums, and watch rounding errors."""
        if self.sums is not None:
            self.sums.add(self.store)
        if self.slot >= 0 and self.store.vectors.n_inserted % CHECK_INTERVAL == 0:
            with gil:  # a column of the inverses, in turn
                self.posteriors.repair(self.store.vectors.n_inserted // CHECK_INTERVAL % self.store.vectors.n)

    cdef int put(self, Store store, Py_ssize_t slot) except -1:
        """Store the example of a store in a slot, in a round that may fail."""
        self.saved.append((store, store.save(slot)))
        store.put(slot)

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        if self.archive is not None:
            self.archive.widen(n_labels)
        means, mixed = self.posteriors.widened(n_labels), self.switch.widened(n_labels)
        labels, runs = self.rehearsal.widened(n_labels), self.repeats.widened(n_labels)
        Engine.set_labels(self, n_labels)
        self.posteriors.widen(means)
        self.rehearsal.labels, self.repeats.counts = labels, runs
        self.switch.widen(mixed)
        return 0

    # What is learned.

    @property
    def nbytes(self):
        """Memory of all experts but the archive, and of the store, in bytes."""
        parts = (
            self.posteriors, self.repeats, self.tickets, self.store, self.rehearsal, self.switch, self.shares,
        )
        return sum([part.nbytes for part in parts])

    def own_state(self):
        """Return the state without vectors and exemplars."""
        return {
            "tickets": self.tickets.state(),
            "posteriors": self.posteriors.state(self.store.vectors.n), "weights": self.switch.state(),
            "repeats": self.repeats.state(), "rehearsal": self.rehearsal.state(self.store.vectors.n),
        }

    def restore_own(self, state):
        self.posteriors.restore(state["posteriors"], self.store.vectors.n)
        self.switch.restore(state["weights"])
        self.compute_shares()
        self.repeats.restore(state["repeats"])
        self.tickets.restore(state["tickets"], self.n_rounds, self.n_rows(), self.n_labels)
        self.rehearsal.restore(state["rehearsal"], self.store.vectors.n)

    def state(self):
        return {"exemplars": self.rehearsal.store.state(), **super().state()}

    def restore(self, state):
        self.rehearsal.store.restore(state["exemplars"])
        super().restore(state)
        if not is_trusted():
            self.posteriors.check(self.store.vectors.n)
