# A hypothesis f over a store: scores g_c = scale * <A[c], row> of each label c.
#
# It is the engine of the perceptrons. It owns the coefficients A; the store owns the vectors and their kernel rows.
# The algorithm is a page of Python that is called only when its update is due.
#
# A has a row for each label, even if there are only two (then g_0 = -g_1 exactly), with a column for each slot of the
# store. So a vector that was added for a label and against its rival has two coefficients, which differ in their
# sign. `scale` is a factor of all of A: an algorithm that shrinks f at each update changes one number.
#
# A round counts itself and sets `y` to its label, rival, margin and weight. It is open if the margin is at most the
# threshold of the algorithm, which then asks (`oldest`, `smallest`, `norm`, ...) and acts (`add`, `replace`,
# `remove`, `shrink`, `shift`, `change`). The round ends by `commit`, or by `roll_back` if the algorithm has failed:
# then the hypothesis, the store and all numbers are what they were, to the last bit. For that, an open round logs
# what it is about to overwrite: a column of A with what the store needs to take back a `put`; all of A, before the
# first change of more than one column; or all vectors, before some are removed.
#
# What always holds:
# - The coefficients of a vector sum to 0 over the labels, but for rounding.
# - A is 0 beyond the n slots in use.
# - There are at most `limit` vectors.
from libc.stdint cimport int64_t

from river_budget._core.engine cimport Engine


cdef class Example:                   # one for each Expansion, overwritten by every round
    cdef readonly Py_ssize_t label, rival
    cdef readonly double margin, weight, self_value


cdef class Expansion(Engine):
    cdef readonly Example y           # of the last round
    cdef readonly object limit        # of the number of vectors; None: there is none
    # A without the common factor (n_labels, the capacity of the store at the last `put`, at least 8).
    cdef double[:, ::1] table
    cdef readonly double scale        # the common factor of A
    cdef public int64_t n_weighted    # updates with a weight other than 1
    cdef public double largest_self_value  # of the examples of all updates

    # What an open round has overwritten: the common factor, and in the order of changes, pairs of a column of A as
    # bytes and what `Store.save` has returned; of all of A as bytes and None; or of None and the store's state.
    cdef double old_scale
    cdef list log
    cdef bint has_kept_all            # whether all of A is in the log

    cpdef int commit(self) except -1
    cdef void close(self) noexcept
    cpdef Py_ssize_t cheapest(self, const double[::1] costs, double slack=*) except -1
    cdef int set_table(self, rows) except -1
    # Log all of A, in an open round that is about to change it.
    cdef int keep_all(self) except -1
    # Store the example in a slot of the store, with its coefficients.
    cdef int put(self, Py_ssize_t slot, Example y, double step) except -1
    # The columns of the largest and of the least coefficient of a vector.
    cdef Py_ssize_t label_of(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t rival_of(self, Py_ssize_t slot) noexcept nogil
    # Compute the scores of all labels from a kernel row.
    cdef void scores_of(self, const double *row, double *scores) noexcept nogil
