# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Linear discriminant analysis on random features, one example at a time; see `discriminant.pxd`."""

from libc.math cimport INFINITY, cos, exp, fmax, fmin, log, sqrt
from libc.stdint cimport int8_t
from libc.string cimport memset

import math
import sys

import numpy as np

from river_budget._arrays import padded, unpacked
from river_budget._core.features import zero_matrix
from river_budget._core.tiles import Tiles
from river_budget._frequencies import MOST_SIGNS, frequencies_of, new_frequencies, new_signs, signs_of
from river_budget._state import LARGEST_NUMBER, finite, floats, is_trusted, require, require_definite
from river_budget.kernels import Category

from river_budget._core.engine cimport Engine
from river_budget._core.features cimport is_small
from river_budget._core.loops cimport SymmetricLoops, loops
from river_budget._core.store cimport Block, Store

# The hot loops for doubles.
cdef SymmetricLoops *doubles = &loops.symmetric[1]

BUFFER = 256                           # examples that are kept, as scales and width are learned from them
cdef double PRIOR = 20.0               # the prior variance of each coefficient, 1 / lambda
cdef double FLOOR = 0.1                # with forgetting, a share of this is put back into R in each round
cdef double LARGEST = 4.0 * PRIOR      # nothing fades while the coefficient whose turn it is has more variance
# The logarithm of the odds of a label without examples against the least probable one with some.
cdef double UNSEEN = -50.0
# How much the variance of an example adds to its novelty: the best of 0.3, 1, 3, 10 and 30 for unknown labels.
cdef double CAUTION = 10.0
# Bounds of beta, and the factor of the sum of its second derivatives in each round.
cdef double LEAST_BETA = 1e-3
cdef double MOST_BETA = 10.0
cdef double KEPT = 0.999
# What is restored may exceed the bounds of exact arithmetic without forgetting by this factor.
cdef double SLACK = 1e6
# A weight counts as at least this: the inverse of a label with less would swallow those of all others.
cdef double LEAST_WEIGHT = 1e-8
# While an element of K is larger, sums do not fade.
cdef double LARGEST_K = 1e8
# Rows of a frame are learned together: so many, if at least so many are left, and P has so many features.
ROWS, LEAST_ROWS, LEAST_FEATURES = 128, 8, 500
# When the common factor of P is at least this, P is multiplied by it.
cdef double LARGEST_SCALE = 2.0


cdef class Fourier:

    def __init__(self, Py_ssize_t n, seed, scales):
        self.n, self.seed, self.scales, self.projections = n, seed, scales, np.zeros(n)
        self.look_up([])

    @property
    def nbytes(self):
        factors = self.scales[0]
        texts = [name[1] for name in factors if type(name) is Category]
        of_names = sum(map(sys.getsizeof, (factors, *factors, *texts)))
        return of_names + self.frequencies.nbytes + self.weights.nbytes + self.projections.nbytes

    cdef int project(self, list names, const double *values, dict arrays) except -1 nogil:
        if <void *> names != <void *> self.last_names:
            with gil:
                self.look_up(names)
        projections = &self.projections[0]
        memset(projections, 0, self.n * sizeof(double))
        for j in range(self.weights.shape[0]):
            if values[j] != 0.0:
                factor = values[j] * self.weights[j]
                doubles.add_floats(projections, factor, &self.frequencies[j, 0], self.n)
        if arrays is not None:
            with gil:
                for name, array in arrays.items():
                    self.add_array(name, array)

    cdef int look_up(self, list names) except -1:
        """Find the frequencies and weights of other names."""
        factors, pooled, gamma = self.scales
        rows = []
        for name in names:
            of_name = frequencies_of if is_small(name) else new_frequencies
            rows.append(of_name(self.seed, name, self.n))
        weights = np.array([factors.get(name, pooled) for name in names], np.float64)
        weights *= math.sqrt(2.0 * gamma)
        self.frequencies = np.array(rows, np.float32).reshape(-1, self.n)
        self.weights, self.last_names = weights, names

    cdef int add_array(self, name, array) except -1:
        """Add the projections of an array x, H D H D H D x for each block: H is a Hadamard matrix, D random signs."""
        # Shorter arrays are padded with zeros up to 64 elements, so that their projections are nearly normal.
        cdef Py_ssize_t length = len(array), size = 1 << max(6, (length - 1).bit_length())
        cdef Py_ssize_t n_blocks = (self.n + size - 1) // size
        cdef bint is_cached = is_small(name) and 3 * n_blocks * size <= MOST_SIGNS
        of_name = signs_of if is_cached else new_signs
        cdef const int8_t[:, :, ::1] signs = of_name(self.seed, name, n_blocks, size)
        cdef double[:, ::1] x = np.zeros((n_blocks, size))
        factors, pooled, gamma = self.scales
        weight = math.sqrt(2.0 * gamma) * factors.get(name, pooled)
        x.base[:, :length] = weight / size * np.asarray(array, np.float64)
        for b in range(n_blocks):
            for d in range(3):
                doubles.hadamard(&x[b, 0], &signs[b, d, 0], size)
        projections = self.projections.base
        projections += x.base.ravel()[: self.n]


