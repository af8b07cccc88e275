# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The rehearsal of labels that are absent; see `rehearsal.pxd`."""

from libc.stdint cimport int64_t

import numpy as np

from river_budget._arrays import padded
from river_budget._state import count, integers, require

from river_budget._core.store cimport Store

cdef int64_t EVEN_BITS = 0x5555555555555555

cdef enum:
    # A label is absent if the rounds since its last example exceed this and so many times its mean gap.
    SHORTEST_ABSENCE = 50
    GAPS = 5
    # The first example of a label that is an exemplar, a power of 4, as the numbers of all others.
    FIRST_EXEMPLAR = 16


cdef class Rehearsal:

    def __init__(self, Store store not None, Py_ssize_t budget):
        self.store, self.labels = store, np.zeros((2, N_FIELDS), np.int64)
        self.owners, self.is_kept = np.zeros(budget, np.int64), np.zeros(budget, np.int8)

    cdef int64_t begin(self, int64_t n_rounds, const int64_t[::1] rounds_of) noexcept nogil:
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
        older = self.labels[label, OLDER]
        slot = older - 1 if older > 0 else self.store.vectors.n
        if number < FIRST_EXEMPLAR or number & (number - 1) or not number & EVEN_BITS:
            return -1
        with gil:
            try:
                self.store.evaluate_like(store)
            except ValueError:  # a feature is an array of another length, or a number, in an exemplar
                return -1
        return slot

    cdef const char *kept(self, Py_ssize_t n) noexcept nogil:
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
        known = &self.labels[label, 0]
        known[OLDER], known[NEWER] = known[NEWER], slot + 1

    cdef void count(self, Py_ssize_t label, int64_t number, int64_t n_rounds) noexcept nogil:
        known = &self.labels[label, 0]
        if number == 1:
            known[FIRST] = n_rounds
        known[LAST], self.turn = n_rounds, self.next_turn

    cdef object widened(self, Py_ssize_t n_labels):
        return padded(self.labels.base, n_labels)

    @property
    def nbytes(self):
        """Memory of the exemplars and of what is known of labels and vectors, in bytes."""
        return self.store.nbytes + self.labels.nbytes + self.owners.nbytes + self.is_kept.nbytes

    def state(self, Py_ssize_t n):
        """Return all but the exemplars, for a number of vectors."""
        labels, owners = self.labels.base[:, :VECTORS].copy(), self.owners.base[:n].copy()
        return {"labels": labels, "owners": owners, "turn": self.turn}

    def restore(self, state, Py_ssize_t n):
        """Restore a rehearsal that has its labels and exemplars, for a number of vectors."""
        n_labels, turn = self.labels.shape[0], count(state["turn"])
        labels, owners = integers(state["labels"], (n_labels, VECTORS)), integers(state["owners"], (n,))
        places = labels[:, OLDER:]
        is_known = ((places >= 0) & (places <= self.store.vectors.n)).all()
        require(is_known, "the exemplars are not those of the labels")
        require(((owners >= 0) & (owners < n_labels)).all(), "the label of a vector is unknown")
        self.labels.base[:, :VECTORS], self.owners.base[:n], self.turn = labels, owners, turn
