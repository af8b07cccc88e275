# Predictions whose labels have not come: which examples they were for, and how many rounds ago they were made.
#
# A ticket is found by the fingerprint of its example, and closed when that is learned. There are at most
# MOST_PENDING tickets; the oldest makes room for a new one, and from then on, an example without a ticket
# may be one whose ticket was dropped. Tickets are in the order in which they were opened.
from libc.stdint cimport int64_t, uint64_t

cdef struct Ticket:
    uint64_t fingerprint
    int64_t n_rounds                  # of the model when it was opened


cdef class Tickets:
    cdef Ticket *all                  # (room,)
    cdef Py_ssize_t n, room
    cdef bint has_dropped

    # Open a ticket, unless there is one for an equal example of the same round.
    cdef int open(self, uint64_t fingerprint, int64_t n_rounds) except -1 nogil
    # Return the place of the oldest ticket with a fingerprint, or -1.
    cdef Py_ssize_t find(self, uint64_t fingerprint) noexcept nogil
    # Close the ticket in a place.
    cdef void close(self, Py_ssize_t place) noexcept nogil
