# Kernel rows of examples over the vectors: who owns what.
#
# n vectors are in slots 0 to n - 1, in the units of the user. There are one or several kernels, each
# a `Spec`: a function of an inner statistic, which kernels share. What they read is in two parts of
# a vector: numbers (`Features`) and arrays (`Matrices`). Scales are weights of the terms of features:
# squares of the inverse scales, or their sizes in a Manhattan distance.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t

from river_budget._core.features cimport Features, Layout, Matrices

cdef enum:                            # statistics and functions, as in `kernels.base`
    DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS
cdef enum:
    IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN

cdef struct Spec:                     # one kernel, from `kernels.base`
    int statistic, function, degree
    double gamma, coef0, n_names
    bint normalized

cdef struct Kernel:
    Spec spec
    Py_ssize_t inner                  # of its inner statistic; -1: a Python function
    double *norms                     # k(s, s) of the vectors, its root if normalized; NULL: all 1

cdef struct Inner:                    # an inner statistic that kernels share
    int statistic
    bint is_scaled, reads_all
    Py_ssize_t leader                 # the first of its kernels
    double gamma, n_names             # the largest gamma of its kernels
    double *statistics                # of the numbers of each vector alone (capacity,)
    double *of_matrices               # inverse scales of the arrays by names (n_matrices,)

cdef struct Point:                    # an example or a vector, as rows are computed from it
    Py_ssize_t m, n_known, n_nonzero  # features; those that some vector has; those other than 0
    double *values
    int32_t *rows                     # feature rows; -1: none
    int32_t *nonzero                  # places of the values other than 0
    double *scales                    # inverse (n_inner, room); 0 for features that are not read
    double *own                       # (n_inner,) self statistics of the numbers
    double *extra                     # (n_inner,) self statistics of arrays that no vector has
    double *elements                  # its arrays, one after another in the order of the matrices


cdef class Rows:
    cdef readonly Py_ssize_t n        # vectors
    cdef readonly Py_ssize_t capacity # slots, a multiple of LANES; grows when a vector is stored
    cdef readonly Py_ssize_t n_kernels
    # Kernels.
    cdef readonly tuple kernels
    cdef list scaled                  # whether each reads scaled features
    cdef dict factors                 # inverse scales of names
    cdef double pooled                # and of all others
    cdef Kernel *z                    # (n_kernels,)
    cdef Inner *inners                # (n_inner,)
    cdef Py_ssize_t n_inner
    cdef bint is_selective            # whether there are names that no kernel reads
    cdef int64_t version              # another number whenever scales of features may have changed
    # Vectors.
    cdef Features features
    cdef Matrices matrices
    cdef list layouts                 # of each vector (n,)
    cdef int64_t *inserted            # (capacity,) insertion order, larger for younger vectors
    cdef double *scales               # inverse, of the feature rows (scales_room, n_inner)
    cdef Py_ssize_t scales_room
    cdef Point point, other           # the example, and the vector that was loaded last
    # Kernel rows (n_kernels, capacity), 0 from n on: of the example, and of a vector.
    cdef double *rows
    cdef double *other_rows
    # Scratch memory for one row.
    cdef Py_ssize_t room              # features
    cdef const double **columns_of
    cdef double *terms
    cdef double *weights
    cdef double *zeros                # (capacity,)
    cdef double *fresh                # values of the example that is being packed
    # The arrays that own all of this but kernels, insertion order and scales: by slots, features, kernels.
    cdef object by_slot, by_feature, by_kernel

    # Change the kernels, and derive all that follows from them.
    cdef int set_kernels(self, tuple kernels) except -1
    # Return the inverse scale of a feature in an inner statistic; 0 if it is not read.
    cdef double scale_of(self, Py_ssize_t g, name) except? -1.0
    # Return the positions of the names that some kernel reads.
    cdef list active(self, list names)
    # Make room for the features of one example.
    cdef int resize(self, Py_ssize_t room) except -1
    cdef int set_capacity(self, Py_ssize_t capacity) except -1
    # Forget all vectors. The capacity stays.
    cdef int clear(self) except -1
    # Look up the feature rows of all names; a new name gets one, with its scales.
    cdef int assign_rows(self, Layout layout) except -1
    # Set the features of a point to those of a layout, which all have rows.
    cdef int set_features(self, Point *p, Layout layout) except -1 nogil
    # Make the vector in a slot the other point, with its self statistics.
    cdef int load(self, Py_ssize_t slot) except -1 nogil
    # Set the self statistics of the numbers.
    cdef void measure(self, Point *p) noexcept nogil
    # Return the self statistic of numbers and arrays.
    cdef double own_statistic(self, Point *p, Py_ssize_t g) noexcept nogil
    # Keep the self statistics of the vector in a slot, which is a point.
    cdef void set_statistics(self, Py_ssize_t slot, Point *p) noexcept nogil
    # Compute the kernel rows of an example or a vector (n_kernels, capacity).
    cdef int kernel_rows(self, Point *p, double *rows) except -1 nogil
    # Return squared distances of features as the first kernel reads and scales them (n,).
    cdef object squared_distances(self, Point *p)

# Return k(x, x) before normalization.
cdef double raw_self_value(Spec *spec, double statistic) noexcept nogil
# Return the layout of a vector.
cdef PyObject *layout_of(Rows self, Py_ssize_t slot) noexcept nogil
