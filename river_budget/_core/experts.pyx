# cython: wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""Mnemotron's experts over one store: their mixture, what is kept for absent labels, and the rounds."""

from libc.math cimport fmax, fmin, frexp, log, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

import numpy as np

from river_budget._core.engine cimport Engine
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.softmax cimport softmax
from river_budget._core.store cimport Store
from river_budget._core.tickets cimport Tickets

from river_budget._arrays import padded
from river_budget._state import count, floats, integers, require

cdef double[2] RATES = [0.002, 0.02]      # learning rates of the slow and the fast mixer
cdef double RHO = 0.995                    # factor of the log weights of both hedges in each round
cdef double FLOOR = 0.02                   # hedges take p as FLOOR + (1 - 2 FLOOR) p: no weight can vanish
cdef double CLIP = 0.02                    # the mixers take p from CLIP / n_labels to 1 - CLIP / 2
cdef double PRIOR = 0.5                    # is added to each count of runs, so that no probability is 0
cdef int64_t EVEN_BITS = 0x5555555555555555

cdef enum:
    # Runs are counted by the power of two below their length: 1, 2 to 3, 4 to 7, ..., at least 1,024.
    N_BINS = 11
    # A label is absent if the rounds since its last example exceed this and so many times its mean gap.
    SHORTEST_ABSENCE = 50
    GAPS = 5
    # The first example of a label that is an exemplar, a power of 4, as the numbers of all others.
    FIRST_EXEMPLAR = 16
    CHECK_INTERVAL = 64                    # changes of the support set between two checks of the inverses

# What is known of a label: the rounds of its first and its last example, and the places of its exemplars,
# from 1 on (0: none). And in a round, the number of its vectors, and its absence.
cdef enum:
    FIRST
    LAST
    OLDER
    NEWER
    VECTORS
    IS_ABSENT
    N_FIELDS


cdef inline double gain(double probability) noexcept nogil:
    """Return what the probability of a label that came adds to the log weight in a hedge."""
    return log(FLOOR + (1.0 - 2.0 * FLOOR) * probability)


cdef inline double clipped(double value, double lowest, double highest) noexcept nogil:
    return fmin(fmax(value, lowest), highest)


cdef class Repeats:
    """Counts of the next label, given the last one and the length of its run."""

    # For each label, the number of times that a run of it ended at each length, that it went on,
    # and that each other label followed (labels, 2 N_BINS + labels).
    cdef double[:, ::1] counts
    cdef Py_ssize_t last, length       # the last label, and the length of its run; -1 if unknown
    # Whether the last label is known in this round: nothing was learned since its example was predicted.
    cdef bint is_known

    def __init__(self):
        self.counts, self.last, self.is_known = np.zeros((2, 2 * N_BINS + 2)), -1, True

    cdef void predict(self, double[::1] probabilities) noexcept nogil:
        """Compute the probabilities of the next label (labels,)."""
        n_labels, total = self.counts.shape[0], 0.0
        if self.last < 0 or not self.is_known:
            probabilities[:] = 1.0 / n_labels
            return
        counts, length = &self.counts[self.last, 0], bin_of(self.length)
        ended, went_on = counts[length] + PRIOR, counts[N_BINS + length] + PRIOR
        for c in range(n_labels):
            if c != self.last:
                probabilities[c] = counts[2 * N_BINS + c] + PRIOR
                total += probabilities[c]
        for c in range(n_labels):
            probabilities[c] *= ended / ((ended + went_on) * total)
        probabilities[self.last] = went_on / (ended + went_on)

    cdef void count(self, Py_ssize_t label) noexcept nogil:
        """Count a label after the last one, or forget that if it is unknown in this round."""
        if not self.is_known:
            self.last, self.length, self.is_known = -1, 0, True
            return
        if self.last >= 0:
            counts, length = &self.counts[self.last, 0], bin_of(self.length)
            if label == self.last:
                counts[N_BINS + length] += 1.0
            else:
                counts[length] += 1.0
                counts[2 * N_BINS + label] += 1.0
        self.length = self.length + 1 if label == self.last else 1
        self.last = label

    def state(self):
        return {"counts": self.counts.base.copy(), "last": self.last, "length": self.length}

    def restore(self, state):
        """Restore counts that have their labels from their state."""
        last, length = state["last"], count(state["length"])
        is_known = type(last) is int and -1 <= last < self.counts.shape[0]
        require(is_known, "the last label is unknown")
        self.counts = floats(state["counts"], (<object> self.counts).shape)
        require(self.counts.base.min() >= 0.0, "a count of runs is negative")
        self.last, self.length = last, length


