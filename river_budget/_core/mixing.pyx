# cython: language_level=3, wraparound=False
# cython: initializedcheck=False, cdivision=True
"""The mixture of the experts, and the expert that knows only the labels."""

from libc.math cimport INFINITY, exp, fmax, fmin, log, sqrt
from libc.string cimport memset

import numpy as np

from river_budget._state import count, floats, require

# Learning rates of the two mixers.
cdef double SLOW = 0.002
cdef double FAST = 0.02

# Forgetting factor of both hedges: log weights are multiplied by it in every round.
cdef double RHO = 0.995

# Hedges take probabilities p as FLOOR + (1 - 2 FLOOR) p, so that no weight can vanish.
cdef double FLOOR = 0.02

# The mixers take probabilities from CLIP / n_labels to 1 - CLIP / 2.
cdef double CLIP = 0.02

# Runs are counted by the power of two below their length: 1, 2 to 3, 4 to 7, ..., at least 1,024.
cdef enum:
    N_BINS = 11

# What is added to each count of runs, so that no probability is 0.
cdef double PRIOR = 0.5


cdef void softmax(const double *logits, double *weights, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double largest = -INFINITY, total = 0.0
    for i in range(n):
        largest = fmax(largest, logits[i])
    for i in range(n):
        weights[i] = exp(logits[i] - largest)
        total += weights[i]
    for i in range(n):
        weights[i] /= total


cdef inline double gain(double probability) noexcept nogil:
    """Return what the probability of a label that came adds to the log weight in a hedge."""
    return log(FLOOR + (1.0 - 2.0 * FLOOR) * probability)


cdef void update_hedge(double[:, ::1] weights, const double *steps) noexcept nogil:
    """Add steps to the decayed log weights of a hedge."""
    cdef Py_ssize_t i, n = weights.shape[1]
    for i in range(n):
        weights[LOG_WEIGHTS, i] = RHO * weights[LOG_WEIGHTS, i] + steps[i]
    softmax(&weights[LOG_WEIGHTS, 0], &weights[HEDGE, 0], n)


cdef class Mixture:
    """Two layers of weights: a hedge and two mixers of the experts, and a hedge of these three."""

    def __init__(self, Py_ssize_t n_experts):
        self.n_experts = n_experts
        self.weights = np.full((4, n_experts), 1.0 / n_experts)
        self.top = np.full((2, 3), 1.0 / 3.0)
        self.weights[LOG_WEIGHTS], self.top[LOG_WEIGHTS] = 0.0, 0.0
        self.steps, self.counts = np.zeros(3 * n_experts + 3), np.ones(0)
        self.widen(self.widened(2))

    cdef void mix(self) noexcept nogil:
        """Compute the forecast from the probabilities of the experts."""
        cdef Py_ssize_t c, e, i, n_labels = self.n_labels
        cdef double half
        mixtures = &self.mixtures[0, 0]
        self.take_logarithms()
        for i in range(4 * n_labels):
            mixtures[i] = 0.0
        for e in range(self.n_experts):
            probabilities, logs = &self.probabilities[e, 0], &self.logs[e, 0]
            for c in range(n_labels):
                mixtures[c] += self.weights[HEDGE, e] * probabilities[c]
                mixtures[n_labels + c] += self.weights[SLOW_MIXER, e] * logs[c]
                mixtures[2 * n_labels + c] += self.weights[FAST_MIXER, e] * logs[c]
        for i in range(1, 3):
            softmax(mixtures + i * n_labels, mixtures + i * n_labels, n_labels)
        forecast = mixtures + 3 * n_labels
        for i in range(3):
            for c in range(n_labels):
                forecast[c] += self.top[HEDGE, i] * mixtures[i * n_labels + c]
        if n_labels == 2:
            half = 0.5 * (forecast[1] - forecast[0])
            forecast[0], forecast[1] = 0.5 - half, 0.5 + half

    cdef void take_logarithms(self) noexcept nogil:
        """Compute the logarithms of the clipped probabilities."""
        cdef Py_ssize_t c, e
        cdef double lowest = CLIP / self.n_labels, highest = 1.0 - CLIP / 2.0
        for e in range(self.n_experts):
            p, logs = &self.probabilities[e, 0], &self.logs[e, 0]
            if self.n_labels == 2:
                logs[0] = 0.0
                logs[1] = log(clipped(p[1], lowest, highest) / clipped(p[0], lowest, highest))
                continue
            for c in range(self.n_labels):
                logs[c] = log(clipped(p[c], lowest, highest))

    cdef void begin(self) noexcept nogil:
        memset(&self.steps[0], 0, self.steps.shape[0] * sizeof(double))

    cdef void add_steps(self, Py_ssize_t label, double share) noexcept nogil:
        """Add a share of what a label changes; in hedges, its own share s counts 1 / sqrt(C s)."""
        cdef Py_ssize_t c, e, i, n = self.n_experts
        cdef double slow, fast, total = 0.0
        for c in range(self.n_labels):
            total += self.counts[c]
        cdef double balance = share * sqrt(total / (self.n_labels * self.counts[label]))
        steps = &self.steps[0]
        for i in range(3):
            steps[3 * n + i] += balance * gain(self.mixtures[i, label])
        for e in range(n):
            logs = &self.logs[e, 0]
            slow = fast = logs[label]
            for c in range(self.n_labels):
                slow -= self.mixtures[1, c] * logs[c]
                fast -= self.mixtures[2, c] * logs[c]
            steps[e] += balance * gain(self.probabilities[e, label])
            steps[n + e] += share * (SLOW * slow)
            steps[2 * n + e] += share * (FAST * fast)

    cdef void update(self, Py_ssize_t label) noexcept nogil:
        cdef Py_ssize_t e, n = self.n_experts
        self.counts[label] += 1.0
        update_hedge(self.weights, &self.steps[0])
        update_hedge(self.top, &self.steps[3 * n])
        for e in range(n):
            self.weights[SLOW_MIXER, e] += self.steps[n + e]
            self.weights[FAST_MIXER, e] += self.steps[2 * n + e]

    def widened(self, Py_ssize_t n_labels):
        """Return all that `widen` takes to add new labels, up to a number of labels."""
        outputs = (self.n_experts, n_labels), (self.n_experts, n_labels), (4, n_labels)
        counts = np.append(self.counts.base, np.ones(n_labels - self.n_labels))
        return counts, *map(np.zeros, outputs)

    def widen(self, arrays):
        """Replace all that has a place for each label by what `widened` has returned."""
        self.counts, self.probabilities, self.logs, self.mixtures = arrays
        self.n_labels = self.counts.shape[0]

    @property
    def nbytes(self):
        return 8 * (7 * self.n_experts + 9 + (2 * self.n_experts + 5) * self.n_labels)

    def state(self):
        """Return all weights and counts, without the weights that follow from their logarithms."""
        return {
            "weights": np.delete(self.weights.base, HEDGE, axis=0),
            "top": self.top.base[LOG_WEIGHTS].copy(),
            "counts": self.counts.base.copy(),
        }

    def restore(self, state):
        """Restore a mixture that has its labels from its state."""
        given = floats(state["weights"], (3, self.n_experts))
        top, counts = floats(state["top"], (3,)), floats(state["counts"], (self.n_labels,))
        require((counts >= 1).all(), "the numbers of examples of the labels are wrong")
        self.weights, self.counts = np.insert(given, HEDGE, 0.0, axis=0), counts
        self.top.base[LOG_WEIGHTS] = top
        softmax(&self.weights[LOG_WEIGHTS, 0], &self.weights[HEDGE, 0], self.n_experts)
        softmax(&self.top[LOG_WEIGHTS, 0], &self.top[HEDGE, 0], 3)


cdef class Repeats:
    """Counts of the next label, given the last one and the length of its run."""

    def __init__(self):
        self.counts, self.last, self.is_known = np.zeros((2, 2 * N_BINS + 2)), -1, True

    cdef void predict(self, double[::1] probabilities) noexcept nogil:
        """Compute the probabilities of the next label (labels,)."""
        cdef Py_ssize_t c, length, n_labels = self.counts.shape[0]
        cdef double ended, went_on, total = 0.0
        if self.last < 0 or not self.is_known:
            for c in range(n_labels):
                probabilities[c] = 1.0 / n_labels
            return
        counts, length = &self.counts[self.last, 0], bin_of(self.length)
        ended, went_on = counts[length] + PRIOR, counts[N_BINS + length] + PRIOR
        for c in range(n_labels):
            if c != self.last:
                probabilities[c] = counts[2 * N_BINS + c] + PRIOR
                total += probabilities[c]
        for c in range(n_labels):
            probabilities[c] *= ended / ((ended + went_on) * total)
        probabilities[self.last] = went_on / (ended + went_on)

    cdef void count(self, Py_ssize_t label) noexcept nogil:
        """Count a label after the last one, or forget that if it is unknown in this round."""
        cdef Py_ssize_t length
        if not self.is_known:
            self.last, self.length = -1, 0
            return
        if self.last >= 0:
            counts, length = &self.counts[self.last, 0], bin_of(self.length)
            if label == self.last:
                counts[N_BINS + length] += 1.0
            else:
                counts[length] += 1.0
                counts[2 * N_BINS + label] += 1.0
        self.length = self.length + 1 if label == self.last else 1
        self.last = label

    def widened(self, Py_ssize_t n_labels):
        """Return the counts with zeros for new labels, up to a number of labels."""
        n_new = n_labels - self.counts.shape[0]
        return np.pad(self.counts.base, ((0, n_new), (0, n_new)))

    @property
    def nbytes(self):
        return self.counts.nbytes

    def state(self):
        """Return the counts, the last label and the length of its run."""
        return {"counts": self.counts.base.copy(), "last": self.last, "length": self.length}

    def restore(self, state):
        """Restore counts that have their labels from their state."""
        counts = floats(state["counts"], (<object> self.counts).shape)
        require((counts >= 0).all(), "a count of labels is negative")
        last, length = state["last"], count(state["length"])
        require(type(last) is int and -1 <= last < len(counts), "the last label is unknown")
        self.counts, self.last, self.length = counts, last, length


cdef inline double clipped(double value, double lowest, double highest) noexcept nogil:
    return fmin(fmax(value, lowest), highest)


cdef Py_ssize_t bin_of(Py_ssize_t length) noexcept nogil:
    """Return the bin of the length of a run, at least 1."""
    cdef Py_ssize_t last = 0
    while length > 1 and last < N_BINS - 1:
        length //= 2
        last += 1
    return last
