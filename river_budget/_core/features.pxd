# The values of the vectors: numbers by features, and arrays by names.
#
# A name has a feature row from the first vector with it on; now and then, those of names that no vector
# has are forgotten. Names without one share row 0, which has no values. The values of a feature that many
# vectors have are in a column, those of a rare one in a list, so that memory follows the number of values.
# Which they are depends on the vectors alone: a store that was loaded computes the same bits.
from libc.stdint cimport int32_t, uint64_t

cdef packed struct Entry:             # of the list of a rare feature
    double value
    int32_t slot

cdef struct Feature:                  # a feature row: the values of one name in all vectors
    int32_t count                     # vectors with the name
    int32_t length                    # vectors with a value other than 0
    int32_t room                      # of the list
    double *column                    # values by slots (capacity,), in lines of the cache; NULL: in the list
    void *memory                      # of the column
    Entry *entries                    # the list (room,)


cdef class Layout:                    # names in order, shared by the vectors that were put with it
    cdef list names
    cdef Py_ssize_t m                 # their number
    cdef int32_t *rows                # their feature rows; 0: none of their own, or not looked up
    cdef uint64_t *hashes             # which are the same in each process; NULL: not computed

    cdef int hash_names(self) except -1


cdef class Features:
    cdef dict index                   # name -> feature row, in the order of the rows
    cdef Feature *rows                # (room,)
    cdef double *scales               # inverse (room, n_scales); the store sets them
    cdef Py_ssize_t room, n_rows, n_scales
    cdef Py_ssize_t n_used            # rows of names that some vector has
    cdef Py_ssize_t n, capacity       # vectors and slots
    cdef list layouts                 # of each vector (n,)

    cdef int set_room(self, Py_ssize_t room) except -1
    cdef int set_n(self, Py_ssize_t n) except -1
    # Make room for another number of scales, which are lost.
    cdef int set_n_scales(self, Py_ssize_t n_scales) except -1
    # Make room for more slots. All values stay, also if memory lacks.
    cdef int grow(self, Py_ssize_t capacity) except -1
    # Return whether some vector has a number with a name.
    cdef bint has_name(self, name) except -1
    cdef double value(self, int32_t row, Py_ssize_t slot) noexcept nogil
    cdef int set_value(self, int32_t row, Py_ssize_t slot, double value) except -1 nogil
    # Store a vector in a slot, instead of one with another layout, or None. All names have rows. Return
    # whether the names differ.
    cdef bint replace(self, Layout layout, const double *values, Layout old, Py_ssize_t slot) except -1
    # Forget all vectors and names, and take another capacity and number of scales.
    cdef int clear(self, Py_ssize_t capacity, Py_ssize_t n_scales) except -1
    cdef size_t n_bytes(self)


cdef struct Matrix:                   # the arrays of one name
    Py_ssize_t size, start            # elements of each, and those of all matrices before it
    char *values                      # (capacity, size) floats or doubles, 0 if absent


cdef class Matrices:                  # a matrix for each name, as long as a vector has an array of it
    cdef readonly dict place_of       # name -> place in `all`, in the order of the names
    cdef dict sizes                   # name -> elements of each array
    cdef readonly object dtype        # float32 or float64
    cdef Matrix *all                  # (n,), whose values are those of the tables
    cdef Py_ssize_t n, n_elements
    cdef bint is_float
    cdef dict tables                  # name -> values, and whether a slot has them (capacity,)

    # Forget all arrays, and make room for others, whose numbers of elements are given by name.
    cdef int clear(self, Py_ssize_t capacity, dict sizes) except -1
    # Make room for more slots. All arrays stay, also if memory lacks.
    cdef int grow(self, Py_ssize_t capacity) except -1
    # Set the arrays of a slot, new ones have none; return whether no slot has an array of some name any more.
    cdef bint put(self, dict arrays, Py_ssize_t slot, bint is_new) except -1
    # Return copies of the arrays in a slot.
    cdef dict at(self, Py_ssize_t slot)


# Return a number all of whose bits depend on all bits of another one, and the hash of bytes.
cdef uint64_t mixed(uint64_t h) noexcept nogil
cdef uint64_t hash_of_bytes(const char *bytes, Py_ssize_t n) noexcept nogil
# Return a hash of a name that is the same in each process.
cdef uint64_t hash_of(name) except? 0

# Return new memory. Raises MemoryError if there is none.
cdef void *checked(void *memory) except NULL nogil
cdef int reallocate(void **memory, size_t n_bytes) except -1 nogil


# Return whether a name or a text takes so few bytes that it may stay in a cache, which bounds the bytes
# of the cache by the number of its entries: numbers, short texts, and short tuples of these do.
cdef bint is_small(name) except -1
