# The kernels of a store: their scales, and the kernel rows of a point over the vectors.
#
# Each kernel is a `Spec`: a function of an inner statistic (a dot product, a distance, a sum of rationals).
# Kernels that agree on the statistic and its scales share it: it is computed once a row, by the first of them,
# the leader. Scales are weights of the terms of features: squares of the inverse scales, or their sizes in a
# Manhattan distance. A kernel without a spec is a Python function, which is called with dicts.
#
# A `Point` is what rows are computed from: the numbers of an example or of a vector, and the elements of its
# arrays. It is `placed` (the feature rows of its names are set), then `measured` (what follows from its values
# alone), and then its rows can be written.
#
# What always holds:
# - The bits of a row follow from the point, the vectors, the kernels and the scales alone; the order in which
#   vectors and names came does not change them.
# - Kernel rows are 0 from n on. Loops run over whole groups of eight slots, which the tables have.
# - `statistics` and `norms` are those of the vectors as they are: `derive` sets them when one is stored.
#
# The bank owns the kernels, and the tables by slots that follow from them. It reads the vectors' values in
# `features` and `matrices`, which it shares with the vectors, and adds rows of names, as these have scales.
cimport cython
from libc.stdint cimport int32_t

from river_budget._core.features cimport Feature, Features, Layout, Matrices

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


@cython.final
cdef class Point:
    """An example or a vector, as rows are computed from it."""
    cdef Py_ssize_t m, n_known, n_nonzero  # features; those that some vector has; those other than 0
    cdef double *values
    cdef int32_t *rows                # their feature rows, those of its layout
    cdef int32_t *nonzero             # places of the values other than 0
    cdef Own *own                     # by inner statistics (n_inner,)
    cdef double *elements             # its arrays, one after another in the order of the matrices
    cdef Py_ssize_t room              # features
    cdef object by_feature, by_statistic  # the arrays that own the memory

    # Make room for so many features. The values stay.
    cdef int set_room(self, Py_ssize_t room) except -1
    # Make room for inner statistics, and for elements of arrays.
    cdef int set_sizes(self, Py_ssize_t n_inner, Py_ssize_t n_elements) except -1


@cython.final
cdef class KernelBank:
    cdef Features features
    cdef Matrices matrices
    # Kernels.
    cdef readonly Py_ssize_t n_kernels
    cdef readonly tuple kernels
    cdef readonly list scaled         # whether each reads scaled features
    cdef dict factors                 # inverse scales of names
    cdef double pooled                # and of all others
    # What scaled features are multiplied by in kernels that have relevances, by name; 1 for others.
    cdef dict relevances
    cdef Kernel *z                    # (n_kernels,)
    cdef Inner *inners                # (n_inner,)
    cdef Py_ssize_t n_inner
    cdef double[:, ::1] of_matrices   # inverse scales of arrays (n_inner, n_matrices)
    cdef object known                 # the names that some kernel reads; None: all
    cdef set named                    # the names whose scales may differ from that of all others
    # Of the arrays that kernels with names read: name -> elements, each of which is a term of their sums.
    # They are those of the vectors when the kernels changed, or of the first vector, so that kernel values
    # stay as they are while arrays come and go. None: there was no vector yet.
    cdef dict array_sizes
    cdef bint lacks_arrays            # whether there are some of these that no vector has
    # Kernel rows (n_kernels, capacity): of the example, and of a vector.
    cdef double *rows
    cdef double *other_rows
    cdef double *own_values           # (n_kernels,) k(x, x) of the example
    cdef readonly Py_ssize_t capacity # slots, a multiple of LANES
    cdef object by_slot               # the array that owns rows, statistics and norms
    # Scratch memory for one row.
    cdef const double **columns_of
    cdef double *terms
    cdef double *weights
    cdef double *zeros                # (capacity,)
    cdef object by_feature            # the array that owns it

    # Take other kernels, and derive the inner statistics that they share.
    cdef int set_kernels(self, tuple kernels) except -1
    # Make tables for so many slots and other kernels, and the scales of the arrays that there are. The rows of
    # the example stay; statistics and norms are lost.
    cdef int set_capacity(self, Py_ssize_t capacity) except -1
    # Make room for more slots. All tables stay.
    cdef int grow(self, Py_ssize_t capacity) except -1
    cdef int set_tables(self, double[:, ::1] by_slot, Py_ssize_t capacity) except -1
    # Make scratch memory for so many features.
    cdef int set_room(self, Py_ssize_t room) except -1
    # Set the scales of all feature rows anew.
    cdef int set_scales(self) except -1
    cdef int set_scales_of(self, Py_ssize_t row, name) except -1
    cdef bint hides(self, list names) except -1

    # Look up the feature rows of all names; new names get rows if asked for, or if their scales differ.
    cdef int look_up(self, Layout layout, bint adds) except -1
    cdef int add_row(self, name) except -1
    # Add the row that names without one share, the first of all.
    cdef int add_unseen(self) except -1
    # Make the features of a layout, whose rows were looked up, those of a point.
    cdef void place(self, Point p, Layout layout) noexcept nogil
    # Unpack the arrays of a point.
    cdef int unpack(self, Point p, dict arrays) except -1
    # Set the self statistics of numbers and arrays.
    cdef void measure(self, Point p) noexcept nogil

    # Set the self values of the example; return whether none is too large.
    cdef bint take_self_values(self, Point p) noexcept nogil
    # Compute the kernel rows of a point (n_kernels, capacity). Python functions are left out.
    cdef int write_rows(self, Point p, double *rows) except -1 nogil
    # Write what the functions say of an example and others (n_kernels, capacity), or itself (n_kernels,).
    cdef int call_functions(self, dict x, list others, double *values) except -1
    # Set what follows from the vector in a slot.
    cdef void derive(self, Py_ssize_t slot, Point p) noexcept nogil
    # Return k(s, s) of the vector in a slot, of a kernel that is no Python function.
    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) noexcept nogil
    # Write squared distances in input space, with the scales of the first kernel (n + 8,).
    cdef int write_distances(self, Point p, double *row) except -1 nogil

    cdef double scale_at(self, int32_t row, Py_ssize_t g) noexcept nogil
    cdef double scale_of(self, Py_ssize_t g, name) except? -1.0
    cdef double scale_of_array(self, Py_ssize_t g, name, Py_ssize_t size) except? -1.0
    cdef double rationals_of(self, Py_ssize_t g, dict arrays) except? -1.0
    cdef int numbers_row(self, Point p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil
    cdef Py_ssize_t gather(self, Point p, Inner *inner, Py_ssize_t g, bint is_all) noexcept nogil
    cdef int exact_row(self, Point p, Inner *inner, Py_ssize_t g, double *row) except -1 nogil
    cdef void add_arrays(self, Point p, Inner *inner, Py_ssize_t g, double *row) noexcept nogil
