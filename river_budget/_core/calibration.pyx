# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Calibration maps: their probabilities, and one online Newton step for each; see `calibration.pxd`."""

from libc.math cimport INFINITY, fmax, fmin, log, sqrt

import sys

import numpy as np

from river_budget._arrays import padded
from river_budget._state import count, finite, floats, require, require_definite

from river_budget._core.softmax cimport softmax

# A larger gap between logits counts as this, so that no sum of cubes of gaps overflows.
LARGEST_GAP = 1e50
cdef double CAP = LARGEST_GAP
cdef double LARGEST_RATIO = 10.0            # a gap counts as at most so many widths: an outlier moves little
cdef Py_ssize_t HORIZON = 1000              # the width is a mean over so many examples, and fades from then on
cdef double SHARE = 1e-4                    # of the weights, which returns to the prior in each round
# Curvature of the prior on a parameter: that of one example of average width on the boundary.
cdef double PRIOR = 0.25
cdef double RADIUS = 10.0                   # the largest size of a parameter, for examples of width 1
cdef double SMALLEST_LIKELIHOOD = 1e-300    # a smaller one counts as this, so that the weights have a sum
cdef double SMALLEST_PROBABILITY = 1e-15    # of a model: a smaller one counts as this, as in River's log loss

# A map for each forgetting factor, which multiplies the sum of its Hessians in each round.
cdef double[N_MAPS] FORGETTING = [1.0, 0.998, 0.99]
# The weights of the model and of each map at the beginning.
cdef double[1 + N_MAPS] PRIOR_WEIGHTS = [1.0 / 2.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]


def gaps_of_scores(dict scores):
    """Return the largest logit minus that of each label; a logit is half a score."""
    cdef double score, largest = -INFINITY
    for score in scores.values():
        largest = fmax(largest, 0.5 * score)
    return {label: fmin(largest - 0.5 * <double> value, CAP) for label, value in scores.items()}


def gaps_of_probabilities(probabilities):
    """Return the largest logit minus that of each label, given probabilities; NaN counts as the smallest one."""
    cdef double largest = -INFINITY
    logits = {label: logit_of(value) for label, value in probabilities.items()}
    for logit in logits.values():
        largest = fmax(largest, <double> logit)
    return {label: fmin(largest - <double> logit, CAP) for label, logit in logits.items()}


