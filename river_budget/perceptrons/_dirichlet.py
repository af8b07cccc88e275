"""The probability of each label to be the most frequent one, where their shares have a Dirichlet distribution."""

from __future__ import annotations

import math

import numpy as np
import scipy

from river_budget._arrays import Floats

# The number of nodes of the quadrature, and the probability of the tails that it leaves out.
N_NODES, TAIL = 128, 1e-11

# Below this value, the distribution function of a Gamma variable is a power, up to rounding.
SMALLEST = math.exp(-30.0)

# The largest parameters for two labels, and for more. Larger ones are divided by a common factor, because
# SciPy's Beta distribution returns NaN above about 1e15, and its Gamma functions lose digits above 1e6.
LARGEST_OF_TWO, LARGEST = 1e12, 1e6


def largest_share(parameters: Floats) -> Floats:
    """Return the probability that each label has the largest share (rows, labels).

    Each row has the positive parameters of a Dirichlet distribution of shares (rows, labels). With two
    labels, the result is a value of the regularized incomplete Beta function. With more, the shares are
    in the proportions of independent Gamma variables. An integral over the value of the largest one has
    an error of at most 1e-8.
    """
    is_binary = parameters.shape[1] == 2
    limit = LARGEST_OF_TWO if is_binary else LARGEST
    bounded = parameters / np.maximum(1.0, parameters.max(axis=1, keepdims=True) / limit)
    if is_binary:
        positive = scipy.special.betainc(bounded[:, 0], bounded[:, 1], 0.5)
        return np.stack((1.0 - positive, positive), axis=1)
    return np.array([_largest_of_many(row) for row in bounded]).reshape(parameters.shape)


def _largest_of_many(parameters: Floats) -> Floats:
    """Return the probability that each label has the largest share (labels,).

    Label c has a Gamma variable G_c. Its probability is the integral of the density of log G_c times the
    distribution functions of all other labels. With the largest parameter a, it is over
    u = log(x / a). Labels with equal parameters share one evaluation.
    """
    shapes, label_of, counts = np.unique(parameters, return_inverse=True, return_counts=True)
    a = shapes[-1]

    # The integrand starts where all labels with the largest parameter, or all with the most frequent
    # one, are below x with more than a negligible probability.
    deciding = [len(shapes) - 1, int(counts.argmax())]
    low = scipy.special.gammaincinv(shapes[deciding], TAIL ** (1.0 / counts[deciding])).max()
    high = max(1.0, scipy.special.gammainccinv(a, TAIL / len(parameters)))
    start, stop = math.log(max(low, SMALLEST) / a), math.log(high / a)
    u, step = np.linspace(start, stop, N_NODES, retstep=True)

    # Both have a row for each different parameter s, and v is log(x / s).
    v, s = u + np.log(a / shapes)[:, None], shapes[:, None]
    below = scipy.special.gammainc(s, a * np.exp(u))
    with np.errstate(under="ignore"):
        # The density of log(x / s) is proportional to exp(-s (exp(v) - 1 - v)).
        peaks = np.exp(s * np.log(s) - s - scipy.special.gammaln(s))
        density = peaks * np.exp(-s * abs(np.expm1(v) - v))
        products = np.exp(counts @ np.log(below)) / below
    values = density * products

    # Below the first node, the integrand is exponential, so its values add up to a geometric series.
    values[:, 0] /= -math.expm1(-step * parameters.sum())
    weights = values.sum(axis=1)[label_of]
    return weights / weights.sum()
