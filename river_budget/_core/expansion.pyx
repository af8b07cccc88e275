# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
# cython: infer_types=True
"""Hypotheses: coefficients over the vectors of a store, and the rounds of an algorithm; see `expansion.pxd`."""

import math

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY, fabs

import numpy as np

from river_budget._arrays import padded
from river_budget._state import LARGEST_NUMBER, ROUNDING, count, finite, floats, require

from river_budget._core.engine cimport DUE_SCALES, DUE_UPDATE, Engine
from river_budget._core.loops cimport loops
from river_budget._core.store cimport Store

# A smaller common factor is multiplied into the coefficients, so that it cannot underflow.
cdef double SMALLEST_SCALE = 1e-100

cdef double LARGEST = LARGEST_NUMBER  # a larger coefficient is refused


cdef inline Py_ssize_t padded_length(Expansion f) noexcept nogil:
    """Return n rounded up to whole groups of 8, as `loops.dot` reads them; A and kernel rows are 0 from n on."""
    return min((f.store.vectors.n + 7) // 8 * 8, f.table.shape[1])


cdef class Example:
    pass


cdef class Expansion(Engine):

    def __cinit__(self, Store store, limit=None):
        self.store, self.y, self.limit = store, Example(), limit
        self.scale, self.log = 1.0, []
        self.set_table(np.zeros((2, 0)))

    # The round.

    cpdef int commit(self) except -1:
        if not self.is_open:
            return 0
        if self.sums is not None:
            self.sums.add(self.store)
        self.n_weighted += self.y.weight != 1.0
        self.largest_self_value = max(self.largest_self_value, self.y.self_value)
        self.close()

    def roll_back(self):
        self.require_free()
        if not self.is_open:
            return False
        while self.log:
            coefficients, saved = self.log.pop()
            if coefficients is None:
                self.store.__setstate__(saved)
            elif saved is None:
                self.set_table(np.frombuffer(coefficients).reshape(self.n_labels, -1))
            else:
                slot = saved[0]
                self.table.base.T[slot : slot + 1] = np.frombuffer(coefficients)
                self.store.undo(saved)
        self.scale, self.answered_at = self.old_scale, -1
        self.n_rounds -= 1
        self.rounds_of[self.y.label] -= 1
        self.n_mistakes -= self.y.margin <= 0.0
        self.close()
        return True

    cdef void close(self) noexcept:
        self.is_open = self.has_kept_all = self.store.packed.keeps_filled = False
        self.log.clear()

    cdef int answer(self) except -1 nogil:
        self.scores_of(self.store.bank.rows, self.answers)

    cdef void scores_of(self, const double *row, double *scores) noexcept nogil:
        n = padded_length(self)
        if self.n_labels == 2:
            scores[1] = self.scale * loops.dot(&self.table[1, 0], row, n)
            scores[0] = -scores[1]
            return
        for c in range(self.n_labels):
            scores[c] = self.scale * loops.dot(&self.table[c, 0], row, n)

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        """Count a round and set `y`; open an update if that is due, and end the round otherwise."""
        rival = self.rival_of_label(label)
        margin = 0.5 * (self.answers[label] - self.answers[rival])
        self.y.label, self.y.rival, self.y.margin, self.y.weight = label, rival, margin, weight
        self.y.self_value = self.store.bank.own_values[0]
        if not margin > threshold:
            self.is_open = self.store.packed.keeps_filled = True
            self.old_scale = self.scale
        elif self.sums is not None:
            self.sums.add(self.store)
        self.n_mistakes += margin <= 0.0
        self.n_rounds += 1
        self.rounds_of[label] += 1
        return DUE_UPDATE * self.is_open + DUE_SCALES * (self.n_rounds >= self.scales_due_at)

    # What an algorithm asks.

    @property
    def oldest(self):
        self.store.check_slot(0)
        return loops.least(self.store.vectors.inserted, self.store.vectors.n)

    @property
    def row(self):
        return self.store.row()

    @property
    def largest_projection(self):
        largest, row = 0.0, self.store.bank.rows
        for slot in range(self.store.vectors.n):
            square = self.store.self_value_of(slot, 0)
            if square > 0.0:
                largest = max(largest, row[slot] * row[slot] / square)
        return largest

    @property
    def smallest(self):
        slot, least, inserted = 0, INFINITY, self.store.vectors.inserted
        for i in range(self.store.vectors.n):
            step = self.table[self.label_of(i), i]
            if step < least or step == least and inserted[i] < inserted[slot]:
                slot, least = i, step
        return slot

    cpdef Py_ssize_t cheapest(self, const double[::1] costs, double slack=0.0) except -1:
        n, least, inserted = self.store.vectors.n, INFINITY, self.store.vectors.inserted
        best = n
        if n > costs.shape[0]:
            raise ValueError("a cost is needed for each vector")
        for i in range(costs.shape[0]):
            least = min(least, costs[i])
        for i in range(n):
            if costs[i] <= least + slack and (best == n or inserted[i] < inserted[best]):
                best = i
        return best

    def row_at(self, Py_ssize_t slot):
        self.store.check_slot(slot)
        return self.store.bank.rows[slot]

    def step_of(self, Py_ssize_t slot):
        self.store.check_slot(slot)
        return self.scale * self.table[self.label_of(slot), slot]

    def margin_of(self, Py_ssize_t slot):
        row = self.store.rows_of(slot)
        n = padded_length(self)
        of_label = loops.dot(&self.table[self.label_of(slot), 0], row, n)
        if self.n_labels == 2:
            return self.scale * of_label
        of_rival = loops.dot(&self.table[self.rival_of(slot), 0], row, n)
        return self.scale * 0.5 * (of_label - of_rival)

    def self_value_of(self, Py_ssize_t slot):
        self.store.check_slot(slot)
        return self.store.self_value_of(slot, 0)

    def overlap(self, Py_ssize_t slot):
        self.store.check_slot(slot)
        label, rival = self.label_of(slot), self.rival_of(slot)
        cdef int n_equal = (self.y.label == label) + (self.y.rival == rival)
        cdef int n_opposite = (self.y.label == rival) + (self.y.rival == label)
        return 0.5 * (n_equal - n_opposite)

    @property
    def coefficients(self):
        return self.matrix[:, 1].copy() if self.n_labels == 2 else self.matrix

    @property
    def matrix(self):
        return self.scale * self.rows().T

    @property
    def sizes(self):
        cdef double[::1] sizes = np.zeros(self.store.vectors.n)
        for c in range(self.n_labels):
            for i in range(self.store.vectors.n):
                sizes[i] += 0.5 * (self.scale * self.table[c, i]) ** 2
        return sizes.base

    @property
    def norm(self):
        cdef double[:, ::1] values = np.empty((self.store.vectors.n, self.n_labels))
        for slot in range(self.store.vectors.n):
            self.scores_of(self.store.rows_of(slot), &values[slot, 0])
        products = self.matrix * values.base
        return math.sqrt(max(0.0, 0.5 * math.fsum(products.flat)))

    cdef Py_ssize_t label_of(self, Py_ssize_t slot) noexcept nogil:
        label = 0
        for c in range(1, self.n_labels):
            if self.table[c, slot] > self.table[label, slot]:
                label = c
        return label

    cdef Py_ssize_t rival_of(self, Py_ssize_t slot) noexcept nogil:
        rival = 0
        if self.n_labels == 2:
            return 1 - self.label_of(slot)
        for c in range(1, self.n_labels):
            if self.table[c, slot] < self.table[rival, slot]:
                rival = c
        return rival

    # What an algorithm does.

    def add(self, Example y not None, double step=1.0):
        self.put(self.store.vectors.n, y, step)

    def replace(self, Py_ssize_t slot, Example y not None, double step=1.0):
        self.store.check_slot(slot)
        self.put(slot, y, step)

    def remove(self, slots):
        if not len(slots):
            return
        self.keep_all()
        saved = self.store.__reduce__()[2]
        try:
            kept = self.store.remove(slots)
        except BaseException:
            self.store.__setstate__(saved)
            raise
        if self.is_open:
            self.log.append((None, saved))
        self.set_table(self.table.base[:, kept])

    def shrink(self, double factor):
        if not 0.0 <= factor <= 1.0:
            raise ValueError(f"the factor {factor} is not between 0 and 1")
        if self.scale * factor < SMALLEST_SCALE:
            self.keep_all()
            table = self.table.base
            table *= self.scale * factor
            self.scale = 1.0
        else:
            self.scale *= factor
        self.answered_at = -1

    def shift(self, Example y not None, change):
        cdef const double[::1] changes = np.ascontiguousarray(change, np.float64)
        factor = y.weight / self.scale
        require(changes.shape[0] == self.store.vectors.n, "a change is needed for each vector")
        self.keep_all()
        for i in range(self.store.vectors.n):
            added = changes[i] * factor
            self.table[y.label, i] += added
            self.table[y.rival, i] -= added
        end_change(self)

    def change(self, change):
        cdef const double[:, ::1] changes = np.ascontiguousarray(change, np.float64)
        is_complete = changes.shape[0] == self.store.vectors.n and changes.shape[1] == self.n_labels
        require(is_complete, "a change is needed for each vector and label")
        self.keep_all()
        for i in range(self.store.vectors.n):
            for c in range(self.n_labels):
                self.table[c, i] += changes[i, c] / self.scale
            if self.n_labels == 2:
                self.table[0, i] = -self.table[1, i]
        end_change(self)

    cdef int put(self, Py_ssize_t slot, Example y, double step) except -1:
        alpha = step * y.weight / self.scale
        if not fabs(alpha) <= LARGEST:
            raise ValueError("a coefficient is not finite or too large")
        if slot == self.store.vectors.n and self.limit is not None and slot >= self.limit:
            raise ValueError(f"the budget of {self.limit} is full: replace or remove a vector first")
        if self.is_open:
            old_column = PyBytes_FromStringAndSize(NULL, self.n_labels * sizeof(double))
            old_values = <double *> PyBytes_AS_STRING(old_column)
            for c in range(self.n_labels):
                old_values[c] = self.table[c, slot] if slot < self.table.shape[1] else 0.0
            self.log.append((old_column, self.store.save(slot)))
        self.store.put(slot)
        if self.store.bank.capacity > self.table.shape[1]:
            self.set_table(self.table.base)
        for c in range(self.n_labels):
            self.table[c, slot] = 0.0
        self.table[y.label, slot] = alpha
        self.table[y.rival, slot] = -alpha
        self.answered_at = -1

    cdef int keep_all(self) except -1:
        size = self.n_labels * self.table.shape[1] * sizeof(double)
        if self.is_open and not self.has_kept_all:
            self.log.append((PyBytes_FromStringAndSize(<char *> &self.table[0, 0], size), None))
            self.has_kept_all = True

    # The table.

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        return self.set_table(padded(self.table.base, n_labels, self.table.shape[1]))

    cdef int set_table(self, rows) except -1:
        """Set the coefficients without their common factor (labels, n or more), with room for all slots."""
        # Never without slots, so that each row has an address.
        width = max(8, rows.shape[1], self.store.bank.capacity)
        cdef double[:, ::1] table = padded(rows, rows.shape[0], width)
        Engine.set_labels(self, table.shape[0])
        self.table = table

    def rows(self):
        """Return the coefficients without their common factor (labels, n)."""
        with self.store:
            return self.table.base[:, : self.store.vectors.n].copy()

    @property
    def nbytes(self):
        return self.n_labels * (self.table.shape[1] + 1) * sizeof(double) + self.store.nbytes

    @property
    def arguments(self):
        return self.store, self.limit

    def own_state(self):
        return {
            "coefficients": self.rows(), "scale": self.scale, "n_weighted": self.n_weighted,
            "largest_self_value": self.largest_self_value,
        }

    def restore_own(self, state):
        rows = floats(state["coefficients"], (self.n_labels, self.store.vectors.n))
        largest, sums = abs(rows).max(initial=0.0), abs(rows.sum(axis=0)).max(initial=0.0)
        require(sums <= ROUNDING * largest, "the coefficients of a vector must sum to 0")
        self.scale = finite(state["scale"], SMALLEST_SCALE, 1.0)
        self.n_weighted = count(state["n_weighted"])
        self.largest_self_value = finite(state["largest_self_value"], 0.0, LARGEST)
        self.set_table(rows)


cdef int end_change(Expansion f) except -1:
    """Forget the scores of the coefficients before, and refuse new ones that a checkpoint would refuse."""
    f.answered_at = -1
    for c in range(f.n_labels):
        for i in range(f.table.shape[1]):
            if not fabs(f.table[c, i]) <= LARGEST:
                raise ValueError("a coefficient is not finite or too large")
