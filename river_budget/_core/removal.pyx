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
        self, Expansion f not None, Py_ssize_t most_vectors, Store store=None, Py_ssize_t most_examples=0
    ):
        self.f, self.has_vectors_only, self.most_vectors = f, store is None, most_vectors
        self.store = f.store if self.has_vectors_only else store
        self.most_examples = most_vectors if self.has_vectors_only else most_examples
        self.table = self.scores = self.counts = np.zeros((0, 0))
        self.example_labels = np.zeros(0, np.int64)
        # Never without room for an example, so that each array has an address.
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
        example_labels, counts = padded(self.example_labels.base, rows), padded(self.counts.base, n_labels, rows)
        joined, weights = np.zeros((n_labels, rows)), np.full((n_labels, rows), NAN)
        steps, sums = np.zeros(stride), np.zeros(2 * (stride + n_labels))
        labels, rivals = np.zeros((2, stride), np.int64)
        # If memory ran out, nothing has changed so far.
        self.table, self.scores, self.joined, self.example_labels = table, scores, joined, example_labels
        self.counts, self.weights, self.steps, self.sums = counts, weights, steps, sums
        self.labels, self.rivals, self.n_labels = labels, rivals, n_labels

    @property
    def nbytes(self):
        # There are four arrays as long as the scores, and three as long as the steps.
        by_label, by_vector = 4 * self.scores.nbytes, 3 * self.steps.nbytes
        return self.table.nbytes + by_label + by_vector + self.example_labels.nbytes + self.sums.nbytes

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
        if self.has_vectors_only:
            # Both sides of the diagonal have the same bits, as only one of them is saved.
            gram = np.tril(vectors.gram())
            return gram + np.tril(gram, -1).T
        # The scales may have changed since the examples were stored.
        self.store.rescale_like(vectors)
        n, m = self.f.store.vectors.n, self.store.vectors.n
        by_vector = np.zeros((n, m))
        for slot in range(n):
            self.store.evaluate(vectors.vector(slot))
            by_vector[slot] = self.store.row()
        return by_vector.T

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
            "kernel_values": table[np.tril_indices(self.n)] if self.has_vectors_only else table.copy(),
            "columns": self.example_labels.base[: self.m].copy(),
        }

    def restore(self, state):
        m, n, n_labels = self.store.vectors.n, self.f.store.vectors.n, self.f.n_labels
        scores = floats(state["scores"], (m, n_labels), LARGEST_SUM)
        labels = integers(state["columns"], (m,))
        is_valid = ((labels >= 0) & (labels < n_labels)).all()
        require(is_valid, "the labels of a validation set are wrong")
        shape = [n * (n + 1) // 2] if self.has_vectors_only else [m, n]
        table = floats(state["kernel_values"], shape)
        self.derive(unpacked(table, n) if self.has_vectors_only else table)
        self.scores_of_examples[:], self.example_labels.base[:m] = scores, labels

    def __reduce__(self):
        store = None if self.has_vectors_only else self.store
        return type(self), (self.f, self.most_vectors, store, self.most_examples), self.state()

    def __setstate__(self, state):
        self.restore(state)

    # Rounds.

    def offer(self, x, row, scores, label):
        """Write an example behind the others, with its kernel row (n,), scores (labels,) and label."""
        vectors = self.f.store
        if self.store.vectors.n == 0:
            self.store.rescale_like(vectors)
        self.store.evaluate(x)
        self.reserve(self.m + 1, self.n)
        self.table.base[self.m, : self.n] = row
        self.scores.base[: len(scores), self.m] = scores
        self.example_labels[self.m] = label

    def join(self, bint is_offered=False):
        """Add the example of the round as the last vector; also as an example if it was offered, or vectors are these."""
        f, m, n = self.f, self.m, self.n
        if f.store.vectors.n != n:
            raise ValueError("the table has other vectors than the hypothesis")
        if not self.has_vectors_only:
            self.store.evaluate_like(f.store)
        self.reserve(m + 1, n + 1)

        # The kernel values of the vector, and what it is as an example.
        for i in range(m):
            self.table[i, n] = self.store.bank.rows[i]
        if self.has_vectors_only:
            is_offered, self.example_labels[n] = True, f.y.label
            for i in range(n):
                self.table[n, i] = f.store.bank.rows[i]
            for c in range(f.n_labels):
                self.scores[c, n], self.counts[c, n], self.weights[c, n] = f.answers[c], 0.0, NAN
            self.counts[f.y.label, n] = f.y.weight
        if is_offered:
            self.table[m, n] = f.y.self_value
        self.m_joined = m + is_offered
        # The terms of all vectors.
        cdef bint is_binary = f.n_labels == 2
        for i in range(n):
            self.labels[i] = f.table[1, i] > 0.0 if is_binary else f.label_of(i)
            self.rivals[i] = 1 - self.labels[i] if is_binary else f.rival_of(i)
            self.steps[i] = f.scale * f.table[self.labels[i], i]
        self.labels[n], self.rivals[n], self.steps[n] = f.y.label, f.y.rival, f.y.weight
        # The scores with the vector.
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
        e.example_labels, e.steps = &self.example_labels[0], &self.steps[0]
        e.labels, e.rivals = &self.labels[0], &self.rivals[0]
        self.sums[: e.stride] = 0.0
        loops.losses(&e, &self.sums[0], &self.sums[e.stride])
        return self.f.cheapest(self.sums[: e.n])

    def safest(self):
        """Return the vector with the largest margin after its own removal, as the vectors are the examples."""
        cdef double of_rival, largest = 1.0
        for i in range(self.n + 1):
            of_label, of_rival, term = 0.0, -INFINITY, self.steps[i] * self.table[i, i]
            for c in range(self.n_labels):
                score = self.joined[c, i]
                largest = max(largest, fabs(score))
                if c == self.labels[i]:
                    of_label = score - term
                else:
                    of_rival = max(of_rival, score + term if c == self.rivals[i] else score)
            margin = 0.5 * (of_label - of_rival)
            self.sums[i] = -margin
        return self.f.cheapest(self.sums[: self.n + 1], TIE * largest)

    cpdef finish(self, Py_ssize_t slot=-1, Py_ssize_t place=-1):
        """End a round, also in the hypothesis.

        The vector that has joined takes the slot of another one, a new slot if it is -1, or is dropped if it is n.
        The example that was offered takes the place of another one, a new place if it is m, or is dropped if it is
        -1. If the vectors are the examples, it goes where the vector goes.
        """
        self.commit(slot, place)
        if 0 <= slot < self.n:
            self.add_term(slot, -self.steps[slot])
            for i in range(self.m_joined):
                self.table[i, slot] = self.table[i, self.n]
        if slot != self.n:
            for c in range(self.n_labels):
                memcpy(&self.scores[c, 0], &self.joined[c, 0], self.m_joined * sizeof(double))
            if self.has_vectors_only:
                place = slot if slot >= 0 else self.m
        if 0 <= place < self.m:
            # The example that was offered takes the place of another one.
            memcpy(&self.table[place, 0], &self.table[self.m, 0], self.table.shape[1] * sizeof(double))
            for c in range(self.n_labels):
                self.scores[c, place] = self.scores[c, self.m]
            self.example_labels[place] = self.example_labels[self.m]
        self.m += place == self.m
        self.n += slot < 0

    cdef int commit(self, Py_ssize_t slot, Py_ssize_t place) except -1:
        """Change the hypothesis and the store of examples, and commit the round. If it raises, the store stays."""
        if slot != self.n:
            self.f.put(self.n if slot < 0 else slot, self.f.y, 1.0)
        if place < 0 or self.has_vectors_only:
            return self.f.commit()
        saved = self.store.save(place)
        try:
            self.store.put(place)
            self.f.commit()
        except BaseException:
            self.store.undo(saved)
            raise

    cdef void add_term(self, Py_ssize_t slot, double step) noexcept:
        of_label, of_rival = &self.joined[self.labels[slot], 0], &self.joined[self.rivals[slot], 0]
        for i in range(self.m_joined):
            change = step * self.table[i, slot]
            of_label[i] += change
            of_rival[i] -= change


cdef class CountedTable(ValidationTable):

    def __cinit__(self, *_):
        # Imported now, so that no round has to wait for it.
        from scipy.special import cython_special

        self.ranks = isinstance(self.f.store.kernels[0], (RBF, RationalQuadratic))
        self.betainc = cython_special.betainc["double"]

    cpdef Py_ssize_t nearest(self, Py_ssize_t slot) except -1:
        """Return the vector nearest to that in a slot; n is the example of the round, or a vector that has joined."""
        cdef Py_ssize_t nearest = -1
        store = self.f.store
        if store.vectors.n != self.n:
            raise ValueError("the table has other vectors than the hypothesis")
        if slot == self.n:
            if self.ranks:
                nearest = loops.unique_largest(store.bank.rows, self.n)
            return nearest if nearest >= 0 else self.f.cheapest(store.distances())
        if self.ranks:
            self_value, self.table[slot, slot] = self.table[slot, slot], 0.0
            nearest = loops.unique_largest(&self.table[slot, 0], self.n + 1)
            self.table[slot, slot] = self_value
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
        kernel_value = max(0.0, self.f.store.bank.rows[nearest])
        self.counts[self.f.y.label, nearest] += self.f.y.weight * kernel_value
        self.weights[0, nearest] = NAN

    def counts_of(self, slots):
        return self.counts.base.T[slots]

    def renew(self, double prior, posteriors):
        """Compute the weights anew where counts have changed; for more than two labels, with a function."""
        if self.n_labels > 2:
            weights = self.weights.base.T[: self.n + 1]
            stale = np.flatnonzero(np.isnan(weights[:, 0]))
            weights[stale] = posteriors(self.counts_of(stale) + prior)
            return
        for i in range(self.n + 1):
            if isnan(self.weights[0, i]):
                # The share of label 0 has a Beta distribution; label 1 weighs the probability that it is below 1/2.
                a, b = self.counts[0, i] + prior, self.counts[1, i] + prior
                divisor = max(1.0, max(a, b) / LARGEST_COUNT)
                self.weights[1, i] = self.betainc(a / divisor, b / divisor, 0.5)
                self.weights[0, i] = 1.0 - self.weights[1, i]

    cpdef finish(self, Py_ssize_t slot=-1, Py_ssize_t place=-1):
        """End a round, and add the counts of a removed vector, times the kernel value, to the nearest one."""
        cdef double largest = 0.0
        if slot < 0:
            return ValidationTable.finish(self)
        nearest, last = self.nearest(slot), self.n
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
