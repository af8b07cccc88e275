# A hypothesis f over a store: scores g_c = scale * <A[c], row> of each label c.
#
# It is the engine of the perceptrons. The vectors and their kernel rows are the store's, the coefficients A
# are its own, and the algorithm is a page of Python that is called only when its update is due. A has a row
# for each label, two labels included (g_0 = -g_1 exactly), with a place for each slot of the store. So a
# vector that was added for a label and against its rival has two coefficients, of the same size. `scale`
# is a factor of all of A: an algorithm that shrinks f at each update changes one number.
#
# A round counts itself, sets `y` to its label, rival, margin and weight, and is open if the margin is at
# most the threshold of the algorithm. That then asks (`oldest`, `smallest`, `norm`, ...) and acts (`add`,
# `replace`, `remove`, `shrink`, `shift`, `change`), and the round ends by `commit`, or by `roll_back` if the
# algorithm failed: then the hypothesis, the store and all numbers are what they were, to the last bit.
# For that, changes in an open round are logged: a vector that is replaced by the store, a column of A as a
# copy, and all of A before the first change of more than a column.
#
# It always holds that the coefficients of a vector sum to 0 over the labels but for rounding, that A is 0
# beyond the n slots in use, and that there are at most `limit` vectors.
from libc.stdint cimport int64_t

from river_budget._core.engine cimport Engine


cdef class Example:                   # one for each Expansion, overwritten by every round
    cdef readonly Py_ssize_t label, rival
    cdef readonly double margin, weight, self_value


cdef class Expansion(Engine):
    cdef readonly Example y           # of the last round
    cdef readonly object limit        # of the number of vectors; None: there is none
    # A (n_labels, the capacity of the store at the last put, at least 8), without the common factor;
    # 0 from n on.
    cdef double[:, ::1] table
    cdef readonly double scale        # the common factor of A
    cdef public int64_t n_weighted
    cdef public double largest_self_value

    # What an open round has overwritten: the factor; and in the order of changes, a column of A and what
    # the store has saved, all of A and None, or None and all vectors.
    cdef double old_scale
    cdef list log
    cdef bint has_kept_all

    cpdef int commit(self) except -1
    cdef void close(self) noexcept
    cpdef Py_ssize_t cheapest(self, const double[::1] costs, double slack=*) except -1
    cdef int set_table(self, rows) except -1
    cdef int keep_all(self) except -1
    cdef int put(self, Py_ssize_t slot, Example y, double step) except -1
    cdef Py_ssize_t label_of(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t rival_of(self, Py_ssize_t slot) noexcept nogil
    cdef void scores_of(self, const double *row, double *scores) noexcept nogil
