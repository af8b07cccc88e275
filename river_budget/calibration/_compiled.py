"""The compiled calibration maps: their probabilities, and one online Newton step for each.

A label has two features, minus its gap and minus the square root of it, and a column in the arrays of
biases; a label without one has the last column, of zeros. Its logit under a map is the sum of the
features times the slopes, and of the bias.
"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled

# Curvature of the prior on a parameter: that of one example of average width on the boundary.
PRIOR = 0.25

# Largest absolute value of a parameter, for examples of width 1.
RADIUS = 10.0

# Smaller likelihoods are taken as this, so that they have a sum.
SMALLEST_LIKELIHOOD = 1e-300


@compiled()
def evaluate(gaps, columns, cap, slopes, biases):
    """Return the features of the labels, and the probabilities under the model and each map.

    Given are the gap and the column of each label, the largest gap that the maps take as it is, and the
    slopes (maps, 2) and biases (maps, columns) of the maps.
    """
    n = len(gaps)
    features = np.empty((n, 2))
    probabilities = np.empty((len(slopes) + 1, n))
    for i in range(n):
        gap = min(gaps[i], cap)
        features[i, 0], features[i, 1] = -gap, -math.sqrt(gap)
        probabilities[0, i] = -gaps[i]
    for m in range(len(slopes)):
        for i in range(n):
            linear = slopes[m, 0] * features[i, 0] + slopes[m, 1] * features[i, 1]
            probabilities[m + 1, i] = linear + biases[m, columns[i]]
    for row in probabilities:
        _softmax(row)
    return features, probabilities


@compiled()
def newton_steps(
    y, features, columns, width, probabilities, decay, slopes, biases, curvatures, crosses, owns
):
    """Add the curvature of the log loss of an example to each map, and take a Newton step.

    The Hessian is the covariance of the derivatives of the logits under p. Its block of the biases is
    diag(p) - p p'; the last term is left out, since a gradient has no part along equal shifts of
    all biases. The matrix is then an arrow, and is solved in time linear in the number of labels.

    `y` is the position of the label, `width` the root mean square of the largest gap of an example, and
    `probabilities` has a row, `decay` a forgetting factor for each map. Changed in place are slopes,
    biases and the sums of Hessians: the blocks of the slopes (maps, 2, 2), those of slopes and biases
    (maps, columns, 2), and the diagonals of the biases (maps, columns).
    """
    for m in range(len(slopes)):
        p, curvature, cross, own = probabilities[m], curvatures[m], crosses[m], owns[m]
        curvature *= decay[m]
        cross *= decay[m]
        own *= decay[m]
        means = (p * features[:, 0]).sum(), (p * features[:, 1]).sum()
        for i, c in enumerate(columns):
            u, v = features[i, 0] - means[0], features[i, 1] - means[1]
            curvature[0, 0] += p[i] * u * u
            curvature[0, 1] += p[i] * u * v
            curvature[1, 1] += p[i] * v * v
            cross[c, 0] += p[i] * u
            cross[c, 1] += p[i] * v
            own[c] += p[i]
        curvature[1, 0] = curvature[0, 1]
        gradient = p.copy()
        gradient[y] -= 1.0
        first, second = _slope_steps(
            (means[0] - features[y, 0], means[1] - features[y, 1]), gradient, columns, width,
            curvature, cross, own,
        )  # fmt: skip
        for i, c in enumerate(columns):
            rest = gradient[i] - cross[c, 0] * first - cross[c, 1] * second
            biases[m, c] = _clipped(biases[m, c] - rest / (own[c] + PRIOR), RADIUS)
        slopes[m, 0] = _clipped(slopes[m, 0] - first, RADIUS / width)
        slopes[m, 1] = _clipped(slopes[m, 1] - second, RADIUS / math.sqrt(width))


@compiled()
def reweight(likelihoods, share, prior, weights):
    """Update weights by Bayes' rule, and return a share of them to the prior, in place."""
    weights *= np.maximum(likelihoods, SMALLEST_LIKELIHOOD)
    weights *= (1.0 - share) / weights.sum()
    weights += share * prior


@compiled()
def _slope_steps(gradient, by_label, columns, width, curvature, cross, own):
    """Return the steps of the slopes; `gradient` is theirs, `by_label` that of the biases."""
    least_a, least_c = PRIOR * width * width, PRIOR * width
    a, b, c = curvature[0, 0] + least_a, curvature[0, 1], curvature[1, 1] + least_c
    g, h = gradient
    for i, column in enumerate(columns):
        u, v = cross[column]
        d = own[column] + PRIOR
        a -= u * u / d
        b -= u * v / d
        c -= v * v / d
        g -= u * by_label[i] / d
        h -= v * by_label[i] / d
    # A pivot below the share of the prior is a rounding error.
    a = max(a, least_a)
    c = max(c - b / a * b, least_c)
    second = (h - b / a * g) / c
    return (g - b * second) / a, second


@compiled()
def _softmax(logits):
    largest = logits.max()
    for i in range(len(logits)):
        logits[i] = math.exp(logits[i] - largest)
    logits /= logits.sum()


@compiled()
def _clipped(value, largest):
    return min(max(value, -largest), largest)
