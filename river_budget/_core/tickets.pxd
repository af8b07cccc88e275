# Predictions whose labels have not come: what was said of an example, and how many rounds ago.
#
# A `Ticket` never changes. An `Answer` has one, and whoever learns the answer gives it back. For a prediction
# without an answer, the model keeps the ticket itself, in its `Tickets`, from the prediction until the example is
# learned. There it is found by the fingerprint of the example. There are at most `most` tickets; the oldest makes
# room for a new one, and from then on, an example without a ticket may be one whose ticket was dropped. Tickets
# are in the order in which they were added.
#
# What was said are rows of probabilities, of the labels that were known. `Switch` says which rows there are.
from libc.stdint cimport int64_t, uint64_t

from river_budget._core.repeats cimport Place


cdef class Ticket:
    cdef uint64_t fingerprint
    cdef readonly int64_t n_rounds     # of the model when the example was predicted
    cdef Place place                   # where the labels stood
    cdef Py_ssize_t n_rows, n_labels
    cdef float *said                   # (rows, labels)


cdef Ticket new_ticket(uint64_t fingerprint, int64_t n_rounds, Place place, Py_ssize_t n_rows, Py_ssize_t n_labels)


cdef class Tickets:
    cdef list all
    cdef Py_ssize_t n, most
    cdef bint has_dropped

    # Return whether there is a ticket for an equal example of the same round.
    cdef bint has(self, uint64_t fingerprint, int64_t n_rounds)
    cdef int add(self, Ticket ticket) except -1
    cdef int close(self, Py_ssize_t place) except -1
    # Return the place of the oldest ticket with a fingerprint, or -1.
    cdef Py_ssize_t find(self, uint64_t fingerprint)
