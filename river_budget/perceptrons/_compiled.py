"""Compiled losses of removals, on plain arrays."""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled

__all__ = ["removal_errors", "removal_losses", "unique_largest"]


@compiled()
def removal_errors(table, values, signs, alphas):
    """Return the 0-1 loss on validation examples after each removal (vectors,); f = 0 is an error.

    Parameters
    ----------
    table
        Kernel value of each example with each vector (examples, at least vectors).
    values, signs
        f and the sign of the label at each example (examples,).
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
    """Return the expected hinge loss after each removal (vectors,).

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
def unique_largest(kernel_values):
    """Return the index of the largest value, or -1 if it is not unique or not positive.

    The kernel values of distant vectors underflow to 0 and cannot rank them by distance.

    """
    index, largest = -1, 0.0
    for i in range(len(kernel_values)):
        if kernel_values[i] > largest:
            index, largest = i, kernel_values[i]
        elif kernel_values[i] == largest:
            index = -1
    return index