cdef class Discriminant(Engine):

    def __init__(self, Store store not None, Py_ssize_t n_features, double forgetting, seed, scales):
        dtype = np.dtype(store.dtype)
        self.store, self.n_features, self.forgetting = store, n_features, forgetting
        self.fourier = Fourier(n_features // 2, seed, scales)
        self.least_variance = PRIOR * np.finfo(dtype).eps
        self.most_weight = most_weight(dtype, forgetting, n_features)
        self.width, self.n_rows = (n_features + 7) // 8 * 8, (n_features + 3) // 4 * 4
        self.row_bytes = self.width * dtype.itemsize
        self.loops = &loops.symmetric[dtype == np.float64]
        self.vectors = zero_matrix((2, self.width), dtype)
        self.phi, self.u = address(self.vectors), address(self.vectors) + self.row_bytes
        n_elements = offsets(self.n_rows, 0)
        self.P = zero_matrix((n_elements,), dtype)
        self.p = address(self.P)
        self.W, self.K, self.counts = np.zeros((0, self.width), dtype), np.zeros((0, 0)), np.zeros(0)
        self.kept = np.zeros((BUFFER if store.bank.scaled[0] else 0, 2))
        self.set_labels(2)
        self.reset()

    @property
    def arguments(self):
        return self.store, self.n_features, self.forgetting, self.fourier.seed, self.fourier.scales

    # Forecasts.

    cdef int answer(self) except -1 nogil:
        """Compute means, discriminants, logits and scores of the example of the store."""
        self.project()
        for c in range(self.n_labels):
            self.means[c] = self.loops.dot(self.w + c * self.row_bytes, self.phi, self.width)
        self.compare()

    cdef int project(self) except -1 nogil:
        """Compute phi of the example of the store."""
        self.fourier.project(
            self.store.packed.layout.names, self.store.packed.point.values, self.store.packed.arrays
        )
        projections, factor = &self.fourier.projections[0], sqrt(2.0 / self.n_features)
        self.loops.waves(projections, factor, self.phi, self.fourier.n)

    cdef void compare(self) noexcept nogil:
        """Compute discriminants, logits and scores from the means."""
        total, mean = 0.0, 0.0
        for c in range(self.n_labels):
            total += self.counts[c]
        # The logits; labels without examples come after the least one.
        least = INFINITY if total > 0.0 else 0.0
        for c in range(self.n_labels):
            if self.counts[c] > 0.0:
                inner = doubles.dot(&self.K[c, 0], &self.means[0], self.room)
                square = fmax(0.0, self.K[c, c] - 1.0 / self.counts[c])
                self.discriminants[c] = total * (inner - 0.5 * square)
                self.logits[c] = self.beta * self.discriminants[c] + log(self.counts[c] / total)
                least = fmin(least, self.logits[c])
        for c in range(self.n_labels):
            if self.counts[c] == 0.0:
                self.logits[c] = least + UNSEEN
            mean += self.logits[c] / self.n_labels
        for c in range(self.n_labels):
            self.answers[c] = 2.0 * (self.logits[c] - mean)
        if self.n_labels == 2:
            self.answers[1] = self.logits[1] - self.logits[0]
            self.answers[0] = -self.answers[1]

    def novelty(self, x):
        """Return 1 minus the largest mean of a label at x, which the variance of x shrinks; from 0 to 1."""
        cdef double largest = 0.0
        self.evaluate(x)
        for c in range(self.n_labels):
            largest = fmax(largest, self.means[c])
        self.loops.multiply(self.p, self.phi, self.u, self.n_rows)
        variance = fmax(0.0, self.scale * self.loops.dot(self.phi, self.u, self.width))
        return fmax(0.0, 1.0 - largest / (1.0 + CAUTION * variance))

    # Rounds.

    def roll_back(self):
        """Take back the example that a round has kept and not learned; return False."""
        if self.store.vectors.n > self.n_rounds:
            self.store.remove([self.n_rounds])
        return False

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        slot = self.n_rounds
        if slot < self.kept.shape[0]:
            self.store.put(slot)
            self.kept[slot, 0], self.kept[slot, 1] = label, weight
        if self.sums is not None:
            self.sums.add(self.store)
        # Nothing fails from here on; if something has failed, `roll_back` takes back the `put`.
        self.update(label, weight, slot + 1)
        return self.end_round(label)

    cdef void update(self, Py_ssize_t label, double weight, Py_ssize_t n_rounds) noexcept nogil:
        """Learn the example that `means` and `logits` are for; it is that of a round with a number from 1 on."""
        weight = self.bounded(weight)
        if self.counts[label] > 0.0:
            self.adapt(label, weight)
        self.loops.multiply(self.p, self.phi, self.u, self.n_rows)
        self.count(label, weight, self.regress(label, weight))
        if self.forgetting < 1.0:
            self.forget(n_rounds)

    cdef void count(self, Py_ssize_t label, double weight, double gain) noexcept nogil:
        """Learn an example with its residuals in K and in the sums of weights."""
        if self.counts[label] > 0.0:
            self.add_to_residuals(gain)
        else:
            # R gets a row, [[R + gain a a', gain a], [gain a', gain]], as its residual is 1.
            inner = self.times_inverse()
            for c in range(self.n_labels):
                self.K[label, c] = self.K[c, label] = -self.changes[c]
            self.K[label, label] = 1.0 / gain + inner
        self.counts[label] += weight

    cdef double bounded(self, double weight) noexcept nogil:
        return fmax(LEAST_WEIGHT, fmin(self.most_weight, weight))

    cdef double regress(self, Py_ssize_t label, double weight) noexcept nogil:
        """Learn phi in P and W, given u = P phi without the scale of P; return the gain. No label is -1."""
        self.loops.scale(self.u, self.scale, self.width)
        variance = self.loops.dot(self.phi, self.u, self.width)
        if variance < self.least_variance:
            # It is lost in rounding errors. The signs of u may be wrong, too, and an update would add to the errors.
            variance = 0.0
            self.loops.scale(self.u, 0.0, self.width)
        gain = weight / (1.0 + weight * variance)
        for c in range(self.n_labels):
            # 0 for a label without examples, as its coefficients are 0.
            self.residuals[c] = (c == label) - self.means[c]
            change = gain * self.residuals[c]
            self.loops.add_multiple(self.w + c * self.row_bytes, change, self.u, self.width)
        # P is multiplied by its scale if that has become too large, and loses gain u u'.
        factor = self.scale if self.scale >= LARGEST_SCALE else 1.0
        self.scale /= factor
        self.loops.scale(self.u, sqrt(gain / self.scale), self.width)
        self.loops.subtract(self.p, factor, self.u, self.n_rows)
        return gain

    cdef double times_inverse(self) noexcept nogil:
        """Compute K a for the residuals a, and return a' K a."""
        for c in range(self.n_labels):
            self.changes[c] = doubles.dot(&self.K[c, 0], &self.residuals[0], self.room)
        return doubles.dot(&self.residuals[0], &self.changes[0], self.room)

    cdef void add_to_residuals(self, double weight) noexcept nogil:
        """Add weight a a' to R for the residuals a: its inverse K loses a multiple of K a (K a)'."""
        multiple = weight / (1.0 + weight * fmax(0.0, self.times_inverse()))
        # So that both sides of the diagonal are rounded equally: with forgetting, a difference would grow for ever.
        doubles.scale(&self.changes[0], sqrt(multiple), self.room)
        for c in range(self.n_labels):
            doubles.add_multiple(&self.K[c, 0], -self.changes[c], &self.changes[0], self.room)

    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil:
        """Move beta by one Newton step on the log loss, whose derivatives are mean and variance of gaps under p."""
        largest, total, mean, square = self.logits[label], 0.0, 0.0, 0.0
        for c in range(self.n_labels):
            if self.counts[c] > 0.0:
                largest = fmax(largest, self.logits[c])
        for c in range(self.n_labels):
            if self.counts[c] > 0.0:
                p = exp(self.logits[c] - largest)
                gap = self.discriminants[c] - self.discriminants[label]
                total += p
                mean += p * gap
                square += p * gap * gap
        mean /= total
        # The step is one in the logarithm of beta, of at most 1/2.
        self.squares = KEPT * self.squares + weight * self.beta**2 * fmax(0.0, square / total - mean**2)
        if self.squares == 0.0:  # After a million examples of one label, it has faded to nothing.
            return
        self.beta *= exp(fmax(-0.5, fmin(0.5, -weight * self.beta * mean / self.squares)))
        self.beta = fmax(LEAST_BETA, fmin(MOST_BETA, self.beta))

    cdef void forget(self, Py_ssize_t n_rounds) noexcept nogil:
        """Let all sums fade, and put back what lambda I loses, in one direction after the other.

        The examples may lie in few directions. P grows in all others, and most in that whose turn it is, as that has
        waited for longest: while P is too large there, nothing fades. While K is too large, as labels wait for their
        turn, floors are put back alone. P fades by its scale, as multiplied elements would be rounded in each round.
        """
        cdef double largest = 0.0, share = FLOOR * (1.0 - self.forgetting)
        cdef Py_ssize_t n_seen = 0, turn = n_rounds % self.n_labels
        # phi is the unit vector of the direction whose turn it is, and u is its column of P.
        self.loops.column(self.p, n_rounds % self.n_features, self.phi, self.u, self.n_rows)
        for c in range(self.n_labels):
            largest = fmax(largest, self.K[c, c])
        if self.scale * self.loops.dot(self.phi, self.u, self.width) < LARGEST:
            kept = self.forgetting if largest < LARGEST_K else 1.0
            self.scale /= kept
            for c in range(self.n_labels):
                self.residuals[c] = self.counts[c] > 0.0
                n_seen += self.counts[c] > 0.0
                self.counts[c] *= kept
                doubles.scale(&self.K[c, 0], 1.0 / kept, self.room)
            # Floors are put back into R, and into N for the label whose turn it is.
            self.add_to_residuals(share)
            if self.residuals[turn] > 0.0:
                for c in range(self.n_labels):
                    self.residuals[c] = c == turn
                self.add_to_residuals(n_seen * share)
                self.counts[turn] += n_seen * share
        # Put lambda I back in this direction, by an example of no label.
        for c in range(self.n_labels):
            self.means[c] = self.loops.dot(self.w + c * self.row_bytes, self.phi, self.width)
        gain = self.regress(-1, (1.0 - self.forgetting) * self.n_features / PRIOR)
        self.add_to_residuals(gain)

    # Blocks: rows that are learned with one pass through P.

    cpdef int scan(self, Block block, double threshold) except -1:
        if block.labels is None or not self.takes_blocks:
            return Engine.scan(self, block, threshold)
        stop = min(block.n_rows, block.row + ROWS)
        rows = [i for i in range(block.row, stop) if block.weights[i] > 0.0]
        if len(rows) < LEAST_ROWS:
            return Engine.scan(self, block, threshold)
        self.widen(1 + max([block.labels[i] for i in rows]))
        self.begin()
        try:
            self.learn_rows(block, np.array(rows))
            block.row = stop
        except np.linalg.LinAlgError:
            # Large weights or rounding errors: one after the other, a row learns only what it can.
            self.is_busy = False
            return Engine.scan(self, block, threshold)
        finally:
            self.is_busy = False
        return 0

    @property
    def takes_blocks(self):
        """Whether rows may be learned together: sums do not fade, scales are fixed, and P is large."""
        is_fixed = self.kept.shape[0] == 0 and self.sums is None and self.forgetting == self.scale == 1.0
        return is_fixed and not self.is_balanced and self.n_features >= LEAST_FEATURES

    cdef int learn_rows(self, Block block, Py_ssize_t[::1] rows) except -1:
        """Learn rows of a block as if one after the other, by the identity of Woodbury.

        For rows phi as the matrix F, weights w, u = F P and S = diag(1 / w) + u F' = L L' (Cholesky), P loses V' V and W'
        gains V' Z, where V = L^-1 u, and Z = L^-1 (Y - F W). The residual of a row given those before it is that of
        Z, times its element on the diagonal of L, and its gain is 1 over the square of that.
        """
        cdef Py_ssize_t j, c, label, n = rows.shape[0]
        cdef double[:, ::1] Z
        cdef double[::1] roots, weights = np.zeros(n)
        F = np.zeros((n, self.width), self.P.dtype)
        Y = np.zeros((n, self.n_labels))
        for j in range(n):
            self.store.evaluate_row(block, rows[j])
            self.project()
            F[j] = self.vectors[0]
            Y[j, block.labels[rows[j]]] = 1.0
            weights[j] = self.bounded(block.weights[rows[j]])
        tiles = Tiles(self.P, self.n_rows, self.width)
        u = tiles.times(F)
        S = np.matmul(u, F.T).astype(np.float64)
        # As in `regress`: what is lost in rounding errors is no direction to learn in.
        is_lost = S.diagonal() < self.least_variance
        u[is_lost], S[is_lost], S[:, is_lost] = 0.0, 0.0, 0.0
        root = np.linalg.cholesky(0.5 * (S + S.T) + np.diag(1.0 / weights.base))
        inverse, diagonal = np.linalg.inv(root), np.ascontiguousarray(root.diagonal())
        V = np.matmul(inverse.astype(u.dtype), u)
        Z, roots = np.matmul(inverse, Y - np.matmul(F, self.W.T)), diagonal
        change = np.matmul(Z.base.T.astype(V.dtype), V)
        # Nothing fails from here on, and no code of Python runs, so no interrupt can come in between.
        for j in range(n):
            label = block.labels[rows[j]]
            for c in range(self.n_labels):
                self.residuals[c] = roots[j] * Z[j, c]
                self.means[c] = (c == label) - self.residuals[c]
            self.compare()
            if self.counts[label] > 0.0:
                self.adapt(label, weights[j])
            self.count(label, weights[j], 1.0 / roots[j]**2)
            self.end_round(label)
        np.add(self.W, change, self.W)
        tiles.subtract(V)
        return 0

    # Scales, and the memory for labels.

    def set_scales(self, *scales):
        self.fourier.scales, self.fourier.last_names, self.answered_at = scales, None, -1

    def relearn(self, *scales):
        """Learn the examples that are kept anew, with other scales; the last time, drop them."""
        cdef Py_ssize_t slot
        cdef Store store = self.store
        self.begin()
        try:
            self.reset()
            self.set_scales(*scales)
            for slot in range(self.n_rounds):
                self.store.evaluate(self.store.vector(slot))
                self.answer()
                self.update(<Py_ssize_t> self.kept[slot, 0], self.kept[slot, 1], slot + 1)
            if self.n_rounds == BUFFER:
                self.store, self.kept, self.answered_at = store.empty_like(), np.zeros((0, 2)), -1
                self.store.owner = store.owner  # the thread that learns keeps the new store, too
        finally:
            self.is_busy = False

    cdef int reset(self) except -1:
        """Forget all but the numbers of rounds and mistakes, and the examples that are kept."""
        j = np.arange(self.n_features)
        self.P[:], self.W[:] = 0.0, 0.0
        self.P[offsets(j, j)] = PRIOR
        self.K[:], self.counts[:] = 0.0, 0.0
        self.scale, self.beta, self.squares, self.answered_at = 1.0, 1.0, 1.0, -1

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        room = (n_labels + 7) // 8 * 8
        W, K = padded(self.W, n_labels), padded(self.K.base[:, : self.n_labels], n_labels, room)
        counts, by_label, w = padded(self.counts.base, n_labels), np.zeros((5, room)), address(W)
        # From its last line on, no interrupt can come.
        Engine.set_labels(self, n_labels)
        self.W, self.K, self.counts, self.w, self.room = W, K, counts, w, room
        self.means, self.discriminants, self.logits, self.residuals, self.changes = by_label

    # What is learned.

    @property
    def nbytes(self):
        arrays = self.P, self.W, self.K, self.counts, self.kept, self.vectors, self.fourier, self.store
        return sum([array.nbytes for array in arrays]) + 5 * self.means.nbytes

    def own_state(self):
        return {
            "inverse": self.P[offsets(*np.tril_indices(self.n_features))],
            "coefficients": self.W[:, : self.n_features].copy(),
            "residuals": self.K.base[:, : self.n_labels].copy(), "counts": self.counts.base.copy(),
            "scale": self.scale, "beta": self.beta, "squares": self.squares,
            "kept": self.kept.base[: self.store.vectors.n].copy(),
        }

    def restore_own(self, state):
        """Restore all but the store, of a model that has its labels."""
        cdef Py_ssize_t n = self.n_labels, n_features = self.n_features
        dtype, is_kept = self.P.dtype, self.store.bank.scaled[0] and self.n_rounds < BUFFER
        kept = floats(state["kept"], (self.n_rounds if is_kept else 0, 2))
        is_valid = (kept[:, 0] >= 0) & (kept[:, 0] < n) & (kept[:, 1] > 0)
        require(self.store.vectors.n == len(kept) and is_valid.all(), "the examples that are kept are wrong")
        inverse = floats(state["inverse"], (n_features * (n_features + 1) // 2,), dtype=dtype)
        P = unpacked(inverse, n_features)
        W = floats(state["coefficients"], (n, n_features), dtype=dtype)
        counts, K = floats(state["counts"], (n,)), floats(state["residuals"], (n, n))
        require((counts >= 0).all(), "the number of examples of a label is negative")
        if not is_trusted():
            check_definite(P, K, dtype)
        # With |phi| = 1, P is at most its prior, W' P^-1 W <= N, and K <= N^-1 + PRIOR.
        largest, squares = SLACK * PRIOR, np.square(W, dtype=np.float64).sum(axis=1)
        require(np.abs(P).max() <= largest, "an inverse is too large")
        require((squares <= largest * counts).all(), "a coefficient is too large")
        possible = K.diagonal() * counts <= SLACK + largest * counts
        require(possible.all(), "the inverse of the residuals is too large")
        self.scale = finite(state["scale"], 1.0, LARGEST_SCALE)
        self.beta = finite(state["beta"], LEAST_BETA, MOST_BETA)
        self.squares = finite(state["squares"], 0.0, LARGEST_NUMBER)
        P = padded(P, self.n_rows, self.width)
        groups_of_rows = [P[i : i + 8, : i + 8].ravel() for i in range(0, self.n_rows, 8)]
        self.P[:] = np.concatenate(groups_of_rows)
        self.W[:, :n_features], self.K.base[:, :n], self.counts = W, K, counts
        self.kept = padded(kept, BUFFER if is_kept else 0)


def check_definite(P, K, dtype):
    """Raise ValueError unless both inverses can be those of a model, whose P has a dtype."""
    # What the rounding of a million steps may leave.
    error = (1e-2 if dtype == np.float32 else 1e-6) * np.abs(P).max()
    require_definite(P + error * np.eye(len(P)), "an inverse is wrong")
    require_definite(K, "the inverse of the residuals is wrong")


def most_weight(dtype, forgetting, n_features):
    """Return the largest weight that counts as it is: beyond it, variances are lost in rounding errors.

    With forgetting, it also bounds the sum of all weights, and how far P fades in a direction until its turn comes.
    """
    most, lost = 1e3, 1.0 - forgetting
    if lost > 0.0:
        most = min(100.0, 1e5 * lost, 5e3 / (lost * n_features))
    return most if dtype == np.float32 else 1e4 * most


def offsets(rows, columns):
    """Return the offsets of elements in the layout of `symmetric.h`."""
    groups = rows // 8
    return 8 * (groups + 1) * (rows - 4 * groups) + columns


cdef char *address(array) except NULL:
    return <char *> <size_t> array.ctypes.data
