# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Hypotheses: coefficients over the vectors of a store, and the rounds of an algorithm."""

from collections import namedtuple
import math

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from river_budget._state import LARGEST_NUMBER, ROUNDING, count, finite, floats, require

from river_budget._core.engine cimport DUE_CHECK, DUE_UPDATE, Engine
from river_budget._core.store cimport Store

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

cdef extern from "expansion.h":
    struct Loops "expansion_loops":
        double (*dot)(const double *a, const double *b, long n) noexcept nogil
        long (*least)(const int64_t *numbers, long n) noexcept nogil
    int choose_expansion_lanes(Loops *table, int most)

cdef Loops loops

# A smaller common factor is multiplied into the coefficients, so that it cannot underflow.
SMALLEST_SCALE = 1e-100
cdef double C_SMALLEST_SCALE = SMALLEST_SCALE

cdef double LARGEST = LARGEST_NUMBER

Terms = namedtuple("Terms", ("steps", "labels", "rivals"))


def use_lanes(int most):
    """Compute with vectors of at most `most` doubles; return how many they have."""
    return choose_expansion_lanes(&loops, most)


use_lanes(8)


cdef class Example:
    """The example of a round: columns of its label and of its rival, margin, weight, k(x, x)."""


cdef class Expansion(Engine):
    """A kernel expansion for each label over the vectors of a store, and its rounds."""

    def __cinit__(self, Store store):
        self.store, self.y = store, Example()
        self.scale, self.log = 1.0, []
        self.set_width(2, store.capacity)

    def __dealloc__(self):
        free(self.table)
        free(self.old_table)
        free(self.old_columns)

    def __reduce__(self):
        counts = self.n_rounds, self.n_mistakes, self.n_weighted, self.checked_at
        learned = self.rows(), self.scale, counts, self.largest_self_value, self.sums
        return type(self), (self.store,), learned

    def __setstate__(self, learned):
        rows, self.scale, counts, self.largest_self_value, self.sums = learned
        self.n_rounds, self.n_mistakes, self.n_weighted, self.checked_at = counts
        self.set_rows(rows)

    # The round.

    def commit(self):
        """End an update that `round` or `scan` asked for."""
        if self.sums is not None:
            self.sums.add(self.store)
        self.close()

    def roll_back(self):
        """Take back all since the round that asked for an update, and it; return whether it was open."""
        cdef Py_ssize_t c, slot
        cdef double *column
        self.require_free()
        if not self.is_open:
            return False
        if self.old_table != NULL:
            memset(self.table, 0, self.n_labels * self.width * sizeof(double))
            for c in range(self.n_labels):
                memcpy(
                    self.table + c * self.width, self.old_table + c * self.old_width,
                    self.old_width * sizeof(double),
                )
        while self.n_columns > 0:
            self.n_columns -= 1
            column = self.old_columns + self.n_columns * (self.n_labels + 1)
            slot = <Py_ssize_t> column[self.n_labels]
            for c in range(self.n_labels if slot < self.width else 0):
                self.table[c * self.width + slot] = column[c]
        while self.log:
            place, saved = self.log.pop()
            if place is None:
                self.set_vectors(saved)
            else:
                self.store.undo(saved)
        self.scale, self.stamp = self.old_scale, -1
        self.n_rounds -= 1
        self.n_mistakes, self.n_weighted = self.old_mistakes, self.old_weighted
        self.largest_self_value = self.old_largest
        self.close()
        return True

    cdef void close(self) noexcept:
        """Forget what an open round has overwritten."""
        self.is_open, self.n_columns, self.store.owner = False, 0, 0
        self.log.clear()
        if self.old_table != NULL:
            free(self.old_table)
            self.old_table = NULL

    cdef int answer(self) except -1 nogil:
        self.scores_of(self.store.rows, self.answers)
        return 0

    cdef void scores_of(self, const double *row, double *scores) noexcept nogil:
        cdef Py_ssize_t c, n = min((self.store.n + 7) // 8 * 8, self.width)
        if self.n_labels == 2:
            scores[1] = self.scale * loops.dot(self.table + self.width, row, n)
            scores[0] = -scores[1]
            return
        for c in range(self.n_labels):
            scores[c] = self.scale * loops.dot(self.table + c * self.width, row, n)

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        """Count a round and set `y`; open an update if that is due, and end the round otherwise."""
        cdef Py_ssize_t rival = self.rival_of_label(label)
        cdef double margin = 0.5 * (self.answers[label] - self.answers[rival])
        self.y.label, self.y.rival, self.y.margin, self.y.weight = label, rival, margin, weight
        self.y.self_value = self.store.self_values[0]
        if margin > threshold:
            if self.sums is not None:
                self.sums.add(self.store)
            self.n_mistakes += margin <= 0.0
        else:
            self.owner = self.store.owner = PyThread_get_thread_ident()
            self.old_mistakes, self.old_weighted = self.n_mistakes, self.n_weighted
            self.old_largest, self.old_scale = self.largest_self_value, self.scale
            self.is_open = True
            self.n_mistakes += margin <= 0.0
            self.n_weighted += weight != 1.0
            self.largest_self_value = max(self.largest_self_value, self.y.self_value)
        self.n_rounds += 1
        return DUE_UPDATE * self.is_open + DUE_CHECK * (self.n_rounds >= self.checked_at)

    # What an algorithm asks.

    @property
    def oldest(self):
        """Slot of the oldest vector."""
        self.check_slot(0)
        return loops.least(self.store.inserted, self.store.n)

    @property
    def row(self):
        """The kernel row of the example (n,)."""
        return self.store.row()

    @property
    def smallest(self):
        """Slot of the vector with the smallest step size, the oldest among ties."""
        cdef Py_ssize_t i, slot = 0
        cdef double step, least = INFINITY
        for i in range(self.store.n):
            step = self.table[self.label_of(i) * self.width + i]
            if step < least or (
                step == least and self.store.inserted[i] < self.store.inserted[slot]
            ):
                slot, least = i, step
        return slot

    def row_at(self, Py_ssize_t slot):
        """Return the kernel value of the example and the vector in a slot."""
        self.check_slot(slot)
        return self.store.rows[slot]

    def step_of(self, Py_ssize_t slot):
        """Return the step size of the vector in a slot, the coefficient of its label."""
        self.check_slot(slot)
        return self.scale * self.table[self.label_of(slot) * self.width + slot]

    def margin_of(self, Py_ssize_t slot):
        """Return the margin of the vector in a slot, with its label and its rival as stored."""
        self.check_slot(slot)
        cdef const double *row = self.store.rows_of(slot)
        cdef Py_ssize_t n = min((self.store.n + 7) // 8 * 8, self.width)
        cdef Py_ssize_t label = self.label_of(slot), rival = self.rival_of(slot)
        cdef double own = loops.dot(self.table + label * self.width, row, n)
        if self.n_labels == 2:
            return self.scale * own
        return self.scale * 0.5 * (own - loops.dot(self.table + rival * self.width, row, n))

    def self_value_of(self, Py_ssize_t slot):
        """Return k(s, s) for the vector s in a slot."""
        self.check_slot(slot)
        return self.store.self_value_of(slot, 0)

    def overlap(self, Py_ssize_t slot):
        """Return the cosine of y and the vector in a slot, in label space."""
        self.check_slot(slot)
        cdef Py_ssize_t label = self.label_of(slot), rival = self.rival_of(slot)
        cdef int same = (self.y.label == label) + (self.y.rival == rival)
        return 0.5 * (same - (self.y.label == rival) - (self.y.rival == label))

    def terms(self, double step=1.0):
        """Return the terms of f by slots, the incoming example last; see `Terms`."""
        cdef Py_ssize_t i, n = self.store.n
        cdef double[::1] steps = np.empty(n + 1)
        cdef int64_t[::1] labels = np.empty(n + 1, np.int64), rivals = np.empty(n + 1, np.int64)
        for i in range(n):
            labels[i], rivals[i] = self.label_of(i), self.rival_of(i)
            steps[i] = self.scale * self.table[labels[i] * self.width + i]
        steps[n], labels[n], rivals[n] = step * self.y.weight, self.y.label, self.y.rival
        return Terms(steps.base, labels.base, rivals.base)

    @property
    def coefficients(self):
        """Coefficients by slots: signed (n,) with two labels, (n, labels) with more."""
        matrix = self.matrix
        return matrix[:, 1].copy() if self.n_labels == 2 else matrix

    @property
    def matrix(self):
        """Coefficients of all labels by slots (n, labels)."""
        return self.scale * self.rows().T

    @property
    def norm(self):
        """Norm of f, computed from all pairs of vectors: `||f||^2 = sum_c ||g_c||^2 / 2`."""
        products = self.matrix * self.values()
        return math.sqrt(max(0.0, 0.5 * math.fsum(products.flat)))

    def values(self):
        """Return the scores at each vector, by slots (n, labels)."""
        cdef Py_ssize_t slot
        cdef double[:, ::1] values = np.empty((self.store.n, self.n_labels))
        for slot in range(self.store.n):
            self.scores_of(self.store.rows_of(slot), &values[slot, 0])
        return values.base

    cdef int check_slot(self, Py_ssize_t slot) except -1:
        if not 0 <= slot < self.store.n:
            raise IndexError(f"slot {slot} is not in use: there are {self.store.n}")
        return 0

    cdef Py_ssize_t label_of(self, Py_ssize_t slot) noexcept nogil:
        """Return the column of the largest coefficient, the first among ties."""
        cdef Py_ssize_t c, label = 0
        for c in range(1, self.n_labels):
            if self.table[c * self.width + slot] > self.table[label * self.width + slot]:
                label = c
        return label

    cdef Py_ssize_t rival_of(self, Py_ssize_t slot) noexcept nogil:
        """Return the column of the smallest coefficient; with two labels, that of the other one."""
        cdef Py_ssize_t c, rival = 0
        if self.n_labels == 2:
            return 1 - self.label_of(slot)
        for c in range(1, self.n_labels):
            if self.table[c * self.width + slot] < self.table[rival * self.width + slot]:
                rival = c
        return rival

    # What an algorithm does.

    def add(self, Example y not None, double step=1.0):
        """Add the example as a vector, with a step size that its weight multiplies."""
        self.put(self.store.n, y, step)

    def replace(self, Py_ssize_t slot, Example y not None, double step=1.0):
        """Replace the vector in a slot by the example."""
        self.check_slot(slot)
        self.put(slot, y, step)

    def remove(self, slots):
        """Remove vectors and their coefficients."""
        cdef Py_ssize_t n = self.store.n
        if not len(slots):
            return
        self.keep_all()
        vectors = self.store.__reduce__()[2]
        try:
            kept = self.store.remove(slots)
        except BaseException:
            self.set_vectors(vectors)
            raise
        if self.is_open:
            self.log.append((None, vectors))
        self.set_rows(np.ascontiguousarray(self.rows_until(n)[:, kept]))

    def set_vectors(self, vectors):
        """Set the vectors of the store as they were."""
        self.store.remove(range(self.store.n))
        self.store.__setstate__(vectors)

    def merge(self, Py_ssize_t slot, others, weights):
        """Replace a vector by a linear combination of others; its coefficients become 0."""
        cdef Py_ssize_t c, i
        cdef const int64_t[::1] places = np.asarray(others, np.int64)
        cdef const double[::1] factors = np.asarray(weights, np.float64)
        cdef double *row
        self.check_slot(slot)
        for i in range(places.shape[0]):
            self.check_slot(places[i])
        require(places.shape[0] == factors.shape[0], "a weight is needed for each vector")
        self.keep_all()
        for c in range(self.n_labels):
            row = self.table + c * self.width
            for i in range(places.shape[0]):
                row[places[i]] += factors[i] * row[slot]
            row[slot] = 0.0
        self.stamp = -1
        check_coefficients(self)

    def shrink(self, double factor):
        """Multiply all coefficients by a factor from 0 to 1, in constant time as a rule."""
        cdef Py_ssize_t i
        if not 0.0 <= factor <= 1.0:
            raise ValueError(f"the factor {factor} is not between 0 and 1")
        if self.scale * factor < C_SMALLEST_SCALE:
            self.keep_all()
            for i in range(self.n_labels * self.width):
                self.table[i] *= self.scale * factor
            self.scale, factor = 1.0, 1.0
        self.scale *= factor
        self.stamp = -1

    def shift(self, Example y not None, change):
        """Add a change (n,), times the weight, to the coefficients of y, less for the rival."""
        cdef Py_ssize_t i
        cdef const double[::1] changes = np.ascontiguousarray(change, np.float64)
        cdef double *own = self.table + y.label * self.width
        cdef double *rival = self.table + y.rival * self.width
        cdef double part, factor = y.weight / self.scale
        require(changes.shape[0] == self.store.n, "a change is needed for each vector")
        self.keep_all()
        for i in range(self.store.n):
            part = changes[i] * factor
            own[i] += part
            rival[i] -= part
        self.stamp = -1
        check_coefficients(self)

    def change(self, change):
        """Add a change to the coefficients of all labels (n, labels), whose rows sum to 0."""
        cdef Py_ssize_t c, i
        cdef const double[:, ::1] changes = np.ascontiguousarray(change, np.float64)
        require(
            changes.shape[0] == self.store.n and changes.shape[1] == self.n_labels,
            "a change is needed for each vector and label",
        )
        self.keep_all()
        for i in range(self.store.n):
            for c in range(self.n_labels):
                self.table[c * self.width + i] += changes[i, c] / self.scale
            if self.n_labels == 2:
                self.table[i] = -self.table[self.width + i]
        self.stamp = -1
        check_coefficients(self)

    cdef int put(self, Py_ssize_t slot, Example y, double step) except -1:
        cdef double alpha = step * y.weight / self.scale
        cdef Py_ssize_t c
        if not fabs(alpha) <= LARGEST:
            raise ValueError("a coefficient is not finite or too large")
        self.keep_slot(slot)
        self.store.put(slot)
        if self.store.capacity > self.width:
            self.set_width(self.n_labels, self.store.capacity)
        for c in range(self.n_labels):
            self.table[c * self.width + slot] = 0.0
        self.table[y.label * self.width + slot] = alpha
        self.table[y.rival * self.width + slot] = -alpha
        self.stamp = -1
        return 0

    cdef int keep_slot(self, Py_ssize_t slot) except -1:
        """Keep what is in a slot, or that nothing is, for `roll_back`."""
        cdef Py_ssize_t c, size = self.n_labels + 1
        cdef double *column
        if not self.is_open:
            return 0
        if self.old_table == NULL:
            column = <double *> realloc(
                self.old_columns, (self.n_columns + 1) * size * sizeof(double)
            )
            if column == NULL:
                raise MemoryError
            self.old_columns = column
            column += self.n_columns * size
            for c in range(self.n_labels):
                column[c] = self.table[c * self.width + slot] if slot < self.width else 0.0
            column[self.n_labels] = slot
            self.n_columns += 1
        self.log.append((slot, self.store.save(slot)))
        return 0

    cdef int keep_all(self) except -1:
        """Keep all coefficients for `roll_back`."""
        cdef size_t size = self.n_labels * self.width * sizeof(double)
        if not self.is_open or self.old_table != NULL or size == 0:
            return 0
        self.old_table = allocated(self.n_labels * self.width)
        memcpy(self.old_table, self.table, size)
        self.old_width = self.width
        return 0

    # The table.

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        return self.set_width(n_labels, self.width)

    cdef int set_width(self, Py_ssize_t n_labels, Py_ssize_t width) except -1:
        """Give the table more labels or slots."""
        cdef Py_ssize_t c, n_old = self.n_labels
        cdef double *table = allocated(n_labels * width)
        try:
            Engine.set_labels(self, n_labels)
        except MemoryError:
            free(table)
            raise
        for c in range(n_old):
            memcpy(table + c * width, self.table + c * self.width, self.width * sizeof(double))
        free(self.table)
        self.table, self.width = table, width
        return 0

    def rows(self):
        """Return the coefficients without their common factor (labels, n)."""
        return self.rows_until(self.store.n)

    def rows_until(self, Py_ssize_t n):
        cdef Py_ssize_t c
        cdef double[:, ::1] rows = np.zeros((self.n_labels, n))
        for c in range(self.n_labels if n else 0):
            memcpy(&rows[c, 0], self.table + c * self.width, min(n, self.width) * sizeof(double))
        return rows.base

    def set_rows(self, const double[:, ::1] rows):
        """Set the coefficients without their common factor (labels, n)."""
        cdef Py_ssize_t c
        require(rows.shape[1] == self.store.n, "a coefficient is needed for each vector")
        self.set_width(max(self.n_labels, rows.shape[0]), max(self.width, self.store.capacity))
        memset(self.table, 0, self.n_labels * self.width * sizeof(double))
        for c in range(rows.shape[0] if rows.shape[1] else 0):
            memcpy(self.table + c * self.width, &rows[c, 0], rows.shape[1] * sizeof(double))

    @property
    def nbytes(self):
        """Memory of the expansion and its store in bytes."""
        return self.n_labels * (self.width + 1) * sizeof(double) + self.store.nbytes

    def state(self):
        """Return the vectors, their coefficients and the counts of rounds."""
        return {
            "store": self.store.state(),
            "coefficients": self.rows(),
            "scale": self.scale,
            "n_rounds": self.n_rounds,
            "n_mistakes": self.n_mistakes,
            "n_weighted": self.n_weighted,
            "largest_self_value": self.largest_self_value,
        }

    def restore(self, state):
        """Restore an expansion without vectors, which has its labels, from its state."""
        self.store.restore(state["store"])
        rows = floats(state["coefficients"], (self.n_labels, self.store.n))
        largest, sums = abs(rows).max(initial=0.0), abs(rows.sum(axis=0)).max(initial=0.0)
        tolerance = ROUNDING * largest if self.n_labels > 2 else 0.0
        require(sums <= tolerance, "the coefficients of a vector must sum to 0")
        self.scale = finite(state["scale"], C_SMALLEST_SCALE, 1.0)
        self.restore_counts(state)
        self.n_weighted = count(state["n_weighted"])
        self.largest_self_value = finite(state["largest_self_value"], 0.0, LARGEST)
        self.set_rows(rows)


cdef double *allocated(Py_ssize_t n) except NULL:
    """Return room for n doubles, all 0."""
    cdef double *values = <double *> calloc(max(n, 1), sizeof(double))
    if values == NULL:
        raise MemoryError
    return values


cdef int check_coefficients(Expansion f) except -1:
    """Refuse coefficients that a checkpoint would refuse."""
    cdef Py_ssize_t i
    for i in range(f.n_labels * f.width):
        if not fabs(f.table[i]) <= LARGEST:
            raise ValueError("a coefficient is not finite or too large")
