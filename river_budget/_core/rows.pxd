# Kernel rows of examples over the vectors: who owns what.
#
# n vectors are in slots 0 to n - 1, in the units of the user. There are one or several kernels, each
# a `Spec`: a function of an inner statistic, which kernels share. What they read is in two parts of
# a vector: numbers (`Features`) and arrays (`Matrices`). Scales are weights.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t

from river_budget._core.features cimport Features, Layout
from river_budget._core.matrices cimport Matrices

cdef enum:                            # statistics and functions, as in `kernels.spec`
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN

cdef struct Spec:                     # one kernel, from `kernels.spec`
    int statistic, function, degree
    double gamma, coef0, n_names
    bint normalized


cdef struct Kernel:
    Spec spec
    Py_ssize_t inner                  # of its inner statistic; -1: a Python function
    double *norms                     # k(s, s) of the vectors, its root if normalized; NULL: all 1

cdef struct Inner:                    # an inner statistic that kernels share
    int statistic
    bint is_scaled, is_plain          # plain: all weights are 1
    Py_ssize_t leader                 # the first of its kernels
    double gamma, n_names             # the largest gamma of its kernels
    double *statistics                # of the numbers of each vector alone (capacity,)
    double *weights                   # of the feature rows, 0 for unread ones
    double *of_matrices               # of the arrays by names (n_matrices,)

cdef struct Point:                    # an example or a vector, as rows are computed from it
    Py_ssize_t m, n_known             # features, and those that some vector has
    double *values
    int32_t *rows                     # feature rows; -1: none
    double *weights                   # (n_inner, room)
    double *own                       # (n_inner,) self statistics of the numbers
    double *extra                     # (n_inner,) self statistics of arrays that no vector has
    double *elements                  # its arrays, one after another in the order of the matrices


cdef class Rows:
    cdef readonly Py_ssize_t n        # vectors
    cdef readonly Py_ssize_t capacity # slots, a multiple of LANES; grows in `put` only
    cdef readonly Py_ssize_t n_kernels
    # Kernels.
    cdef tuple _kernels
    cdef list scaled                  # whether each reads scaled features
    cdef dict factors                 # inverse scales of names
    cdef double pooled                # and of all others
    cdef Kernel *z                    # (n_kernels,)
    cdef Inner *inners                # (n_inner,)
    cdef Py_ssize_t n_inner
    cdef bint is_selective            # whether there are names that no kernel reads
    cdef int64_t version              # another number whenever kernels or matrices change
    # Vectors.
    cdef Features features
    cdef Matrices matrices
    cdef PyObject **layouts           # (capacity,) owned
    cdef int64_t *inserted            # (capacity,) insertion order, larger for younger vectors
    cdef Py_ssize_t weights_room      # feature rows for which there are weights
    cdef Point other                  # the vector that was loaded last; it owns its values
    # Kernel rows (n_kernels, capacity), 0 from n on: of the example, and of a vector.
    cdef double *rows
    cdef double *other_rows
    # Scratch memory for one row.
    cdef Py_ssize_t room              # features
    cdef const double **columns_of
    cdef double *terms
    cdef double *term_weights
    cdef int32_t *listed
    cdef double *zeros                # (capacity,)

    cdef void free_inners(self) noexcept
    cdef int set_kernels(self, tuple kernels) except -1
    cdef int count_elements(self, kernel, Spec *spec, Inner *inner) except -1
    cdef int renew(self) except -1
    cdef int set_sizes(self, Point *p) except -1
    cdef double weight_of(self, Py_ssize_t g, name) except -1
    cdef int set_weights(self, name, Py_ssize_t row) except -1
    cdef list active(self, list names)
    cdef int resize(self, Py_ssize_t room) except -1 nogil
    cdef int set_capacity(self, Py_ssize_t capacity) except -1
    cdef int clear(self) except -1
    cdef int load(self, Py_ssize_t slot) except -1 nogil
    cdef int set_features(self, Point *p, Layout layout) except -1 nogil
    cdef void set_statistics(self, Py_ssize_t slot, Point *p) noexcept nogil
    cdef int assign_rows(self, Layout layout) except -1
    cdef void measure(self, Point *p) noexcept nogil
    cdef double own_statistic(self, Point *p, Py_ssize_t g) noexcept nogil
    cdef int kernel_rows(self, Point *p, double *rows) except -1 nogil
    cdef void add_arrays(self, Point *p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil
    cdef int inner_row(
        self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
    ) except -1 nogil
    cdef int sparse_row(
        self, Point *p, Inner *inner, Py_ssize_t g, Py_ssize_t n, double *row
    ) except -1 nogil
    cdef bint cancels(self, Point *p, Inner *inner, Py_ssize_t g) noexcept nogil
    cdef int exact_row(
        self, Point *p, Inner *inner, const double *weights, Py_ssize_t n, double *row
    ) except -1 nogil
    cdef object squared_distances(self, Point *p)

cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil
cdef void free_point(Point *p) noexcept
