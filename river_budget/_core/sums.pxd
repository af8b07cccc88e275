# Running sums of the values of features, for the scales that a model learns.
#
# A model without a given width learns a scale for each feature from its first examples. Each of these
# is added at the end of its round, and now and then `measures` says what the sums tell: variances
# and mean squares by name, from which `base/scales.py` chooses scales and a width. They also give the mean
# of a name, which takes the place of an unknown value in the store.
#
# A feature is 0 in an example that lacks it. A name has a row of the table from the first example with it
# on, as long as some vector has it, so that memory follows the vectors and not the names ever seen. The
# examples before count by their number alone (`since`). `rows` is in the order of the rows. The rows
# of the last list of names are kept, and hold while the store gives the same list: then an example is
# added without the GIL. Arrays have a table of their own each, with a row for each element.
cimport cython
from libc.stdint cimport int64_t

from river_budget._core.store cimport Store

cdef struct FeatureSums:
    # Examples that were observed before the first one with it, and those where it was unknown.
    double since
    # The first value, from which differences are taken, so that no digits cancel in the variance of
    # values that are far from 0.
    double reference
    double n_present, n_nonzero       # examples that have it, and that have another value than 0
    double total, squares             # sums of the differences and of their squares


@cython.final
cdef class Sums:
    cdef readonly Py_ssize_t n_observed
    cdef dict rows                    # names of numbers -> rows
    cdef double[:, ::1] table         # `FeatureSums` in each row, with room for more
    cdef dict arrays                  # names of arrays -> tables with a row for each element
    cdef dict means                   # of the names that had sums when they were cleared
    cdef list columns                 # the last list of names; None if its rows are found anew
    cdef int64_t[::1] slots           # their rows, -1 for a name without one, -2 - row for an unknown value
    cdef int64_t n_inserted           # of the store when a name had no row; -1 if all have one

    # Add the store's example. Takes the GIL only for arrays or names that differ from the last ones.
    cpdef int add(self, Store store) except -1 nogil
    cdef int add_parts(self, Store store, bint is_known) except -1
    cdef int make_room(self, Store store) except -1
    cdef int look_up(self, Store store) except -1
    cdef int add_arrays(self, Store store) except -1
