# The vectors of a model, and one example beside them: who owns what.
#
# A store holds n vectors in slots 0 to n - 1, in the units of the user, and one packed example. It
# has one or several kernels, each a `Spec`. Kernel rows of the example are computed once and kept
# until the example or a vector changes. Everything a kernel reads comes from the three parts of a
# vector: numbers (in columns by feature, rare ones in lists), arrays (a matrix for each name), and a
# deep copy of the dict for kernels that are Python functions.
from libc.stdint cimport int64_t

cdef struct Spec:                     # one kernel, from `kernels.spec`
    int statistic, function, degree
    double gamma, coef0, n_names
    bint normalized


cdef class Block:
    """The validated rows of a frame: numbers in one matrix, or a dict for each row."""
    cdef readonly Py_ssize_t n_rows
    cdef readonly list names          # the columns of the matrix
    cdef readonly object values       # float64 (rows, names), C order; None if the rows are dicts
    cdef readonly list dicts          # None if the rows are in the matrix
    cdef const double *data


cdef class Store:
    cdef readonly Py_ssize_t n        # vectors
    cdef readonly Py_ssize_t capacity # slots, a multiple of LANES; grows in `put` only
    cdef readonly Py_ssize_t n_kernels
    cdef readonly int64_t n_inserted
    cdef int64_t *inserted            # (capacity,) insertion order, larger for younger vectors
    # The example of the last `evaluate` or `evaluate_row`:
    cdef double *rows                 # (n_kernels, capacity) kernel rows; 0 from n on
    cdef double *self_values          # (n_kernels,) k(x, x)
    cdef int64_t stamp                # another number whenever `rows` or the vectors have changed
    cdef list columns                 # names of the example's numbers, the same list while they stay
    cdef double *values               # and their values in the units of the user (len(columns),)
    cdef dict arrays                  # the example's array features; None if it has none

    # Pack x, validate it, and compute rows and self values unless x is the last example. Raises
    # ValueError that names the feature; the vectors never change.
    cdef int evaluate(self, object x) except -1
    # The same for a row of a block, which is valid. Takes the GIL only for dicts or new names.
    cdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil
    # Kernel rows of the vector in a slot (n_kernels, capacity), valid until the next call.
    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil
    # Store the example in a slot: n is a new one, another one is overwritten. `rows` stay as they
    # were, those of the example over the vectors before; `stamp` changes.
    cdef int put(self, Py_ssize_t slot) except -1 nogil
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil
    cdef Py_ssize_t oldest_slot(self) noexcept nogil
