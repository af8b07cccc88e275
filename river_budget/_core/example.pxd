# The example of a store, as kernels read it: a dict that was packed to names, numbers and arrays.
#
# Packing checks all values, makes a category of a text, puts the mean in the place of an unknown value, and leaves
# out what no kernel reads. Numbers go to `fresh` first. If they are equal to those of the last example, its kernel
# rows are kept; otherwise, the store makes them the example (`Store.set_example`).
#
# What always holds:
# - `layout.names` and `point.values` are the numbers of the example and `arrays` its arrays, in the units of the
#   user. As long as the names stay, `layout.names` is the same list, so that others recognize it by its address.
# - If `has_found` is true, the feature rows in `layout` and the self statistics in `point` are those that the example
#   has among the vectors and scales of now. If `has_rows` is true, so are the kernel rows in the bank.
# - Nothing here refers to the dict of the user: values are copied, and Python functions get a deep copy of it, the
#   snapshot.
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
    cdef object means                 # for unknown values, by names; None: these are refused
    cdef set filled                   # the names of the example that were unknown, and have a mean; None: no name
    cdef bint keeps_filled            # whether `filled` stays as it is, as a round is open
    cdef bint has_found, has_rows     # whether feature rows and kernel rows are known, see above
    cdef double *fresh                # the values of the example that is being packed
    cdef object fresh_memory          # the array that owns them

    # Make room for so many features.
    cdef int set_room(self, Py_ssize_t room) except -1
    # Convert an example to doubles in `fresh`, and to arrays. Raises ValueError if it has any other value.
    cdef int pack(self, dict x) except -1
    # Take a deep copy of an example for Python functions, unless it is the last one; return whether it is new.
    cdef bint take_snapshot(self, dict x) except -1
    # Return whether the fresh values are those of the example, whose kernel rows are known.
    cdef inline bint is_last(self) noexcept nogil:
        cdef size_t size = self.layout.m * sizeof(double)
        return self.has_rows and not memcmp(self.fresh, self.point.values, size)
    # Take other names.
    cdef int set_layout(self, list names) except -1
    # Look up the feature rows of the names, and measure the example.
    cdef int find_rows(self) except -1
    # Forget rows and statistics, after a change of vectors, scales or kernels.
    cdef int forget_rows(self) except -1
    # Return a number that is the same for equal examples, in any order of names and in any process. Unknown
    # values are left out, as the means in their places change.
    cdef uint64_t fingerprint(self) except? 0 nogil
    cdef dict as_dict(self)
    # Return the error that says which value of an example is wrong.
    cdef object invalid(self, x)

    cdef bint pack_numbers(self, dict x) except -1
    cdef tuple parts_of(self, dict x)
    cdef int check_lengths(self, dict x, dict arrays) except -1
    cdef uint64_t hash_of_parts(self) except? 0


# Return an example or a vector as a dict of copies: of its snapshot if it has one, else of its parts.
cdef dict as_dict(list names, const double *values, dict arrays, dict snapshot)
# Raise ValueError if a name cannot be that of a feature.
cdef int check_names(list names) except -1
