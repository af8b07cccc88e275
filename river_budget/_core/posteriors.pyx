# cython: wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The Gaussian process posteriors of the experts at the shared support vectors."""

from libc.math cimport INFINITY, erfc, fmax, fmin, log2, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from river_budget._core.features import zero_matrix
from river_budget._core.loops cimport (
    GROUP, MOST_TERMS, Triangle, blocks_before, loops, new_terms
)
from river_budget._state import count, floats, require, require_definite

cdef extern from *:
    """
    #pragma GCC optimize("O3")  // vectors for the loops over support vectors
    """

cdef enum:
    LANES = 8                              # vectors have a multiple of so many elements

cdef double REGULARIZED = 1.0 + 1e-3       # diagonal elements of Gram matrices, with jitter
cdef double LINK_FACTOR = -1.0 / sqrt(2.0 * 0.3)  # of the probit link: p = Phi(m / sqrt(0.3))
cdef double SMALLEST_PROBABILITY = 1e-12   # with more than two labels, before they are normalized
cdef double SMALLEST_NOVELTY = 1e-7        # below it, an example is numerically in the span
cdef double SMALLEST_SCALE = 1e-100        # below it, a common factor is multiplied into its matrix
cdef double LARGEST_RESIDUAL = 1e-6        # of an element of Q K - I; above it, Q is recomputed
# A weight makes no noise variance smaller: the posterior variances would vanish in rounding errors.
cdef double SMALLEST_NOISE = 1e-6


def zeros(*shape):
    """Return an array of zeros that begins at a line of the cache."""
    return zero_matrix(shape, np.dtype(np.float64))


