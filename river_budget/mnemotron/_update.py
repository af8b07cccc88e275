"""The compiled update of Mnemotron, which changes its arrays in place.

All arrays hold one vector more than the budget. A replacement first adds the incoming example, and
then moves it to the slot of the removed vector.

"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.mnemotron.mixing import dot, update_hedge

__all__ = ["JITTER", "learn"]

# Added to the diagonal of the Gram matrices, so that their inverses stay well conditioned.
JITTER = 1e-3

# An example with less novelty is numerically in the span: the update would divide by about 0.
SMALLEST_NOVELTY = 1e-7

# A smaller common factor is multiplied into the covariance, so that it cannot underflow.
SMALLEST_SCALE = 1e-100


@compiled()
def _forget(forgetting, margins, means, covariances, scales, n):
    """Decay the posterior of each expert towards its prior."""
    for e in range(len(forgetting)):
        margins[e] *= math.sqrt(forgetting[e])
        scales[e] *= forgetting[e]
        if scales[e] < SMALLEST_SCALE:
            for i in range(n):
                means[e, i] *= math.sqrt(scales[e])
                for j in range(n):
                    covariances[e, i, j] *= scales[e]
            scales[e] = 1.0


@compiled()
def _multiply(matrix, vector, n, product):
    for i in range(n):
        product[i] = 0.0
    for j in range(n):
        for i in range(n):
            product[i] += matrix[j, i] * vector[j]


@compiled()
def _least_relevant(
    kernel_of, means, covariances, inverses, scales, weights, u, g, c, q, r, inserted, n
):
    """Return the least relevant support vector and its score; the oldest among ties."""
    slot, least = 0, np.inf
    for i in range(n):
        score = 0.0
        for e in range(len(kernel_of)):
            z = kernel_of[e]
            mean = math.sqrt(scales[e]) * means[e, i] + q[e] * c[e, i]
            variance = inverses[z, i, i] + u[z, i] * u[z, i] / g[z]
            variance += scales[e] * covariances[e, i, i] + r[e] * c[e, i] * c[e, i]
            score += weights[e] * mean * mean / variance
        if score < least or (score == least and inserted[i] < inserted[slot]):
            slot, least = i, score
    return slot, least


@compiled()
def _add_outer(matrix, factor, vector, n):
    for i in range(n):
        scaled = factor * vector[i]
        for j in range(n):
            matrix[i, j] += scaled * vector[j]


@compiled()
def _clear(matrix, n):
    for i in range(n + 1):
        matrix[i, n] = 0.0
        matrix[n, i] = 0.0


@compiled()
def _remove(j, n, kernel_of, means, covariances, inverses, scales):
    """Remove vector j of n + 1 from all experts, and move the last one to its slot."""
    for e in range(len(kernel_of)):
        inverse = inverses[kernel_of[e]]
        scale = scales[e]
        covariance, mean = covariances[e], means[e]
        a = inverse[:, j].copy()
        p = a + scale * covariance[:, j]
        share = mean[j] / p[j]
        for i in range(n + 1):
            mean[i] -= share * p[i]
        _add_outer(covariance, 1.0 / (scale * a[j]), a, n + 1)
        _add_outer(covariance, -1.0 / (scale * p[j]), p, n + 1)
        mean[j] = mean[n]
        mean[n] = 0.0
        _move(covariance, j, n)
    for z in range(len(inverses)):
        a = inverses[z, :, j].copy()
        _add_outer(inverses[z], -1.0 / a[j], a, n + 1)
        _move(inverses[z], j, n)


@compiled()
def _move(matrix, j, n):
    for i in range(n):
        matrix[i, j] = matrix[i, n]
        matrix[j, i] = matrix[n, i]
    matrix[j, j] = matrix[n, n]


@compiled()
def learn(
    y, rows, kernel_of, forgetting, noises, novelty, budget, inserted, n,
    means, covariances, inverses, scales, log_weights, margins, probabilities, weights,
):  # fmt: skip
    """Learn the example of the last forecast, and return its slot; -1 if it is not stored.

    Parameters
    ----------
    y
        The sign of the label.
    forgetting, noises
        Forgetting factor and noise variance of each expert (experts,).
    novelty
        Smallest novelty of an example that is stored, as a share of its squared norm.
    inserted
        Insertion order of the slots, for ties (slots,).
    covariances
        Covariance C of each expert, without its common factor (experts, budget + 1, budget + 1).
    inverses
        Inverse Gram matrix Q of each kernel (kernels, budget + 1, budget + 1).

    The other parameters are those of `mixing.forecast`.

    """
    update_hedge(y, probabilities, log_weights)
    _forget(forgetting, margins, means, covariances, scales, n)
    n_experts, n_kernels = len(kernel_of), len(inverses)
    if (y * margins >= 1.0).all():
        return -1
    u, g = np.zeros((n_kernels, n + 1)), np.empty(n_kernels)
    for z in range(n_kernels):
        _multiply(inverses[z], rows[z], n, u[z])
        g[z] = 1.0 + JITTER - dot(rows[z], u[z], n)
    c, q, r = np.zeros((n_experts, n + 1)), np.zeros(n_experts), np.zeros(n_experts)
    for e in range(n_experts):
        if y * margins[e] < 1.0:
            row = rows[kernel_of[e]]
            _multiply(covariances[e], row, n, c[e])
            for i in range(n):
                c[e, i] *= scales[e]
            v = noises[e] + 1.0 + JITTER + dot(row, c[e], n)
            q[e], r[e] = (y - margins[e]) / v, -1.0 / v

    share = 0.0
    for e in range(n_experts):
        share += weights[e] * g[kernel_of[e]] / (1.0 + JITTER)
    add = n == 0 or (share > novelty and (g > SMALLEST_NOVELTY).all())
    slot = n
    if add and n == budget:
        slot, least = _least_relevant(
            kernel_of, means, covariances, inverses, scales, weights, u, g, c, q, r, inserted, n
        )
        score = 0.0
        for e in range(n_experts):
            score += weights[e] * q[e] * q[e] / (1.0 / g[kernel_of[e]] + r[e])
        add = score > least

    for e in range(n_experts):
        z = kernel_of[e]
        root = math.sqrt(scales[e])
        if add:
            c[e, n] = 1.0
            means[e, n] = 0.0
            _clear(covariances[e], n)
            h, size = 1.0, n + 1
        else:
            for i in range(n):
                c[e, i] += u[z, i]
            h, size = 1.0 / (1.0 + r[e] * g[z]), n
        if r[e] != 0.0:
            for i in range(size):
                means[e, i] += h * q[e] * c[e, i] / root
            _add_outer(covariances[e], h * r[e] / scales[e], c[e], size)
    if not add:
        return -1
    for z in range(n_kernels):
        u[z, n] = -1.0
        _clear(inverses[z], n)
        _add_outer(inverses[z], 1.0 / g[z], u[z], n + 1)
    if n == budget:
        _remove(slot, n, kernel_of, means, covariances, inverses, scales)
    return slot
