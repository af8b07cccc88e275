# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""A mixture of experts; see `mixture.pxd`."""

from libc.math cimport fmax, fmin, log
from libc.string cimport memcpy, memset

import numpy as np

from river_budget._core.softmax cimport softmax

from river_budget._state import floats

cdef double FLOOR = 0.02                   # hedges take p as FLOOR + (1 - 2 FLOOR) p: no weight can vanish
cdef double CLIP = 0.02                    # the mixers take p from CLIP / n_labels to 1 - CLIP / 2


cdef double gain(double probability) noexcept nogil:
    """Return what the probability of a label that came adds to the log weight in a hedge."""
    return log(FLOOR + (1.0 - 2.0 * FLOOR) * probability)


cdef inline double clipped(double value, double lowest, double highest) noexcept nogil:
    return fmin(fmax(value, lowest), highest)


cdef void balance_pair(double *forecast) noexcept nogil:
    """Make two probabilities, whose sum is nearly 1, exactly as far from a half as each other."""
    half = 0.5 * (forecast[1] - forecast[0])
    forecast[0], forecast[1] = 0.5 - half, 0.5 + half


cdef class Mixture:

    def __init__(self, Py_ssize_t n_experts, decays=(0.995, 0.995), rates=(0.002, 0.02)):
        n = self.n_experts = n_experts
        self.decays, self.rates = decays, rates
        self.learned, self.steps = np.zeros((2, 3 * n + 3))
        self.learned[n : 3 * n] = 1.0 / n
        self.weights = np.zeros(n + 3)
        self.normalize()
        self.widen(self.widened(2))

    cdef void mix(self) noexcept nogil:
        self.take_logs()
        self.weigh()

    cdef void take_logs(self) noexcept nogil:
        n_labels = self.n_labels
        lowest, highest = CLIP / n_labels, 1.0 - CLIP / 2.0
        for e in range(self.n_experts):
            p, logs = &self.probabilities[e, 0], &self.logs[e, 0]
            if n_labels == 2:
                logs[1] = log(clipped(p[1], lowest, highest) / clipped(p[0], lowest, highest))
            else:
                for c in range(n_labels):
                    logs[c] = log(clipped(p[c], lowest, highest))

    cdef void weigh(self) noexcept nogil:
        n, n_labels = self.n_experts, self.n_labels
        mixtures, forecast = &self.mixtures[0, 0], &self.mixtures[3, 0]
        memset(mixtures, 0, 4 * n_labels * sizeof(double))
        for e in range(n):
            p, logs = &self.probabilities[e, 0], &self.logs[e, 0]
            for c in range(n_labels):
                mixtures[c] += self.weights[e] * p[c]
                mixtures[n_labels + c] += self.learned[n + e] * logs[c]
                mixtures[2 * n_labels + c] += self.learned[2 * n + e] * logs[c]
        for i in range(1, 3):
            softmax(mixtures + i * n_labels, mixtures + i * n_labels, n_labels)
        for i in range(3):
            for c in range(n_labels):
                forecast[c] += self.weights[n + i] * mixtures[i * n_labels + c]
        if n_labels == 2:
            balance_pair(forecast)

    cdef void forget_steps(self) noexcept nogil:
        memset(&self.steps[0], 0, self.steps.shape[0] * sizeof(double))

    cdef void add_steps(self, Py_ssize_t label, double hedges, double mixers, double charge) noexcept nogil:
        cdef double change
        steps = &self.steps[3 * self.n_experts]
        for i in range(N_MIXTURES):
            change = gain(self.mixtures[i, label]) - (charge if i > 0 else 0.0)
            steps[i] += hedges * change
        self.add_steps_of_experts(label, hedges, mixers)

    cdef void add_steps_of_experts(self, Py_ssize_t label, double hedges, double mixers) noexcept nogil:
        cdef double change
        n, steps = self.n_experts, &self.steps[0]
        for e in range(n):
            steps[e] += hedges * gain(self.probabilities[e, label])
            logs = &self.logs[e, 0]
            for i in range(1, 3):
                change, mixture = logs[label], &self.mixtures[i, 0]
                for c in range(self.n_labels):
                    change -= mixture[c] * logs[c]
                steps[i * n + e] += mixers * (self.rates[i - 1] * change)

    cdef void apply(self) noexcept nogil:
        n = self.n_experts
        for i in range(3 * n + 3):
            if i < n:
                self.learned[i] *= self.decays[0]
            elif i >= 3 * n:
                self.learned[i] *= self.decays[1]
            self.learned[i] += self.steps[i]
        self.normalize()

    cdef void normalize(self) noexcept nogil:
        softmax(&self.learned[0], &self.weights[0], self.n_experts)
        softmax(&self.learned[3 * self.n_experts], &self.weights[self.n_experts], 3)

    # Hedges that are exchanged.

    cdef void take_hedges(self, const double *log_weights) noexcept nogil:
        n = self.n_experts
        memcpy(&self.learned[0], log_weights, n * sizeof(double))
        memcpy(&self.learned[3 * n], log_weights + n, 3 * sizeof(double))
        self.normalize()

    cdef void give_hedges(self, double *log_weights) noexcept nogil:
        n = self.n_experts
        memcpy(log_weights, &self.learned[0], n * sizeof(double))
        memcpy(log_weights + n, &self.learned[3 * n], 3 * sizeof(double))

    cdef void take_steps(self, double *steps) noexcept nogil:
        n = self.n_experts
        memcpy(steps, &self.steps[0], n * sizeof(double))
        memcpy(steps + n, &self.steps[3 * n], 3 * sizeof(double))
        memset(&self.steps[0], 0, n * sizeof(double))
        memset(&self.steps[3 * n], 0, 3 * sizeof(double))

    cdef void return_steps(self, const double *steps) noexcept nogil:
        n = self.n_experts
        for i in range(n + 3):
            self.steps[i if i < n else 2 * n + i] += steps[i]

    cdef void apply_to(self, double *log_weights, const double *steps) noexcept nogil:
        for i in range(self.n_experts + 3):
            log_weights[i] = self.decays[i >= self.n_experts] * log_weights[i] + steps[i]

    # Labels, and what is learned.

    cdef tuple widened(self, Py_ssize_t n_labels):
        probabilities, logs = np.zeros((2, self.n_experts, n_labels))
        return probabilities, logs, np.zeros((4, n_labels))

    cdef int widen(self, tuple arrays) except -1:
        self.probabilities, self.logs, self.mixtures = arrays
        self.n_labels = self.mixtures.shape[1]

    cdef void copy(self, Mixture other) noexcept nogil:
        self.learned[:] = other.learned
        self.steps[:] = other.steps
        self.weights[:] = other.weights
        self.mixtures[:] = other.mixtures

    @property
    def nbytes(self):
        weights = self.learned.nbytes + self.steps.nbytes + self.weights.nbytes
        return weights + self.probabilities.nbytes + self.logs.nbytes + self.mixtures.nbytes

    def state(self):
        return self.learned.base.copy()

    def restore(self, state):
        self.learned.base[:] = floats(state, (3 * self.n_experts + 3,))
        self.normalize()
