# cython: language_level=3, wraparound=False, cdivision=True
"""Calibration maps: their probabilities, and one online Newton step for each.

A label has two features, minus its gap and minus the square root of it. Its logit under a map is the
sum of the features times the slopes, and of a bias, which is 0 for a label that was never learned.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport sqrt

import math
import sys

import numpy as np

from river_budget._arrays import padded
from river_budget._state import count, finite, floats, require, require_definite

from river_budget._core.mixing cimport softmax

# Larger gaps between logits are taken as this: no sum of their cubes overflows.
cdef double CAP = 1e50
LARGEST_GAP = CAP

# Maps take gaps that are larger than this many widths as that, so that an outlier moves little.
cdef double LARGEST_RATIO = 10.0

# The width is a mean over all examples up to this number, and fades from then on.
cdef Py_ssize_t HORIZON = 1000

# Prior weight of the raw model, and the share of the weights that returns to the prior each round.
cdef double RAW_WEIGHT = 0.5
cdef double SHARE = 1e-4

# Curvature of the prior on a parameter: that of one example of average width on the boundary.
cdef double PRIOR = 0.25

# Largest absolute value of a parameter, for examples of width 1.
cdef double RADIUS = 10.0

# Smaller likelihoods are taken as this, so that they have a sum.
cdef double SMALLEST_LIKELIHOOD = 1e-300

cdef struct Map:                      # slopes a and b of one map
    double decay                      # forgetting factor of its sums of Hessians
    double a, b
    double aa, ab, bb                 # the sum of the blocks of the slopes

cdef struct Bias:                     # of one label in one map
    double value
    double a, b                       # the sums of Hessians: of the slopes and the bias
    double own                        # and of the bias alone


cdef class Labels:
    """The labels of one example."""

    cdef Py_ssize_t n
    cdef Py_ssize_t *columns          # whose memory is that of all
    cdef double *features             # (n, 2)
    cdef double *outputs              # probabilities under the model and each map (1 + n_maps, n)

    def __dealloc__(self):
        PyMem_Free(self.columns)


cdef class CalibrationMaps:
    """The model's own probabilities and calibration maps, mixed by Bayes' rule.

    There is one map for each forgetting factor. Labels have columns in the order in which they came.
    """

    cdef Py_ssize_t n_maps
    cdef dict columns
    cdef object map_table, bias_table, weight_table  # the arrays behind the pointers
    cdef Map *maps                    # (n_maps,)
    cdef Bias *biases                 # (n_labels + 1, n_maps): the last row is 0, for unknown labels
    cdef double *weights              # (2, 1 + n_maps): of the model and the maps, and their prior
    cdef double square                # mean square of the largest gap, over examples that have one
    cdef Py_ssize_t n_gaps

    def __init__(self, forgetting):
        n = len(forgetting)
        self.n_maps = n
        self.columns = {}
        # Each map begins as the identity: a slope of 1 on the gap, 0 on its square root.
        self.map_table = np.array([[factor, 1.0, 0.0, 0.0, 0.0, 0.0] for factor in forgetting])
        self.weight_table = np.array(2 * [[RAW_WEIGHT] + n * [(1.0 - RAW_WEIGHT) / n]])
        self.bias_table = np.zeros((1, n, 4))
        self.point()

    def __reduce__(self):
        return type(self), (self.map_table[:, 0].tolist(),), self.state()

    def __setstate__(self, state):
        self.restore(state)

    cdef int point(self) except -1:
        """Let the pointers follow the arrays."""
        cdef double[:, ::1] maps = self.map_table, weights = self.weight_table
        cdef double[:, :, ::1] biases = self.bias_table
        self.maps, self.weights = <Map *> &maps[0, 0], &weights[0, 0]
        self.biases = <Bias *> &biases[0, 0, 0]

    cdef double width(self) noexcept:
        """Return the root mean square of the largest gap, 1 before the first gap."""
        return max(sqrt(self.square), 1.0 / CAP) if self.n_gaps else 1.0

    cdef Labels evaluate(self, dict gaps):
        cdef Labels labels = Labels.__new__(Labels)
        cdef Py_ssize_t n = len(gaps), i = 0
        cdef double cap = LARGEST_RATIO * self.width() if self.n_gaps else CAP
        cdef double gap
        labels.columns = <Py_ssize_t *> PyMem_Calloc(n, sizeof(Py_ssize_t) + (3 + self.n_maps) * 8)
        if labels.columns == NULL:
            raise MemoryError
        labels.features = <double *> (labels.columns + n)
        labels.outputs = labels.features + 2 * n
        for label, value in gaps.items():
            if i == n:
                break
            gap = value
            labels.columns[i] = self.columns.get(label, len(self.columns))
            labels.outputs[i] = -gap
            gap = min(gap, cap)
            labels.features[2 * i], labels.features[2 * i + 1] = -gap, -sqrt(gap)
            i += 1
        labels.n = n
        evaluate_maps(labels, self.maps, self.biases, self.n_maps)
        return labels

    def probabilities(self, dict gaps):
        """Return the calibrated probability of each of two or more labels."""
        cdef Labels labels = self.evaluate(gaps)
        mix(labels, self.weights, self.n_maps)
        return dict(zip(gaps, [labels.outputs[i] for i in range(labels.n)]))

    def learn(self, dict gaps, y):
        """Learn from the label y of an example with the gaps of two or more labels, y among them."""
        cdef Labels labels
        cdef Py_ssize_t position = list(gaps).index(y), m
        for label in gaps:
            if label not in self.columns:
                self.bias_table = padded(self.bias_table, len(self.bias_table) + 1)
                self.point()
                self.columns[label] = len(self.columns)
        labels = self.evaluate(gaps)
        reweight(labels, position, self.weights, self.n_maps)
        self.observe_gap(labels)
        for m in range(self.n_maps):
            decay(self.maps + m, self.biases + m, len(self.columns), self.n_maps)
            newton_step(
                labels, labels.outputs + (1 + m) * labels.n, position, self.maps + m,
                self.biases + m, self.n_maps, self.width(),
            )

    cdef void observe_gap(self, Labels labels) noexcept:
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(labels.n):
            largest = max(largest, -labels.features[2 * i])
        if largest > 0.0:
            self.n_gaps += 1
            self.square += (largest * largest - self.square) / min(self.n_gaps, HORIZON)

    @property
    def mixture(self):
        """The weights of the model's own probabilities and of each map."""
        return self.weight_table[0].tolist()

    @property
    def nbytes(self):
        arrays = self.map_table, self.bias_table, self.weight_table
        return sum(map(sys.getsizeof, (self, self.columns, *self.columns, *arrays)))

    def state(self):
        maps, biases = self.map_table, self.bias_table[: len(self.columns)].swapaxes(0, 1)
        return {
            "columns": dict(self.columns),
            "slopes": maps[:, 1:3].copy(),
            "curvatures": maps[:, [3, 4, 4, 5]].reshape(-1, 2, 2),
            "biases": biases[:, :, 0].copy(),
            "crosses": biases[:, :, 1:3].copy(),
            "owns": biases[:, :, 3].copy(),
            "weights": self.weight_table[0].copy(),
            "square": self.square,
            "n_gaps": self.n_gaps,
        }

    def restore(self, state):
        columns, n = state["columns"], len(state["columns"])
        numbered = type(columns) is dict and list(columns.values()) == list(range(n))
        require(numbered, "a label has a wrong column")
        curvatures = floats(state["curvatures"], (self.n_maps, 2, 2))
        require_definite(curvatures, "the curvature of the slopes is wrong")
        owns = floats(state["owns"], (self.n_maps, n))
        require((owns >= 0).all(), "the curvature of a bias is negative")
        weights = floats(state["weights"], (1 + self.n_maps,))
        require(
            (weights > 0).all() and math.isclose(weights.sum(), 1.0),
            "the weights of the maps are not probabilities",
        )
        slopes = floats(state["slopes"], (self.n_maps, 2))
        values = floats(state["biases"], (self.n_maps, n))
        crosses = floats(state["crosses"], (self.n_maps, n, 2))
        self.square = finite(state["square"], 0.0, CAP**2)
        self.n_gaps = count(state["n_gaps"])
        self.columns = dict(columns)
        self.weight_table[0] = weights
        self.map_table[:, 1:3] = slopes
        self.map_table[:, 3:] = curvatures.reshape(-1, 4)[:, [0, 1, 3]]
        biases = np.dstack((values, crosses, owns)).swapaxes(0, 1)
        self.bias_table = padded(biases, n + 1)
        self.point()


