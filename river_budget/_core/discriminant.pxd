# Linear discriminant analysis on random features, one example at a time: the engine of KernelLDA.
#
# `Fourier` projects an example: the cosines and sines of its projections are random Fourier features phi, as many as
# the user asks for, whose inner products are nearly a Gaussian kernel with the width gamma. The frequencies of a name
# follow from it and the seed, so the order of names never matters, and no frequency is a part of the state. An array
# is projected by signs and Hadamard transforms, which take the place of a dense matrix.
#
# `Discriminant` has the statistics of a linear discriminant on these features, and the rounds:
# - P = (lambda I + sum phi phi')^-1 is symmetric, in the layout of `symmetric.h`;
# - W = P B, by labels, has the coefficients of a regression of one-hot labels, where B = sum phi e_y';
# - K is the inverse of R = N - B' P B, the sum of squares that the regression leaves, where the diagonal matrix N has
#   the numbers of examples of the labels. The scores are twice the logits, shifted to a sum of 0.
#
# A wide model learns the rows of a frame together (`learn_rows`): P and W change by products of matrices, once for all
# rows. Everything else, of the size of the labels, changes row by row as it would one after the other.
#
# What always holds:
# - W and K have a row for each label; that of a label without examples is 0.
# - Rounds include their update, so none of them stays open. Within a round, all that can fail comes before the first
#   change of a statistic.
# - The store packs examples. It has vectors only while scales are learned: the first BUFFER examples, which are
#   learned anew at each change of scales (`relearn`).
#
# The discriminant owns its statistics and its `Fourier`; all models share the frequencies of small names.
from river_budget._core.engine cimport Engine
from river_budget._core.loops cimport SymmetricLoops
from river_budget._core.store cimport Block


cdef class Fourier:
    cdef Py_ssize_t n                     # frequencies of a name, half the number of features
    cdef object seed
    cdef tuple scales                     # inverse scales by names, that of all other names, and gamma
    cdef list last_names                  # the names of the last example; None if their frequencies are found anew
    cdef const float[:, ::1] frequencies  # of these names (names, n)
    cdef double[::1] weights              # their inverse scales, times the root of 2 gamma
    cdef double[::1] projections          # of an example (n,)

    # Project an example with names and values of numbers, and with arrays or None. Takes the GIL for arrays,
    # and for other names than the last ones.
    cdef int project(self, list names, const double *values, dict arrays) except -1 nogil
    cdef int look_up(self, list names) except -1
    cdef int add_array(self, name, array) except -1


cdef class Discriminant(Engine):
    cdef Fourier fourier
    cdef Py_ssize_t n_features
    cdef double forgetting, most_weight
    cdef double least_variance             # phi' P phi of an example: a smaller one is a rounding error
    # What is learned.
    cdef object P                          # elements in the layout of `symmetric.h`, without the factor `scale`
    cdef object W                          # (labels, width)
    cdef double[:, ::1] K                  # (labels, room), 0 beyond the labels
    cdef double[::1] counts                # the diagonal of N: the sum of the weights of the examples of each label
    cdef double scale                      # a common factor of the elements of P
    cdef double beta, squares              # the inverse temperature, and the fading sum of its second derivatives
    cdef double[:, ::1] kept               # labels and weights of the examples in the store (BUFFER, 2)
    # What belongs to one round: phi and P phi (2, width); and by labels (room,), the means W' phi, discriminants
    # and logits that follow, of the example that `answers` are for, and then residuals, and K times these.
    cdef object vectors
    cdef double[::1] means, discriminants, logits, residuals, changes
    # The addresses of P, W, phi and u = P phi, and the loops for the type of their elements.
    cdef char *p
    cdef char *w
    cdef char *phi
    cdef char *u
    cdef SymmetricLoops *loops
    # The lengths of phi, padded to 8, and of P, padded to 4; a row of W in bytes; and the labels, padded to 8.
    cdef Py_ssize_t width, n_rows, row_bytes, room

    cdef int project(self) except -1 nogil
    cdef void compare(self) noexcept nogil
    cdef double bounded(self, double weight) noexcept nogil
    cdef void count(self, Py_ssize_t label, double weight, double gain) noexcept nogil
    cdef int learn_rows(self, Block block, Py_ssize_t[::1] rows) except -1
    cdef void update(self, Py_ssize_t label, double weight, Py_ssize_t n_rounds) noexcept nogil
    cdef double regress(self, Py_ssize_t label, double weight) noexcept nogil
    cdef double times_inverse(self) noexcept nogil
    cdef void add_to_residuals(self, double weight) noexcept nogil
    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void forget(self, Py_ssize_t n_rounds) noexcept nogil
    cdef int reset(self) except -1
