# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Predictions whose labels have not come; see `tickets.pxd`."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from river_budget._state import count, floats, integers, require

from river_budget._core.features cimport reallocate
from river_budget._core.repeats cimport is_place, Place

cdef enum:
    FIELDS = 5                         # numbers of a ticket in a state


cdef class Ticket:
    """What was said of an example when it was predicted."""

    def __dealloc__(self):
        free(self.said)

    @property
    def nbytes(self):
        return self.n_rows * self.n_labels * sizeof(float)

    def numbers(self):
        """Return all but what was said (FIELDS,)."""
        return [<int64_t> self.fingerprint, self.n_rounds, self.place.label, self.place.bin, self.n_labels]

    def rows(self):
        """Return what was said (rows, labels)."""
        rows = np.empty((self.n_rows, self.n_labels), np.float32)
        cdef float[:, ::1] view = rows
        memcpy(&view[0, 0], self.said, self.nbytes)
        return rows

    def __iter__(self):
        # As a checkpoint stores it, and `restored_ticket` takes it.
        return iter([self.numbers(), self.rows()])

    def __reduce__(self):
        return restored_ticket, tuple(self)


cdef Ticket new_ticket(uint64_t fingerprint, int64_t n_rounds, Place place, Py_ssize_t n_rows, Py_ssize_t n_labels):
    ticket = <Ticket> Ticket.__new__(Ticket)
    ticket.fingerprint, ticket.n_rounds, ticket.place = fingerprint, n_rounds, place
    ticket.n_rows, ticket.n_labels = n_rows, n_labels
    reallocate(<void **> &ticket.said, n_rows * n_labels * sizeof(float))
    return ticket


def restored_ticket(numbers, rows):
    """Return a ticket, given what an old one consists of. Raises ValueError if that contradicts itself."""
    cdef const float[:, ::1] said = floats(rows, (None, None), 1.0, np.float32)
    cdef const int64_t[::1] own = integers(np.array(numbers), (FIELDS,))
    is_possible = said.shape[0] > 0 and said.shape[1] > 0 and said.base.min() >= 0.0
    require(is_possible, "what was said of an example are no probabilities")
    place = Place(own[2], own[3])
    is_known = own[1] >= 0 and own[4] == said.shape[1] and is_place(place, own[4])
    require(is_known, "the ticket of a prediction is wrong")
    ticket = new_ticket(<uint64_t> own[0], own[1], place, said.shape[0], said.shape[1])
    memcpy(ticket.said, &said[0, 0], ticket.nbytes)
    return ticket


cdef class Tickets:

    def __init__(self, Py_ssize_t most):
        self.all, self.most = [], most

    cdef bint has(self, uint64_t fingerprint, int64_t n_rounds):
        for i in range(self.n - 1, -1, -1):
            ticket = <Ticket> self.all[i]
            if ticket.n_rounds != n_rounds:
                return False
            if ticket.fingerprint == fingerprint:
                return True
        return False

    cdef int add(self, Ticket ticket) except -1:
        self.all.append(ticket)
        self.n += 1
        if self.n > self.most:
            self.close(0)
            self.has_dropped = True

    cdef int close(self, Py_ssize_t place) except -1:
        del self.all[place]
        self.n -= 1

    cdef Py_ssize_t find(self, uint64_t fingerprint):
        for i in range(self.n):
            if (<Ticket> self.all[i]).fingerprint == fingerprint:
                return i
        return -1

    def __len__(self):
        return self.n

    @property
    def nbytes(self):
        return sum([ticket.nbytes + ticket.__sizeof__() for ticket in self.all])

    def state(self):
        numbers = np.array([ticket.numbers() for ticket in self.all], np.int64).reshape(-1, FIELDS)
        said = [ticket.rows().ravel() for ticket in self.all]
        return {
            "tickets": numbers, "said": np.concatenate([np.zeros(0, np.float32), *said]),
            "has_dropped": bool(self.has_dropped),
        }

    def restore(self, state, n_rounds, n_rows, n_labels):
        """Restore the tickets of a model that has learned so much, and says so many rows of so many labels."""
        numbers, said = integers(state["tickets"], (None, FIELDS)), state["said"]
        rounds, labels = numbers[:, 1], numbers[:, FIELDS - 1]
        is_valid = len(numbers) <= self.most and (np.diff(rounds, prepend=0) >= 0).all()
        is_valid = is_valid and (rounds <= n_rounds).all() and (labels > 0).all() and (labels <= n_labels).all()
        require(is_valid, "the tickets of predictions are wrong")
        require(type(state["has_dropped"]) is bool, "it is not known whether tickets were dropped")
        said = floats(said, (n_rows * int(labels.sum()),), 1.0, np.float32)
        parts = np.split(said, n_rows * np.cumsum(labels))
        self.all = [
            restored_ticket(own, part.reshape(n_rows, -1)) for own, part in zip(numbers, parts)
        ]
        self.n, self.has_dropped = len(self.all), state["has_dropped"]
