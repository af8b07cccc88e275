# A linear discriminant on random features.
from libc.stdint cimport int64_t

from river_budget._core.engine cimport Engine
from river_budget._core.fourier cimport Fourier
from river_budget._core.symmetric cimport Loops


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
    # The labels and weights of the examples in the store.
    cdef int64_t[::1] kept_labels
    cdef double[::1] kept_weights
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

    cdef void discriminate(self) noexcept nogil
    cdef void update(self, Py_ssize_t label, double weight) noexcept nogil
    cdef double regress(self, Py_ssize_t label, double weight, double factor) noexcept nogil
    cdef void update_residuals(self, Py_ssize_t label, double gain) noexcept nogil
    cdef double times_inverse(self, const double *x, double *product) noexcept nogil
    cdef void add_to_residuals(self, const double *x, double weight) noexcept nogil
    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void fade(self) noexcept nogil
    cdef int reset(self) except -1
