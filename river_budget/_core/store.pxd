# The vectors of a model, their kernel rows, and one example beside them: who owns what.
#
# n vectors are in slots 0 to n - 1, in the units of the user. What kernels read of them is in two
# parts: numbers (`Features`) and arrays (`Matrices`); Python functions get deep copies of dicts. Each
# kernel is a `Spec`: a function of an inner statistic, which kernels share. Scales are weights of the
# terms of features: squares of the inverse scales, or their sizes in a Manhattan distance.
#
# One packed example is beside the vectors. Its kernel rows are computed once, and kept until the
# example or a vector changes.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from river_budget._core.features cimport Features, Layout, Matrices

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

cdef struct Spec:                     # one kernel, from `kernels`
    int statistic, function, degree
    double gamma, coef0, n_names
    bint normalized

cdef struct Kernel:
    Spec spec
    Py_ssize_t inner                  # of its inner statistic; -1: a Python function
    double *norms                     # k(s, s) of the vectors, its root if normalized; NULL: all 1

cdef struct Inner:                    # an inner statistic that kernels share
    int statistic
    bint is_plain                     # whether all features have the scale 1
    Py_ssize_t leader                 # the first of its kernels
    double gamma, n_names             # the largest gamma of its kernels
    double factor                     # of weights: gamma in a sum of rationals, else 1
    double *statistics                # of the numbers of each vector alone (capacity,)

cdef struct Own:                      # the self statistics of a point
    double unscaled                   # of its numbers, without scales
    double numbers                    # with them
    double absent                     # of its arrays that no vector has, without the factor of weights
    double rationals                  # what a sum of rationals has of arrays that no vector has
    double whole

cdef struct Point:                    # an example or a vector, as rows are computed from it
    Py_ssize_t m, n_known, n_nonzero  # features; those that some vector has; those other than 0
    double *values
    int32_t *rows                     # their feature rows
    int32_t *nonzero                  # places of the values other than 0
    Own *own                          # by inner statistics (n_inner,)
    double *elements                  # its arrays, one after another in the order of the matrices


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
    cdef readonly Py_ssize_t n        # vectors
    cdef readonly Py_ssize_t capacity # slots, a multiple of LANES; grows when a vector is stored
    cdef readonly Py_ssize_t n_kernels
    cdef readonly int64_t n_inserted
    cdef int64_t *inserted            # (capacity,) insertion order, larger for younger vectors
    # Kernel rows (n_kernels, capacity), 0 from n on: of the example, and of a vector.
    cdef double *rows
    cdef double *other_rows
    cdef double *own_values           # (n_kernels,) k(x, x) of the example
    cdef int64_t stamp                # another number whenever `rows` or the vectors have changed
    cdef dict arrays                  # the example's array features; None if it has none
    # The means in the place of unknown values, None if these are refused; and the names that have one
    # in the example, or None, which stay those of the round while one is open (`keeps_filled`).
    cdef public object means
    cdef set filled
    cdef bint keeps_filled

    cdef bint is_busy                 # a call is under way
    cdef unsigned long owner          # the only thread that may call; 0: any
    cdef int64_t process              # that of the last call: the number of forks before it
    # Kernels.
    cdef readonly tuple kernels
    cdef list scaled                  # whether each reads scaled features
    cdef dict factors                 # inverse scales of names
    cdef double pooled                # and of all others
    cdef Kernel *z                    # (n_kernels,)
    cdef Inner *inners                # (n_inner,)
    cdef Py_ssize_t n_inner
    cdef double[:, ::1] of_matrices   # inverse scales of arrays (n_inner, n_matrices)
    cdef object known                 # the names that some kernel reads; None: all
    # Of the arrays that kernels with names read: name -> elements, each of which is a term of their sums.
    # They are those of the vectors when the kernels changed, or of the first vector, so that kernel values
    # stay as they are while arrays come and go. None: there was no vector yet.
    cdef dict array_sizes
    cdef bint lacks_arrays            # whether there are some of these that no vector has
    cdef set named                    # the names whose scales may differ from that of all others
    # Vectors.
    cdef Features features
    cdef Matrices matrices
    cdef list layouts                 # of each vector (n,)
    cdef list objects                 # deep copies for Python functions; None without them
    # The example, and the vector that was loaded last.
    cdef Point point, other
    cdef Layout layout                # with the same list of names while they stay
    cdef bint has_found               # whether its feature rows and statistics are known
    cdef bint has_rows                # whether `rows` are those of the vectors as they are
    cdef dict snapshot                # a deep copy for Python functions
    # Scratch memory for one row.
    cdef Py_ssize_t room              # features
    cdef const double **columns_of
    cdef double *terms
    cdef double *weights
    cdef double *zeros                # (capacity,)
    cdef double *fresh                # values of the example that is being packed
    # The arrays that own all of this but kernels: by slots, features, and the two points.
    cdef object by_slot, by_feature, by_point

    # Pack x, validate it, and compute rows and self values unless x is the last example. Raises
    # ValueError that names the feature; the vectors never change.
    cpdef int evaluate(self, object x) except -1
    # The same for a row of a block, which is valid. Takes the GIL only for dicts or new names.
    cpdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil
    # The same for the example of another store, without what its kernels do not read.
    cdef int evaluate_like(self, Store other) except -1 nogil
    # Return a number for the example by which equal ones are found, in any order of names and any process.
    # Unknown values are left out, as the means in their places change.
    cdef uint64_t fingerprint(self) except? 0 nogil
    # Kernel rows of the vector in a slot (n_kernels, capacity), valid until the next call.
    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil
    # Store the example in a slot: n is a new one, another one is overwritten. `rows` stay as they
    # were, those of the example over the vectors before; `stamp` changes.
    cpdef int put(self, Py_ssize_t slot) except -1 nogil
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cpdef tuple save(self, Py_ssize_t slot)
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil
    # Whether some vector has a number with a name.
    cdef bint has_name(self, name) except -1
    # Begin a call, or raise RuntimeError if the store is in use. It ends by `is_busy = False`; `with self`
    # does both, and takes longer.
    cdef int begin(self) except -1 nogil
    # Raise RuntimeError if a call is under way, here or in an engine, or only another thread may call. The
    # call of a thread that was left behind by a fork is under way for ever, as it may have changed half.
    cdef int require_free(self, bint is_busy) except -1 nogil
    cdef int check_slot(self, Py_ssize_t slot) except -1 nogil
    cdef int check_kernel(self, Py_ssize_t kernel) except -1
