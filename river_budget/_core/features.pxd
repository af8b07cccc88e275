# The values of the vectors by features: who owns what.
#
# A name has a feature row as long as a vector has it. The values of a feature that many vectors
# have are in a column, those of a rare one in a list, so that memory follows the number of values.
# Which they are depends on the vectors alone: a store that was loaded computes the same bits.
from libc.stdint cimport int32_t, int64_t

cdef struct Feature:                  # a feature row: the values of one name in all vectors
    int32_t count                     # vectors with the name; 0: free, `length` is the next one
    int32_t length                    # vectors with a value other than 0
    int32_t room                      # of the list
    int32_t mark                      # of the last `put` that had the name
    double *column                    # values by slots (capacity,); NULL: in a list
    double *values                    # the list (room,), followed by its slots


cdef class Layout:                    # names in order, shared by the vectors that were put with it
    cdef list names                   # all that were packed
    cdef list columns                 # those that some kernel reads
    cdef Py_ssize_t n_names, m        # their numbers
    cdef int32_t *active              # their positions among the names; NULL: all
    cdef int32_t *rows                # their feature rows


cdef class Features:
    cdef readonly dict index          # name -> feature row
    cdef Feature *rows                # (room,)
    cdef Py_ssize_t room, n_used
    cdef list unused                  # names and rows that `sweep` frees, unless a vector has them then
    cdef Py_ssize_t n, capacity       # vectors and slots
    cdef int32_t free_row, mark       # the first free row, -1: none
    cdef int64_t version              # another number whenever the index has changed
    cdef bint is_sparse               # most rows are free: the vectors should be stored anew

    cdef int32_t row_of(self, object name) except -1
    cdef int set_value(self, int32_t row, Py_ssize_t slot, double value) except -1 nogil
    cdef void copy(self, int32_t row, Py_ssize_t n, double *values) noexcept nogil
    # Make room for more slots.
    cdef int extend(self, Py_ssize_t capacity) except -1
    # Tell of one vector more or less.
    cdef int set_n(self, Py_ssize_t n) except -1
    # Store a vector in a slot, instead of one with another layout, or None. All names have rows.
    cdef int replace(
        self, Layout layout, const double *values, Layout old, Py_ssize_t slot
    ) except -1
    cdef int clear(self) except -1
    # Free the rows of names that no vector has. Names may run Python code, which may raise: so this
    # is done between changes, and never in the middle of one.
    cdef int sweep(self) except -1
    cdef size_t n_bytes(self)
    # Private.
    cdef void release(self) noexcept
    cdef int settle(self, Feature *feature) except -1 nogil
    cdef int add_rows(self) except -1

cdef Layout new_layout(list names)
cdef int32_t *slots_of(Feature *feature) noexcept nogil
cdef double value_of(Feature *feature, Py_ssize_t slot) noexcept nogil
# Return new memory. Raises MemoryError if there is none.
cdef void *checked(void *memory) except NULL nogil
cdef int reallocate(void **memory, size_t n_bytes) except -1 nogil
cdef int widen(double **values, Py_ssize_t n, Py_ssize_t capacity) except -1 nogil
