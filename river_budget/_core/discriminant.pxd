# Linear discriminant analysis on random features, one example at a time: the engine of KernelLDA.
#
# `Fourier` makes random Fourier features phi of an example, as many as the user asks for: cosines and sines
# of projections of its scaled values, whose inner products are nearly a Gaussian kernel with gamma. The
# frequencies of a name follow from it and the seed, so that the order of names never matters, and
# none is a part of the state. An array is projected by signs and Hadamard transforms, which take the
# place of a dense matrix.
#
# `Discriminant` has the statistics of a linear discriminant on these, and the rounds.
# P = (lambda I + sum phi phi')^-1 is symmetric, in the layout of `symmetric.h`. W = P B are the
# coefficients of the regression of one-hot labels, B = sum phi e_y', by labels. K is the inverse of
# R = N - B' P B, the sum of squares that the regression leaves, where N has the numbers of examples. Both
# have a row for each label; that of a label without examples is 0. Its scores are twice the logits, with a
# sum of 0.
#
# Its rounds include their update, so none of them stays open. Within a round, all that can fail comes before
# the first change of a statistic. The store packs examples; it has vectors only while scales are learned,
# from the first BUFFER examples, which are then learned anew at each change of scales (`relearn`).
from river_budget._core.engine cimport Engine
from river_budget._core.loops cimport SymmetricLoops


cdef class Fourier:
    cdef Py_ssize_t n                     # frequencies, half the number of features
    cdef object seed
    cdef tuple scales                     # inverse scales of names, that of all others, and gamma
    cdef list columns                     # the last list of names
    cdef const float[:, ::1] frequencies  # theirs (names, n)
    cdef double[::1] weights              # their inverse scales, times the root of 2 gamma
    cdef double[::1] projections          # of an example (n,)

    # Project an example with the values of the numbers in columns, and arrays, or None. Takes the GIL for
    # arrays, and for other names than the last.
    cdef int project(self, list columns, const double *values, dict arrays) except -1 nogil
    cdef int look_up(self, list columns) except -1
    cdef int add_array(self, name, array) except -1


cdef class Discriminant(Engine):
    cdef Fourier fourier
    cdef Py_ssize_t n_features
    cdef double forgetting, most_weight
    cdef double least_variance             # of an example: a smaller one is a rounding error
    # What is learned.
    cdef object P                          # elements in the layout of `symmetric.h`
    cdef object W                          # (labels, width)
    cdef double[:, ::1] K                  # (labels, room), 0 beyond the labels
    cdef double[::1] counts                # weights of the examples of each label
    cdef double scale                      # a common factor of the elements of P
    cdef double beta, squares              # the temperature, and the sum of its second derivatives
    cdef double[:, ::1] kept               # labels and weights of the examples in the store (BUFFER, 2)
    # Of the example that `answers` are for: W' phi and what follows, and then its residuals and K times these.
    cdef object vectors                    # phi and P phi with the type of P (2, width)
    cdef double[::1] means, discriminants, logits, residuals, changes  # by labels (room,)
    # The addresses of P, W, phi and P phi, and the loops for their type.
    cdef char *p
    cdef char *w
    cdef char *phi
    cdef char *u
    cdef SymmetricLoops *loops
    cdef Py_ssize_t width, n_rows, row_bytes, room

    cdef void update(self, Py_ssize_t label, double weight, Py_ssize_t n_rounds) noexcept nogil
    cdef double regress(self, Py_ssize_t label, double weight) noexcept nogil
    cdef double times_inverse(self) noexcept nogil
    cdef void add_to_residuals(self, double weight) noexcept nogil
    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil
    cdef void forget(self, Py_ssize_t n_rounds) noexcept nogil
    cdef int reset(self) except -1