cdef void evaluate_maps(
    Labels labels, const Map *maps, const Bias *biases, Py_ssize_t n_maps
) noexcept nogil:
    """Compute the probabilities under the model, whose logits are given, and each map."""
    cdef Py_ssize_t n = labels.n, m, i
    cdef double *logits = labels.outputs
    softmax(logits, logits, n)
    for m in range(n_maps):
        logits += n
        for i in range(n):
            logits[i] = (
                maps[m].a * labels.features[2 * i] + maps[m].b * labels.features[2 * i + 1]
                + biases[labels.columns[i] * n_maps + m].value
            )
        softmax(logits, logits, n)


cdef void mix(Labels labels, const double *weights, Py_ssize_t n_maps) noexcept nogil:
    """Turn the model's probabilities into the mixture of all."""
    cdef Py_ssize_t n = labels.n, m, i
    cdef double total = 0.0
    for i in range(n):
        labels.outputs[i] *= weights[0]
        for m in range(1, n_maps + 1):
            labels.outputs[i] += weights[m] * labels.outputs[m * n + i]
        total += labels.outputs[i]
    for i in range(n):
        labels.outputs[i] /= total


cdef void decay(Map *own, Bias *biases, Py_ssize_t n_columns, Py_ssize_t n_maps) noexcept nogil:
    """Let the sums of Hessians of a map fade."""
    cdef Py_ssize_t c
    own.aa *= own.decay
    own.ab *= own.decay
    own.bb *= own.decay
    for c in range(n_columns):
        biases[c * n_maps].a *= own.decay
        biases[c * n_maps].b *= own.decay
        biases[c * n_maps].own *= own.decay


