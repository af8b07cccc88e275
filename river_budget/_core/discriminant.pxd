# A linear discriminant on random features, and these: who owns what.
#
# The frequencies of a name follow from it and the seed, so that the order of names never matters, and
# none is a part of the state. A cache has those of the last MOST_COLUMNS names, or of one example.
# An array is projected by signs and Hadamard transforms, which take the place of a dense matrix.
from river_budget._core.engine cimport Engine

cdef extern from "symmetric.h":
    struct Loops "symmetric_loops":
        void (*multiply)(const void *m, const void *x, void *product, long n) noexcept nogil
        void (*column)(const void *m, long j, void *column, long n) noexcept nogil
        void (*subtract)(void *m, double factor, const void *x, long n) noexcept nogil
        double (*dot)(const void *a, const void *b, long n) noexcept nogil
        void (*add_multiple)(void *a, double factor, const void *b, long n) noexcept nogil
        void (*convert)(const double *x, double factor, void *to, long n) noexcept nogil
        void (*scale)(void *a, double factor, long n) noexcept nogil
        void (*hadamard)(void *x, const signed char *signs, long n) noexcept nogil
        void (*add_floats)(void *sum, double factor, const float *terms, long n) noexcept nogil


cdef class Fourier:
    cdef readonly Py_ssize_t n        # frequencies, half the number of features
    cdef readonly object seed
    cdef readonly tuple scales        # inverse scales of names, that of all others, and gamma
    cdef dict rows                    # names -> their frequencies, float32 arrays (n,)
    cdef dict signs                   # (name, length) -> int8 array (blocks, 3, size)
    cdef list columns                 # the last list of names
    cdef Py_ssize_t[::1] frequencies  # the addresses of their rows
    cdef double[::1] weights          # their inverse scales, times the root of 2 gamma
    cdef double[::1] z                # the projections (n,)

    # Compute cosines and sines of the projections of an example (2 n,), from the values of its numbers
    # and its arrays, which may be None. Takes the GIL for arrays, and for other names than the last.
    cdef int transform(
        self, list columns, const double *values, dict arrays, double *features
    ) except -1 nogil
    cdef list weights_of(self, names)
    cdef int look_up(self, list columns) except -1
    cdef int add_array(self, name, array) except -1


cdef class Discriminant(Engine):
    cdef readonly Fourier fourier
    cdef readonly Py_ssize_t n_features
    cdef readonly double forgetting
    cdef readonly bint learns_scales
    # What is learned.
    cdef object P                          # elements in the layout of `symmetric.h`
    cdef object W                          # (labels, width)
    cdef double[:, ::1] K                  # (labels, room), 0 beyond the labels
    cdef double[::1] counts                # weights of the examples of each label
    cdef double beta, squares              # the temperature, and the sum of its second derivatives
    cdef Py_ssize_t turn                   # of the floors and of the prior's directions
    cdef double[:, ::1] kept               # labels and weights of the examples in the store (BUFFER, 2)
    # The example with `stamp`.
    cdef double[::1] features
    cdef object elements, product          # phi and P phi with the type of P (width,)
    cdef double[:, ::1] outputs            # means W' phi, discriminants, logits, a scratch row (4, room)
    cdef Loops *loops
    cdef char *p
    cdef char *w
    cdef char *phi
    cdef char *u
    cdef Py_ssize_t width, row_bytes, room

    cdef void update(self, Py_ssize_t label, double weight) noexcept nogil
    cdef double regress(self, Py_ssize_t label, double weight, double factor) noexcept nogil
    cdef double times_inverse(self, const double *x, double *product) noexcept nogil
    cdef void add_to_residuals(self, const double *x, double weight) noexcept nogil
    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef int reset(self) except -1
