# cython: language_level=3, wraparound=False
# cython: initializedcheck=False, cdivision=True
"""The Gaussian process posteriors of the experts at the shared support vectors."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport INFINITY, erfc, fabs, fmax, fmin, log2, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from river_budget._core.features import zero_matrix
from river_budget._core.symmetric import unpacked
from river_budget._state import floats, require, require_definite

cdef extern from *:
    """
    #pragma GCC optimize("O3")  // vectors for the loops over support vectors
    """

cdef extern from "triangles.h":
    struct TriangleLoops "triangle_loops":
        double (*dot)(const double *a, const double *b, long n) noexcept nogil
        void (*add_multiple)(double *a, double factor, const double *b, long n) noexcept nogil
        void (*add_terms)(
            const Triangle *m, long width, const double *dots, double *product, long n
        ) noexcept nogil
        void (*multiply)(
            Triangle *m, long width, const double *x, double *product, long n
        ) noexcept nogil
    long row_start(long i) noexcept nogil
    long place_of(long i, long j) noexcept nogil
    int choose_triangle_lanes(TriangleLoops *table, int most)

cdef TriangleLoops loops

# Vectors have a multiple of so many elements.
cdef enum:
    LANES = 8

# Added to the diagonal of the Gram matrices, so that their inverses stay well conditioned.
JITTER = 1e-3
cdef double REGULARIZED = 1.0 + JITTER

# Variance of the probit link from a margin to a probability: p = Phi(m / sqrt(LINK)).
LINK = 0.3
cdef double LINK_FACTOR = -1.0 / sqrt(2.0 * LINK)

# With more than two labels, no probability is smaller before they are normalized.
cdef double SMALLEST_PROBABILITY = 1e-12

# An example with less novelty is numerically in the span: the update would divide by about 0.
cdef double SMALLEST_NOVELTY = 1e-7

# A smaller common factor is multiplied into the covariance, so that it cannot underflow.
cdef double SMALLEST_SCALE = 1e-100

# A weight makes the noise variance of an example no smaller than this, so that the posterior
# variances do not vanish in rounding errors.
cdef double SMALLEST_NOISE = 1e-6


def use_lanes(int most):
    """Compute with vectors of at most `most` doubles; return how many they have."""
    return choose_triangle_lanes(&loops, most)


use_lanes(LANES)


def zeros(*shape):
    """Return an array of zeros that begins at a line of the cache."""
    return zero_matrix(shape, np.dtype(np.float64))


cdef class Triangles:
    """Symmetric matrices as lower triangles.

    The last changes of a matrix, sums of outer products of vectors, are kept apart as *terms* until
    there are enough of them to be added in one pass.
    """

    def __init__(self, Py_ssize_t n_matrices, Py_ssize_t width):
        cdef Py_ssize_t i, end = row_start(width)
        cdef double[:, ::1] memory = zeros(n_matrices, end + (1 + MOST_TERMS) * width)
        self.n_matrices, self.width, self.memory = n_matrices, width, memory.base
        self.blocks, self.diagonals = memory.base[:, :end], memory.base[:, end : end + width]
        self.terms = memory.base[:, end + width :].reshape(n_matrices, MOST_TERMS, width)
        self.matrices = <Triangle *> PyMem_Calloc(n_matrices, sizeof(Triangle))
        if self.matrices == NULL:
            raise MemoryError
        for i in range(n_matrices):
            self.matrices[i].blocks = &memory[i, 0]
            self.matrices[i].diagonal = &memory[i, end]
            self.matrices[i].terms = &memory[i, end + width]

    def __dealloc__(self):
        PyMem_Free(self.matrices)

    cdef double *new_terms(self, Py_ssize_t i, Py_ssize_t n_new, double sign) noexcept nogil:
        matrix = &self.matrices[i]
        cdef Py_ssize_t k = matrix.n_terms, size = self.width
        if n_new == 2:  # They stand at places from an even number on, so the last one may make room.
            k = k // 2 * 2
            memcpy(matrix.terms + (k + 2) * size, matrix.terms + k * size, size * sizeof(double))
            matrix.signs[k + 2], matrix.signs[k + 1] = matrix.signs[k], -sign
        x = matrix.terms + k * size
        matrix.signs[k] = sign
        memset(x, 0, n_new * size * sizeof(double))
        matrix.n_terms += n_new
        return x

    cdef void take_column(
        self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t n, double *column
    ) noexcept nogil:
        cdef Py_ssize_t k, t
        cdef double[MOST_TERMS] dots
        matrix = &self.matrices[i]
        for k in range(n):
            element = matrix.blocks + (place_of(k, j) if k >= j else place_of(j, k))
            column[k] = element[0]
            element[0] = 0.0
        # The block on the diagonal is whole.
        for k in range(4 * (j // 4), 4 * (j // 4) + 4):
            matrix.blocks[place_of(k, j)] = matrix.blocks[place_of(j, k)] = 0.0
        matrix.diagonal[j] = 0.0
        for t in range(matrix.n_terms):
            dots[t] = matrix.terms[t * self.width + j]
        loops.add_terms(matrix, self.width, dots, column, n)
        for t in range(matrix.n_terms):
            matrix.terms[t * self.width + j] = 0.0

    cdef void copy_diagonal(self, Py_ssize_t i, Py_ssize_t n, double *diagonal) noexcept nogil:
        cdef Py_ssize_t k, t
        cdef double sign
        matrix = &self.matrices[i]
        memcpy(diagonal, matrix.diagonal, n * sizeof(double))
        for t in range(0, matrix.n_terms, 2):
            x = y = matrix.terms + t * self.width
            sign = 0.0
            if t + 1 < matrix.n_terms:
                y, sign = x + self.width, matrix.signs[t + 1]
            for k in range(n):
                diagonal[k] += matrix.signs[t] * x[k] * x[k] + sign * y[k] * y[k]

    def set(self, Py_ssize_t i, matrix):
        """Set a matrix to the symmetric part of another one (n, n).

        It calls no function of Python, so no interrupt can come in between.
        """
        of_block = np.arange(len(matrix)) // 4
        rows, columns = (of_block[:, np.newaxis] >= of_block).nonzero()
        self.blocks[i, places(rows, columns)] = (0.5 * (matrix + matrix.T))[rows, columns]
        self.diagonals[i, : len(matrix)] = matrix.diagonal()
        self.matrices[i].n_terms = 0

    @property
    def signs(self):
        """The signs of the terms (matrices, MOST_TERMS), 0 where there is none."""
        signs = np.array([self.matrices[i].signs for i in range(self.n_matrices)])
        n_terms = [[self.matrices[i].n_terms] for i in range(self.n_matrices)]
        return np.where(np.arange(MOST_TERMS) < n_terms, signs, 0.0)

    def matrices_of(self, Py_ssize_t n):
        """Return all matrices, with their terms (matrices, n, n)."""
        matrices = unpacked(self.blocks[:, places(*np.tril_indices(n))], n)
        for k in range(0, MOST_TERMS, 2):
            x, signs = self.terms[:, k : k + 2, :n], self.signs[:, k : k + 2, None, None]
            matrices += (signs * (x[:, :, :, None] * x[:, :, None, :])).sum(axis=1)
        return matrices

    @property
    def nbytes(self):
        return self.memory.nbytes + 8 * LANES + self.n_matrices * sizeof(Triangle)

    def state(self, Py_ssize_t n):
        """Return the packed rows without their terms, and the terms and their signs."""
        triangles, signs = self.blocks[:, places(*np.tril_indices(n))], self.signs
        return {"triangles": triangles, "terms": self.terms[signs != 0, :n], "signs": signs}

    def restore(self, state, Py_ssize_t n):
        triangles = floats(state["triangles"], (self.n_matrices, n * (n + 1) // 2))
        signs = floats(state["signs"], (self.n_matrices, MOST_TERMS))
        is_term = np.arange(MOST_TERMS) < np.count_nonzero(signs, axis=1, keepdims=True)
        require((abs(signs) == is_term).all(), "a sign is neither 1 nor -1")
        terms = floats(state["terms"], (int(is_term.sum()), n))
        for i, matrix in enumerate(unpacked(triangles, n)):
            self.set(i, matrix)
            for sign in signs[i, is_term[i]]:
                self.new_terms(i, 1, sign)
        self.terms[is_term, :n] = terms


def places(rows, columns):
    """Return the places of elements in the blocks, as `place_of` does."""
    return 8 * (rows // 4) * (rows // 4 + 1) + 4 * (rows % 4) + 16 * (columns // 4) + columns % 4


cdef class Posteriors:
    """The posterior of each expert: a mean for each label, and one covariance.

    With a Gram matrix K of the kernel, the inverse `Q = (K + jitter I)^-1`, an expert's mean
    coefficients a and its matrix C, the posterior of f(x) has the mean `mu + a k(x)` and the
    variance `k(x, x) + k(x)' C k(x)`. The prior mean mu is 0 with two labels, and -1 + 2 / C with
    C > 2. There is one column of means for two labels, that of the positive one, and one for each
    of more.
    """

    def __init__(self, Store vectors not None, list experts, Py_ssize_t budget):
        cdef Py_ssize_t n_experts = len(experts), n_kernels = vectors.n_kernels
        cdef Py_ssize_t width = (budget // LANES + 1) * LANES
        self.vectors, self.experts, self.budget, self.width = vectors, experts, budget, width
        self.n_experts, self.n_kernels = n_experts, n_kernels
        kernels, factors, noises = zip(*experts)
        self.kernels = np.array(kernels, np.intp)
        self.factors, self.noises = np.array(factors, np.float64), np.array(noises, np.float64)
        self.covariances = Triangles(n_experts, width)
        self.inverses = Triangles(n_kernels, width)
        self.scales = np.ones(n_experts)
        self.r, self.g = np.zeros(n_experts), np.zeros(n_kernels)
        self.u, self.c = zeros(n_kernels, width), zeros(n_experts, width)
        self.a = zeros(n_kernels + 3, width)
        self.widen((zeros(n_experts, 1, width), *np.zeros((2, n_experts, 1))))

    cdef void forecast(self, double[:, ::1] probabilities) noexcept nogil:
        cdef Py_ssize_t e, i, n = self.vectors.n
        cdef double m, p, root, total
        for e in range(self.n_experts):
            root, total = sqrt(self.scales[e]), 0.0
            row, own = self.row_of(self.kernels[e]), &probabilities[e, 0]
            for i in range(self.n_columns):
                m = self.prior + root * loops.dot(&self.means[e, i, 0], row, n)
                p = 0.5 * erfc(LINK_FACTOR * m)
                self.margins[e, i] = m
                if self.n_columns == 1:
                    own[0], own[1] = 1.0 - p, p
                else:
                    own[i] = fmax(p, SMALLEST_PROBABILITY)
                    total += own[i]
            if self.n_columns > 1:
                for i in range(self.n_columns):
                    own[i] /= total

    cdef inline const double *row_of(self, Py_ssize_t z) noexcept nogil:
        """Return the kernel row of the example."""
        return self.vectors.rows + z * self.vectors.capacity

    cdef Py_ssize_t compare(
        self, Py_ssize_t label, double weight, double novelty, const double *shares, const char *kept
    ) noexcept nogil:
        cdef Py_ssize_t e, z, n = self.vectors.n
        cdef double share = 0.0, least_novelty = INFINITY
        cdef bint is_update = False
        for e in range(self.n_experts):
            self.r[e] = -1.0 if self.compare_margins(e, label) else 0.0
            is_update |= self.r[e] != 0.0
        if not is_update:
            return -1
        for z in range(self.n_kernels):
            row, u = self.row_of(z), &self.u[z, 0]
            loops.multiply(&self.inverses.matrices[z], self.width, row, u, n)
            self.g[z] = REGULARIZED - loops.dot(row, u, n)
            least_novelty = fmin(least_novelty, self.g[z])
        self.compute_changes(weight)
        for e in range(self.n_experts):
            share += shares[e] * self.g[self.kernels[e]] / REGULARIZED
        share *= log2(max(2, self.n_columns))  # a label of many tells more, so a projection loses more
        if n > 0 and not (share > novelty and least_novelty > SMALLEST_NOVELTY):
            return -1
        return n if n < self.budget else self.slot_to_replace(shares, kept)

    cdef bint compare_margins(self, Py_ssize_t e, Py_ssize_t label) noexcept nogil:
        """Set q to the errors of an expert, 0 where it is right by 1; return whether to update."""
        cdef Py_ssize_t i
        cdef double y, m, own = 0.0, largest = -INFINITY, root = sqrt(self.factors[e])
        for i in range(self.n_columns):
            m = self.prior + root * (self.margins[e, i] - self.prior)
            y = 1.0 if label == (i if self.n_columns > 1 else 1) else -1.0
            self.q[e, i] = y - m if y * m < 1.0 else 0.0
            if self.n_columns == 1:
                return y * m < 1.0
            if i == label:
                own = m
            else:
                largest = fmax(largest, m)
        return own - largest < 1.0

    cdef void compute_changes(self, double weight) noexcept nogil:
        """Compute c, q and r of the experts that are updated; of the others they are 0."""
        cdef Py_ssize_t i, k, e, n = self.vectors.n
        cdef double noise, scale, v
        self.backwards = not self.backwards
        for k in range(self.n_experts):
            e = self.n_experts - 1 - k if self.backwards else k
            row, c = self.row_of(self.kernels[e]), &self.c[e, 0]
            matrix = &self.covariances.matrices[e]
            if self.r[e] != 0.0 or matrix.n_terms >= GROUP:
                loops.multiply(matrix, self.width, row, c, n)
            if self.r[e] == 0.0:
                memset(c, 0, n * sizeof(double))
                memset(&self.q[e, 0], 0, self.n_columns * sizeof(double))
                continue
            scale, noise = self.scales[e] * self.factors[e], self.noises[e]
            for i in range(n):
                c[i] *= scale
            if weight != 1.0:
                noise = fmax(noise / weight, fmin(noise, SMALLEST_NOISE))
            v = noise + REGULARIZED + loops.dot(row, c, n)
            for i in range(self.n_columns):
                self.q[e, i] /= v
            self.r[e] = -1.0 / v

    cdef Py_ssize_t slot_to_replace(self, const double *shares, const char *kept) noexcept nogil:
        """Return the slot of the least relevant vector, the oldest among ties; -1: the example.

        The relevance is a^2 / variance once the example is added, in the mean over the experts.
        """
        cdef Py_ssize_t e, i, k, z, slot = -1, n = self.vectors.n
        cdef double own = 0.0, root, scale, value, change, share, factor
        inserted = self.vectors.inserted
        scores, variances = &self.a[self.n_kernels, 0], &self.a[self.n_kernels + 1, 0]
        squares = &self.a[self.n_kernels + 2, 0]
        memset(scores, 0, n * sizeof(double))
        for z in range(self.n_kernels):
            prior, u = &self.a[z, 0], &self.u[z, 0]
            self.inverses.copy_diagonal(z, n, prior)
            for k in range(n):
                prior[k] += u[k] * u[k] / self.g[z]
        for e in range(self.n_experts):
            z, scale = self.kernels[e], self.scales[e] * self.factors[e]
            prior, c, root = &self.a[z, 0], &self.c[e, 0], sqrt(scale)
            self.covariances.copy_diagonal(e, n, variances)
            memset(squares, 0, n * sizeof(double))
            share, factor, value = shares[e], self.r[e], 0.0
            for i in range(self.n_columns):
                mean, change = &self.means[e, i, 0], self.q[e, i]
                value += change * change
                add_squares(squares, root, mean, change, c, n)
            own += share * value / (1.0 / self.g[z] + factor)
            for k in range(n):
                scores[k] += share * squares[k] / (
                    prior[k] + scale * variances[k] + factor * c[k] * c[k]
                )
        for k in range(n):
            if kept != NULL and kept[k]:
                continue
            if slot < 0 or scores[k] < scores[slot] or (
                scores[k] == scores[slot] and inserted[k] < inserted[slot]
            ):
                slot = k
        return slot if slot >= 0 and own > scores[slot] else -1

    cdef void update(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t e, i, z, n_after = n + (slot == n)
        cdef double h, scale
        for e in range(self.n_experts):
            self.scales[e] *= self.factors[e]
            if self.scales[e] < SMALLEST_SCALE:
                self.fold_scale(e)
        if 0 <= slot < n:
            self.replace(slot, n)
            return
        for e in range(self.n_experts):
            if self.r[e] == 0.0:
                continue
            c, z, h, scale = &self.c[e, 0], self.kernels[e], 1.0, self.scales[e]
            if slot == n:
                c[n] = 1.0
            else:  # The projection, which stores nothing.
                loops.add_multiple(c, 1.0, &self.u[z, 0], n)
                h = 1.0 / (1.0 + self.r[e] * self.g[z])
            term = self.covariances.new_terms(e, 1, -1.0)
            loops.add_multiple(term, sqrt(-h * self.r[e] / scale), c, n_after)
            h /= sqrt(scale)
            for i in range(self.n_columns):
                if self.q[e, i] != 0.0:
                    loops.add_multiple(&self.means[e, i, 0], h * self.q[e, i], c, n_after)
        if slot == n:
            for z in range(self.n_kernels):
                self.u[z, n] = -1.0
                term = self.inverses.new_terms(z, 1, 1.0)
                loops.add_multiple(term, sqrt(1.0 / self.g[z]), &self.u[z, 0], n_after)

    cdef void fold_scale(self, Py_ssize_t e) noexcept with gil:
        """Multiply the common factor of an expert into its posterior."""
        scale, covariances = self.scales[e], self.covariances
        with np.errstate(under="ignore"):
            covariances.blocks[e] *= scale
            covariances.diagonals[e] *= scale
            covariances.terms[e] *= sqrt(scale)
            self.means.base[e] *= sqrt(scale)
        self.scales[e] = 1.0

    cdef void replace(self, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
        """Update each expert, add the example, and remove vector j, whose slot it takes.

        With the example added as in `update`, the vectors a and p are column j of Q and Q + C. They
        have the example as their last element, which then takes the place of element j.
        """
        cdef Py_ssize_t e, i, k, z
        cdef double factor, scale, root, change, share, removed_p, removed_c
        cdef double *a
        cdef double *p = &self.a[self.n_kernels, 0]
        for z in range(self.n_kernels):
            u, a = &self.u[z, 0], &self.a[z, 0]
            u[n] = -1.0
            self.inverses.take_column(z, j, n, a)
            a[n] = 0.0
            factor = u[j] / self.g[z]
            for k in range(n + 1):
                a[k] += factor * u[k]
            terms = self.inverses.new_terms(z, 2, 1.0)
            put_moved(terms, sqrt(1.0 / self.g[z]), u, j, n)
            put_moved(terms + self.width, sqrt(1.0 / a[j]), a, j, n)
        for e in range(self.n_experts):
            a, c = &self.a[self.kernels[e], 0], &self.c[e, 0]
            scale, root = self.scales[e], sqrt(self.scales[e])
            c[n] = 1.0
            self.covariances.take_column(e, j, n, p)
            p[n] = 0.0
            factor = self.r[e] * c[j]
            for k in range(n + 1):
                p[k] = (scale * p[k] + factor * c[k]) + a[k]
            terms = self.covariances.new_terms(e, 2, 1.0)
            put_moved(terms, sqrt(1.0 / (scale * a[j])), a, j, n)
            put_moved(terms + self.width, sqrt(1.0 / (scale * p[j])), p, j, n)
            if self.r[e] != 0.0:
                put_moved(self.covariances.new_terms(e, 1, -1.0), sqrt(-self.r[e] / scale), c, j, n)
            removed_p, removed_c = p[j], c[j]
            p[j], c[j] = p[n], c[n]
            for i in range(self.n_columns):
                mean, change = &self.means[e, i, 0], self.q[e, i]
                share = (root * mean[j] + change * removed_c) / removed_p
                mean[j] = 0.0
                for k in range(n):
                    mean[k] += (change * c[k] - share * p[k]) / root

    cdef double residual(self, Py_ssize_t z, const double *row, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t k, n = self.vectors.n
        cdef double largest = 0.0
        regularized, product = &self.a[0, 0], &self.a[1, 0]
        memset(regularized, 0, self.width * sizeof(double))
        memcpy(regularized, row, n * sizeof(double))
        regularized[slot] = REGULARIZED
        loops.multiply(&self.inverses.matrices[z], self.width, regularized, product, n)
        product[slot] -= 1.0
        for k in range(n):
            # A maximum would pass over NaN.
            if not fabs(product[k]) <= largest:
                largest = fabs(product[k])
        return largest

    def widened(self, Py_ssize_t n_labels):
        """Return means, margins and q with a column for each of more than two labels."""
        means, given = zeros(self.n_experts, n_labels, self.width), self.means.base
        if self.n_columns == 1:
            means[:, 0], means[:, 1] = -given[:, 0], given[:, 0]
        else:
            means[:, : self.n_columns] = given
        return means, *np.zeros((2, self.n_experts, n_labels))

    def widen(self, arrays):
        """Replace means, margins and q by those that `widened` has returned."""
        self.means, self.margins, self.q = arrays
        self.n_columns = self.means.shape[1]
        self.prior = 2.0 / self.n_columns - 1.0 if self.n_columns > 1 else 0.0

    def mean(self, weights, Py_ssize_t n):
        """Return the weighted sum of the mean coefficients of all experts (columns, n)."""
        return np.einsum("e,ecn->cn", weights * np.sqrt(self.scales), self.means.base[:, :, :n])

    def posteriors(self, Py_ssize_t n):
        """Return covariances C (experts, n, n) and means a (experts, columns, n)."""
        scales = self.scales.base[:, None, None]
        covariances = scales * self.covariances.matrices_of(n)
        return covariances, np.sqrt(scales) * self.means.base[:, :, :n]

    def set_all(self, inverses, covariances, means):
        """Set all inverses (kernels, n, n), covariances C (experts, n, n) and means a."""
        cdef Py_ssize_t i
        for i in range(self.n_kernels):
            self.inverses.set(i, inverses[i])
        for i in range(self.n_experts):
            self.covariances.set(i, covariances[i])
        self.means.base[:, :, : means.shape[2]] = means
        self.scales.base[:] = 1.0

    @property
    def nbytes(self):
        arrays = (
            self.kernels, self.factors, self.noises, self.scales, self.means, self.r,
            self.margins, self.q, self.u, self.c, self.a, self.covariances, self.inverses,
        )
        return sum([array.nbytes for array in arrays])

    def state(self, Py_ssize_t n):
        """Return the posteriors at n vectors."""
        return {
            "means": self.means.base[:, :, :n].copy(), "scales": self.scales.base.copy(),
            "covariances": self.covariances.state(n), "inverses": self.inverses.state(n),
        }

    def restore(self, state, Py_ssize_t n):
        """Set the posteriors to those of a state at n vectors."""
        require(n <= self.budget, "there are more support vectors than the budget allows")
        self.means.base[:, :, :n] = floats(state["means"], (self.n_experts, self.n_columns, n))
        self.scales = floats(state["scales"], (self.n_experts,))
        in_range = (self.scales.base > 0) & (self.scales.base <= 1)
        require(in_range.all(), "a scale is out of its range")
        self.covariances.restore(state["covariances"], n)
        self.inverses.restore(state["inverses"], n)

    def check(self, Py_ssize_t n):
        """Raise ValueError unless each posterior variance is from 0 to the prior one."""
        inverses, (covariances, _) = self.inverses.matrices_of(n), self.posteriors(n)
        require_definite(inverses, "an inverse Gram matrix is wrong")
        require_definite(-covariances, "a covariance is wrong")
        require_definite(inverses[self.kernels.base] + covariances, "a posterior variance is wrong")


cdef inline void add_squares(
    double *squares, double root, const double *a, double factor, const double *b, Py_ssize_t n
) noexcept nogil:
    """Add the squares of root a + factor b."""
    cdef Py_ssize_t k
    cdef double value
    for k in range(n):
        value = root * a[k] + factor * b[k]
        squares[k] += value * value


cdef inline void put_moved(
    double *vector, double factor, const double *x, Py_ssize_t j, Py_ssize_t n
) noexcept nogil:
    """Set a vector that is 0 to a multiple of x, whose element n is moved to element j."""
    cdef Py_ssize_t k
    for k in range(n):
        vector[k] = factor * x[k]
    vector[j] = factor * x[n]
