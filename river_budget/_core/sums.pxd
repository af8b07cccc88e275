# Running sums of the values of features, for the scales that a model learns.
#
# A model without a given width learns a scale for each feature from its first examples. Each of these is added at the
# end of its round. Now and then, `measures` says what the sums tell, variances and mean squares by name, from which
# `base/scales.py` chooses scales and a width. They also give the mean of a name, which stands for unknown values.
#
# A feature is 0 in an example that lacks it. A name that some vector has gets a row of the table with the next example
# that has it; rows of names that no vector has any more are dropped if there are many. So memory follows the vectors,
# not the names ever seen. The examples before count by their number alone (`since`). Each array has a table of its
# own, with a row for each element.
#
# What always holds: `rows` is in the order of the rows. `last_rows` are those of `last_names`, and hold while the store
# gives the same list: then an example is added without the GIL. An example is added as a whole, or not at all.
# The model owns the sums, and lends them to its engine until all scales are learned.
cimport cython
from libc.stdint cimport int64_t

from river_budget._core.store cimport Store

cdef struct FeatureSums:              # of a feature, or of an element of an array
    # The number of examples before the first one that has it, and of later ones where it was unknown.
    double since
    # The first value, from which differences are taken, so that no digits cancel in the variance of
    # values that are far from 0.
    double reference
    double n_present, n_nonzero       # examples that have it, and those with another value than 0
    double total, squares             # the sums of the differences and of their squares


@cython.final
cdef class Sums:
    cdef readonly Py_ssize_t n_observed  # examples that were added
    cdef dict rows                    # names of numbers -> rows of the table
    cdef double[:, ::1] table         # `FeatureSums` in each row, with room for more
    cdef dict arrays                  # names of arrays -> tables with a row for each element
    cdef dict means                   # of the names that had sums when these were cleared
    cdef list last_names              # the list of names of the last example; None if their rows are found anew
    cdef int64_t[::1] last_rows       # their rows; -1 for a name without one, -2 - row for an unknown value
    cdef int64_t n_inserted           # of the store when a name had no row, as a `put` may add it; -1: all have one

    # Add the example of the store. Takes the GIL only for arrays, and for other names than the last ones.
    cpdef int add(self, Store store) except -1 nogil
    cdef int add_parts(self, Store store, bint is_known) except -1
    cdef int make_room(self, Store store) except -1
    cdef int look_up(self, Store store) except -1
    cdef int add_arrays(self, Store store) except -1
