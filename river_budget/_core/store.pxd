# The vectors of a model under its kernels, and one example beside them.
#
# A store owns three objects, each of which has one job, and a page in its own file:
# - `bank`, the kernels: scales, inner statistics, and kernel rows;
# - `packed`, the example: a dict as kernels read it;
# - `vectors`: their slots, and how they change.
# The store is the door to them. It guards them against a second thread, a fork and the code of kernels and names,
# which may call again: a call begins by `begin`, and whoever comes in the middle gets a RuntimeError. It tells by
# `stamp` when something has changed. Others in this folder read the three objects directly, and change them
# through the store alone.
#
# Kernel rows of the example are computed once, and kept until the example, a vector, a kernel or a scale changes.
cimport cython
from libc.stdint cimport int64_t

from river_budget._core.example cimport PackedExample
from river_budget._core.kernel_bank cimport KernelBank
from river_budget._core.vectors cimport Vectors

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


cdef class Block:
    """The validated rows of a frame."""
    cdef readonly Py_ssize_t n_rows
    cdef list names                   # the columns
    cdef object rows                  # an array of any type (rows, names)
    cdef const double[:, ::1] numbers # the same array if it holds finite doubles only, or None
    # What is learned of them: the next row, the column of the label of each, and its weight, 0 to skip it.
    cdef readonly Py_ssize_t row
    cdef const int64_t[::1] labels
    cdef const double[::1] weights


@cython.final
cdef class Store:
    cdef KernelBank bank
    cdef PackedExample packed
    cdef Vectors vectors
    cdef int64_t stamp                # another number whenever the rows or the vectors have changed

    cdef bint is_busy                 # a call is under way
    cdef unsigned long owner          # the only thread that may call; 0: any
    cdef int64_t process              # that of the last call: the number of forks before it

    # Pack x, validate it, and compute rows and self values unless x is the last example. Raises
    # ValueError that names the feature; the vectors never change.
    cpdef int evaluate(self, object x) except -1
    # The same for a row of a block, which is valid. Takes the GIL only for dicts or new names.
    cpdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil
    # The same for the example of another store, without what its kernels do not read.
    cdef int evaluate_like(self, Store other) except -1 nogil
    # Kernel rows of the vector in a slot (n_kernels, capacity), valid until the next call.
    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil
    # Store the example in a slot: n is a new one, another one is overwritten. The rows stay as they
    # were, those of the example over the vectors before; `stamp` changes.
    cpdef int put(self, Py_ssize_t slot) except -1 nogil
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cpdef tuple save(self, Py_ssize_t slot)
    # Take the kernels and scales of another store.
    cdef int rescale_like(self, Store other) except -1
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil
    cdef double function_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1
    # Begin a call, or raise RuntimeError if the store is in use. It ends by `is_busy = False`; `with self`
    # does both, and takes longer.
    cdef int begin(self) except -1 nogil
    # Raise RuntimeError if a call is under way, here or in an engine, or only another thread may call. The
    # call of a thread that was left behind by a fork is under way for ever, as it may have changed half.
    cdef int require_free(self, bint is_busy) except -1 nogil
    cdef int check_slot(self, Py_ssize_t slot) except -1 nogil
    cdef int check_kernel(self, Py_ssize_t kernel) except -1

    cdef bint is_foreign(self) noexcept nogil
    cdef int evaluate_values(self, list names, const double *values) except -1 nogil
    cdef int take(self) except -1 nogil
    cdef int admit(self) except -1 nogil
    cdef int check_row(self, dict x, dict sizes) except -1
