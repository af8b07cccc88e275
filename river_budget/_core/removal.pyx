# cython: language_level=3, wraparound=False, initializedcheck=False, infer_types=True
"""Which vector to remove by its losses on validation examples; see `removal.pxd`."""

from libc.math cimport INFINITY, NAN, fabs, isnan
from libc.string cimport memcpy

import numpy as np

from river_budget._arrays import padded, unpacked
from river_budget._state import LARGEST_SUM, floats, integers, require
from river_budget.kernels import RBF, RationalQuadratic

from river_budget._core.expansion cimport Expansion
from river_budget._core.loops cimport Examples, Removals
from river_budget._core.loops cimport loops as tables
from river_budget._core.store cimport Store

cdef Removals *loops = &tables.removals

# Margins are ties if they differ by less than this, relative to the largest score.
cdef double TIE = 1e-12

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
cdef double LARGEST_COUNT = 1e12


cdef class ValidationTable:

    def __cinit__(
        self, Expansion f not None, Py_ssize_t most_vectors, Store store=None,
        Py_ssize_t most_examples=0,
    ):
        self.f, self.is_own, self.most_vectors = f, store is None, most_vectors
        self.store = f.store if self.is_own else store
        self.most_examples = most_vectors if self.is_own else most_examples
        self.table = self.scores = self.counts = np.zeros((0, 0))
        self.columns = np.zeros(0, np.int64)
        # With room for an example, so that a first one has an address.
        self.reserve(1, 0)

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n) except -1:
        """Make room for examples, vectors and labels. All weights have to be computed anew."""
        rows, stride, n_labels = self.table.shape[0], self.table.shape[1], self.f.n_labels
        if m <= rows and n <= stride and n_labels == self.n_labels:
            return 0
        if m > rows:
            rows = max(m, min(2 * rows, self.most_examples))
        if n > stride:
            stride = (max(n, min(2 * stride, self.most_vectors)) + 7) // 8 * 8
        table, scores = padded(self.table.base, rows, stride), padded(self.scores.base, n_labels, rows)
        columns, counts = padded(self.columns.base, rows), padded(self.counts.base, n_labels, rows)
        joined, weights = np.zeros((n_labels, rows)), np.full((n_labels, rows), NAN)
        steps, sums = np.zeros(stride), np.zeros(2 * (stride + n_labels))
        labels, rivals = np.zeros((2, stride), np.int64)
        # Nothing has changed if memory lacks.
        self.table, self.scores, self.joined, self.columns = table, scores, joined, columns
        self.counts, self.weights, self.steps, self.sums = counts, weights, steps, sums
        self.labels, self.rivals, self.n_labels = labels, rivals, n_labels

    @property
    def nbytes(self):
        # There are four arrays with the lengths of scores, and three with that of steps.
        ends = self.columns.nbytes + 3 * self.steps.nbytes + self.sums.nbytes
        return self.table.nbytes + 4 * self.scores.nbytes + ends

    # What follows from the hypothesis.

    @property
    def scores_of_examples(self):
        self.reserve(self.m, self.n)
        return self.scores.base.T[: self.m]

    @property
    def kernel_values(self):
        return self.table.base[: self.m, : self.n]

    def exact(self):
        """Return the kernel values, computed from scratch (m, n)."""
        vectors = self.f.store
        if self.is_own:
            # Equal on both sides of the diagonal also in their last bits, as only one is saved.
            gram = np.tril(vectors.gram())
            return gram + np.tril(gram, -1).T
        # Its scales may have changed since the examples were stored.
        self.store.rescale_like(vectors)
        n, m = self.f.store.vectors.n, self.store.vectors.n
        columns = np.zeros((n, m))
        for slot in range(n):
            self.store.evaluate(vectors.vector(slot))
            columns[slot] = self.store.row()
        return columns.T

    def derive(self, table):
        """Set kernel values (m, n), and the scores that follow."""
        m, n = table.shape
        self.reserve(m, n)
        self.m, self.n = m, n
        self.scores_of_examples[:] = table @ self.f.matrix
        self.kernel_values[:] = table

    def errors(self):
        table = self.exact()
        scores = self.scores_of_examples - table @ self.f.matrix
        return {
            "validation scores": abs(scores).max(initial=0.0).item(),
            "validation table": abs(self.kernel_values - table).max(initial=0.0).item(),
        }

    # What is learned, beside the examples.

    def state(self):
        table = self.kernel_values
        return {
            "scores": self.scores_of_examples.copy(),
            "kernel_values": table[np.tril_indices(self.n)] if self.is_own else table.copy(),
            "columns": self.columns.base[: self.m].copy(),
        }

    def restore(self, state):
        m, n, n_labels = self.store.vectors.n, self.f.store.vectors.n, self.f.n_labels
        scores = floats(state["scores"], (m, n_labels), LARGEST_SUM)
        columns = integers(state["columns"], (m,))
        is_valid = ((columns >= 0) & (columns < n_labels)).all()
        require(is_valid, "the labels of a validation set are wrong")
        shape = [n * (n + 1) // 2] if self.is_own else [m, n]
        table = floats(state["kernel_values"], shape)
        self.derive(unpacked(table, n) if self.is_own else table)
        self.scores_of_examples[:], self.columns.base[:m] = scores, columns

    def __reduce__(self):
        store = None if self.is_own else self.store
        return type(self), (self.f, self.most_vectors, store, self.most_examples), self.state()

    def __setstate__(self, state):
        self.restore(state)

    # Rounds.

    def offer(self, x, row, scores, label):
        """Write an example beyond the others, with its kernel row (n,), scores (labels,) and label."""
        vectors = self.f.store
        if self.store.vectors.n == 0:
            self.store.rescale_like(vectors)
        self.store.evaluate(x)
        self.reserve(self.m + 1, self.n)
        self.table.base[self.m, : self.n] = row
        self.scores.base[: len(scores), self.m] = scores
        self.columns[self.m] = label

    def join(self, bint is_offered=False):
        """Add the example of the round as the last vector, and as an example if the vectors are these."""
        f, m, n = self.f, self.m, self.n
        if f.store.vectors.n != n:
            raise ValueError("the table has other vectors than the hypothesis")
        if not self.is_own:
            self.store.evaluate_like(f.store)
        self.reserve(m + 1, n + 1)
        for i in range(m):
            self.table[i, n] = self.store.bank.rows[i]
        if self.is_own:
            is_offered, self.columns[n] = True, f.y.label
            for i in range(n):
                self.table[n, i] = f.store.bank.rows[i]
            for c in range(f.n_labels):
                self.scores[c, n], self.counts[c, n], self.weights[c, n] = f.answers[c], 0.0, NAN
            self.counts[f.y.label, n] = f.y.weight
        if is_offered:
            self.table[m, n] = f.y.self_value
        cdef bint is_binary = f.n_labels == 2
        for i in range(n):
            self.labels[i] = f.table[1, i] > 0.0 if is_binary else f.label_of(i)
            self.rivals[i] = 1 - self.labels[i] if is_binary else f.rival_of(i)
            self.steps[i] = f.scale * f.table[self.labels[i], i]
        self.labels[n], self.rivals[n], self.steps[n] = f.y.label, f.y.rival, f.y.weight
        self.m_joined = m + is_offered
        for c in range(self.n_labels):
            memcpy(&self.joined[c, 0], &self.scores[c, 0], self.m_joined * sizeof(double))
        self.add_term(n, self.steps[n])

    def least_loss(self, bint is_hinge=False):
        """Return the vector without which the 0-1 loss, or the expected hinge loss, is least."""
        cdef Examples e
        e.m, e.n, e.n_labels = self.m_joined, self.n + 1, self.n_labels
        e.room, e.stride = self.table.shape[0], self.table.shape[1]
        e.table, e.scores = &self.table[0, 0], &self.joined[0, 0]
        e.weights = &self.weights[0, 0] if is_hinge else NULL
        e.columns, e.steps = &self.columns[0], &self.steps[0]
        e.labels, e.rivals = &self.labels[0], &self.rivals[0]
        self.sums[: e.stride] = 0.0
        loops.losses(&e, &self.sums[0], &self.sums[e.stride])
        return self.f.cheapest(self.sums[: e.n])

    def safest(self):
        """Return the vector with the largest margin without its own term; the vectors are the examples."""
        cdef double rival, size = 1.0
        for i in range(self.n + 1):
            own, rival, term = 0.0, -INFINITY, self.steps[i] * self.table[i, i]
            for c in range(self.n_labels):
                score = self.joined[c, i]
                size = max(size, fabs(score))
                if c == self.labels[i]:
                    own = score - term
                else:
                    rival = max(rival, score + term if c == self.rivals[i] else score)
            self.sums[i] = -0.5 * (own - rival)
        return self.f.cheapest(self.sums[: self.n + 1], TIE * size)

    cpdef finish(self, Py_ssize_t slot=-1, Py_ssize_t place=-1):
        """End a round, also in the hypothesis.

        A vector that has joined takes the slot of another one, a new one for -1, or none for n. An example
        that was offered takes a place, m or less, or none for -1.
        """
        self.end(slot, place)
        if 0 <= slot < self.n:
            self.add_term(slot, -self.steps[slot])
            for i in range(self.m_joined):
                self.table[i, slot] = self.table[i, self.n]
        if slot != self.n:
            for c in range(self.n_labels):
                memcpy(&self.scores[c, 0], &self.joined[c, 0], self.m_joined * sizeof(double))
            if self.is_own:
                place = slot if slot >= 0 else self.m
        if 0 <= place < self.m:
            # The example that was offered takes the place of another one.
            memcpy(&self.table[place, 0], &self.table[self.m, 0], self.table.shape[1] * sizeof(double))
            for c in range(self.n_labels):
                self.scores[c, place] = self.scores[c, self.m]
            self.columns[place] = self.columns[self.m]
        self.m += place == self.m
        self.n += slot < 0

    cdef int end(self, Py_ssize_t slot, Py_ssize_t place) except -1:
        """Change the hypothesis and the store, and commit the round; or the store does not change."""
        if slot != self.n:
            self.f.put(self.n if slot < 0 else slot, self.f.y, 1.0)
        if place < 0 or self.is_own:
            return self.f.commit()
        saved = self.store.save(place)
        try:
            self.store.put(place)
            self.f.commit()
        except BaseException:
            self.store.undo(saved)
            raise

    cdef void add_term(self, Py_ssize_t slot, double step) noexcept:
        own, rival = &self.joined[self.labels[slot], 0], &self.joined[self.rivals[slot], 0]
        for i in range(self.m_joined):
            change = step * self.table[i, slot]
            own[i] += change
            rival[i] -= change


cdef class CountedTable(ValidationTable):

    def __cinit__(self, *_):
        # It is slow to import: now, so that no round waits for it.
        from scipy.special import cython_special

        self.ranks = isinstance(self.f.store.kernels[0], (RBF, RationalQuadratic))
        self.betainc = cython_special.betainc["double"]

    cpdef Py_ssize_t nearest(self, Py_ssize_t slot) except -1:
        """Return the vector nearest to another one; n is the example of the round, or a joined vector."""
        cdef Py_ssize_t nearest = -1
        store = self.f.store
        if store.vectors.n != self.n:
            raise ValueError("the table has other vectors than the hypothesis")
        if slot == self.n:
            if self.ranks:
                nearest = loops.unique_largest(store.bank.rows, self.n)
            return nearest if nearest >= 0 else self.f.cheapest(store.distances())
        if self.ranks:
            own, self.table[slot, slot] = self.table[slot, slot], 0.0
            nearest = loops.unique_largest(&self.table[slot, 0], self.n + 1)
            self.table[slot, slot] = own
        if nearest >= 0:
            return nearest
        distances = np.append(store.distances(slot), store.distances()[slot])
        distances[slot] = np.inf
        return self.f.cheapest(distances)

    def count(self):
        """End a round by counting its example at the nearest vector, times the kernel value."""
        nearest = self.nearest(self.n)
        self.reserve(self.m, self.n)
        self.f.commit()
        self.counts[self.f.y.label, nearest] += self.f.y.weight * max(0.0, self.f.store.bank.rows[nearest])
        self.weights[0, nearest] = NAN

    def counts_of(self, slots):
        return self.counts.base.T[slots]

    def renew(self, double prior, posteriors):
        """Compute weights anew where they have to be, with a function for more than two labels."""
        if self.n_labels > 2:
            weights = self.weights.base.T[: self.n + 1]
            stale = np.flatnonzero(np.isnan(weights[:, 0]))
            weights[stale] = posteriors(self.counts_of(stale) + prior)
            return
        for i in range(self.n + 1):
            if isnan(self.weights[0, i]):
                a, b = self.counts[0, i] + prior, self.counts[1, i] + prior
                divisor = max(1.0, max(a, b) / LARGEST_COUNT)
                self.weights[1, i] = self.betainc(a / divisor, b / divisor, 0.5)
                self.weights[0, i] = 1.0 - self.weights[1, i]

    cpdef finish(self, Py_ssize_t slot=-1, Py_ssize_t place=-1):
        """End a round, and add the counts of a removed vector, times the kernel value, to the nearest."""
        cdef double largest = 0.0
        last = self.n
        if slot < 0:
            return ValidationTable.finish(self)
        nearest = self.nearest(slot)
        for c in range(self.n_labels):
            largest = max(largest, self.counts[c, slot])
        factor = max(0.0, self.table[nearest, slot]) / max(1.0, largest / LARGEST_COUNT)
        ValidationTable.finish(self, slot)
        for c in range(self.n_labels):
            self.counts[c, nearest] += factor * self.counts[c, slot]
            self.weights[c, nearest] = NAN
            self.counts[c, slot] = self.counts[c, last]
            self.weights[c, slot] = self.weights[c, last]

    def state(self):
        return {**super().state(), "counts": self.counts_of(slice(self.n)).copy()}

    def restore(self, state):
        super().restore(state)
        counts = floats(state["counts"], (self.n, self.f.n_labels), LARGEST_SUM)
        require((counts >= 0).all(), "a count is negative")
        self.counts_of(slice(self.n))[:] = counts
