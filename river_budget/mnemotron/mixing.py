"""The compiled mixture of Mnemotron's experts: a hedge that forgets."""

from __future__ import annotations

import math

from river_budget._compile import compiled

__all__ = ["LINK", "dot", "forecast", "update_hedge"]

# Variance of the noise between f and the label's probability: p = Phi(m / sqrt(LINK)).
LINK = 0.3

# How slowly the hedge forgets: log weights shrink by this on every round.
RHO = 0.995

# The hedge takes a probability p as FLOOR + (1 - 2 FLOOR) p, so that no expert is ever lost.
FLOOR = 0.02


@compiled()
def dot(a, b, n):
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


@compiled()
def forecast(rows, kernel_of, means, scales, log_weights, n, margins, probabilities, weights):
    """Return f(x), and fill the expert outputs.

    Parameters
    ----------
    rows
        Kernel row of x under each kernel (kernels, budget + 1).
    kernel_of
        Kernel of each expert (experts,).
    means
        Mean coefficients of each expert (experts, budget + 1).
    scales
        Common factor of each expert's covariance; its root is that of the means (experts,).
    log_weights
        Logarithms of the hedge's weights (experts,).
    n
        Number of support vectors.
    margins, probabilities, weights
        Output (experts,): m, P(positive), and the hedge's weights.

    """
    largest = log_weights.max()
    total = 0.0
    for e in range(len(kernel_of)):
        margins[e] = math.sqrt(scales[e]) * dot(means[e], rows[kernel_of[e]], n)
        probabilities[e] = 0.5 * math.erfc(-margins[e] / math.sqrt(2.0 * LINK))
        weights[e] = math.exp(log_weights[e] - largest)
        total += weights[e]
    f = 0.0
    for e in range(len(kernel_of)):
        weights[e] /= total
        f += weights[e] * (2.0 * probabilities[e] - 1.0)
    return f


@compiled()
def update_hedge(y, probabilities, log_weights):
    """Update the log weights of the hedge by the label's probability under each expert."""
    for e in range(len(log_weights)):
        p = probabilities[e] if y > 0 else 1.0 - probabilities[e]
        log_weights[e] = RHO * log_weights[e] + math.log(FLOOR + (1.0 - 2.0 * FLOOR) * p)
