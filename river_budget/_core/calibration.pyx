# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Calibration maps: their probabilities, and one online Newton step for each; see `calibration.pxd`."""

from libc.math cimport INFINITY, fmax, fmin, log, sqrt

import sys

import numpy as np

from river_budget._arrays import padded
from river_budget._state import count, finite, floats, require, require_definite

from river_budget._core.softmax cimport softmax

# Larger gaps between logits are taken as this: no sum of their cubes overflows.
LARGEST_GAP = 1e50
cdef double CAP = LARGEST_GAP
cdef double LARGEST_RATIO = 10.0            # of a gap to the width, so that an outlier moves little
cdef Py_ssize_t HORIZON = 1000              # the width is a mean over so many examples, and fades then
cdef double SHARE = 1e-4                    # of the weights that returns to the prior in each round
# Curvature of the prior on a parameter: that of one example of average width on the boundary.
cdef double PRIOR = 0.25
cdef double RADIUS = 10.0                   # largest size of a parameter, for examples of width 1
cdef double SMALLEST_LIKELIHOOD = 1e-300    # smaller ones are taken as this, so that they have a sum

# A map for each forgetting factor, which multiplies the sum of its Hessians in each round.
cdef double[N_MAPS] FORGETTING = [1.0, 0.998, 0.99]
cdef double[1 + N_MAPS] PRIOR_WEIGHTS = [1.0 / 2.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]

cdef double SMALLEST_PROBABILITY = 1e-15    # smaller ones of others are raised to this, as in River's log loss


def gaps_of_scores(scores):
    """Return the largest logit minus that of each label; a logit is half a score."""
    return gaps_of({label: 0.5 * <double> score for label, score in scores.items()})


def gaps_of_probabilities(probabilities):
    """Return the largest logit minus that of each label, given probabilities; NaN counts as the smallest one."""
    cdef dict logits = {}
    cdef double p
    for label, value in probabilities.items():
        p = value
        logits[label] = log(fmin(p if p > SMALLEST_PROBABILITY else SMALLEST_PROBABILITY, 1.0))
    return gaps_of(logits)


cdef dict gaps_of(dict logits):
    cdef double largest = -INFINITY
    for logit in logits.values():
        largest = fmax(largest, <double> logit)
    return {label: fmin(largest - <double> logit, CAP) for label, logit in logits.items()}


