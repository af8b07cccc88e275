# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""Mnemotron's experts over one store, and the rounds; see `experts.pxd`."""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

import numpy as np

from river_budget._core.engine cimport Engine
from river_budget._core.mixture cimport Mixture
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.repeats cimport Repeats
from river_budget._core.softmax cimport softmax
from river_budget._core.store cimport Store
from river_budget._core.tickets cimport Tickets

cdef enum:
    CHECK_INTERVAL = 64                    # changes of the support set between two checks of the inverses


cdef class Experts(Engine):

    def __init__(
        self, Store store not None, Store exemplars not None, pairs, Py_ssize_t budget, double novelty,
        bint repeats, Engine archive,
    ):
        experts = [(z, float(factor), float(noise)) for z, own in enumerate(pairs) for factor, noise in own]
        n = len(experts) + repeats + (archive is not None)
        self.arguments = store, exemplars, pairs, budget, novelty, repeats, archive
        self.store, self.novelty, self.archive, self.saved = store, novelty, archive, []
        self.posteriors, self.rehearsal = Posteriors(store, experts, budget), Rehearsal(exemplars, budget)
        self.repeats, self.uses_repeats, self.tickets, self.ticket = Repeats(), repeats, Tickets(), -1
        self.mixture = self.last = Mixture(n)
        self.shares = np.zeros(len(experts))
        self.compute_shares()
        self.set_labels(2)

    # Forecasts.

    cdef list last_probabilities(self):
        return self.last.forecast

    def predict_probabilities(self, x):
        self.predict(x)
        return self.last_probabilities()

    cdef int note_prediction(self) except -1 nogil:
        if self.uses_repeats:
            self.tickets.open(self.store.packed.fingerprint(), self.n_rounds)

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
        self.answer_by(self.mixture)
        return 0

    cdef void answer_by(self, Mixture mixture) noexcept nogil:
        """Compute the forecast of a mixture, and the scores of the model from it."""
        mixture.mix()
        forecast = &mixture.mixtures[3, 0]
        for c in range(self.n_labels):
            self.answers[c] = 2.0 * forecast[c] - 1.0
        if self.n_labels == 2:
            self.answers[0] = -self.answers[1]

    # Weights.

    cdef void add_steps(self, Py_ssize_t label, double share, double charge) noexcept nogil:
        """Add a share of what a label changes, with a charge on the log probabilities of the mixers.

        In hedges, a label with the share s of the examples counts 1 / sqrt(C s).
        """
        n_examples, total = self.rounds_of[label], self.n_labels + self.n_rounds
        balance = share * sqrt(<double> total / (self.n_labels * (n_examples + 1.0)))
        self.mixture.add_steps(label, balance, share, charge)

    cdef void compute_shares(self) noexcept nogil:
        total = 0.0
        for e in range(self.shares.shape[0]):
            total += self.mixture.weights[e]
        for e in range(self.shares.shape[0]):
            self.shares[e] = self.mixture.weights[e] / total

    # Rounds.

    cdef bint prepare(self, int64_t asked_at) except -1 nogil:
        """Rehearse: weigh the experts by an exemplar, if enough labels are absent.

        It takes the place of the example of the store then, and True is returned.
        """
        charge, slot = 0.0, self.rehearsal.begin(self.n_rounds, self.rounds_of)
        if self.uses_repeats:
            self.find_ticket(asked_at)
        self.mixture.forget_steps()
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
        self.add_steps(self.rehearsal.label, self.rehearsal.share, charge)
        return True

    cdef int find_ticket(self, int64_t asked_at) except -1 nogil:
        """Find the ticket of the example, and whether its label is prompt.

        Without a ticket, the label counts as prompt, unless its ticket may have been dropped.
        """
        self.ticket = -1
        if asked_at < 0:
            self.ticket = self.tickets.find(self.store.packed.fingerprint())
        if self.ticket >= 0:
            asked_at = self.tickets.all[self.ticket].n_rounds
        elif asked_at < 0 and not self.tickets.has_dropped:
            asked_at = self.n_rounds
        self.repeats.is_prompt = asked_at == self.n_rounds
        if not self.repeats.is_prompt:
            self.answered_at = -1

    def roll_back(self):
        """Make a round that failed leave nothing behind; return False, as none is open."""
        while self.saved:
            store, saved = self.saved.pop()
            store.undo(saved)
        self.repeats.is_prompt, self.answered_at = True, -1
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
        self.add_steps(label, 1.0 - self.rehearsal.share, 0.0)
        due = self.end_round(label)
        self.mixture.apply()
        self.compute_shares()
        self.rehearsal.count(label, self.rounds_of[label], self.n_rounds)
        self.repeats.count(label)
        if self.ticket >= 0:
            self.tickets.close(self.ticket)
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
        means, mixed = self.posteriors.widened(n_labels), self.mixture.widened(n_labels)
        labels, runs = self.rehearsal.widened(n_labels), self.repeats.widened(n_labels)
        Engine.set_labels(self, n_labels)
        self.posteriors.widen(means)
        self.rehearsal.labels, self.repeats.counts = labels, runs
        self.mixture.widen(mixed)
        return 0

    # What is learned.

    @property
    def nbytes(self):
        """Memory of all experts but the archive, and of the store, in bytes."""
        parts = (
            self.posteriors, self.repeats, self.tickets, self.store, self.rehearsal, self.mixture, self.shares,
        )
        return sum([part.nbytes for part in parts])

    def own_state(self):
        """Return the state without vectors and exemplars."""
        return {
            "tickets": self.tickets.state(),
            "posteriors": self.posteriors.state(self.store.vectors.n), "weights": self.mixture.state(),
            "repeats": self.repeats.state(), "rehearsal": self.rehearsal.state(self.store.vectors.n),
        }

    def restore_own(self, state):
        self.posteriors.restore(state["posteriors"], self.store.vectors.n)
        self.mixture.restore(state["weights"])
        self.compute_shares()
        self.repeats.restore(state["repeats"])
        self.tickets.restore(state["tickets"], self.n_rounds)
        self.rehearsal.restore(state["rehearsal"], self.store.vectors.n)

    def state(self):
        return {"exemplars": self.rehearsal.store.state(), **super().state()}

    def restore(self, state):
        self.rehearsal.store.restore(state["exemplars"])
        super().restore(state)
        self.posteriors.check(self.store.vectors.n)
