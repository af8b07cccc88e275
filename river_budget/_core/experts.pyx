# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""Mnemotron's experts over one store: their mixture, and the rounds; see `experts.pxd`."""

from libc.math cimport fmax, fmin, log, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

from river_budget._core.engine cimport Engine
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.repeats cimport Repeats
from river_budget._core.softmax cimport softmax
from river_budget._core.store cimport Store
from river_budget._core.tickets cimport Tickets

from river_budget._state import floats

cdef double[2] RATES = [0.002, 0.02]      # learning rates of the slow and the fast mixer
cdef double RHO = 0.995                    # factor of the log weights of both hedges in each round
cdef double FLOOR = 0.02                   # hedges take p as FLOOR + (1 - 2 FLOOR) p: no weight can vanish
cdef double CLIP = 0.02                    # the mixers take p from CLIP / n_labels to 1 - CLIP / 2

cdef enum:
    CHECK_INTERVAL = 64                    # changes of the support set between two checks of the inverses


cdef inline double gain(double probability) noexcept nogil:
    """Return what the probability of a label that came adds to the log weight in a hedge."""
    return log(FLOOR + (1.0 - 2.0 * FLOOR) * probability)


cdef inline double clipped(double value, double lowest, double highest) noexcept nogil:
    return fmin(fmax(value, lowest), highest)


