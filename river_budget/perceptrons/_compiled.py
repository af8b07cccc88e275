"""The compiled losses of removals: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled

__all__ = ["only_largest", "removal_errors", "removal_losses"]


@compiled()
def removal_errors(table, values, signs, alphas):
    """Return the 0-1 loss on validation examples without each vector (vectors,); f = 0 is an error.

    Parameters
    ----------
    table
        Kernel value of each example and each vector (examples, vectors or more).
    values, signs
        f and the label at each example (examples,).
    alphas
        Coefficients of the vectors (vectors,).

    """
    errors = np.zeros(len(alphas))
    for i in range(len(table)):
        for j in range(len(alphas)):
            margin = signs[i] * (values[i] - alphas[j] * table[i, j])
            errors[j] += 1.0 if margin <= 0.0 else 0.0
    return errors


@compiled()
def removal_losses(table, values, weights, alphas):
    """Return the expected hinge loss without each vector (vectors,).

    Parameters
    ----------
    weights
        Probability of the positive label at each example (examples,).

    The other parameters are those of `removal_errors`.

    """
    losses = np.zeros(len(alphas))
    for i in range(len(table)):
        value, weight = values[i], weights[i]
        for j in range(len(alphas)):
            f = value - alphas[j] * table[i, j]
            losses[j] += weight * max(0.0, 1.0 - f) + (1.0 - weight) * max(0.0, 1.0 + f)
    return losses


@compiled()
def only_largest(kernel_values):
    """Return the index of the largest value, or -1 if several tie or none is above 0.

    Kernel values of vectors that are far away underflow to 0 and do not tell which one is nearest.

    """
    index, largest = -1, 0.0
    for i in range(len(kernel_values)):
        if kernel_values[i] > largest:
            index, largest = i, kernel_values[i]
        elif kernel_values[i] == largest:
            index = -1
    return index
