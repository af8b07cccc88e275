# The vectors of a model, and one example beside them: who owns what.
#
# A store adds to kernel rows (`Rows`) what is known of the vectors, deep copies of dicts for kernels
# that are Python functions, and one packed example. Its kernel rows are computed once, and kept until
# the example or a vector changes.
from libc.stdint cimport int64_t

from river_budget._core.features cimport Layout
from river_budget._core.rows cimport Rows

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


cdef class Block:
    """The validated rows of a frame: numbers in one matrix, or a dict for each row."""
    cdef readonly Py_ssize_t n_rows, n_names
    cdef readonly list names          # the columns of the matrix
    cdef readonly object values       # float64 (rows, names), C order; None if the rows are dicts
    cdef readonly list dicts          # None if the rows are in the matrix
    cdef const double *data
    # What is learned of them: the next row, the column of the label of each, and its weight, None for 1.
    cdef readonly Py_ssize_t row
    cdef const int64_t[::1] labels
    cdef const double[::1] weights


cdef class Store(Rows):
    cdef readonly int64_t n_inserted
    # The example of the last `evaluate` or `evaluate_row`, beside its kernel rows:
    cdef double *own_values           # (n_kernels,) k(x, x)
    cdef int64_t stamp                # another number whenever `rows` or the vectors have changed
    cdef list columns                 # names of its numbers `point.values`, the same list while they stay
    cdef dict arrays                  # the example's array features; None if it has none
    # The means in the place of unknown values, None if these are refused; and the names that have one
    # in the example, which stay those of the round while one is open (`keeps_filled`).
    cdef public object means
    cdef object filled
    cdef bint has_filled, keeps_filled

    # Private from here to the methods.
    cdef bint is_busy                 # a call is under way
    cdef unsigned long owner          # the only thread that may call; 0: any
    cdef list objects                 # deep copies for Python functions; None without them
    # The example.
    cdef Layout layout
    cdef int64_t found                # the sum of versions for which its rows were looked up
    cdef bint has_example, has_rows   # `rows` are those of the vectors as they are
    cdef dict snapshot                # a deep copy for Python functions

    # Pack x, validate it, and compute rows and self values unless x is the last example. Raises
    # ValueError that names the feature; the vectors never change.
    cdef int evaluate(self, object x) except -1
    # The same for a row of a block, which is valid. Takes the GIL only for dicts or new names.
    cdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil
    # The same for the example of another store, without what its kernels do not read.
    cdef int evaluate_like(self, Store other) except -1 nogil
    # Kernel rows of the vector in a slot (n_kernels, capacity), valid until the next call.
    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil
    # Store the example in a slot: n is a new one, another one is overwritten. `rows` stay as they
    # were, those of the example over the vectors before; `stamp` changes.
    cdef int put(self, Py_ssize_t slot) except -1 nogil
    # Give the names of the example feature rows, so that `put` runs no Python code of names any more.
    # They are free again if no `put` follows.
    cdef int reserve(self) except -1
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cpdef tuple save(self, Py_ssize_t slot)
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil
    # Raise RuntimeError if another thread uses the vectors.
    cdef int require_own(self) except -1 nogil
    # Begin a call, which has to end by `is_busy = False`; with `enter`, without names that no vector
    # has. `with self` does both, and takes longer.
    cdef int begin(self) except -1 nogil
    cdef int enter(self) except -1 nogil
    # Look up the feature rows and scales of the example's features, and measure it.
    cdef int find_rows(self) except -1
    cdef int check_row(self, dict x, dict sizes) except -1
    cdef int check_kernel(self, Py_ssize_t kernel) except -1
    cdef int check_slot(self, Py_ssize_t slot) except -1
