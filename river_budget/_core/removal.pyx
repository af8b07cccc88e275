# cython: language_level=3, wraparound=False, initializedcheck=False
"""Which vector to remove: validation examples, and their losses after each removal.

In a round that updates a table, an example may be *offered*, and the incoming vector *joins*. They are
kept beyond what is in use until `put`, `finish` or `count`, which also commit the hypothesis. Nothing of
an update may come after that, so there is nothing to take back.
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from river_budget._arrays import padded, unpacked
from river_budget._state import LARGEST_SUM, ROUNDING, floats, integers, require

from river_budget._core.expansion cimport Expansion
from river_budget._core.store cimport Store

cdef extern from "removal.h":
    struct Examples "examples":
        const double *table
        const double *scores
        const double *weights
        const int64_t *columns
        const double *steps
        const int64_t *labels
        const int64_t *rivals
        long m, n, stride, room, n_labels
    struct Loops "removals":
        void (*losses)(const Examples *, double *, double *) noexcept nogil
        long (*unique_largest)(const double *, long) noexcept nogil
    void choose_removals(Loops *, int most)

cdef Loops loops

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
cdef double LARGEST_COUNT = 1e12

# SciPy's function, which is slow to import.
cdef object betainc = None


def follow(Store store, Store other):
    """Give a store the kernels and scales of another one."""
    store.rescale(other.kernels, other.factors, other.pooled)


def use_lanes(int most):
    choose_removals(&loops, most)


use_lanes(8)


# The dimensions of the arrays of a table: labels, double labels, rows for examples, columns for vectors in
# groups of 8, and vectors that are examples.
DIMENSIONS = {
    "table": "rc", "scores": "lr", "joined": "lr", "columns": "r", "counts": "lv", "weights": "lv",
    "steps": "c", "sums": "c", "labels": "c", "rivals": "c", "scratch": "d",
}


cdef class ValidationTable:
    """Kernel values of examples (rows) and vectors (columns), and the scores of the examples.

    There are at most so many vectors, the incoming one included, and examples. By default, the vectors
    are the examples. All but labels and counts follows from the hypothesis, and so does the number of
    labels whenever an example comes.
    """

    cdef readonly Py_ssize_t m, n, n_labels
    cdef Py_ssize_t m_joined              # with the example that has joined
    cdef readonly Py_ssize_t most_vectors, most_examples
    cdef bint is_own                      # whether the vectors are the examples
    cdef readonly dict arrays             # owns the arrays below, by name; their lengths are room
    cdef double[:, ::1] table             # kernel values
    cdef double[:, ::1] scores, joined    # without and with the vector that has joined
    cdef int64_t[::1] columns             # the labels of the examples
    # What each vector adds to the score of its label and takes from that of its rival, and the loss
    # after its removal. With two labels, the label is 1 for all, which is faster.
    cdef double[::1] steps, sums, scratch
    cdef int64_t[::1] labels, rivals
    # How many examples of each label a vector was nearest to, in a `CountedTable`, and the weights that
    # follow from that; those to compute anew are NaN.
    cdef double[:, ::1] counts, weights
    cdef tuple arguments

    def __init__(self, Py_ssize_t most_vectors, most_examples=None):
        self.arguments = most_vectors, most_examples
        self.is_own, self.most_vectors = most_examples is None, most_vectors
        self.most_examples = most_vectors if self.is_own else most_examples
        # With room for an example, so that a first one has an address.
        self.set_room({}, 1, 0, 2)

    def __reduce__(self):
        return type(self), self.arguments, (self.m, self.n, self.n_labels, self.arrays)

    def __setstate__(self, state):
        self.m, self.n, n_labels, arrays = state
        rows, stride = arrays["table"].shape
        self.set_room(arrays, rows, stride, n_labels)

    cdef int set_room(self, dict arrays, rows, stride, n_labels) except -1:
        """Copy the arrays to new ones with other lengths. All weights have to be computed anew."""
        cdef dict lengths = {
            "l": n_labels, "d": 2 * n_labels, "r": rows, "c": stride, "v": rows * self.is_own
        }
        copies = {}
        for name, dimensions in DIMENSIONS.items():
            integral = name in ("columns", "labels", "rivals")
            old = arrays.get(name, np.zeros((0,) * len(dimensions), np.int64 if integral else float))
            copies[name] = padded(old, *[lengths[each] for each in dimensions])
        self.table, self.columns = copies["table"], copies["columns"]
        self.scores, self.joined = copies["scores"], copies["joined"]
        self.steps, self.sums, self.scratch = copies["steps"], copies["sums"], copies["scratch"]
        self.labels, self.rivals = copies["labels"], copies["rivals"]
        self.counts, self.weights = copies["counts"], copies["weights"]
        self.weights[:] = NAN
        self.n_labels, self.arrays = n_labels, copies

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self.arrays.values())

    def scores_of_examples(self, Expansion f):
        self.reserve(self.m, self.n, f.n_labels)
        return self.arrays["scores"].T[: self.m]

    @property
    def kernel_values(self):
        return self.arrays["table"][: self.m, : self.n]

    def errors(self, Expansion f, table):
        """Return the largest errors of scores and kernel values, given the latter from scratch."""
        scores = self.scores_of_examples(f) - table @ f.matrix
        return {
            "validation scores": abs(scores).max(initial=0.0).item(),
            "validation table": abs(self.kernel_values - table).max(initial=0.0).item(),
        }

    def state(self, Expansion f):
        table = self.kernel_values
        return {
            "scores": self.scores_of_examples(f).copy(),
            "kernel_values": table[np.tril_indices(self.n)] if self.is_own else table.copy(),
            "columns": self.arrays["columns"][: self.m].copy(),
        }

    def restore(self, state, Expansion f):
        n = f.store.n
        scores = floats(state["scores"], (n if self.is_own else None, f.n_labels), LARGEST_SUM)
        m = len(scores)
        columns = integers(state["columns"], (m,))
        is_valid = ((columns >= 0) & (columns < f.n_labels)).all()
        require(is_valid, "the labels of a validation set are wrong")
        fits = n < self.most_vectors and m <= self.most_examples
        require(fits, "a validation set has too many vectors or examples")
        shape = (n * (n + 1) // 2,) if self.is_own else (m, n)
        table = floats(state["kernel_values"], shape)
        self.derive(f, unpacked(table[np.newaxis], n)[0] if self.is_own else table)
        self.scores_of_examples(f)[:] = scores
        self.arrays["columns"][:m] = columns

    def check(self, table):
        """Raise ValueError unless kernel values are those from scratch (m, n), but for rounding."""
        # The last bits depend on which came first, example or vector, so they remain as they are.
        tolerance = ROUNDING * abs(table).max(initial=1.0)
        is_right = (abs(self.kernel_values - table) <= tolerance).all()
        require(is_right, "the kernel values of a validation set are wrong")

    def derive(self, Expansion f, table):
        """Set kernel values (m, n), and the scores that follow."""
        m, n = table.shape
        self.reserve(m, n, f.n_labels)
        self.m, self.n = m, n
        self.scores_of_examples(f)[:] = table @ f.matrix
        self.kernel_values[:] = table

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n, Py_ssize_t n_labels) except -1:
        cdef Py_ssize_t rows = self.table.shape[0], stride = self.table.shape[1]
        if m <= rows and n <= stride and n_labels <= self.n_labels:
            return 0
        if m > rows:
            rows = max(m, min(2 * rows, self.most_examples))
        if n > stride:
            stride = (max(n, min(2 * stride, self.most_vectors)) + 7) // 8 * 8
        self.set_room(self.arrays, rows, stride, max(n_labels, self.n_labels))

    def offer(self, Expansion f, row, scores, label):
        """Write an example beyond the others: its kernel row (n,), scores (labels,) and label."""
        self.reserve(self.m + 1, self.n, f.n_labels)
        self.arrays["table"][self.m, : self.n] = row
        self.arrays["scores"][: len(scores), self.m] = scores
        self.columns[self.m] = label

    def put(self, Expansion f, Py_ssize_t i, Store store=None):
        """End a round with the example that was offered in the row i, m or less, as in its store."""
        self.end(f, self.n, i, store)
        self.take(i)

    def join(self, Expansion f, column=None):
        """Add the example of the round as the last vector.

        Given are its kernel values with the examples and, if it is offered, with itself. Vectors that are
        examples take those of the hypothesis.
        """
        cdef Py_ssize_t c, i, m = self.m, n = self.n
        require(f.store.n == n, "the table has other vectors than the hypothesis")
        self.reserve(m + self.is_own, n + 1, f.n_labels)
        if self.is_own:
            for i in range(n):
                self.table[n, i] = self.table[i, n] = f.store.rows[i]
            self.table[n, n] = f.y.self_value
            for c in range(f.n_labels):
                self.scores[c, n] = f.answers[c]
                self.counts[c, n], self.weights[c, n] = 0.0, NAN
            self.columns[n], self.counts[f.y.label, n] = f.y.label, f.y.weight
            m += 1
        else:
            m = len(column)
            self.arrays["table"][:m, n] = column
        for i in range(n):
            self.labels[i] = 1 if self.n_labels == 2 else f.label_of(i)
            self.rivals[i] = 0 if self.n_labels == 2 else f.rival_of(i)
            self.steps[i] = f.scale * f.table[self.labels[i], i]
        self.labels[n], self.rivals[n], self.steps[n] = f.y.label, f.y.rival, f.y.weight
        if self.n_labels == 2:
            self.labels[n], self.rivals[n] = 1, 0
            self.steps[n] *= f.y.label - f.y.rival
        for c in range(self.n_labels):
            memcpy(&self.joined[c, 0], &self.scores[c, 0], m * sizeof(double))
        self.m_joined = m
        self.add_term(n, self.steps[n])

    def finish(self, Expansion f, Py_ssize_t slot=-1, Py_ssize_t place=-1, Store store=None):
        """End a round in which a vector has joined, also in the hypothesis.

        It takes the slot of another one, or a new one for -1. An example that was offered takes a place,
        m or less, or none for -1. It is that of the store, if there is one for examples.
        """
        cdef Py_ssize_t c, i
        self.end(f, slot, place, store)
        if slot >= 0:
            self.add_term(slot, -self.steps[slot])
            for i in range(self.m_joined):
                self.table[i, slot] = self.table[i, self.n]
        for c in range(self.n_labels):
            memcpy(&self.scores[c, 0], &self.joined[c, 0], self.m_joined * sizeof(double))
        if self.is_own and slot != self.n:
            place = slot if slot >= 0 else self.m
        if place >= 0:
            self.take(place)
        self.n += slot < 0

    def least_loss(self, Expansion f, bint is_hinge=False):
        """Return the vector without which the 0-1 loss, or the expected hinge loss, is least."""
        cdef Examples e
        e.m, e.n, e.n_labels = self.m_joined, self.n + 1, self.n_labels
        e.room, e.stride = self.table.shape[0], self.table.shape[1]
        e.table, e.scores = &self.table[0, 0], &self.joined[0, 0]
        e.weights = &self.weights[0, 0] if is_hinge else NULL
        e.columns, e.steps = &self.columns[0], &self.steps[0]
        e.labels, e.rivals = &self.labels[0], &self.rivals[0]
        self.sums[:] = 0.0
        loops.losses(&e, &self.sums[0], &self.scratch[0])
        return f.cheapest(self.sums[: e.n])

    cdef int end(self, Expansion f, Py_ssize_t slot, Py_ssize_t place, Store store) except -1:
        """Change the hypothesis and the store, and commit the round; or the store does not change."""
        if slot != self.n:
            f.put(self.n if slot < 0 else slot, f.y, 1.0)
        if store is None or place < 0:
            return f.end()
        saved = store.save(place)
        try:
            store.put(place)
            f.end()
        except BaseException:
            store.undo(saved)
            raise

    cdef void take(self, Py_ssize_t place) noexcept:
        """Take the example that was offered, in place of another one if that is in use."""
        cdef Py_ssize_t c
        if place == self.m:
            self.m += 1
            return
        memcpy(&self.table[place, 0], &self.table[self.m, 0], self.table.shape[1] * sizeof(double))
        for c in range(self.n_labels):
            self.scores[c, place] = self.scores[c, self.m]
        self.columns[place] = self.columns[self.m]

    cdef void add_term(self, Py_ssize_t slot, double step) noexcept:
        cdef double change
        cdef Py_ssize_t i
        cdef double *own = &self.joined[self.labels[slot], 0]
        cdef double *rival = &self.joined[self.rivals[slot], 0]
        for i in range(self.m_joined):
            change = step * self.table[i, slot]
            own[i] += change
            rival[i] -= change


cdef class CountedTable(ValidationTable):
    """Vectors, which are the examples, and count the labels of the examples that were nearest to them."""

    cdef readonly bint ranks              # whether a larger kernel value always means a smaller distance

    def __init__(self, Py_ssize_t most_vectors, bint ranks):
        super().__init__(most_vectors)
        self.ranks, self.arguments = ranks, (most_vectors, ranks)

    cpdef Py_ssize_t nearest_to_example(self, Expansion f) except -2:
        """Return the vector nearest to the example of the expansion; -1 if it is not known."""
        require(f.store.n == self.n, "the table has other vectors than the hypothesis")
        return loops.unique_largest(f.store.rows, self.n) if self.ranks else -1

    def count(self, Expansion f, Py_ssize_t slot=-1):
        """End a round by counting its example at a vector, times the kernel value.

        By default, that is the nearest one; nothing happens and False is returned if it is not known.
        """
        cdef Py_ssize_t c, nearest = self.nearest_to_example(f) if slot < 0 else slot
        if nearest < 0:
            return False
        self.reserve(self.m, self.n, f.n_labels)
        f.end()
        self.counts[f.y.label, nearest] += f.y.weight * max(0.0, f.store.rows[nearest])
        for c in range(self.n_labels):
            self.weights[c, nearest] = NAN
        return True

    def counts_of(self, slots):
        return self.arrays["counts"].T[slots]

    def renew(self, double prior, posteriors):
        """Compute weights anew where they have to be, with a function for more than two labels."""
        global betainc
        cdef Py_ssize_t i
        cdef double a, b, divisor
        if self.n_labels > 2:
            weights = self.arrays["weights"].T[: self.n + 1]
            stale = np.flatnonzero(np.isnan(weights[:, 0]))
            weights[stale] = posteriors(self.counts_of(stale) + prior)
            return
        if betainc is None:
            from scipy.special import cython_special

            betainc = cython_special.betainc["double"]
        for i in range(self.n + 1):
            if isnan(self.weights[0, i]):
                a, b = self.counts[0, i] + prior, self.counts[1, i] + prior
                divisor = max(1.0, max(a, b) / LARGEST_COUNT)
                self.weights[1, i] = betainc(a / divisor, b / divisor, 0.5)
                self.weights[0, i] = 1.0 - self.weights[1, i]

    def nearest(self, Py_ssize_t slot):
        """Return the vector nearest to another one; -1 if it is not known."""
        cdef double own
        if not self.ranks:
            return -1
        own, self.table[slot, slot] = self.table[slot, slot], 0.0
        nearest = loops.unique_largest(&self.table[slot, 0], self.n + 1)
        self.table[slot, slot] = own
        return nearest

    def finish(self, Expansion f, Py_ssize_t slot=-1, Py_ssize_t nearest=-1, Store store=None):
        """End a round, and add the counts of a removed vector, times the kernel value, to the nearest."""
        cdef Py_ssize_t c, last = self.n
        cdef double factor, largest = 0.0
        if slot < 0:
            return super().finish(f)
        for c in range(self.n_labels):
            largest = max(largest, self.counts[c, slot])
        factor = max(0.0, self.table[nearest, slot]) / max(1.0, largest / LARGEST_COUNT)
        super().finish(f, slot)
        for c in range(self.n_labels):
            self.counts[c, nearest] += factor * self.counts[c, slot]
            self.weights[c, nearest] = NAN
            self.counts[c, slot] = self.counts[c, last]
            self.weights[c, slot] = self.weights[c, last]

    def start_again(self):
        self.arrays["counts"][:] = 0.0
        self.weights[:] = NAN

    def state(self, Expansion f):
        return {**super().state(f), "counts": self.counts_of(slice(self.n)).copy()}

    def restore(self, state, Expansion f):
        super().restore(state, f)
        counts = floats(state["counts"], (self.n, f.n_labels), LARGEST_SUM)
        require((counts >= 0).all(), "a count is negative")
        self.counts_of(slice(self.n))[:] = counts
