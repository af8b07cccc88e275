"""Posterior probabilities that a label is the most frequent one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats

__all__ = ["bounded", "largest", "load"]

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
LARGEST_COUNT = 1e12

# The quadrature leaves out tails with this probability.
TAIL = 1e-11

# Number of nodes of the quadrature.
N_NODES = 128


def load() -> Any:
    """Return SciPy's special functions, which are slow to import."""
    from scipy import special

    return special


def bounded(counts: Floats) -> Floats:
    """Return rows of counts, scaled down where one is above `LARGEST_COUNT`."""
    return counts / np.maximum(1.0, counts.max(axis=-1, keepdims=True) / LARGEST_COUNT)


def largest(parameters: Floats) -> Floats:
    """Return P(theta_c is the largest share) under Dirichlet distributions (rows, labels).

    With two labels, it is a value of the regularized incomplete Beta function. With more, the
    shares are in the proportions of independent Gamma variables, over whose largest value is
    integrated numerically, with an error of at most 1e-8.

    Parameters
    ----------
    parameters
        The parameters of each distribution, positive (rows, labels).

    """
    parameters = bounded(parameters)
    if parameters.shape[1] == 2:
        positive = load().betainc(parameters[:, 0], parameters[:, 1], 0.5)
        return np.stack((1.0 - positive, positive), axis=1)
    return np.array([_largest_of_many(row) for row in parameters]).reshape(parameters.shape)


def _largest_of_many(parameters: Floats) -> Floats:
    """Return P(theta_c is the largest share) for each label c (labels,).

    P(G_c is the largest) is the integral over t = log G_c of the density of t, times the
    distribution functions of all other labels. Labels with the same parameter share one evaluation.

    """
    special = load()
    shapes, label_of, counts = np.unique(parameters, return_inverse=True, return_counts=True)
    a = shapes[-1]
    low, high = special.gammaincinv(a, TAIL), special.gammainccinv(a, TAIL / len(parameters))
    start, stop = math.log(max(low, math.exp(-700.0))), math.log(high)
    t = np.linspace(start, stop, N_NODES)
    x = np.exp(t)
    with np.errstate(divide="ignore", under="ignore"):
        below = special.gammainc(shapes[:, None], x)
        log_all = counts @ np.log(below)
        log_density = shapes[:, None] * t - x - special.gammaln(shapes)[:, None]
        weights = np.exp(log_density + log_all - np.log(below)).sum(axis=1)
    weights = weights[label_of]
    return weights / weights.sum()
