# cython: language_level=3, wraparound=False
# cython: initializedcheck=False, cdivision=True
"""Linear discriminant analysis on random features, one example at a time."""

from libc.math cimport exp, fmax, fmin, log, sqrt

import numpy as np

from river_budget._core.symmetric import unpacked
from river_budget._state import LARGEST_NUMBER, count, finite, floats, integers, require, require_definite

from river_budget._core.engine cimport DUE_CHECK, Engine
from river_budget._core.fourier cimport Fourier
from river_budget._core.store cimport Store
from river_budget._core.symmetric cimport DOUBLES, FLOATS, loops, symmetric_place

# Scales and width are learned from so many examples, which are kept until then.
BUFFER = 256

# The prior variance of each coefficient, 1 / lambda.
cdef double PRIOR = 20.0

# With forgetting, a share of this is put back into R at each step.
cdef double FLOOR = 0.1

# With forgetting, the variance of the coefficient whose turn it is, above which nothing fades.
cdef double LARGEST = 4.0 * PRIOR

# The logarithm of the odds of a label without examples against the least probable one with some.
cdef double UNSEEN = -50.0

# Bounds of beta; what the sum of its second derivatives begins with, and its factor in each round.
cdef double LEAST_BETA = 1e-3
cdef double MOST_BETA = 10.0
cdef double START = 1.0
cdef double KEPT = 0.999