cdef void newton_step(
    Labels labels, double *p, Py_ssize_t y, Map *own, Bias *biases, Py_ssize_t n_maps,
    double width,
) noexcept nogil:
    """Add the curvature of the log loss of an example to a map, and take a Newton step.

    The Hessian is the covariance of the derivatives of the logits under p. Its block of the biases is
    diag(p) - p p'; the last term is left out, since a gradient has no part along equal shifts of
    all biases. The matrix is then an arrow, and is solved in time linear in the number of labels.

    `y` is the position of the label, `width` the root mean square of the largest gap of an example.
    The biases of the map are `n_maps` apart. The probabilities p of the map become the gradient.
    """
    cdef const double *features = labels.features
    cdef double mean_a = 0.0, mean_b = 0.0, u, v, first, second
    cdef Bias *bias
    cdef Py_ssize_t i
    for i in range(labels.n):
        mean_a += p[i] * features[2 * i]
        mean_b += p[i] * features[2 * i + 1]
    for i in range(labels.n):
        u, v = features[2 * i] - mean_a, features[2 * i + 1] - mean_b
        own.aa += p[i] * u * u
        own.ab += p[i] * u * v
        own.bb += p[i] * v * v
        bias = biases + labels.columns[i] * n_maps
        bias.a += p[i] * u
        bias.b += p[i] * v
        bias.own += p[i]
    p[y] -= 1.0
    # Solve for the slopes. The Schur complement of the biases is (aa, ab; ab, bb).
    cdef double least_a = PRIOR * width * width, least_b = PRIOR * width
    cdef double aa = own.aa + least_a, ab = own.ab, bb = own.bb + least_b
    cdef double a = mean_a - features[2 * y], b = mean_b - features[2 * y + 1]
    for i in range(labels.n):
        bias = biases + labels.columns[i] * n_maps
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
    for i in range(labels.n):
        bias = biases + labels.columns[i] * n_maps
        u = (p[i] - bias.a * first - bias.b * second) / (bias.own + PRIOR)
        bias.value = clipped(bias.value - u, RADIUS)
    own.a = clipped(own.a - first, RADIUS / width)
    own.b = clipped(own.b - second, RADIUS / sqrt(width))


cdef double clipped(double value, double largest) noexcept nogil:
    return min(max(value, -largest), largest)


cdef void reweight(
    Labels labels, Py_ssize_t y, double *weights, Py_ssize_t n_maps
) noexcept nogil:
    """Update the weights by Bayes' rule, and return a share of them to the prior, which follows them."""
    cdef const double *prior = weights + 1 + n_maps
    cdef double total = 0.0
    cdef Py_ssize_t m
    for m in range(1 + n_maps):
        weights[m] *= max(labels.outputs[m * labels.n + y], SMALLEST_LIKELIHOOD)
        total += weights[m]
    for m in range(1 + n_maps):
        weights[m] = (1.0 - SHARE) / total * weights[m] + SHARE * prior[m]
