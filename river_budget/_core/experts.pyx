# cython: language_level=3, wraparound=False
# cython: initializedcheck=False, cdivision=True
"""Mnemotron's experts over one store, and their rounds."""

import numpy as np

from river_budget._core.discriminant cimport Discriminant
from river_budget._core.engine cimport DUE_CHECK, Engine
from river_budget._core.mixing cimport HEDGE, Mixture, Repeats, softmax
from river_budget._core.posteriors cimport Posteriors
from river_budget._core.rehearsal cimport Rehearsal
from river_budget._core.store cimport Store

from river_budget._core.posteriors import JITTER
from river_budget._state import count, require

cdef enum:
    # Number of changes of the support set between two checks of the inverses.
    CHECK_INTERVAL = 64

# An inverse Q is recomputed if an element of Q K - I is larger.
cdef double LARGEST_RESIDUAL = 1e-6


cdef class Experts(Engine):
    """Gaussian process experts, and the experts of repeated labels and of an archive, if they are used.

    Its scores are twice the probability of each label minus 1; exactly -f and f for two labels. Its
    rounds include their update, so none of them stays open.

    Parameters
    ----------
    store
        The support vectors, under the kernels of the experts.
    pairs
        For each kernel, the pairs of forgetting factor and noise variance of its experts.
    budget
        The largest number of support vectors.
    novelty
        The smallest novelty of a new support vector.
    repeats
        Whether to add the expert that knows only the labels.
    archive
        The last expert, or None. Who gives it keeps it, and follows it after a round.
    """

    cdef readonly Posteriors posteriors
    cdef readonly Mixture mixture
    cdef readonly Repeats repeats          # None if it is not used
    cdef readonly Rehearsal rehearsal
    cdef readonly Discriminant archive     # None if it is not used
    cdef readonly Py_ssize_t n_changes, n_rebuilds
    cdef tuple arguments                   # of the constructor
    cdef double novelty
    cdef double[::1] shares                # of the posteriors in the hedge
    cdef object before                     # grams before a change of scales that has not ended

    def __init__(
        self, Store store not None, pairs, Py_ssize_t budget, double novelty, bint repeats,
        Discriminant archive,
    ):
        experts = [(z, *pair) for z, own in enumerate(pairs) for pair in own]
        self.arguments = store, pairs, budget, novelty, repeats, archive
        self.store, self.novelty, self.archive = store, novelty, archive
        self.posteriors = Posteriors(experts, store.n_kernels, budget)
        self.mixture = Mixture(len(experts) + repeats + (archive is not None))
        self.repeats = Repeats() if repeats else None
        self.rehearsal = Rehearsal(store.empty_like(), budget)
        self.shares = np.empty(len(experts))
        Engine.set_labels(self, self.mixture.n_labels)

    def __reduce__(self):
        learned = (
            self.own_state(), self.n_labels, self.checked_at, self.sums, self.rehearsal.store,
        )
        return type(self), self.arguments, learned

    def __setstate__(self, learned):
        state, n_labels, self.checked_at, self.sums, held_out = learned
        self.rehearsal = Rehearsal(held_out, self.posteriors.budget)
        self.widen(n_labels)
        self.restore_own(state)

    # Forecasts.

    def probabilities(self, x):
        """Return the probability of each label at x (labels,)."""
        self.evaluate(x)
        return [self.mixture.mixtures[3, c] for c in range(self.n_labels)]

    def projections(self, x):
        """Return the squared norm of the projection of x onto the span, by kernels."""
        self.evaluate(x)
        rows = [self.store.row(z) for z in range(self.store.n_kernels)]
        inverses = self.posteriors.inverses.matrices_of(self.store.n)
        return [float(row @ inverse @ row) for row, inverse in zip(rows, inverses)]

    cdef int answer(self) except -1 nogil:
        cdef Py_ssize_t c, last = self.mixture.n_experts - 1
        self.posteriors.forecast(
            self.store.rows, self.store.capacity, self.store.n, self.mixture.probabilities
        )
        if self.repeats is not None:
            self.repeats.predict(self.mixture.probabilities[self.posteriors.n_experts])
        if self.archive is not None:
            self.archive.store.evaluate_like(self.store)
            self.archive.forecast()
            logits = &self.archive.outputs[2, 0]
            softmax(logits, &self.mixture.probabilities[last, 0], self.mixture.n_labels)
        self.mixture.mix()
        for c in range(self.n_labels):
            self.answers[c] = 2.0 * self.mixture.mixtures[3, c] - 1.0
        if self.n_labels == 2:
            self.answers[0] = -self.answers[1]
        return 0

    # Rounds.

    cdef bint prepare(self) except -1 nogil:
        """Rehearse: weigh the experts by a held-out example, if most labels are absent.

        It takes the place of the example of the store then, and True is returned.
        """
        if self.repeats is not None:
            # Late labels are no hint, so they count if this example was just predicted.
            self.repeats.is_known = self.stamp == self.store.stamp
        self.mixture.begin()
        if not self.rehearsal.begin(self.n_rounds):
            return False
        with gil:
            try:
                self.store.evaluate(self.rehearsal.example())
                self.forecast()
            except ValueError:  # a feature is an array of another length, or a number, by now
                self.rehearsal.share = 0.0
                return True
        self.mixture.add_steps(self.rehearsal.label, self.rehearsal.share)
        return True

    def roll_back(self):
        """Make a round that failed leave nothing behind; return False, as none is open."""
        if self.repeats is not None:
            self.repeats.is_known = True
        self.stamp = -1
        return self.archive is not None and self.archive.roll_back()

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        cdef int due = 0
        cdef Py_ssize_t e, slot = -1, n = self.store.n, n_posteriors = self.posteriors.n_experts
        cdef double total = 0.0
        for e in range(n_posteriors):
            total += self.mixture.weights[HEDGE, e]
        for e in range(n_posteriors):
            self.shares[e] = self.mixture.weights[HEDGE, e] / total
        cdef bint is_held_out = self.rehearsal.hold(label, self.store)
        if not is_held_out:
            if self.archive is not None:
                self.archive.forecast()
                due = self.archive.learn(label, weight, threshold)
            slot = self.posteriors.compare(
                label, weight, self.store.rows, self.store.capacity, n, self.novelty,
                &self.shares[0], self.store.inserted, self.rehearsal.kept(n, self.n_rounds),
            )
        if slot >= 0:
            with gil:
                self.store.reserve()
            self.store.put(slot)
        # Nothing fails until the example is learned.
        self.stamp = -1
        self.n_rounds += 1
        self.n_mistakes += self.answers[self.rival_of_label(label)] >= self.answers[label]
        self.mixture.add_steps(label, 1.0 - self.rehearsal.share)
        self.mixture.update(label)
        self.rehearsal.count(label, self.n_rounds)
        if self.repeats is not None:
            self.repeats.count(label)
            self.repeats.is_known = True
        if not is_held_out:
            self.posteriors.update(slot, n)
        if self.sums is not None:
            self.sums.add(self.store)
        if slot >= 0:
            self.rehearsal.place(slot, label)
            self.n_changes += 1
            if self.n_changes % CHECK_INTERVAL == 0:
                self.check_inverses()
        return DUE_CHECK if self.n_rounds >= self.checked_at else due

    cdef int check_inverses(self) except -1 nogil:
        """Check one column of each inverse, in turn, and recompute inaccurate inverses."""
        cdef Py_ssize_t z, n = self.store.n, slot = self.n_changes // CHECK_INTERVAL % n
        for z in range(self.store.n_kernels):
            row = self.store.rows_of(slot) + z * self.store.capacity
            if not self.posteriors.residual(z, row, slot, n) <= LARGEST_RESIDUAL:
                with gil:
                    self.posteriors.inverses.set(z, np.linalg.inv(self.grams()[z]))
                    self.n_rebuilds += 1
        return 0

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        if self.archive is not None:
            self.archive.widen(n_labels)
        means = self.posteriors.widened(n_labels)
        arrays = self.mixture.widened(n_labels)
        counts = None if self.repeats is None else self.repeats.widened(n_labels)
        held_out = self.rehearsal.widened(n_labels)
        Engine.set_labels(self, n_labels)
        if self.repeats is not None:
            self.repeats.counts = counts
        self.rehearsal.labels = held_out
        self.posteriors.widen(means)
        self.mixture.widen(arrays)
        return 0

    # What is learned.

    @property
    def hedge(self):
        """The weights of the posteriors in the hedge, with a sum of 1 (experts,)."""
        weights = self.mixture.weights.base[HEDGE, : self.posteriors.n_experts]
        return weights / weights.sum()

    @property
    def layers(self):
        """The weights of the hedge, the slow mixer and the fast mixer in the forecast (3,)."""
        return self.mixture.top.base[HEDGE].copy()

    def grams(self):
        """Return K + jitter I (kernels, n, n), with k(x, x) = 1 for every vector, even for 0."""
        grams = np.array([self.store.gram(z) for z in range(self.store.n_kernels)])
        grams[:, range(self.store.n), range(self.store.n)] = 1.0 + JITTER
        return grams

    def grams_before(self):
        """Return `grams` as they were before a change of scales, until `set_posteriors` ends it."""
        if self.before is None:
            self.before = self.grams()
        return self.before

    def set_posteriors(self, inverses, covariances, means):
        """Set all inverses, and the covariances and means of all experts."""
        self.posteriors.set_all(inverses, covariances, means)
        self.before, self.stamp = None, -1

    @property
    def nbytes(self):
        """Memory of all experts but the archive, and of the store, in bytes."""
        parts = [self.posteriors, self.mixture, self.repeats, self.rehearsal, self.store]
        return self.shares.nbytes + sum(part.nbytes for part in parts if part is not None)

    def own_state(self):
        """Return the state without vectors and held-out examples.

        A copy does not know which example was predicted last. To go on like it, this forgets it, too.
        """
        self.forget_prediction()
        return {
            "posteriors": self.posteriors.state(self.store.n),
            "mixture": self.mixture.state(),
            "repeats": None if self.repeats is None else self.repeats.state(),
            "rehearsal": self.rehearsal.state(),
            "n_rounds": self.n_rounds, "n_mistakes": self.n_mistakes,
            "n_changes": self.n_changes, "n_rebuilds": self.n_rebuilds,
        }

    def restore_own(self, state):
        """Restore all but the store, of experts that have their labels."""
        self.posteriors.restore(state["posteriors"], self.store.n)
        self.mixture.restore(state["mixture"])
        if self.repeats is not None:
            self.repeats.restore(state["repeats"])
        self.restore_counts(state)
        self.n_changes, self.n_rebuilds = count(state["n_changes"]), count(state["n_rebuilds"])
        self.rehearsal.restore(state["rehearsal"], self.store.n, self.n_rounds)

    def state(self):
        """Return the vectors, the held-out examples, and all else that was learned but the archive."""
        stores = {"store": self.store.state(), "held_out": self.rehearsal.store.state()}
        return {**stores, **self.own_state()}

    def restore(self, state):
        """Restore experts without vectors, which have their labels, from their state."""
        self.store.restore(state["store"])
        self.rehearsal.store.restore(state["held_out"])
        self.restore_own(state)
        self.posteriors.check(self.store.n)