cdef class Discriminant(Engine):
    """The statistics of a linear discriminant on random features phi, and the rounds.

    P = (lambda I + sum phi phi')^-1 is symmetric, in the layout of `symmetric.h`. W = P B are the
    coefficients of the regression of one-hot labels, B = sum phi e_y', by labels. K is the inverse of R =
    N - B' P B, the sum of squares that the regression leaves, where N has the numbers of examples. Both
    have a row for each label; that of a label without examples is 0. Its scores are twice the logits,
    with a sum of 0. Its rounds include their update, so none of them stays open.

    Parameters
    ----------
    store
        Packs examples, and keeps those from which scales are learned.
    n_features
        Number of random features, even.
    forgetting
        Factor of the sums in each round, at most 1.
    seed
        The seed of the random features.
    learns_scales
        Whether the first examples are kept.
    """

    def __init__(
        self, Store store not None, Py_ssize_t n_features, double forgetting, seed, bint learns_scales
    ):
        dtype = np.dtype(store.dtype)
        self.store, self.n_features, self.forgetting = store, n_features, forgetting
        self.learns_scales = learns_scales
        self.fourier = Fourier(n_features // 2, seed)
        self.width = (n_features + 7) // 8 * 8
        self.row_bytes = self.width * dtype.itemsize
        self.loops = &loops[DOUBLES if dtype == np.float64 else FLOATS]
        self.features = np.empty(n_features)
        self.elements, self.product = np.zeros(self.width, dtype), np.zeros(self.width, dtype)
        self.phi, self.u = address(self.elements), address(self.product)
        self.P = np.zeros(symmetric_place(self.width, 0), dtype)
        self.p = address(self.P)
        n_kept = BUFFER if learns_scales else 0
        self.kept_labels, self.kept_weights = np.zeros(n_kept, np.int64), np.zeros(n_kept)
        self.set_labels(2)
        self.reset()

    def __reduce__(self):
        arguments = self.store, self.n_features, self.forgetting, self.fourier.seed, self.learns_scales
        learned = self.own_state(), self.n_labels, self.checked_at, self.sums, self.fourier.scales
        return type(self), arguments, learned

    def __setstate__(self, learned):
        state, n_labels, self.checked_at, self.sums, scales = learned
        self.widen(n_labels)
        self.restore_own(state)
        self.fourier.set_scales(*scales)

    # Forecasts.

    cdef int answer(self) except -1 nogil:
        cdef Py_ssize_t c
        cdef double mean = 0.0
        self.fourier.transform(
            self.store.columns, self.store.values, self.store.arrays, &self.features[0]
        )
        self.discriminate()
        for c in range(self.n_labels):
            mean += self.outputs[2, c] / self.n_labels
        for c in range(self.n_labels):
            self.answers[c] = 2.0 * (self.outputs[2, c] - mean)
        if self.n_labels == 2:
            self.answers[1] = self.outputs[2, 1] - self.outputs[2, 0]
            self.answers[0] = -self.answers[1]
        return 0

    cdef void discriminate(self) noexcept nogil:
        """Compute means, discriminants and logits from the features."""
        cdef Py_ssize_t c, n_labels = self.n_labels
        cdef double total = 0.0, least = 0.0, inner, square
        cdef bint is_first = True
        means, discriminants, logits = &self.outputs[0, 0], &self.outputs[1, 0], &self.outputs[2, 0]
        self.loops.convert(
            &self.features[0], sqrt(2.0 / self.n_features), self.phi, self.n_features
        )
        for c in range(n_labels):
            means[c] = self.loops.dot(self.w + c * self.row_bytes, self.phi, self.width)
            total += self.counts[c]
        for c in range(n_labels):
            if self.counts[c] == 0.0:
                continue
            inner = loops[DOUBLES].dot(&self.K[c, 0], means, self.room)
            square = fmax(0.0, self.K[c, c] - 1.0 / self.counts[c])
            discriminants[c] = total * (inner - 0.5 * square)
            logits[c] = self.beta * discriminants[c] + log(self.counts[c] / total)
            least = logits[c] if is_first else fmin(least, logits[c])
            is_first = False
        for c in range(n_labels):
            if self.counts[c] == 0.0:
                logits[c] = least + UNSEEN

    # Rounds.

    def roll_back(self):
        """Take back the example that a round has kept and not learned; return False."""
        if self.is_kept and self.store.n > self.n_rounds:
            self.store.remove([self.n_rounds])
        return False

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        cdef Py_ssize_t slot = self.n_rounds
        if slot < self.kept_weights.shape[0]:
            self.store.put(slot)
            self.kept_labels[slot], self.kept_weights[slot] = label, weight
        if self.sums is not None:
            self.sums.add(self.store)
        # Nothing fails from here on; what failed before is taken back by `roll_back`.
        self.stamp = -1
        self.n_rounds += 1
        self.n_mistakes += self.answers[self.rival_of_label(label)] >= self.answers[label]
        self.update(label, weight)
        return DUE_CHECK if self.n_rounds >= self.checked_at else 0

    cdef void update(self, Py_ssize_t label, double weight) noexcept nogil:
        """Learn the example of the features and answers."""
        if self.counts[label] > 0.0:
            self.adapt(label, weight)
        self.loops.multiply(self.p, self.phi, self.u, self.width)
        self.update_residuals(label, self.regress(label, weight, 1.0))
        self.counts[label] += weight
        if self.forgetting < 1.0:
            self.forget()

    cdef double regress(self, Py_ssize_t label, double weight, double factor) noexcept nogil:
        """Multiply P by a factor and learn phi, with u = P phi, in P and W; return the gain."""
        cdef Py_ssize_t c
        cdef double gain, variance
        self.loops.scale(self.u, factor, self.width)
        variance = self.loops.dot(self.phi, self.u, self.width)
        gain = weight / (1.0 + weight * fmax(0.0, variance))
        residuals = &self.outputs[3, 0]
        for c in range(self.n_labels):
            residuals[c] = (c == label) - self.outputs[0, c]
            if c == label or self.counts[c] > 0.0:
                self.loops.add_multiple(
                    self.w + c * self.row_bytes, gain * residuals[c], self.u, self.width
                )
        # Below 0 by rounding alone.
        self.loops.scale(self.u, sqrt(gain) if variance > 0.0 else 0.0, self.width)
        self.loops.subtract(self.p, factor, self.u, self.width)
        return gain

    cdef void update_residuals(self, Py_ssize_t label, double gain) noexcept nogil:
        """Add gain r r' to R, for its inverse K; a new label gets a row."""
        cdef Py_ssize_t c
        residuals, product = &self.outputs[3, 0], &self.outputs[1, 0]
        if self.counts[label] > 0.0:
            self.add_to_residuals(residuals, gain)
            return
        # R is [[R + gain a a', gain a], [gain a', gain]], as the residual of a new label is 1.
        inner = self.times_inverse(residuals, product)
        for c in range(self.n_labels):
            self.K[label, c] = self.K[c, label] = -product[c]
        self.K[label, label] = 1.0 / gain + inner

    cdef double times_inverse(self, const double *x, double *product) noexcept nogil:
        """Compute K x, and return x' K x."""
        cdef Py_ssize_t c
        for c in range(self.n_labels):
            product[c] = loops[DOUBLES].dot(&self.K[c, 0], x, self.room)
        return loops[DOUBLES].dot(x, product, self.room)

    cdef void add_to_residuals(self, const double *x, double weight) noexcept nogil:
        """Add weight x x' to R, for its inverse K."""
        cdef Py_ssize_t c
        product = &self.outputs[1, 0]
        scale = weight / (1.0 + weight * fmax(0.0, self.times_inverse(x, product)))
        # Rounded equally on both sides of the diagonal: forgetting would let a difference grow for ever.
        loops[DOUBLES].scale(product, sqrt(scale), self.room)
        for c in range(self.n_labels):
            loops[DOUBLES].add_multiple(&self.K[c, 0], -product[c], product, self.room)

    cdef void adapt(self, Py_ssize_t label, double weight) noexcept nogil:
        """Move beta by one Newton step on the log loss of the example."""
        cdef Py_ssize_t c
        cdef double largest = self.outputs[2, label], total = 0.0, mean = 0.0, square = 0.0, p, l
        discriminants, logits = &self.outputs[1, 0], &self.outputs[2, 0]
        for c in range(self.n_labels):
            if self.counts[c] > 0.0:
                largest = fmax(largest, logits[c])
        for c in range(self.n_labels):
            if self.counts[c] > 0.0:
                p, l = exp(logits[c] - largest), discriminants[c] - discriminants[label]
                total += p
                mean += p * l
                square += p * l * l
        mean /= total
        # In the logarithm of beta.
        self.squares = KEPT * self.squares + weight * self.beta**2 * fmax(0.0, square / total - mean**2)
        self.beta *= exp(fmax(-0.5, fmin(0.5, -weight * self.beta * mean / self.squares)))
        self.beta = fmax(LEAST_BETA, fmin(MOST_BETA, self.beta))

    cdef void forget(self) noexcept nogil:
        """Let all sums fade, and put back what lambda I loses, in one direction after the other.

        Data may excite few directions. P grows in the others, most in that whose turn it is, since it
        has waited for longest. While it is too large there, nothing fades.
        """
        cdef double factor = 1.0
        cdef Py_ssize_t c
        self.turn += 1
        direction = self.turn % self.n_features
        self.features[:] = 0.0
        self.features[direction] = 1.0
        self.loops.convert(&self.features[0], 1.0, self.phi, self.n_features)
        self.loops.column(self.p, direction, self.u, self.width)
        if self.loops.dot(self.phi, self.u, self.width) < LARGEST:
            factor = 1.0 / self.forgetting
            self.fade()
        for c in range(self.n_labels):
            self.outputs[0, c] = self.loops.dot(self.w + c * self.row_bytes, self.phi, self.width)
        # An example of no label.
        gain = self.regress(-1, (1.0 - self.forgetting) * self.n_features / PRIOR, factor)
        self.add_to_residuals(&self.outputs[3, 0], gain)

    cdef void fade(self) noexcept nogil:
        """Forget a share of N and R, and put floors back."""
        cdef Py_ssize_t c, n_labels = self.n_labels, n_seen = 0, turn = self.turn % n_labels
        cdef double share = FLOOR * (1.0 - self.forgetting)
        units = &self.outputs[3, 0]
        for c in range(n_labels):
            units[c] = self.counts[c] > 0.0
            n_seen += self.counts[c] > 0.0
            self.counts[c] *= self.forgetting
            loops[DOUBLES].scale(&self.K[c, 0], 1.0 / self.forgetting, self.room)
        self.add_to_residuals(units, share)
        if units[turn] > 0.0:
            for c in range(n_labels):
                units[c] = c == turn
            self.add_to_residuals(units, n_seen * share)
            self.counts[turn] += n_seen * share

    # Scales, and the memory for labels.

    def set_scales(self, dict factors, double pooled, double gamma):
        """Set the inverse scales of names, that of all others, and gamma."""
        self.fourier.set_scales(factors, pooled, gamma)
        self.stamp = -1

    def relearn(self, dict factors, double pooled, double gamma):
        """Learn the examples that are kept anew, with other scales and another width."""
        cdef Py_ssize_t slot
        self.begin()
        try:
            self.reset()
            self.set_scales(factors, pooled, gamma)
            for slot in range(self.n_rounds):
                self.store.evaluate(self.store.vector(slot))
                self.answer()
                self.update(self.kept_labels[slot], self.kept_weights[slot])
        finally:
            self.is_busy = False

    def end_buffer(self):
        """Drop the examples that were kept."""
        empty = self.store.empty_like()  # Python code, where an interrupt may come, before any change
        self.kept_labels, self.kept_weights = np.zeros(0, np.int64), np.zeros(0)
        self.store, self.stamp = empty, -1

    cdef int reset(self) except -1:
        """Forget all but the numbers of rounds and mistakes, and the examples that are kept."""
        diagonal = np.arange(self.n_features)
        self.P[:], self.W[:] = 0.0, 0.0
        self.P[places(diagonal, diagonal)] = PRIOR
        np.asarray(self.K)[:], np.asarray(self.counts)[:] = 0.0, 0.0
        self.beta, self.squares, self.turn, self.stamp = 1.0, START, 0, -1
        return 0

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        cdef Py_ssize_t n = self.n_labels, room
        W = np.zeros((n_labels, self.width), self.P.dtype)
        room = (n_labels + 7) // 8 * 8
        K, counts, outputs = np.zeros((n_labels, room)), np.zeros(n_labels), np.zeros((4, room))
        if n:
            W[:n], K[:n, :n], counts[:n] = self.W, self.matrix, self.counts
        Engine.set_labels(self, n_labels)
        self.W, self.K, self.counts, self.outputs = W, K, counts, outputs
        self.w, self.room = address(W), room
        return 0

    # What is learned.

    @property
    def matrix(self):
        """K (labels, labels), which is not a copy."""
        return np.asarray(self.K)[:, : self.n_labels]

    @property
    def is_kept(self):
        """Whether examples are kept for scales that are not fixed yet."""
        return self.kept_weights.shape[0] > 0

    @property
    def nbytes(self):
        arrays = [
            self.P, self.W, self.K, self.counts, self.kept_labels, self.kept_weights, self.features,
            self.elements, self.product, self.outputs,
        ]
        return sum([array.nbytes for array in arrays]) + self.fourier.nbytes + self.store.nbytes

    def own_state(self):
        """Return the state without that of the store."""
        n = min(self.store.n, self.kept_weights.shape[0])
        return {
            "inverse": self.P[places(*np.tril_indices(self.n_features))],
            "coefficients": self.W[:, : self.n_features].copy(),
            "residuals": self.matrix.copy(), "counts": np.array(self.counts),
            "beta": self.beta, "squares": self.squares, "turn": self.turn,
            "n_rounds": self.n_rounds, "n_mistakes": self.n_mistakes,
            "labels": np.array(self.kept_labels[:n]), "weights": np.array(self.kept_weights[:n]),
        }

    def restore_own(self, state):
        """Restore all but the store, of a model that has its labels."""
        cdef Py_ssize_t n = self.n_labels
        n_rounds = count(state["n_rounds"])
        is_kept = self.learns_scales and n_rounds < BUFFER
        n_kept = n_rounds if is_kept else 0
        require(self.store.n == n_kept, "the examples that are kept are not those of the rounds")
        labels, weights = integers(state["labels"], (n_kept,)), floats(state["weights"], (n_kept,))
        require(((labels >= 0) & (labels < n)).all() and (weights > 0).all(), "a kept example is wrong")
        size = self.n_features * (self.n_features + 1) // 2
        inverse = floats(state["inverse"], (size,), dtype=self.P.dtype)
        P = unpacked(inverse[np.newaxis], self.n_features)[0]
        # What the rounding of a million steps may leave.
        largest = (1e-2 if self.P.dtype == np.float32 else 1e-6) * np.abs(P).max()
        require_definite(P + largest * np.eye(len(P)), "an inverse is wrong")
        W = floats(state["coefficients"], (n, self.n_features), dtype=self.P.dtype)
        counts, K = floats(state["counts"], (n,)), floats(state["residuals"], (n, n))
        seen = counts > 0
        require((counts >= 0).all() and (K[~seen] == 0).all(), "a label without examples has some")
        require_definite(K, "the inverse of the residuals is wrong")
        beta = finite(state["beta"], LEAST_BETA, MOST_BETA)
        squares, turn = finite(state["squares"], 0.0, LARGEST_NUMBER), count(state["turn"])
        # The blocks on the diagonal are whole.
        of_block = np.arange(self.n_features) // 8
        rows, columns = np.nonzero(of_block[:, np.newaxis] >= of_block)
        self.P[places(rows, columns)] = P[rows, columns]
        self.W[:, : self.n_features] = W
        self.matrix[:], np.asarray(self.counts)[:] = K, counts
        self.beta, self.squares, self.turn = beta, squares, turn
        self.restore_counts(state)
        if is_kept:
            np.asarray(self.kept_labels)[:n_kept] = labels
            np.asarray(self.kept_weights)[:n_kept] = weights
        else:
            self.kept_labels, self.kept_weights = np.zeros(0, np.int64), np.zeros(0)

    def state(self):
        """Return all that is learned, with the examples that are kept."""
        return {"store": self.store.state(), **self.own_state()}

    def restore(self, state):
        """Restore a new model, which has its labels, from its state."""
        self.store.restore(state["store"])
        self.restore_own(state)


def places(rows, columns):
    """Return the places of elements in the blocks, as `symmetric_place` does."""
    groups = rows // 8
    return 32 * groups * (groups + 1) + rows % 8 * 8 * (groups + 1) + columns


cdef char *address(array) except NULL:
    cdef unsigned char[::1] view = array.reshape(-1).view(np.uint8)
    return <char *> &view[0]