cdef class Calibrator:
    """A mixture of the model's own probabilities and of calibration maps learned online.

    A model's logits enter as gaps: the largest logit minus that of each label.

    Attributes
    ----------
    weights
        The weights of the model's own probabilities and of each map.
    nbytes
        Memory of the maps in bytes: arrays, labels and their columns.
    """

    def __init__(self):
        self.columns, self.mixture = {}, np.array(PRIOR_WEIGHTS)
        # Each map begins as the identity: a slope of 1 on the gap, 0 on its square root.
        self.maps, self.biases = np.eye(1, 5).repeat(N_MAPS, axis=0), np.zeros((1, N_MAPS, 4))

    def __reduce__(self):
        return type(self), (), self.state()

    cdef Bias *bias_of(self, Py_ssize_t column, Py_ssize_t m) noexcept:
        return <Bias *> &self.biases[column, m, 0]

    cdef double width(self) noexcept:
        """Return the root mean square of the largest gap, 1 before the first gap."""
        return max(sqrt(self.square), 1.0 / CAP) if self.n_gaps else 1.0

    cdef bytearray evaluate(self, dict gaps, list columns):
        """Return both features and the probabilities of model and maps (3 + maps, labels)."""
        cdef double value, gap, cap = LARGEST_RATIO * self.width() if self.n_gaps else CAP
        cdef bytearray memory = bytearray((3 + N_MAPS) * len(gaps) * sizeof(double))
        cdef Py_ssize_t i, n = len(gaps)
        example = <double *> <char *> memory
        logits = example + 2 * n
        for i, value in enumerate([float(value) for value in gaps.values()]):
            logits[i], gap = -value, min(value, cap)
            example[i], example[n + i] = -gap, -sqrt(gap)
            for m in range(N_MAPS):
                logits[(1 + m) * n + i] = (
                    self.maps[m, 0] * example[i] + self.maps[m, 1] * example[n + i]
                    + self.bias_of(columns[i], m).value
                )
        for m in range(1 + N_MAPS):
            softmax(logits + m * n, logits + m * n, n)
        return memory

    def probabilities(self, dict gaps):
        """Return the calibrated probability of each label, given its gap."""
        n, total = len(gaps), 0.0
        columns = [self.columns.get(label, len(self.columns)) for label in gaps]
        memory = self.evaluate(gaps, columns)
        mixed = <double *> <char *> memory + 2 * n
        for i in range(n):
            mixed[i] *= self.mixture[0]
            for m in range(1, 1 + N_MAPS):
                mixed[i] += self.mixture[m] * mixed[m * n + i]
            total += mixed[i]
        return dict(zip(gaps, [mixed[i] / total for i in range(n)]))

    def learn(self, dict gaps, y):
        """Learn from the label y of an example, given the gaps before the model has learned it.

        A label without a gap changes nothing.
        """
        cdef Py_ssize_t position
        n, largest, total = len(gaps), 0.0, 0.0
        if n < 2 or y not in gaps:
            return
        for label in gaps:
            if label not in self.columns:
                self.biases = padded(self.biases.base, len(self.columns) + 2)
                self.columns[label] = len(self.columns)
        position, columns = list(gaps).index(y), [self.columns[label] for label in gaps]
        memory = self.evaluate(gaps, columns)
        example = <double *> <char *> memory
        # Bayes' rule; a share of the weights returns to the prior.
        for m in range(1 + N_MAPS):
            self.mixture[m] *= max(example[(2 + m) * n + position], SMALLEST_LIKELIHOOD)
            total += self.mixture[m]
        for m in range(1 + N_MAPS):
            self.mixture[m] = (1.0 - SHARE) / total * self.mixture[m] + SHARE * PRIOR_WEIGHTS[m]
        for i in range(n):
            largest = max(largest, -example[i])
        if largest > 0.0:
            self.n_gaps += 1
            self.square += (largest * largest - self.square) / min(self.n_gaps, HORIZON)
        for m in range(N_MAPS):
            self.newton_step(m, example, columns, position)

    cdef int newton_step(self, Py_ssize_t m, double *example, list columns, Py_ssize_t y) except -1:
        """Add the curvature of the log loss of the example to a map, and take a Newton step.

        The Hessian is the covariance of the derivatives of the logits under p. Its block of the biases is
        diag(p) - p p'; the last term is left out, since a gradient has no part along equal shifts of
        all biases. The matrix is then an arrow, and is solved in time linear in the number of labels.
        """
        cdef Bias *bias
        n, decay, width, mean_a, mean_b = len(columns), FORGETTING[m], self.width(), 0.0, 0.0
        own, least_a, least_b = <Map *> &self.maps[m, 0], PRIOR * width * width, PRIOR * width
        gaps, roots, p = example, example + n, example + (3 + m) * n
        own.aa, own.ab, own.bb = decay * own.aa, decay * own.ab, decay * own.bb
        for i in range(len(self.columns)):
            bias = self.bias_of(i, m)
            bias.a, bias.b, bias.own = decay * bias.a, decay * bias.b, decay * bias.own
        for i in range(n):
            mean_a += p[i] * gaps[i]
            mean_b += p[i] * roots[i]
        for i in range(n):
            bias, u, v = self.bias_of(columns[i], m), gaps[i] - mean_a, roots[i] - mean_b
            own.aa += p[i] * u * u
            own.ab += p[i] * u * v
            own.bb += p[i] * v * v
            bias.a += p[i] * u
            bias.b += p[i] * v
            bias.own += p[i]
        # The probabilities become the gradient. The Schur complement of the biases is (aa, ab; ab, bb).
        p[y] -= 1.0
        aa, ab, bb = own.aa + least_a, own.ab, own.bb + least_b
        a, b = mean_a - gaps[y], mean_b - roots[y]
        for i in range(n):
            bias = self.bias_of(columns[i], m)
            u, v = bias.a / (bias.own + PRIOR), bias.b / (bias.own + PRIOR)
            aa -= bias.a * u
            ab -= bias.a * v
            bb -= bias.b * v
            a -= u * p[i]
            b -= v * p[i]
        # A pivot below the share of the prior is a rounding error.
        aa = max(aa, least_a)
        bb = max(bb - ab / aa * ab, least_b)
        second = (b - ab / aa * a) / bb
        first = (a - ab * second) / aa
        for i in range(n):
            bias = self.bias_of(columns[i], m)
            u = (p[i] - bias.a * first - bias.b * second) / (bias.own + PRIOR)
            bias.value = max(-RADIUS, min(RADIUS, bias.value - u))
        first, second = own.a - first, own.b - second
        own.a = max(-RADIUS / width, min(RADIUS / width, first))
        own.b = max(-RADIUS / sqrt(width), min(RADIUS / sqrt(width), second))

    @property
    def weights(self):
        return list(self.mixture)

    @property
    def nbytes(self):
        arrays = self.maps.nbytes + self.biases.nbytes + self.mixture.nbytes
        return arrays + sum(map(sys.getsizeof, (self, self.columns, *self.columns)))

    def state(self):
        return {
            "columns": dict(self.columns), "maps": self.maps.base.copy(),
            "biases": self.biases.base[: len(self.columns)].copy(),
            "weights": np.array(self.mixture), "square": self.square, "n_gaps": self.n_gaps,
        }

    def restore(self, state):
        columns, n = state["columns"], len(state["columns"])
        numbered = type(columns) is dict and list(map(count, columns.values())) == list(range(n))
        require(numbered, "a label has a wrong column")
        maps, biases = floats(state["maps"], (N_MAPS, 5)), floats(state["biases"], (n, N_MAPS, 4))
        curvatures = maps[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
        require_definite(curvatures, "the curvature of the slopes is wrong")
        require((biases[:, :, 3] >= 0).all(), "the curvature of a bias is negative")
        weights = floats(state["weights"], (1 + N_MAPS,))
        require((weights > 0).all(), "the weight of a map is not positive")
        self.square = finite(state["square"], 0.0, CAP**2)
        self.n_gaps, self.columns, self.mixture = count(state["n_gaps"]), dict(columns), weights
        self.maps, self.biases = maps, padded(biases, n + 1)

    __setstate__ = restore