cdef double logit_of(double p) except? -1.0:
    return log(fmin(p if p > SMALLEST_PROBABILITY else SMALLEST_PROBABILITY, 1.0))


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
        """Return the features of all labels, and their probabilities (3 + maps, labels); see `calibration.pxd`."""
        cdef double value, gap, cap = LARGEST_RATIO * self.width() if self.n_gaps else CAP
        cdef bytearray memory = bytearray((3 + N_MAPS) * len(gaps) * sizeof(double))
        cdef Py_ssize_t i = 0, n = len(gaps)
        minus_gaps = <double *> <char *> memory
        minus_roots, logits = minus_gaps + n, minus_gaps + 2 * n
        for value in gaps.values():
            gap = min(value, cap)
            minus_gaps[i], minus_roots[i] = -gap, -sqrt(gap)
            logits[i] = -value  # The model itself has the gap without a cap.
            for m in range(N_MAPS):
                bias = self.bias_of(columns[i], m).value
                logits[(1 + m) * n + i] = self.maps[m, 0] * minus_gaps[i] + self.maps[m, 1] * minus_roots[i] + bias
            i += 1
        for m in range(1 + N_MAPS):
            softmax(logits + m * n, logits + m * n, n)
        return memory

    def probabilities(self, dict gaps):
        """Return the calibrated probability of each label, given its gap."""
        n, total = len(gaps), 0.0
        columns = [self.columns.get(label, len(self.columns)) for label in gaps]
        memory = self.evaluate(gaps, columns)
        p = <double *> <char *> memory + 2 * n
        # The first row becomes the mixture of all rows.
        for i in range(n):
            p[i] *= self.mixture[0]
            for m in range(1, 1 + N_MAPS):
                p[i] += self.mixture[m] * p[m * n + i]
            total += p[i]
        return dict(zip(gaps, [p[i] / total for i in range(n)]))

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
        rows = <double *> <char *> memory
        # The weights follow Bayes' rule, and a share of them returns to the prior.
        for m in range(1 + N_MAPS):
            self.mixture[m] *= max(rows[(2 + m) * n + position], SMALLEST_LIKELIHOOD)
            total += self.mixture[m]
        for m in range(1 + N_MAPS):
            self.mixture[m] = (1.0 - SHARE) / total * self.mixture[m] + SHARE * PRIOR_WEIGHTS[m]
        for i in range(n):
            largest = max(largest, -rows[i])
        if largest > 0.0:
            self.n_gaps += 1
            self.square += (largest * largest - self.square) / min(self.n_gaps, HORIZON)
        for m in range(N_MAPS):
            self.newton_step(m, rows, columns, position)

    cdef int newton_step(self, Py_ssize_t m, double *rows, list columns, Py_ssize_t y) except -1:
        """Add the curvature of the log loss of the example to a map, and take a Newton step.

        The parameters are the slopes a and b and the biases. The Hessian is the covariance of the derivatives of the
        logits under p. Its block of the biases is diag(p) - p p'; the last term is left out, since a gradient has no
        part along equal shifts of all biases. So the matrix is an arrow, diagonal but for the rows and columns of the
        slopes, and is solved in time linear in the number of labels.
        """
        cdef Bias *bias
        n, decay, width, mean_a, mean_b = len(columns), FORGETTING[m], self.width(), 0.0, 0.0
        slopes, prior_a, prior_b = <Map *> &self.maps[m, 0], PRIOR * width * width, PRIOR * width
        minus_gaps, minus_roots, p = rows, rows + n, rows + (3 + m) * n

        # The sums of the Hessians fade, and that of the example is added.
        slopes.aa, slopes.ab, slopes.bb = decay * slopes.aa, decay * slopes.ab, decay * slopes.bb
        for i in range(len(self.columns)):
            bias = self.bias_of(i, m)
            bias.a, bias.b, bias.curvature = decay * bias.a, decay * bias.b, decay * bias.curvature
        for i in range(n):
            mean_a += p[i] * minus_gaps[i]
            mean_b += p[i] * minus_roots[i]
        for i in range(n):
            bias, u, v = self.bias_of(columns[i], m), minus_gaps[i] - mean_a, minus_roots[i] - mean_b
            slopes.aa += p[i] * u * u
            slopes.ab += p[i] * u * v
            slopes.bb += p[i] * v * v
            bias.a += p[i] * u
            bias.b += p[i] * v
            bias.curvature += p[i]

        # The probabilities become the gradient in the biases; (a, b) is that in the slopes. Elimination of the biases
        # leaves two equations for the slopes: their matrix (aa, ab; ab, bb) is a Schur complement.
        p[y] -= 1.0
        aa, ab, bb = slopes.aa + prior_a, slopes.ab, slopes.bb + prior_b
        a, b = mean_a - minus_gaps[y], mean_b - minus_roots[y]
        for i in range(n):
            bias = self.bias_of(columns[i], m)
            u, v = bias.a / (bias.curvature + PRIOR), bias.b / (bias.curvature + PRIOR)
            aa -= bias.a * u
            ab -= bias.a * v
            bb -= bias.b * v
            a -= u * p[i]
            b -= v * p[i]

        # The step in the slopes. A pivot below the prior's part is a rounding error.
        aa = max(aa, prior_a)
        bb = max(bb - ab / aa * ab, prior_b)
        step_b = (b - ab / aa * a) / bb
        step_a = (a - ab * step_b) / aa
        # The step in each bias follows from it. No parameter leaves its bounds.
        for i in range(n):
            bias = self.bias_of(columns[i], m)
            step = (p[i] - bias.a * step_a - bias.b * step_b) / (bias.curvature + PRIOR)
            bias.value = max(-RADIUS, min(RADIUS, bias.value - step))
        slopes.a = max(-RADIUS / width, min(RADIUS / width, slopes.a - step_a))
        slopes.b = max(-RADIUS / sqrt(width), min(RADIUS / sqrt(width), slopes.b - step_b))

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
        is_numbered = type(columns) is dict and list(map(count, columns.values())) == list(range(n))
        require(is_numbered, "a label has a wrong column")
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
