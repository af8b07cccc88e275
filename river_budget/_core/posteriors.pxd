# The posteriors of Mnemotron's experts at the support vectors, and the update of all of them.
#
# `Triangles` owns symmetric matrices that grow by rows (`triangles.h`), `Posteriors` those of all
# experts and what a round computes of them. A round has three steps: `forecast`; `compare`, which
# computes errors, variances and novelties, and says which slot the example takes; and `update`. The
# first two change nothing that is learned, so whatever comes between them and the third may fail.
#
# Vectors have `width` elements, more than the budget; kernel rows are 0 from n on, up to a multiple
# of 4.
from river_budget._core.loops cimport Triangle
from river_budget._core.store cimport Store


cdef class Triangles:
    cdef readonly Py_ssize_t n_matrices
    cdef Triangle *matrices
    cdef object blocks, diagonals, terms, signs, table  # of all matrices; the table has their structs


cdef class Posteriors:
    cdef Store store                      # the support vectors, and the kernel rows of the example
    cdef readonly list experts            # kernel, forgetting factor and noise variance of each
    cdef readonly Py_ssize_t n_experts, n_kernels, n_columns, budget
    cdef readonly Triangles covariances   # C without its common factor (experts,)
    cdef readonly Triangles inverses      # Q (kernels,)
    cdef Py_ssize_t width
    cdef readonly Py_ssize_t[::1] kernels # of each expert, and its forgetting and noise
    cdef double[::1] factors, noises
    cdef double[::1] scales               # the common factor of C; its root is that of a
    cdef double[:, :, ::1] means          # a (experts, columns, width), 0 from n on
    cdef double prior                     # the prior mean of every column
    cdef readonly Py_ssize_t n_rebuilds   # inverses that were recomputed because of rounding errors
    cdef public object before             # `grams` before a change of scales that has not ended, or None
    # Scratch of a round.
    cdef bint backwards                   # the order of experts, of which the last are in the cache
    cdef double[::1] r                    # -1 / variance; 0: no update (experts,)
    cdef double[::1] g                    # novelties (kernels,)
    cdef double[:, ::1] margins, q        # means and changes (experts, columns)
    cdef double[:, ::1] u, c              # Q k (kernels, width), C k (experts, width)
    cdef double[:, ::1] a                 # (kernels + 3, width)

    # Compute the probabilities of labels (experts, labels) at the example of the store.
    cdef void forecast(self, double[:, ::1] probabilities) noexcept nogil
    # Compare the last forecast with a label; return the slot that the example takes, or -1. The
    # example is as novel as the kernels say in the mean over the experts, weighted by their shares; it
    # replaces no vector that is kept (NULL: none).
    cdef Py_ssize_t compare(
        self, Py_ssize_t label, double weight, double novelty, const double *shares, const char *kept
    ) noexcept nogil
    # Learn it with n vectors before, of which it has replaced the one in the slot, if any.
    cdef void update(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil
    cdef void fold_scale(self, Py_ssize_t e) noexcept with gil