cdef inline Py_ssize_t bin_of(Py_ssize_t length) noexcept nogil:
    """Return the bin of the length of a run."""
    cdef int exponent
    frexp(<double> length, &exponent)
    return min(max(exponent, 1), N_BINS) - 1


cdef class Rehearsal:
    """What is known of each label, which labels are absent, and the newest two exemplars of each."""

    cdef readonly Store store          # the exemplars
    cdef double share                  # of the next rehearsal in its round; 0: there is none
    cdef Py_ssize_t label              # of its example
    cdef int64_t[:, ::1] labels        # what is known of each label (labels, N_FIELDS)
    cdef int64_t[::1] owners           # the label of each vector of the model (budget,)
    cdef char[::1] is_kept             # which of them must not be replaced in a round (budget,)
    cdef Py_ssize_t turn, next_turn    # label and age of the example rehearsed last, and of the next

    def __init__(self, Store store not None, Py_ssize_t budget):
        self.store, self.labels = store, np.zeros((2, N_FIELDS), np.int64)
        self.owners, self.is_kept = np.zeros(budget, np.int64), np.zeros(budget, np.int8)

    cdef int64_t begin(self, int64_t n_rounds, const int64_t[::1] rounds_of) noexcept nogil:
        """Find absent labels; return the slot of the exemplar of the next round, or -1."""
        cdef Py_ssize_t n_absent = 0, n = self.labels.shape[0]
        cdef bint is_away
        self.share, self.next_turn = 0.0, self.turn
        for c in range(n):
            known = &self.labels[c, 0]
            since, gaps = n_rounds - known[LAST], rounds_of[c] - 1.0
            is_away = since > SHORTEST_ABSENCE and since * gaps > GAPS * (known[LAST] - known[FIRST])
            known[IS_ABSENT] = is_away and known[NEWER] > 0
            n_absent += known[IS_ABSENT]
        # One of two labels is no task that went by: rehearsing it costs accuracy on ordinary streams.
        if n_absent < 2 or 2 * n_absent < n:
            return -1
        for i in range(1, 2 * n + 1):
            turn = (self.turn + i) % (2 * n)
            c = turn % n
            place = self.labels[c, OLDER + turn // n]
            if place > 0 and self.labels[c, IS_ABSENT]:
                self.share, self.label, self.next_turn = <double> n_absent / n, c, turn
                return place - 1
        return -1

    cdef Py_ssize_t take(self, Py_ssize_t label, int64_t number, Store store) except -2 nogil:
        """Return the slot for the example of a store, or -1 if by its number it is no exemplar of its label."""
        older = self.labels[label, OLDER]
        slot = older - 1 if older > 0 else self.store.n
        if number < FIRST_EXEMPLAR or number & (number - 1) or not number & EVEN_BITS:
            return -1
        with gil:
            try:
                self.store.evaluate_like(store)
            except ValueError:  # a feature is an array of another length, or a number, in an exemplar
                return -1
        return slot

    cdef const char *kept(self, Py_ssize_t n) noexcept nogil:
        """Keep the vectors of absent labels that have at most their share of them; NULL: no one's."""
        if self.share == 0.0:
            return NULL
        n_labels = self.labels.shape[0]
        self.labels[:, VECTORS] = 0
        for i in range(n):
            self.labels[self.owners[i], VECTORS] += 1
        for i in range(n):
            known = &self.labels[self.owners[i], 0]
            self.is_kept[i] = known[IS_ABSENT] and known[VECTORS] * n_labels <= n
        return &self.is_kept[0]

    cdef void keep(self, Py_ssize_t label, Py_ssize_t slot) noexcept nogil:
        """Make what was taken, and is in a slot, the newer exemplar of a label."""
        known = &self.labels[label, 0]
        known[OLDER], known[NEWER] = known[NEWER], slot + 1

    cdef void count(self, Py_ssize_t label, int64_t number, int64_t n_rounds) noexcept nogil:
        """End the round of the example with a number among those of its label."""
        known = &self.labels[label, 0]
        if number == 1:
            known[FIRST] = n_rounds
        known[LAST], self.turn = n_rounds, self.next_turn

    def state(self, Py_ssize_t n):
        """Return all but the exemplars, for a number of vectors."""
        labels, owners = self.labels.base[:, :VECTORS].copy(), self.owners.base[:n].copy()
        return {"labels": labels, "owners": owners, "turn": self.turn}

    def restore(self, state, Py_ssize_t n):
        """Restore a rehearsal that has its labels and exemplars, for a number of vectors."""
        n_labels, turn = self.labels.shape[0], count(state["turn"])
        labels, owners = integers(state["labels"], (n_labels, VECTORS)), integers(state["owners"], (n,))
        places = labels[:, OLDER:]
        is_known = ((places >= 0) & (places <= self.store.n)).all()
        require(is_known, "the exemplars are not those of the labels")
        require(((owners >= 0) & (owners < n_labels)).all(), "the label of a vector is unknown")
        self.labels.base[:, :VECTORS], self.owners.base[:n], self.turn = labels, owners, turn


cdef class Experts(Engine):
    """Gaussian process experts, and those of repeated labels and of an archive, if they are used.

    There are two layers of weights: a hedge and two mixers of the experts, and a hedge of these three.
    Scores are twice the probability of each label minus 1; exactly -f and f for two labels. Rounds
    include their update, so none of them stays open. `pairs` are those of forgetting factor and noise
    variance for each kernel. The archive is the last expert, or None: who gives it keeps it, and
    follows it after a round.
    """

    cdef readonly Posteriors posteriors
    cdef readonly Repeats repeats
    cdef readonly Rehearsal rehearsal
    cdef readonly Engine archive           # None if it is not used
    cdef readonly tuple arguments          # of the constructor
    cdef bint uses_repeats                 # whether they are an expert
    cdef Tickets tickets                   # the predictions that wait for their labels, if repeats are used
    cdef Py_ssize_t ticket                 # that of the example of a round, or -1
    cdef double novelty
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

    def probabilities_of(self, x):
        """Return the probability of each label at x (labels,)."""
        self.evaluate(x)
        return self.mixtures.base[3].tolist()

    def predict_probabilities(self, x):
        self.predict(x)
        return self.mixtures.base[3].tolist()

    cdef int note_prediction(self) except -1 nogil:
        if self.uses_repeats:
            self.tickets.open(self.store.fingerprint(), self.n_rounds)

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
            self.find_last_label(asked_at)
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

    cdef int find_last_label(self, int64_t asked_at) except -1 nogil:
        """Find out whether the last label is known in this round, as a late label is no hint to the next one.

        Without a ticket, the label counts as prompt, unless its ticket may have been dropped.
        """
        self.ticket = -1
        if asked_at < 0:
            self.ticket = self.tickets.find(self.store.fingerprint())
        if self.ticket >= 0:
            asked_at = self.tickets.all[self.ticket].n_rounds
        elif asked_at < 0 and not self.tickets.has_dropped:
            asked_at = self.n_rounds
        self.repeats.is_known = asked_at == self.n_rounds
        if not self.repeats.is_known:
            self.stamp = -1

    def roll_back(self):
        """Make a round that failed leave nothing behind; return False, as none is open."""
        while self.saved:
            store, saved = self.saved.pop()
            store.undo(saved)
        self.repeats.is_known, self.stamp = True, -1
        return self.archive is not None and self.archive.roll_back()

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        cdef int due = 0
        n = self.store.n
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
        if slot >= 0 and self.store.n_inserted % CHECK_INTERVAL == 0:
            with gil:  # a column of the inverses, in turn
                self.posteriors.repair(self.store.n_inserted // CHECK_INTERVAL % self.store.n)
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
        labels = padded(self.rehearsal.labels.base, n_labels)
        runs = padded(self.repeats.counts.base, n_labels, 2 * N_BINS + n_labels)
        Engine.set_labels(self, n_labels)
        self.posteriors.widen(means)
        self.rehearsal.labels, self.repeats.counts = labels, runs
        self.probabilities, self.logs, self.mixtures = probabilities, logs, mixtures
        return 0

    # What is learned.

    @property
    def nbytes(self):
        """Memory of all experts but the archive, and of the store, in bytes."""
        r = self.rehearsal
        parts = (
            self.posteriors, self.repeats.counts, self.tickets, self.store, r.store, r.labels, r.owners, r.is_kept,
            self.learned, self.steps, self.weights, self.shares, self.probabilities, self.logs, self.mixtures,
        )
        return sum([part.nbytes for part in parts])

    def own_state(self):
        """Return the state without vectors and exemplars."""
        return {
            "tickets": self.tickets.state(),
            "posteriors": self.posteriors.state(self.store.n), "weights": self.learned.base.copy(),
            "repeats": self.repeats.state(), "rehearsal": self.rehearsal.state(self.store.n),
        }

    def restore_own(self, state):
        self.posteriors.restore(state["posteriors"], self.store.n)
        self.learned.base[:] = floats(state["weights"], (3 * self.n_experts + 3,))
        self.normalize()
        self.repeats.restore(state["repeats"])
        self.tickets.restore(state["tickets"], self.n_rounds)
        self.rehearsal.restore(state["rehearsal"], self.store.n)

    def state(self):
        return {"exemplars": self.rehearsal.store.state(), **super().state()}

    def restore(self, state):
        self.rehearsal.store.restore(state["exemplars"])
        super().restore(state)
        self.posteriors.check(self.store.n)
