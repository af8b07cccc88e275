# The vectors of a model under its kernels, and one example beside them.
#
# A store owns three objects, each of which has one job, and a page in its own file:
# - `bank`, the kernels: scales, inner statistics, and kernel rows;
# - `packed`, the example: a dict as kernels read it;
# - `vectors`: their slots, and how they change. All changes of the three go through the store; others in this folder
#   read them directly. The store guards them against a second thread, a fork, and the code of kernels and names,
#   which may call the store again: each call starts with `begin`, and one that comes while another is under way
#   raises RuntimeError.
#
# What always holds:
# - Kernel rows of the example are computed once, and kept until the example, a vector, a kernel or a scale changes.
# - `stamp` has another value after each change of the rows or the vectors.
# - An example that is refused raises ValueError, and the vectors do not change.
cimport cython
from libc.stdint cimport int64_t

from river_budget._core.example cimport PackedExample
from river_budget._core.kernel_bank cimport KernelBank
from river_budget._core.vectors cimport Vectors

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


cdef class Block:
    """The validated rows of a frame, and how far a model has learned them."""
    cdef readonly Py_ssize_t n_rows
    cdef list names                   # of the columns
    cdef object rows                  # an array of any type (rows, names)
    cdef const double[:, ::1] numbers # the same array if it holds finite doubles only, or None
    # While the block is learned: the next row, the labels of all rows, and their weights, 0 to skip a row.
    cdef readonly Py_ssize_t row
    cdef const int64_t[::1] labels
    cdef const double[::1] weights


@cython.final
cdef class Store:
    cdef KernelBank bank
    cdef PackedExample packed
    cdef Vectors vectors
    cdef int64_t stamp                # another number whenever the rows or the vectors have changed

    cdef bint is_busy                 # whether a call is under way
    cdef unsigned long owner          # the only thread that may call; 0: any
    cdef int64_t process              # which process made the last call: the number of forks before it

    # Make x the example: pack and validate it, and compute kernel rows and self values, unless it is equal to
    # the last one. Raises ValueError that names the feature; the vectors never change.
    cpdef int evaluate(self, object x) except -1
    # The same for a row of a block, which is valid. Takes the GIL only for dicts or new names.
    cpdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil
    # The same for the example of another store, without what its kernels do not read.
    cdef int evaluate_like(self, Store other) except -1 nogil
    # Kernel rows of the vector in a slot (n_kernels, capacity), valid until the next call.
    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil
    # Store the example in a new slot, n, or in the place of the vector in a slot. Kernel rows are not computed
    # again: they stay those over the vectors before. `stamp` changes.
    cpdef int put(self, Py_ssize_t slot) except -1 nogil
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cpdef tuple save(self, Py_ssize_t slot)
    # Take the kernels and scales of another store.
    cdef int rescale_like(self, Store other) except -1
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil
    cdef double function_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1
    # Begin a call, or raise RuntimeError if the store is in use. The caller ends it by `is_busy = False`.
    # `with self` does both, and is slower.
    cdef int begin(self) except -1 nogil
    # Raise RuntimeError if a call is under way, here or in an engine (`is_busy`), or if only another thread may
    # call. If a fork leaves a thread behind in the middle of a call, that call is under way in the new process
    # for ever, as it may have made half of its changes.
    cdef int require_free(self, bint is_busy) except -1 nogil
    cdef int check_slot(self, Py_ssize_t slot) except -1 nogil
    cdef int check_kernel(self, Py_ssize_t kernel) except -1

    cdef bint is_foreign(self) noexcept nogil
    cdef int evaluate_values(self, list names, const double *values) except -1 nogil
    cdef int set_example(self) except -1 nogil
    cdef int set_example_and_rows(self) except -1 nogil
    cdef int check_row(self, dict x, dict sizes) except -1
