# The arrays of the vectors: a matrix for each name, as long as a vector has an array of that name.
cdef struct Matrix:                   # the arrays of one name
    Py_ssize_t size, start            # elements of each, and those of all matrices before it
    char *values                      # (capacity, size) floats or doubles, 0 if absent


cdef class Matrices:
    cdef readonly dict place_of       # name -> place in `all`, in the order of the names
    cdef readonly object dtype        # float32 or float64
    cdef Matrix *all                  # (n,), whose values are those of the tables
    cdef Py_ssize_t n, n_elements, capacity
    cdef bint is_float
    cdef dict tables                  # name -> values, and whether a slot has them (capacity,)

    # Raise ValueError unless an array has the length of others of its name.
    cdef int check_length(self, object name, object array) except -1
    cdef int extend(self, Py_ssize_t capacity) except -1
    # Set the arrays of a slot, and return whether matrices have come or gone.
    cdef bint put(self, dict arrays, Py_ssize_t slot) except -1
    # Return copies of the arrays in a slot.
    cdef dict at(self, Py_ssize_t slot)
    # Copy them as doubles, one after another; zeros for those that are absent.
    cdef void load(self, Py_ssize_t slot, double *elements) noexcept nogil
    # Take other matrices of the same capacity.
    cdef int set_tables(self, dict tables) except -1
    cdef size_t n_bytes(self)