cdef class Triangles:
    """Symmetric matrices as lower triangles, and terms that are still to be added to them."""

    def __init__(self, Py_ssize_t n_matrices, Py_ssize_t width):
        cdef double[:, ::1] blocks = zeros(n_matrices, blocks_before(width // 4))
        cdef double[:, ::1] diagonals = zeros(n_matrices, width), signs = zeros(n_matrices, LANES)
        cdef double[:, :, ::1] terms = zeros(n_matrices, MOST_TERMS, width)
        cdef char[:, ::1] table = np.zeros((n_matrices, sizeof(Triangle)), np.int8)
        self.n_matrices, self.table, self.matrices = n_matrices, table.base, <Triangle *> &table[0, 0]
        self.blocks, self.diagonals = blocks.base, diagonals.base
        self.terms, self.signs = terms.base, signs.base
        for i in range(n_matrices):
            self.matrices[i] = Triangle(
                width, &blocks[i, 0], &diagonals[i, 0], &terms[i, 0, 0], &signs[i, 0], 0
            )

    def set(self, Py_ssize_t i, matrix):
        """Set a matrix to the symmetric part of another one (n, n).

        It calls no function of Python, so no interrupt can come in between.
        """
        cdef const double[:, :] given = matrix
        cdef Triangle *own = &self.matrices[i]
        for row in range(given.shape[0]):
            for column in range(min(row // 4 * 4 + 4, given.shape[0])):
                own.blocks[offset(row, column)] = 0.5 * (given[row, column] + given[column, row])
            own.diagonal[row] = given[row, row]
        self.signs[i], own.n_terms = 0.0, 0

    def matrices_of(self, Py_ssize_t n, which=None):
        """Return all matrices, or some, with their terms (matrices, n, n)."""
        which = range(self.n_matrices) if which is None else which
        cdef double[:, :, :] matrices = np.empty((len(which), n, n))
        for place, i in enumerate(which):
            if n > 0:
                write_matrix(&self.matrices[<Py_ssize_t> i], &matrices[<Py_ssize_t> place, 0, 0], n)
        return matrices.base

    @property
    def nbytes(self):
        arrays = self.blocks, self.diagonals, self.terms, self.signs, self.table
        return sum([array.nbytes for array in arrays])

    def state(self, Py_ssize_t n):
        """Return the blocks without the terms, the terms and their signs, up to row n."""
        blocks, signs = self.blocks[:, : blocks_before((n + 3) // 4)], self.signs[:, :MOST_TERMS]
        return {"blocks": blocks.copy(), "terms": self.terms[signs != 0, :n], "signs": signs.copy()}

    def restore(self, state, Py_ssize_t n):
        blocks = floats(state["blocks"], (self.n_matrices, blocks_before((n + 3) // 4)))
        signs = floats(state["signs"], (self.n_matrices, MOST_TERMS))
        n_terms = np.count_nonzero(signs, axis=1)
        is_term = np.arange(MOST_TERMS) < n_terms[:, np.newaxis]
        require((abs(signs) == is_term).all(), "a sign is neither 1 nor -1")
        self.blocks[:, places(n)] = blocks[:, places(n)]
        self.diagonals[:, :n] = blocks[:, places(n).diagonal()]
        self.signs[:, :MOST_TERMS] = signs
        self.terms[is_term, :n] = floats(state["terms"], (int(is_term.sum()), n))
        for i in range(self.n_matrices):
            self.matrices[i].n_terms = n_terms[i]


cdef inline Py_ssize_t offset(Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    """Return where an element is in the blocks, which is in a block on the diagonal or below."""
    block = row // 4
    return 8 * block * (block + 1) + 4 * (row % 4) + 16 * (column // 4) + column % 4


cdef void write_matrix(const Triangle *own, double *matrix, Py_ssize_t n) noexcept nogil:
    """Write a matrix with its terms (n, n), two terms at a time."""
    for row in range(n):
        for column in range(row + 1):
            matrix[row * n + column] = own.blocks[offset(row, column)]
    for k in range(0, MOST_TERMS, 2):
        if own.signs[k] == 0.0 and own.signs[k + 1] == 0.0:
            continue
        x, y = own.terms + k * own.width, own.terms + (k + 1) * own.width
        for row in range(n):
            r, s, elements = own.signs[k] * x[row], own.signs[k + 1] * y[row], matrix + row * n
            for column in range(row + 1):
                elements[column] += r * x[column] + s * y[column]
    for row in range(n):
        for column in range(row):
            matrix[column * n + row] = matrix[row * n + column]


cdef places(Py_ssize_t n):
    """Return the offsets of the elements of a matrix (n, n) in the blocks."""
    cdef Py_ssize_t[:, :] offsets = np.empty((n, n), np.intp)
    for row in range(n):
        for column in range(n):
            is_above = row // 4 < column // 4
            offsets[row, column] = offset(column, row) if is_above else offset(row, column)
    return offsets.base


cdef class Posteriors:
    """The posterior of each expert: a mean for each label, and one covariance.

    With a Gram matrix K of the kernel, the inverse `Q = (K + jitter I)^-1`, an expert's mean
    coefficients a and its matrix C, the posterior of f(x) has the mean `mu + a k(x)` and the
    variance `k(x, x) + k(x)' C k(x)`. With two labels, mu is 0, and there is one column of means,
    that of the positive one; with C > 2 labels, mu is -1 + 2 / C, and each has a column.
    """

    def __init__(self, Store store not None, list experts, Py_ssize_t budget):
        n_experts, n_kernels, width = len(experts), store.bank.n_kernels, (budget // LANES + 1) * LANES
        self.store, self.experts, self.budget, self.width = store, experts, budget, width
        self.n_experts, self.n_kernels = n_experts, n_kernels
        self.kernels, self.factors, self.noises = [np.array(column) for column in zip(*experts)]
        self.covariances, self.inverses = Triangles(n_experts, width), Triangles(n_kernels, width)
        self.scales, self.r, self.g = np.ones(n_experts), np.zeros(n_experts), np.zeros(n_kernels)
        self.u, self.c = zeros(n_kernels, width), zeros(n_experts, width)
        self.a = zeros(n_kernels + 3, width)
        self.widen((zeros(n_experts, 1, width), *np.zeros((2, n_experts, 1))))

    cdef void forecast(self, double[:, ::1] probabilities) noexcept nogil:
        cdef double p, total
        n = self.store.vectors.n
        for e in range(self.n_experts):
            root, total = sqrt(self.scales[e]), 0.0
            row = self.store.bank.rows + self.kernels[e] * self.store.bank.capacity
            own = &probabilities[e, 0]
            for i in range(self.n_columns):
                m = self.prior + root * loops.inner(&self.means[e, i, 0], row, n)
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

    cdef Py_ssize_t compare(
        self, Py_ssize_t label, double weight, double novelty, const double *shares, const char *kept
    ) noexcept nogil:
        cdef Py_ssize_t n_updates = 0, n = self.store.vectors.n
        cdef double share = 0.0, least_novelty = INFINITY
        for e in range(self.n_experts):
            self.r[e] = -1.0 if compare_margins(self, e, label) else 0.0
            n_updates += self.r[e] != 0.0
        if n_updates == 0:
            return -1
        for z in range(self.n_kernels):
            row, u = self.store.bank.rows + z * self.store.bank.capacity, &self.u[z, 0]
            loops.multiply(&self.inverses.matrices[z], row, u, n)
            self.g[z] = REGULARIZED - loops.inner(row, u, n)
            least_novelty = fmin(least_novelty, self.g[z])
        compute_changes(self, weight)
        for e in range(self.n_experts):
            share += shares[e] * self.g[self.kernels[e]] / REGULARIZED
        share *= log2(max(2, self.n_columns))  # a label of many tells more, so a projection loses more
        if n > 0 and not (share > novelty and least_novelty > SMALLEST_NOVELTY):
            return -1
        return n if n < self.budget else slot_to_replace(self, shares, kept)

    cdef void update(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        n_after = n + 1 if slot == n else n
        for e in range(self.n_experts):
            self.scales[e] *= self.factors[e]
            if self.scales[e] < SMALLEST_SCALE:
                self.fold_scale(e)
        if 0 <= slot < n:
            replace(self, slot, n)
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
            term = new_terms(&self.covariances.matrices[e], 1, -1.0)
            loops.add_multiple(term, sqrt(-h * self.r[e] / scale), c, n_after)
            h /= sqrt(scale)
            for i in range(self.n_columns):
                if self.q[e, i] != 0.0:
                    loops.add_multiple(&self.means[e, i, 0], h * self.q[e, i], c, n_after)
        if slot == n:
            for z in range(self.n_kernels):
                self.u[z, n] = -1.0
                term = new_terms(&self.inverses.matrices[z], 1, 1.0)
                loops.add_multiple(term, sqrt(1.0 / self.g[z]), &self.u[z, 0], n_after)

    cdef void fold_scale(self, Py_ssize_t e) noexcept with gil:
        """Multiply the common factor of an expert into its posterior."""
        C, scale = self.covariances, self.scales[e]
        C.blocks[e] *= scale
        C.diagonals[e] *= scale
        C.terms[e] *= sqrt(scale)
        self.means.base[e] *= sqrt(scale)
        self.scales[e] = 1.0

    # For labels, and for Python.

    def widened(self, Py_ssize_t n_labels):
        """Return means, margins and q with one column for two labels, and one for each of more."""
        n_columns = n_labels if n_labels > 2 else 1
        means, given = zeros(self.n_experts, n_columns, self.width), self.means.base
        if n_columns > self.n_columns == 1:
            given = np.concatenate((-given, given), axis=1)
        means[:, : given.shape[1]] = given
        return means, *np.zeros((2, self.n_experts, n_columns))

    def widen(self, arrays):
        """Replace means, margins and q by those that `widened` has returned."""
        self.means, self.margins, self.q = arrays
        self.n_columns = self.means.shape[1]
        self.prior = 2.0 / self.n_columns - 1.0 if self.n_columns > 1 else 0.0

    def mean(self, weights, Py_ssize_t n):
        """Return the weighted sum of the mean coefficients of all experts (columns, n)."""
        return np.einsum("e,ecn->cn", weights * np.sqrt(self.scales), self.means.base[:, :, :n])

    def moments(self, Py_ssize_t n, experts=None):
        """Return covariances C and means a of all experts, or some (experts, n, n), (experts, columns, n)."""
        experts = list(range(self.n_experts) if experts is None else experts)
        scales = self.scales.base[experts][:, None, None]
        covariances = scales * self.covariances.matrices_of(n, experts)
        return covariances, np.sqrt(scales) * self.means.base[experts, :, :n]

    def replace(self, kernels, inverses, experts, covariances, means):
        """Set the inverses of some kernels, and the covariances C and the means a of their experts.

        It calls no function of Python, so no interrupt can come in between. NumPy lets one in where it is
        given a list of places.
        """
        for z, inverse in zip(kernels, inverses, strict=True):
            self.inverses.set(z, inverse)
        for e, covariance, mean in zip(experts, covariances, means, strict=True):
            self.covariances.set(e, covariance)
            self.means.base[e, :, : mean.shape[1]] = mean
            self.scales[<Py_ssize_t> e] = 1.0
        self.before = None

    def grams(self):
        """Return K + jitter I (kernels, n, n), with k(x, x) = 1 for every vector, even for 0."""
        cdef Py_ssize_t n = self.store.vectors.n
        cdef double[:, :, :] grams = np.empty((self.n_kernels, n, n))
        for slot in range(n):
            rows = self.store.rows_of(slot)
            for z in range(self.n_kernels):
                memcpy(&grams[z, slot, 0], rows + z * self.store.bank.capacity, n * sizeof(double))
                grams[z, slot, slot] = REGULARIZED
        return grams.base

    def repair(self, Py_ssize_t slot):
        """Recompute each inverse that is inaccurate in the column of a slot."""
        n = self.store.vectors.n
        column, product = self.a.base[:2]
        for z in range(self.n_kernels):
            column[:n], column[n:] = self.store.row_of(slot, z), 0.0
            column[slot] = REGULARIZED
            loops.multiply(&self.inverses.matrices[z], &self.a[0, 0], &self.a[1, 0], n)
            product[slot] -= 1.0
            if not np.abs(product[:n]).max() <= LARGEST_RESIDUAL:  # nor if it is NaN
                self.inverses.set(z, np.linalg.inv(self.grams()[z]))
                self.n_rebuilds += 1

    @property
    def nbytes(self):
        arrays = (
            self.kernels, self.factors, self.noises, self.scales, self.means, self.r, self.g,
            self.margins, self.q, self.u, self.c, self.a, self.covariances, self.inverses,
        )
        return sum([array.nbytes for array in arrays])

    def state(self, Py_ssize_t n):
        return {
            "means": self.means.base[:, :, :n].copy(), "scales": self.scales.base.copy(),
            "covariances": self.covariances.state(n), "inverses": self.inverses.state(n),
            "n_rebuilds": self.n_rebuilds,
        }

    def restore(self, state, Py_ssize_t n):
        require(n <= self.budget, "there are more support vectors than the budget allows")
        self.means.base[:, :, :n] = floats(state["means"], (self.n_experts, self.n_columns, n))
        self.scales = floats(state["scales"], (self.n_experts,))
        require((self.scales.base > 0.0).all(), "a scale is not positive")
        self.covariances.restore(state["covariances"], n)
        self.inverses.restore(state["inverses"], n)
        self.n_rebuilds = count(state["n_rebuilds"])

    def check(self, Py_ssize_t n):
        """Raise ValueError unless each posterior variance is from 0 to the prior one."""
        inverses, (covariances, _) = self.inverses.matrices_of(n), self.moments(n)
        require_definite(inverses, "an inverse Gram matrix is wrong")
        require_definite(-covariances, "a covariance is wrong")
        require_definite(inverses[self.kernels.base] + covariances, "a posterior variance is wrong")


cdef bint compare_margins(Posteriors self, Py_ssize_t e, Py_ssize_t label) noexcept nogil:
    """Set q to the errors of an expert, 0 where it is right by 1; return whether to update."""
    cdef double own = 0.0, largest = -INFINITY, root = sqrt(self.factors[e])
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


cdef void compute_changes(Posteriors self, double weight) noexcept nogil:
    """Compute c, q and r of the experts that are updated; of the others they are 0."""
    n = self.store.vectors.n
    self.backwards = not self.backwards
    for k in range(self.n_experts):
        e = self.n_experts - 1 - k if self.backwards else k
        row = self.store.bank.rows + self.kernels[e] * self.store.bank.capacity
        c, matrix = &self.c[e, 0], &self.covariances.matrices[e]
        if self.r[e] != 0.0 or matrix.n_terms >= GROUP:
            loops.multiply(matrix, row, c, n)
        if self.r[e] == 0.0:
            memset(c, 0, n * sizeof(double))
            memset(&self.q[e, 0], 0, self.n_columns * sizeof(double))
            continue
        scale, noise = self.scales[e] * self.factors[e], self.noises[e]
        for i in range(n):
            c[i] *= scale
        if weight != 1.0:
            noise = fmax(noise / weight, fmin(noise, SMALLEST_NOISE))
        v = noise + REGULARIZED + loops.inner(row, c, n)
        for i in range(self.n_columns):
            self.q[e, i] /= v
        self.r[e] = -1.0 / v


cdef Py_ssize_t slot_to_replace(Posteriors self, const double *shares, const char *kept) noexcept nogil:
    """Return the slot of the least relevant vector, the oldest among ties; -1: the example.

    The relevance is a^2 / variance once the example is added, in the mean over the experts.
    """
    cdef Py_ssize_t slot = -1, n = self.store.vectors.n
    cdef double value, own = 0.0
    inserted = self.store.vectors.inserted
    scores, variances = &self.a[self.n_kernels, 0], &self.a[self.n_kernels + 1, 0]
    squares = &self.a[self.n_kernels + 2, 0]
    memset(scores, 0, n * sizeof(double))
    for z in range(self.n_kernels):
        prior, u = &self.a[z, 0], &self.u[z, 0]
        loops.get_diagonal(&self.inverses.matrices[z], prior, n)
        for k in range(n):
            prior[k] += u[k] * u[k] / self.g[z]
    for e in range(self.n_experts):
        z, scale = self.kernels[e], self.scales[e] * self.factors[e]
        prior, c, root = &self.a[z, 0], &self.c[e, 0], sqrt(scale)
        loops.get_diagonal(&self.covariances.matrices[e], variances, n)
        memset(squares, 0, n * sizeof(double))
        share, factor, value = shares[e], self.r[e], 0.0
        for i in range(self.n_columns):
            mean, change = &self.means[e, i, 0], self.q[e, i]
            value += change * change
            loops.add_squares(squares, root, mean, change, c, n)
        own += share * value / (1.0 / self.g[z] + factor)
        loops.add_scores(scores, share, squares, prior, scale, variances, factor, c, n)
    for k in range(n):
        if kept != NULL and kept[k]:
            continue
        if slot < 0 or scores[k] < scores[slot] or (
            scores[k] == scores[slot] and inserted[k] < inserted[slot]
        ):
            slot = k
    return slot if slot >= 0 and own > scores[slot] else -1


cdef void replace(Posteriors self, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
    """Update each expert, add the example, and remove vector j, whose slot it takes.

    With the example added as in `update`, the vectors a and p are column j of Q and Q + C. They
    have the example as their last element, which then takes the place of element j.
    """
    p = &self.a[self.n_kernels, 0]
    for z in range(self.n_kernels):
        u, a = &self.u[z, 0], &self.a[z, 0]
        u[n] = -1.0
        loops.take_column(&self.inverses.matrices[z], j, a, n)
        a[n] = 0.0
        loops.add_multiple(a, u[j] / self.g[z], u, n + 1)
        terms = new_terms(&self.inverses.matrices[z], 2, 1.0)
        put_moved(terms, sqrt(1.0 / self.g[z]), u, j, n)
        put_moved(terms + self.width, sqrt(1.0 / a[j]), a, j, n)
    for e in range(self.n_experts):
        a, c, matrix = &self.a[self.kernels[e], 0], &self.c[e, 0], &self.covariances.matrices[e]
        scale, root = self.scales[e], sqrt(self.scales[e])
        c[n] = 1.0
        loops.take_column(matrix, j, p, n)
        p[n] = 0.0
        for k in range(n + 1):
            p[k] *= scale
        loops.add_multiple(p, self.r[e] * c[j], c, n + 1)
        loops.add_multiple(p, 1.0, a, n + 1)
        terms = new_terms(matrix, 2, 1.0)
        put_moved(terms, sqrt(1.0 / (scale * a[j])), a, j, n)
        put_moved(terms + self.width, sqrt(1.0 / (scale * p[j])), p, j, n)
        if self.r[e] != 0.0:
            put_moved(new_terms(matrix, 1, -1.0), sqrt(-self.r[e] / scale), c, j, n)
        removed_p, removed_c = p[j], c[j]
        p[j], c[j] = p[n], c[n]
        for i in range(self.n_columns):
            mean, change = &self.means[e, i, 0], self.q[e, i]
            share = (root * mean[j] + change * removed_c) / removed_p
            mean[j] = 0.0
            loops.add_change(mean, change, c, share, p, root, n)


cdef inline void put_moved(
    double *term, double factor, const double *x, Py_ssize_t j, Py_ssize_t n
) noexcept nogil:
    """Set a term of zeros to the multiple of x whose element n takes the place of element j."""
    loops.add_multiple(term, factor, x, n)
    term[n], term[j] = 0.0, factor * x[n]
