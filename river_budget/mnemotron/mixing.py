"""The compiled mixture of the experts of Mnemotron: Hedge with forgetting."""

from __future__ import annotations

import math

from river_budget._compile import compiled

__all__ = ["LINK", "dot", "forecast", "update_hedge"]

# Variance of the probit link from a margin to a probability: p = Phi(m / sqrt(LINK)).
LINK = 0.3

# Forgetting factor of the mixture: log weights are multiplied by this in every round.
RHO = 0.995

# Probabilities p are taken as FLOOR + (1 - 2 FLOOR) p, so that no weight can vanish.
FLOOR = 0.02


@compiled()
def dot(a, b, n):
    """Return <a, b>, in four independent sums that the processor can overlap."""
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
    """Return f(x), and compute the expert outputs.

    Parameters
    ----------
    rows
        Kernel row of x under each kernel (kernels, budget + 1).
    kernel_of
        Kernel of each expert (experts,).
    means
        Mean coefficients of each expert (experts, budget + 1).
    scales
        Common factor of each covariance; its square root is that of the means (experts,).
    log_weights
        Unnormalized log weights of the mixture (experts,).
    n
        Number of support vectors.
    margins, probabilities, weights
        Output (experts,): margin, probability of the positive class, and weight of each expert.

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
    """Update the log weights by the probability of the label under each expert."""
    for e in range(len(log_weights)):
        p = probabilities[e] if y > 0 else 1.0 - probabilities[e]
        log_weights[e] = RHO * log_weights[e] + math.log(FLOOR + (1.0 - 2.0 * FLOOR) * p)
