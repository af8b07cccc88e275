# The values of the vectors: numbers by features, and arrays by names.
#
# `Features` holds the numbers. A name gets a feature row with the first vector that has it, and loses it some time
# after the last one is gone. Names without a row of their own share row 0, which has no values. A row keeps a
# feature that many vectors have in a column, and a rare one in a list, so that memory follows the number of values.
# `Matrices` holds the arrays: a matrix for each name, with a row for each slot.
#
# What always holds:
# - Whether a feature is in a column or a list depends on the vectors alone, and so does the order of the matrices:
#   a store that was loaded computes the same bits.
# - All values but 0.0 take a place, -0.0 too, and `length` is their number. A list has each slot at most once.
#
# Each owns its memory. The bank sets the scales of the rows.
from libc.stdint cimport int32_t, uint64_t

cdef packed struct Entry:             # an element of the list of a rare feature
    double value
    int32_t slot

cdef struct Feature:                  # a feature row: the values of one name in all vectors
    int32_t count                     # vectors with the name
    int32_t length                    # vectors with a value other than 0
    int32_t room                      # entries that the list has memory for
    double *column                    # values by slots (capacity,), from a line of the cache on; NULL: in the list
    void *memory                      # what `malloc` gave for the column
    Entry *entries                    # the list (room,), with `length` entries in use


cdef class Layout:                    # names in order, shared by the vectors that were put with it
    cdef list names
    cdef Py_ssize_t m                 # their number
    cdef int32_t *rows                # their feature rows; 0: none of their own, or not looked up
    cdef uint64_t *hashes             # their hashes, the same in each process; NULL: not computed

    cdef int hash_names(self) except -1


cdef class Features:
    cdef dict index                   # name -> feature row, in the order of the rows
    cdef Feature *rows                # (room,)
    cdef double *scales               # inverse scales (room, n_scales); the bank sets them
    cdef Py_ssize_t room, n_rows, n_scales
    cdef Py_ssize_t n_used            # rows of names that some vector has
    cdef Py_ssize_t n, capacity       # vectors and slots
    cdef list layouts                 # of each vector (n,)

    # Make room for a number of feature rows.
    cdef int set_room(self, Py_ssize_t room) except -1
    # Set the number of vectors, by which features are in columns or in lists.
    cdef int set_n(self, Py_ssize_t n) except -1
    # Make room for another number of scales, which are lost.
    cdef int set_n_scales(self, Py_ssize_t n_scales) except -1
    # Make room for more slots. All values stay, even if memory runs out.
    cdef int grow(self, Py_ssize_t capacity) except -1
    # Return whether some vector has a number with a name.
    cdef bint has_name(self, name) except -1
    cdef double value(self, int32_t row, Py_ssize_t slot) noexcept nogil
    cdef int set_value(self, int32_t row, Py_ssize_t slot, double value) except -1 nogil
    # Store a vector in a slot, all of whose names have rows, in the place of one with the layout `old`, or of
    # none. Return whether the names differ.
    cdef bint replace(self, Layout layout, const double *values, Layout old, Py_ssize_t slot) except -1
    # Forget all vectors and names, and take another capacity and number of scales.
    cdef int clear(self, Py_ssize_t capacity, Py_ssize_t n_scales) except -1
    cdef size_t n_bytes(self)


cdef struct Matrix:                   # the arrays of one name
    Py_ssize_t size, start            # the number of elements of each array, and of all matrices before this
    char *values                      # (capacity, size) floats or doubles, 0 if absent


cdef class Matrices:                  # a matrix for each name, as long as a vector has an array of it
    cdef readonly dict place_of       # name -> index in `all`, in the order of the names
    cdef dict sizes                   # name -> elements of each array
    cdef readonly object dtype        # float32 or float64
    cdef Matrix *all                  # (n,); their values are in the memory of the tables
    cdef Py_ssize_t n, n_elements
    cdef bint is_float
    cdef dict tables                  # name -> its arrays (capacity, size), and whether slots have one (capacity,)

    # Forget all arrays, and make room for others, whose numbers of elements are given by name.
    cdef int clear(self, Py_ssize_t capacity, dict sizes) except -1
    # Make room for more slots. All arrays stay, even if memory runs out.
    cdef int grow(self, Py_ssize_t capacity) except -1
    # Set the arrays of a slot, which has none if it is new. Return whether a name has no arrays any more.
    cdef bint put(self, dict arrays, Py_ssize_t slot, bint is_new) except -1
    # Return copies of the arrays in a slot.
    cdef dict at(self, Py_ssize_t slot)


# Return a number all of whose bits depend on all bits of another one, and the hash of bytes.
cdef uint64_t mixed(uint64_t h) noexcept nogil
cdef uint64_t hash_of_bytes(const char *bytes, Py_ssize_t n) noexcept nogil
# Return a hash of a name that is the same in each process.
cdef uint64_t hash_of(name) except? 0

# Return new memory, or give it another size. If there is none, MemoryError is raised, and all stays as it was.
cdef void *checked(void *memory) except NULL nogil
cdef int reallocate(void **memory, size_t n_bytes) except -1 nogil


# Return whether a name or a text is small: a number, a short text, or a short tuple of these. A cache with a
# bounded number of small names is also bounded in bytes.
cdef bint is_small(name) except -1
