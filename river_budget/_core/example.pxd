# One example beside the vectors, as kernels read it: a dict is packed to names, numbers and arrays.
#
# Packing checks all values, makes a category of a text, puts means in the places of unknown values, and leaves
# out what no kernel reads. Numbers go to `fresh` first, so that they can be compared with those of the last
# example: an example that is equal to it keeps its kernel rows. `Store.take` makes what is fresh the example.
#
# What always holds:
# - `layout.names` and `point.values` are the numbers of the example, `arrays` its arrays, in the units of the
#   user. The list of names is the same object as long as the names stay, so that others recognize it.
# - If `has_found`, the feature rows in `layout` and the self statistics in `point` are those of the example as
#   the vectors are now. If `has_rows`, so are the rows in the bank.
#
# Who packs owns nothing of the dict: values are copied, and Python functions get a deep copy, the snapshot.
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

from river_budget._core.features cimport Layout
from river_budget._core.kernel_bank cimport KernelBank, Point


@cython.final
cdef class PackedExample:
    cdef KernelBank bank
    cdef Point point
    cdef Layout layout
    cdef dict arrays                  # by names; None if it has none
    cdef dict snapshot                # a deep copy for Python functions; None without them
    # The means in the place of unknown values, None if these are refused; and the names that have one
    # in the example, or None, which stay those of the round while one is open (`keeps_filled`).
    cdef object means
    cdef set filled
    cdef bint keeps_filled
    cdef bint has_found, has_rows
    cdef double *fresh                # the values of the example that is being packed
    cdef object fresh_memory          # the array that owns them

    # Make room for so many features.
    cdef int set_room(self, Py_ssize_t room) except -1
    # Convert an example to doubles in `fresh`, and to arrays. Raises ValueError if it has other values.
    cdef int pack(self, dict x) except -1
    # Take a deep copy of an example for Python functions, unless it is the last one; return whether it is new.
    cdef bint take_snapshot(self, dict x) except -1
    # Return whether the fresh values are those of the example, and its rows are known.
    cdef inline bint is_last(self) noexcept nogil:
        cdef size_t size = self.layout.m * sizeof(double)
        return self.has_rows and not memcmp(self.fresh, self.point.values, size)
    # Take other names.
    cdef int set_layout(self, list names) except -1
    # Look up the feature rows of the names, and measure the example.
    cdef int find_rows(self) except -1
    # Forget rows and statistics, as vectors, scales or kernels are others now.
    cdef int forget_rows(self) except -1
    # Return a number by which equal examples are found, in any order of names and any process. Unknown
    # values are left out, as the means in their places change.
    cdef uint64_t fingerprint(self) except? 0 nogil
    cdef dict as_dict(self)
    # Return the error that says which value of an example is wrong.
    cdef object invalid(self, x)

    cdef bint pack_numbers(self, dict x) except -1
    cdef tuple parts_of(self, dict x)
    cdef uint64_t hash_of_parts(self) except? 0


# Return an example or a vector, whose parts are copies: what functions have of it, if there are any.
cdef dict as_dict(list names, const double *values, dict arrays, dict own)
