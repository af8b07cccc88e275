# cython: language_level=3, wraparound=False, initializedcheck=False, infer_types=True
"""The maintenance of a full support set: which vector to remove, merge or project; see `maintenance.pxd`."""

from libc.math cimport INFINITY, exp, log, sqrt
from libc.stdint cimport uint64_t

import numpy as np

from river_budget._arrays import unpacked
from river_budget._state import floats, require

from river_budget._core.expansion cimport Expansion

# What two places of a merged vector keep is a tie if it differs by less than this, relative to both vectors.
cdef double ROUNDING = 1e-12

# Two vectors are numerically dependent if their Gram determinant is at most this fraction of the product
# of their squared norms.
cdef double APART = 1e-10

cdef double SMALLEST = 5e-324          # the smallest positive number, as 0 has no logarithm

# The golden section search for the place of a merged vector ends at an interval of 2e-4.
cdef double GOLDEN = 0.5 * (sqrt(5.0) - 1.0)
cdef enum: N_SECTIONS = 18

cdef struct Pair:                     # the vector `first` and another one, to merge
    double log_k                      # the logarithm of their kernel value
    double first, other, product      # the squared norms of their coefficients, and the product of these


cdef class Neighbours:

    def __init__(self, Expansion f not None):
        self.f, self.gram, self.nearest = f, np.zeros((0, 0)), np.zeros(0, np.int64)

    def __reduce__(self):
        return type(self), (self.f,), self.state()

    def __setstate__(self, state):
        self.restore(state)

    def state(self):
        """Return the packed rows of the lower triangle of the Gram matrix, none until it is needed."""
        return {"gram": self.gram.base[np.tril_indices(self.gram.shape[0])]}

    def restore(self, state):
        triangle, n = floats(state["gram"], [None]), self.f.store.vectors.n
        require(len(triangle) in (0, n * (n + 1) // 2), "a Gram matrix has the wrong size")
        if len(triangle):
            self.set_gram(triangle)

    cdef object set_gram(self, triangle):
        """Set the Gram matrix of all vectors from packed rows of its lower triangle."""
        n = self.f.store.vectors.n
        # In one statement, as an interrupt must not leave one without the other.
        self.gram, self.nearest = unpacked(triangle, n), np.full(n, -1)

    @property
    def nbytes(self):
        return self.gram.nbytes + self.nearest.nbytes

    def squares(self):
        """Return the squared distance of each vector from the span of its nearest one and the example (n,)."""
        n = self.f.store.vectors.n
        cdef double[::1] squares = np.empty(n)
        if self.gram.shape[0] != n:
            gram = self.f.store.gram()
            np.fill_diagonal(gram, self.f.store.self_values())
            self.set_gram(gram[np.tril_indices(n)])
        for i in range(n):
            if self.nearest[i] < 0:
                self.nearest[i] = self.nearest_to(i)
            nearest, example = self.shares(i)
            squares[i] = self.gram[i, i] - nearest * self.gram[i, self.nearest[i]]
            squares[i] = max(0.0, squares[i] - example * self.f.store.bank.rows[i])
        return squares.base

    def take_over(self, Py_ssize_t slot):
        """Return the weights of all vectors in the projection of one; its own slot is that of the example (n,)."""
        weights = np.zeros(self.f.store.vectors.n)
        weights[self.nearest[slot]], weights[slot] = self.shares(slot)
        return weights

    def on_put(self, slot=None):
        """Keep all up to date, before the example replaces the vector in a slot; None: it gets a new one."""
        cdef Py_ssize_t replaced
        if slot is None:
            return
        replaced, n, self_value = slot, self.gram.shape[0], self.f.y.self_value
        require(self.f.store.vectors.n == n, "the nearest vectors are not known")
        for i in range(n):
            self.gram[replaced, i] = self.gram[i, replaced] = self.f.store.bank.rows[i]
        self.gram[replaced, replaced] = self_value
        for i in range(n):
            j = self.nearest[i]
            if i == replaced or j == replaced:
                self.nearest[i] = -1
            elif j >= 0 and self_value - 2.0 * self.gram[i, replaced] < self.gram[j, j] - 2.0 * self.gram[i, j]:
                self.nearest[i] = replaced

    cdef (double, double) shares(self, Py_ssize_t i) noexcept:
        """Return the shares of its nearest vector and of the example in the projection of vector i onto both."""
        j, row, nearest, example = self.nearest[i], self.f.store.bank.rows, 0.0, 0.0
        nearest_square, example_square = self.gram[j, j], self.f.y.self_value
        determinant = nearest_square * example_square - row[j] * row[j]
        if determinant > APART * nearest_square * example_square:
            nearest = (self.gram[i, j] * example_square - row[i] * row[j]) / determinant
        if example_square > 0.0:
            example = (row[i] - nearest * row[j]) / example_square
        return nearest, example

    cdef Py_ssize_t nearest_to(self, Py_ssize_t i) noexcept:
        """Return the vector nearest to vector i, the oldest among ties."""
        cdef Py_ssize_t best = -1
        least, inserted = INFINITY, self.f.store.vectors.inserted
        for j in range(self.gram.shape[0]):
            if j == i:
                continue
            # The squared distance, less k(i, i), which is the same for all.
            distance = self.gram[j, j] - 2.0 * self.gram[i, j]
            if best < 0 or distance < least or (distance == least and inserted[j] < inserted[best]):
                best, least = j, distance
        return best


def draw(Expansion f, double drawn, bint is_weighted, double limit):
    """Draw a vector to remove, and divide the terms of all others by their chances to stay.

    Chances to go are the same for all or, if they are weighted, proportional to `1 - s |alpha| sqrt(k(x, x))`, where
    s makes their sum 1; negative ones count as 0. `drawn` is a random number from 0 to 1, and `limit` the
    largest coefficient afterwards.
    """
    cdef double total_norm = 0.0, total = 0.0, rest
    slot, n = 0, f.store.vectors.n
    cdef double[::1] steps = np.empty(n), norms = np.empty(n), chances = np.empty(n)
    for i in range(n):
        steps[i] = f.scale * f.table[f.label_of(i), i]
        norms[i] = steps[i] * sqrt(f.store.self_value_of(i, 0))
        total_norm += norms[i]
    # Chances to go, times their total.
    is_weighted &= 0.0 < total_norm < INFINITY
    for i in range(n):
        chances[i] = max(0.0, 1.0 - (n - 1) * norms[i] / total_norm) if is_weighted else 1.0
        total += chances[i]
    rest = drawn * total - chances[0]
    while rest >= 0.0 and slot < n - 1:
        slot += 1
        rest -= chances[slot]
    f.keep_all()
    for i in range(n):
        # The vector in the slot is replaced, and its own chance to go may be 1.
        if i != slot and steps[i] > 0.0:
            growth = min(1.0 / (1.0 - chances[i] / total), limit / steps[i])
            for c in range(f.n_labels):
                f.table[c, i] *= growth
    f.answered_at = -1
    return slot


def best_merging(const double[:, :] rows, Py_ssize_t first, const double[::1] row):
    """Return the best shares of the vector `first` in a merger with each vector (n,), and what these lose (n,).

    Given are the coefficients (n, labels), and the kernel row of `first`, which may lack its last element if that
    is of `first` itself. A loss is a squared norm, infinite for `first` with itself.
    """
    cdef Pair pair
    n = rows.shape[0]
    cdef double[::1] shares = np.empty(n), losses = np.empty(n)
    pair.first = 0.0
    for c in range(rows.shape[1]):
        pair.first += rows[first, c] * rows[first, c]
    for i in range(n):
        pair.other = pair.product = 0.0
        for c in range(rows.shape[1]):
            pair.other += rows[i, c] * rows[i, c]
            pair.product += rows[i, c] * rows[first, c]
        k = row[i] if i < row.shape[0] else 1.0
        pair.log_k = log(max(k, SMALLEST))
        shares[i] = best_share(&pair)
        losses[i] = max(0.0, pair.first + pair.other + 2.0 * k * pair.product - kept(&pair, shares[i]))
    losses[first] = INFINITY
    return shares.base, losses.base


cdef double kept(Pair *pair, double h) noexcept nogil:
    """Return the squared norm of the projection of both terms onto the vector at the share h of `first`."""
    near, far = exp((1.0 - h) * (1.0 - h) * pair.log_k), exp(h * h * pair.log_k)
    return pair.first * near * near + pair.other * far * far + 2.0 * pair.product * near * far


cdef double best_share(Pair *pair) noexcept nogil:
    """Return the share h that keeps most; among ties, the search goes left, and 0 wins."""
    low, high, slack = 0.0, 1.0, ROUNDING * (pair.first + pair.other)
    left, right = 1.0 - GOLDEN, GOLDEN
    kept_left, kept_right = kept(pair, left), kept(pair, right)
    for _ in range(N_SECTIONS):
        # One of the new places is an old one but for rounding, so what it keeps is known.
        if kept_left >= kept_right - slack:
            high = right
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            kept_left, kept_right = kept(pair, left), kept_left
        else:
            low = left
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            kept_left, kept_right = kept_right, kept(pair, right)
    h = 0.5 * (low + high)
    return h if kept(pair, h) >= kept(pair, 0.0) - slack else 0.0


def uniform(uint64_t key, uint64_t n):
    """Return a number of at least 0 and below 1 that follows from a key and a number, by SplitMix64."""
    z = key + n * <uint64_t>0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return <double>((z ^ (z >> 31)) >> 11) / <double>(1 << 53)
