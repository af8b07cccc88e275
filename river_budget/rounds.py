"""The compiled round of Mnemotron: arrays in, arrays changed in place.

All arrays have room for one vector more than the budget: a replacement grows to it, and moves the
newcomer to the place of the vector that goes.

"""

from __future__ import annotations

import math

import numba
import numpy as np

__all__ = ["JITTER", "LINK", "forecast", "learn"]

# What is added to the diagonal of a Gram matrix, so that its inverse stays tame.
JITTER = 1e-3

# Variance of the noise between f and the label's probability: p = Phi(m / sqrt(LINK)).
LINK = 0.3

# How slowly the hedge forgets: log weights shrink by this on every round.
RHO = 0.995

# The hedge takes a probability p as FLOOR + (1 - 2 FLOOR) p, so that no expert is ever lost.
FLOOR = 0.02

# A novelty below this would be divided by; such an example is in the span.
LEAST_NOVELTY = 1e-7

# Below this, an expert's common factor is multiplied into its covariance.
SMALLEST_SCALE = 1e-100


@numba.njit(cache=True)
def _dot(a, b, n):
    """Return <a, b>, in four sums that do not wait for each other."""
    s, t, u, v = 0.0, 0.0, 0.0, 0.0
    for i in range(0, n - 3, 4):
        s += a[i] * b[i]
        t += a[i + 1] * b[i + 1]
        u += a[i + 2] * b[i + 2]
        v += a[i + 3] * b[i + 3]
    for i in range(n - n % 4, n):
        s += a[i] * b[i]
    return (s + t) + (u + v)


@numba.njit(cache=True)
def forecast(rows, owners, means, scales, log_weights, n, margins, chances, weights):
    """Return f(x), and fill what the experts think of x.

    Parameters
    ----------
    rows
        Kernel row of x under each kernel (kernels, budget + 1).
    owners
        Kernel of each expert (experts,).
    means
        Mean coefficients of each expert (experts, budget + 1).
    scales
        Common factor of each expert's covariance; its root is that of the means (experts,).
    log_weights
        Logarithms of the hedge's weights (experts,).
    n
        Number of support vectors.
    margins, chances, weights
        Output (experts,): m, P(positive), and the hedge's weights.

    """
    largest = log_weights.max()
    total = 0.0
    for e in range(len(owners)):
        margins[e] = math.sqrt(scales[e]) * _dot(means[e], rows[owners[e]], n)
        chances[e] = 0.5 * math.erfc(-margins[e] / math.sqrt(2.0 * LINK))
        weights[e] = math.exp(log_weights[e] - largest)
        total += weights[e]
    f = 0.0
    for e in range(len(owners)):
        weights[e] /= total
        f += weights[e] * (2.0 * chances[e] - 1.0)
    return f


@numba.njit(cache=True)
def _forget(y, memories, margins, chances, means, covariances, scales, log_weights, n):
    """Update the hedge, and let each expert go back towards its prior."""
    for e in range(len(memories)):
        chance = chances[e] if y > 0 else 1.0 - chances[e]
        log_weights[e] = RHO * log_weights[e] + math.log(FLOOR + (1.0 - 2.0 * FLOOR) * chance)
        margins[e] *= math.sqrt(memories[e])
        scales[e] *= memories[e]
        if scales[e] < SMALLEST_SCALE:
            means[e, :n] *= math.sqrt(scales[e])
            covariances[e, :n, :n] *= scales[e]
            scales[e] = 1.0


@numba.njit(cache=True)
def _times(matrix, vector, n, product):
    for i in range(n):
        product[i] = 0.0
    for j in range(n):
        for i in range(n):
            product[i] += matrix[j, i] * vector[j]


@numba.njit(cache=True)
def _least(owners, means, covariances, inverses, scales, weights, u, g, c, q, r, born, n):
    """Return the support vector that is worth least and its score; the oldest of several."""
    slot, least = 0, np.inf
    for i in range(n):
        score = 0.0
        for e in range(len(owners)):
            z = owners[e]
            mean = math.sqrt(scales[e]) * means[e, i] + q[e] * c[e, i]
            variance = inverses[z, i, i] + u[z, i] * u[z, i] / g[z]
            variance += scales[e] * covariances[e, i, i] + r[e] * c[e, i] * c[e, i]
            score += weights[e] * mean * mean / variance
        if score < least or (score == least and born[i] < born[slot]):
            slot, least = i, score
    return slot, least


@numba.njit(cache=True)
def _add_outer(matrix, factor, vector, n):
    for i in range(n):
        scaled = factor * vector[i]
        for j in range(n):
            matrix[i, j] += scaled * vector[j]


@numba.njit(cache=True)
def _clear(matrix, n):
    for i in range(n + 1):
        matrix[i, n] = 0.0
        matrix[n, i] = 0.0


@numba.njit(cache=True)
def _drop(j, n, owners, means, covariances, inverses, scales):
    """Take vector j out of all n + 1, and put the last one in its place."""
    for e in range(len(owners)):
        inverse = inverses[owners[e]]
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


@numba.njit(cache=True)
def _move(matrix, j, n):
    for i in range(n):
        matrix[i, j] = matrix[i, n]
        matrix[j, i] = matrix[n, i]
    matrix[j, j] = matrix[n, n]


@numba.njit(cache=True)
def learn(
    y, rows, owners, memories, noises, novelty, budget, born, n,
    means, covariances, inverses, scales, log_weights, margins, chances, weights,
):  # fmt: skip
    """Learn the example of the last forecast; return the slot that it takes, or -1.

    Parameters
    ----------
    y
        The label's sign.
    memories, noises
        lambda and s2 of each expert (experts,).
    novelty
        Least share of novelty of an example that is added.
    born
        When each slot was filled, for ties (slots,).
    covariances
        C of each expert, without its common factor (experts, budget + 1, budget + 1).
    inverses
        Q of each kernel (kernels, budget + 1, budget + 1).

    The other parameters are those of `forecast`.

    """
    _forget(y, memories, margins, chances, means, covariances, scales, log_weights, n)
    n_experts, n_kernels = len(owners), len(inverses)
    if (y * margins >= 1.0).all():
        return -1
    u, g = np.zeros((n_kernels, n + 1)), np.empty(n_kernels)
    for z in range(n_kernels):
        _times(inverses[z], rows[z], n, u[z])
        g[z] = 1.0 + JITTER - _dot(rows[z], u[z], n)
    c, q, r = np.zeros((n_experts, n + 1)), np.zeros(n_experts), np.zeros(n_experts)
    for e in range(n_experts):
        if y * margins[e] < 1.0:
            row = rows[owners[e]]
            _times(covariances[e], row, n, c[e])
            for i in range(n):
                c[e, i] *= scales[e]
            v = noises[e] + 1.0 + JITTER + _dot(row, c[e], n)
            q[e], r[e] = (y - margins[e]) / v, -1.0 / v

    share = 0.0
    for e in range(n_experts):
        share += weights[e] * g[owners[e]] / (1.0 + JITTER)
    add = n == 0 or (share > novelty and (g > LEAST_NOVELTY).all())
    slot = n
    if add and n == budget:
        slot, least = _least(
            owners, means, covariances, inverses, scales, weights, u, g, c, q, r, born, n
        )
        score = 0.0
        for e in range(n_experts):
            score += weights[e] * q[e] * q[e] / (1.0 / g[owners[e]] + r[e])
        add = score > least

    for e in range(n_experts):
        z = owners[e]
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
        _drop(slot, n, owners, means, covariances, inverses, scales)
    return slot
