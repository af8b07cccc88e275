# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Predictions whose labels have not come; see `tickets.pxd`."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memmove

import numpy as np

from river_budget._state import count, integers, require

from river_budget._core.features cimport reallocate

cdef enum:
    MOST_PENDING = 256
    SMALLEST_ROOM = 4


cdef class Tickets:

    def __cinit__(self):
        self.room = SMALLEST_ROOM
        reallocate(<void **> &self.all, self.room * sizeof(Ticket))

    def __dealloc__(self):
        free(self.all)

    cdef int open(self, uint64_t fingerprint, int64_t n_rounds) except -1 nogil:
        for i in range(self.n - 1, -1, -1):
            if self.all[i].n_rounds != n_rounds:
                break
            if self.all[i].fingerprint == fingerprint:
                return 0
        if self.n == MOST_PENDING:
            self.close(0)
            self.has_dropped = True
        if self.n == self.room:
            reallocate(<void **> &self.all, 2 * self.room * sizeof(Ticket))
            self.room *= 2
        self.all[self.n] = Ticket(fingerprint, n_rounds)
        self.n += 1

    cdef Py_ssize_t find(self, uint64_t fingerprint) noexcept nogil:
        for i in range(self.n):
            if self.all[i].fingerprint == fingerprint:
                return i
        return -1

    cdef void close(self, Py_ssize_t place) noexcept nogil:
        self.n -= 1
        memmove(&self.all[place], &self.all[place + 1], (self.n - place) * sizeof(Ticket))

    @property
    def nbytes(self):
        return self.room * sizeof(Ticket)

    def state(self):
        cdef int64_t[:, ::1] tickets = np.empty((self.n, 2), np.int64)
        for i in range(self.n):
            tickets[i, 0], tickets[i, 1] = <int64_t> self.all[i].fingerprint, self.all[i].n_rounds
        return {"tickets": tickets.base, "has_dropped": bool(self.has_dropped)}

    def restore(self, state, n_rounds):
        """Restore the tickets of a model with a number of rounds."""
        cdef const int64_t[:, ::1] tickets = integers(state["tickets"], (None, 2))
        numbers = tickets.base[:, 1]
        is_valid = len(numbers) <= MOST_PENDING and (np.diff(numbers, prepend=0) >= 0).all()
        require(is_valid and (numbers <= n_rounds).all(), "the tickets of predictions are wrong")
        require(type(state["has_dropped"]) is bool, "it is not known whether tickets were dropped")
        self.n, self.has_dropped = 0, state["has_dropped"]
        for i in range(tickets.shape[0]):
            self.open(<uint64_t> tickets[i, 0], tickets[i, 1])
