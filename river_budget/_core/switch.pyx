# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""A switch between two mixtures of the same experts; see `switch.pxd`."""

from libc.math cimport log
from libc.string cimport memcpy

import numpy as np

from river_budget._state import floats, require

from river_budget._core.mixture cimport balance_pair, gain, Mixture, N_MIXTURES
from river_budget._core.softmax cimport softmax

cdef double DECAY = 0.999                  # of the log weights of both mixtures, in each round
cdef double FLOOR = 0.2                    # the switch takes p as FLOOR + (1 - 2 FLOOR) p
cdef double PRIOR = 3.0                    # what is added to the log weight of the prompt mixture

# Of the late mixture: forgetting in its hedges, and learning rates of its mixers, half of those of the prompt one.
LATE_DECAYS = 0.999, 0.995
LATE_RATES = 0.001, 0.01


cdef inline double worth(double probability) noexcept nogil:
    """Return what the probability of a label that came adds to a log weight of the switch."""
    return log(FLOOR + (1.0 - 2.0 * FLOOR) * probability)


cdef class Switch:

    def __init__(self, Py_ssize_t n_experts):
        self.prompt, self.late = Mixture(n_experts), Mixture(n_experts, LATE_DECAYS, LATE_RATES)
        self.n_rows, self.n_hedges = n_experts + N_OF_MIXTURES, n_experts + N_MIXTURES
        self.normalize()
        self.widen(self.widened(2))

    # Forecasts.

    cdef void mix(self) noexcept nogil:
        n_labels, forecast = self.forecast.shape[0], &self.forecast[0]
        prompt, late = &self.prompt.mixtures[N_MIXTURES, 0], &self.late.mixtures[N_MIXTURES, 0]
        self.prompt.mix()
        if not self.is_awake:
            memcpy(forecast, prompt, n_labels * sizeof(double))
            return
        self.late.weigh()
        for c in range(n_labels):
            forecast[c] = self.weights[0] * prompt[c] + self.weights[1] * late[c]
        if n_labels == 2:
            balance_pair(forecast)

    cdef void write(self, float *rows) noexcept:
        n, n_labels = self.prompt.n_experts, self.forecast.shape[0]
        late = self.late if self.is_awake else self.prompt
        copy_rows(rows, &self.prompt.probabilities[0, 0], n * n_labels)
        rows += n * n_labels
        copy_rows(rows, &late.mixtures[0, 0], N_MIXTURES * n_labels)
        rows += N_MIXTURES * n_labels
        copy_rows(rows, &self.prompt.mixtures[N_MIXTURES, 0], n_labels)
        copy_rows(rows + n_labels, &late.mixtures[N_MIXTURES, 0], n_labels)

    # What is learned in a round.

    cdef void forget_steps(self) noexcept nogil:
        self.prompt.forget_steps()
        self.late.forget_steps()
        self.steps[0] = self.steps[1] = 0.0

    cdef void add_steps(self, Py_ssize_t label, double hedges, double mixers, double charge) noexcept nogil:
        self.prompt.add_steps(label, hedges, mixers, charge)
        if self.is_awake:
            self.late.add_steps(label, hedges, mixers, charge)
            self.steps[0] += hedges * worth(self.prompt.mixtures[N_MIXTURES, label])
            self.steps[1] += hedges * worth(self.late.mixtures[N_MIXTURES, label])

    cdef void wake(self) noexcept nogil:
        self.late.copy(self.prompt)
        self.is_awake = True

    cdef void learn(
        self, Py_ssize_t label, double hedges, double mixers, const float *said, Py_ssize_t n_known
    ) noexcept nogil:
        self.prompt.add_steps(label, hedges, mixers, 0.0)
        if not self.is_awake:
            return
        if said == NULL:
            self.late.add_steps(label, hedges, mixers, 0.0)
        elif label >= n_known:
            # No expert could have said it, so none is judged by what it said then.
            self.late.add_steps_of_experts(label, hedges, mixers)
        else:
            self.late.add_steps_of_experts(label, 0.5 * hedges, 0.5 * mixers)
            self.add_steps_of_then(label, hedges, said, n_known)
            self.read(said, n_known)
            self.late.add_steps_of_experts(label, 0.5 * hedges, 0.5 * mixers)

    cdef void add_steps_of_then(
        self, Py_ssize_t label, double hedges, const float *said, Py_ssize_t n_known
    ) noexcept nogil:
        """Add what a label changes in the weights of whole mixtures, which were honest when they were said."""
        n, steps = self.late.n_experts, &self.late.steps[3 * self.late.n_experts]
        p = said + n * n_known + label
        for i in range(N_MIXTURES):
            steps[i] += hedges * gain(p[i * n_known])
        p += N_MIXTURES * n_known
        for i in range(2):
            self.steps[i] += hedges * worth(p[i * n_known])

    cdef void read(self, const float *said, Py_ssize_t n_known) noexcept nogil:
        """Weigh what the experts said then by the present weights of the late mixture."""
        self.late.probabilities[:] = 0.0
        for e in range(self.late.n_experts):
            for c in range(n_known):
                self.late.probabilities[e, c] = said[e * n_known + c]
        self.late.take_logs()
        self.late.weigh()

    cdef void apply(self) noexcept nogil:
        self.prompt.apply()
        if self.is_awake:
            self.late.apply()
            for i in range(2):
                self.log_weights[i] = DECAY * self.log_weights[i] + self.steps[i]
            self.normalize()

    cdef void normalize(self) noexcept nogil:
        self.weights[0], self.weights[1] = self.log_weights[0] + PRIOR, self.log_weights[1]
        softmax(&self.weights[0], &self.weights[0], 2)

    # Hedges that are exchanged.

    cdef void take_hedges(self, const double *log_weights) noexcept nogil:
        self.prompt.take_hedges(log_weights)
        self.late.take_hedges(log_weights + self.n_hedges)

    cdef void give_hedges(self, double *log_weights) noexcept nogil:
        self.prompt.give_hedges(log_weights)
        self.late.give_hedges(log_weights + self.n_hedges)

    cdef void take_steps(self, double *steps) noexcept nogil:
        self.prompt.take_steps(steps)
        self.late.take_steps(steps + self.n_hedges)

    cdef void return_steps(self, const double *steps) noexcept nogil:
        self.prompt.return_steps(steps)
        self.late.return_steps(steps + self.n_hedges)

    cdef void apply_to(self, double *log_weights, const double *steps) noexcept nogil:
        self.prompt.apply_to(log_weights, steps)
        self.late.apply_to(log_weights + self.n_hedges, steps + self.n_hedges)

    # Labels, and what is learned.

    cdef tuple widened(self, Py_ssize_t n_labels):
        return self.prompt.widened(n_labels), np.zeros((N_MIXTURES + 1, n_labels)), np.zeros(n_labels)

    cdef int widen(self, tuple arrays) except -1:
        mixed, mixtures, self.forecast = arrays
        self.prompt.widen(mixed)
        self.late.widen((*mixed[:2], mixtures))

    @property
    def nbytes(self):
        late = self.late.learned.nbytes + self.late.steps.nbytes + self.late.weights.nbytes
        return self.prompt.nbytes + late + self.late.mixtures.nbytes + self.forecast.nbytes

    @property
    def late_weight(self):
        """The weight of the late mixture in the forecast; 0 while it sleeps."""
        return self.weights[1] if self.is_awake else 0.0

    def state(self):
        weights = np.array([self.log_weights[0], self.log_weights[1]])
        return {
            "prompt": self.prompt.state(), "late": self.late.state(), "switch": weights, "is_awake": self.is_awake,
        }

    def restore(self, state):
        weights, is_awake = floats(state["switch"], (2,)), state["is_awake"]
        require(type(is_awake) is bool, "it is not known whether a label was late")
        self.prompt.restore(state["prompt"])
        self.late.restore(state["late"])
        self.log_weights[0], self.log_weights[1], self.is_awake = weights[0], weights[1], is_awake
        self.normalize()


cdef inline void copy_rows(float *target, const double *source, Py_ssize_t n) noexcept nogil:
    for i in range(n):
        target[i] = <float> source[i]