cdef class Experts(Engine):

    def __init__(
        self, Store store not None, Store exemplars not None, pairs, Py_ssize_t budget, double novelty,
        bint repeats, Engine archive,
    ):
        experts = [(z, float(factor), float(noise)) for z, own in enumerate(pairs) for factor, noise in own]
        n = self.n_experts = len(experts) + repeats + (archive is not None)
        self.arguments = store, exemplars, pairs, budget, novelty, repeats, archive
        self.store, self.novelty, self.archive, self.saved = store, novelty, archive, []
        self.posteriors, self.rehearsal = Posteriors(store, experts, budget), Rehearsal(exemplars, budget)
        self.repeats, self.uses_repeats, self.tickets, self.ticket = Repeats(), repeats, Tickets(), -1
        self.learned, self.steps = np.zeros((2, 3 * n + 3))
        self.learned[n : 3 * n] = 1.0 / n
        self.weights, self.shares = np.zeros(n + 3), np.zeros(len(experts))
        self.normalize()
        self.set_labels(2)

    # Forecasts.

    cdef list last_probabilities(self):
        return [self.mixtures[3, c] for c in range(self.n_labels)]

    def predict_probabilities(self, x):
        self.predict(x)
        return self.last_probabilities()

    cdef int note_prediction(self) except -1 nogil:
        if self.uses_repeats:
            self.tickets.open(self.store.packed.fingerprint(), self.n_rounds)

    cdef int answer(self) except -1 nogil:
        self.posteriors.forecast(self.probabilities)
        if self.uses_repeats:
            self.repeats.predict(self.probabilities[self.posteriors.n_experts])
        if self.archive is not None:
            self.archive.store.evaluate_like(self.store)
            self.archive.forecast()
            own = &self.probabilities[self.n_experts - 1, 0]
            for c in range(self.n_labels):  # its scores are twice the logits
                own[c] = 0.5 * self.archive.answers[c]
            softmax(own, own, self.n_labels)
        self.mix()
        return 0

    cdef void mix(self) noexcept nogil:
        """Compute the forecast from the probabilities of the experts."""
        n, n_labels = self.n_experts, self.n_labels
        lowest, highest = CLIP / n_labels, 1.0 - CLIP / 2.0
        mixtures, forecast = &self.mixtures[0, 0], &self.mixtures[3, 0]
        memset(mixtures, 0, 4 * n_labels * sizeof(double))
        for e in range(n):
            p, logs = &self.probabilities[e, 0], &self.logs[e, 0]
            for c in range(n_labels):
                if n_labels > 2:
                    logs[c] = log(clipped(p[c], lowest, highest))
                elif c == 1:
                    logs[1] = log(clipped(p[1], lowest, highest) / clipped(p[0], lowest, highest))
                mixtures[c] += self.weights[e] * p[c]
                mixtures[n_labels + c] += self.learned[n + e] * logs[c]
                mixtures[2 * n_labels + c] += self.learned[2 * n + e] * logs[c]
        for i in range(1, 3):
            softmax(mixtures + i * n_labels, mixtures + i * n_labels, n_labels)
        for i in range(3):
            for c in range(n_labels):
                forecast[c] += self.weights[n + i] * mixtures[i * n_labels + c]
        if n_labels == 2:
            half = 0.5 * (forecast[1] - forecast[0])
            forecast[0], forecast[1] = 0.5 - half, 0.5 + half
        for c in range(n_labels):
            self.answers[c] = 2.0 * forecast[c] - 1.0
        if n_labels == 2:
            self.answers[0] = -self.answers[1]

    # Weights.

    cdef void add_steps(self, Py_ssize_t label, double share, double charge) noexcept nogil:
        """Add a share of what a label changes, with a charge on the log probabilities of the mixers.

        In hedges, a label with the share s of the examples counts 1 / sqrt(C s).
        """
        cdef double change
        n, n_examples = self.n_experts, self.rounds_of[label]
        total = self.n_labels + self.n_rounds
        balance = share * sqrt(total / (self.n_labels * (n_examples + 1.0)))
        steps = &self.steps[0]
        for i in range(3):
            change = gain(self.mixtures[i, label]) - (charge if i > 0 else 0.0)
            steps[3 * n + i] += balance * change
        for e in range(n):
            steps[e] += balance * gain(self.probabilities[e, label])
            logs = &self.logs[e, 0]
            for i in range(1, 3):
                change, mixture = logs[label], &self.mixtures[i, 0]
                for c in range(self.n_labels):
                    change -= mixture[c] * logs[c]
                steps[i * n + e] += share * (RATES[i - 1] * change)

    cdef void normalize(self) noexcept nogil:
        """Compute the weights of both hedges from their logarithms, and the shares."""
        total = 0.0
        softmax(&self.learned[0], &self.weights[0], self.n_experts)
        softmax(&self.learned[3 * self.n_experts], &self.weights[self.n_experts], 3)
        for e in range(self.shares.shape[0]):
            total += self.weights[e]
        for e in range(self.shares.shape[0]):
            self.shares[e] = self.weights[e] / total

    # Rounds.

    cdef bint prepare(self, int64_t asked_at) except -1 nogil:
        """Rehearse: weigh the experts by an exemplar, if enough labels are absent.

        It takes the place of the example of the store then, and True is returned.
        """
        charge, slot = 0.0, self.rehearsal.begin(self.n_rounds, self.rounds_of)
        if self.uses_repeats:
            self.find_ticket(asked_at)
        self.steps[:] = 0.0
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
            charge = self.n_experts / (2.0 * self.rehearsal.share * self.n_labels)
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
        cdef int due = 0
        n = self.store.vectors.n
        exemplar = self.rehearsal.take(label, self.rounds_of[label] + 1, self.store)
        if exemplar >= 0:
            with gil:
                self.put(self.rehearsal.store, exemplar)
        kept = self.rehearsal.kept(n)
        slot = self.posteriors.compare(label, weight, self.novelty, &self.shares[0], kept)
        if slot >= 0:
            with gil:
                self.put(self.store, slot)
        if self.archive is not None:
            self.archive.forecast()
            due = self.archive.learn(label, weight, threshold)
        # Nothing fails until the example is learned; what failed before is taken back by `roll_back`.
        if slot >= 0 or exemplar >= 0:
            with gil:
                self.saved.clear()
        if exemplar >= 0:
            self.rehearsal.keep(label, exemplar)
        if slot >= 0:
            self.rehearsal.owners[slot] = label
        self.add_steps(label, 1.0 - self.rehearsal.share, 0.0)
        due |= self.end_round(label)
        for i in range(self.learned.shape[0]):
            if i < self.n_experts or i >= 3 * self.n_experts:
                self.learned[i] *= RHO
            self.learned[i] += self.steps[i]
        self.normalize()
        self.rehearsal.count(label, self.rounds_of[label], self.n_rounds)
        self.repeats.count(label)
        if self.ticket >= 0:
            self.tickets.close(self.ticket)
        self.posteriors.update(slot, n)
        if self.sums is not None:
            self.sums.add(self.store)
        if slot >= 0 and self.store.vectors.n_inserted % CHECK_INTERVAL == 0:
            with gil:  # a column of the inverses, in turn
                self.posteriors.repair(self.store.vectors.n_inserted // CHECK_INTERVAL % self.store.vectors.n)
        return due

    cdef int put(self, Store store, Py_ssize_t slot) except -1:
        """Store the example of a store in a slot, in a round that may fail."""
        self.saved.append((store, store.save(slot)))
        store.put(slot)

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        if self.archive is not None:
            self.archive.widen(n_labels)
        means, mixtures = self.posteriors.widened(n_labels), np.zeros((4, n_labels))
        probabilities, logs = np.zeros((2, self.n_experts, n_labels))
        labels, runs = self.rehearsal.widened(n_labels), self.repeats.widened(n_labels)
        Engine.set_labels(self, n_labels)
        self.posteriors.widen(means)
        self.rehearsal.labels, self.repeats.counts = labels, runs
        self.probabilities, self.logs, self.mixtures = probabilities, logs, mixtures
        return 0

    # What is learned.

    @property
    def nbytes(self):
        """Memory of all experts but the archive, and of the store, in bytes."""
        parts = (
            self.posteriors, self.repeats, self.tickets, self.store, self.rehearsal, self.learned, self.steps,
            self.weights, self.shares, self.probabilities, self.logs, self.mixtures,
        )
        return sum([part.nbytes for part in parts])

    def own_state(self):
        """Return the state without vectors and exemplars."""
        return {
            "tickets": self.tickets.state(),
            "posteriors": self.posteriors.state(self.store.vectors.n), "weights": self.learned.base.copy(),
            "repeats": self.repeats.state(), "rehearsal": self.rehearsal.state(self.store.vectors.n),
        }

    def restore_own(self, state):
        self.posteriors.restore(state["posteriors"], self.store.vectors.n)
        self.learned.base[:] = floats(state["weights"], (3 * self.n_experts + 3,))
        self.normalize()
        self.repeats.restore(state["repeats"])
        self.tickets.restore(state["tickets"], self.n_rounds)
        self.rehearsal.restore(state["rehearsal"], self.store.vectors.n)

    def state(self):
        return {"exemplars": self.rehearsal.store.state(), **super().state()}

    def restore(self, state):
        self.rehearsal.store.restore(state["exemplars"])
        super().restore(state)
        self.posteriors.check(self.store.vectors.n)
