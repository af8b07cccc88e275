# A linear discriminant on random features. A round is `store.evaluate`, `forecast` and `learn`.
from libc.stdint cimport int64_t

from river_budget._core.fourier cimport Fourier
from river_budget._core.store cimport Block, Store
from river_budget._core.sums cimport Sums
from river_budget._core.symmetric cimport Loops


cdef class Discriminant:
    cdef readonly Store store
    cdef readonly Fourier fourier
    cdef readonly Py_ssize_t n_features, n_rounds, n_mistakes, n_labels
    cdef readonly double forgetting
    cdef readonly bint learns_scales
    cdef public int64_t checked_at
    cdef public Sums sums
    # What is learned.
    cdef object P                          # elements in the layout of `symmetric.h`
    cdef object W                          # (labels, width)
    cdef double[:, ::1] K                  # (labels, room), 0 beyond the labels
    cdef double[::1] counts                # weights of the examples of each label
    cdef double beta, squares              # the temperature, and the sum of its second derivatives
    cdef Py_ssize_t turn                   # of the floors
    # The labels and weights of the examples in the store.
    cdef int64_t[::1] kept_labels
    cdef double[::1] kept_weights
    # The example with `stamp`: features, answers.
    cdef int64_t stamp
    cdef double[::1] features
    cdef object elements, product          # phi and P phi with the type of P (width,)
    cdef double[:, ::1] answers            # means W' phi, discriminants, logits, a scratch row (4, room)
    cdef Loops *loops
    cdef char *p
    cdef char *w
    cdef char *phi
    cdef char *u
    cdef Py_ssize_t width, row_bytes, room
    cdef bint is_busy

    # Compute features and answers at the example of the store, unless they are known.
    cdef int forecast(self) except -1 nogil
    # Learn the example of the store; return CHECK if that is due.
    cdef int learn(self, Py_ssize_t label, double weight) except -1 nogil

    cdef int learn_row(self, Block block, Py_ssize_t i) except -1 nogil
    cdef int evaluate(self, x) except -1
    cdef void copy_scores(self, double[::1] scores) noexcept nogil
    cdef void answer(self) noexcept nogil
    cdef int begin(self) except -1
    cdef bint is_mistake(self, Py_ssize_t label) noexcept nogil
    cdef void update(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void update_residuals(self, Py_ssize_t label, double gain) noexcept nogil
    cdef double times_inverse(self, const double *x, double *product) noexcept nogil
    cdef void add_to_residuals(self, const double *x, double weight) noexcept nogil
    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef double mean_diagonal(self) noexcept nogil
    cdef int reset(self) except -1
    cdef int set_labels(self, Py_ssize_t n_labels) except -1
    cdef int set_inverse(self, P) except -1
