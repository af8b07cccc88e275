"""The compiled round of the expert posteriors, which changes its arrays in place.

All arrays hold one vector more than the budget. See `Posteriors` for their shapes.

"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.mnemotron._mixing import hedge_weights, mix, update_mixture
from river_budget.mnemotron._repeats import count_label, predict_label
from river_budget.mnemotron._triangle import (
    add_outer,
    add_outers,
    clear,
    copy_column,
    dot,
    multiply,
)

__all__ = ["FACTOR", "JITTER", "KERNEL", "LINK", "NOISE", "forecast", "learn"]

# The columns of the table of the experts: kernel, forgetting factor and noise variance.
KERNEL, FACTOR, NOISE = range(3)

# Added to the diagonal of the Gram matrices, so that their inverses stay well conditioned.
JITTER = 1e-3

# Variance of the probit link from a margin to a probability: p = Phi(m / sqrt(LINK)).
LINK = 0.3

# With more than two labels, no probability is smaller before they are normalized.
SMALLEST_PROBABILITY = 1e-100

# An example with less novelty is numerically in the span: the update would divide by about 0.
SMALLEST_NOVELTY = 1e-7

# A smaller common factor is multiplied into the covariance, so that it cannot underflow.
SMALLEST_SCALE = 1e-100

# A weight makes the noise variance of an example no smaller than this, so that the posterior
# variances do not vanish in rounding errors.
SMALLEST_NOISE = 1e-6


@compiled()
def prior_mean(n_columns):
    """Return the prior mean of every column: -1 + 2 / C with C > 2 labels, 0 with two."""
    return 2.0 / n_columns - 1.0 if n_columns > 1 else 0.0


@compiled()
def _link(margins, probabilities):
    """Compute the probabilities of the labels from the margins of an expert."""
    n_labels = len(probabilities)
    if n_labels == 2:
        probabilities[1] = 0.5 * math.erfc(-margins[0] / math.sqrt(2.0 * LINK))
        probabilities[0] = 1.0 - probabilities[1]
        return
    total = 0.0
    for c in range(n_labels):
        p = 0.5 * math.erfc(-margins[c] / math.sqrt(2.0 * LINK))
        probabilities[c] = max(p, SMALLEST_PROBABILITY)
        total += probabilities[c]
    for c in range(n_labels):
        probabilities[c] /= total


@compiled()
def _parts(outputs, n_posteriors, n_experts):
    """Return views of margins, probabilities, their logarithms and the mixtures."""
    logs = n_posteriors + n_experts
    return (
        outputs[:n_posteriors], outputs[n_posteriors:logs], outputs[logs : logs + n_experts],
        outputs[logs + n_experts :],
    )  # fmt: skip


@compiled()
def forecast(rows, n, experts, scales, means, weights, top, counts, recent, outputs):
    """Compute margins and probabilities of all experts at an example, and mix them.

    Parameters
    ----------
    rows
        Kernel row of x under each kernel (kernels, budget + 1).
    n
        Number of support vectors.
    experts, scales, means
        See `Posteriors`.
    weights, top
        See `Mixture`.
    counts, recent
        See `Repeats`.
    outputs
        Output: margins, probabilities and their logarithms for each expert, probabilities of the
        three mixtures and of the forecast (any, labels).

    """
    n_columns = means.shape[1]
    prior = prior_mean(n_columns)
    margins, probabilities, logs, mixtures = _parts(outputs, len(experts), weights.shape[1])
    for e in range(len(experts)):
        row, root = rows[int(experts[e, KERNEL])], math.sqrt(scales[e])
        for c in range(n_columns):
            margins[e, c] = prior + root * dot(means[e, c], row, n)
        _link(margins[e], probabilities[e])
    if len(counts):
        predict_label(counts, recent, probabilities[len(experts)])
    mix(weights, top, probabilities, logs, mixtures)


@compiled()
def _forget(experts, margins, means, covariances, scales):
    """Decay the posterior of each expert towards its prior."""
    n_columns = means.shape[1]
    prior = prior_mean(n_columns)
    for e in range(len(experts)):
        factor = experts[e, FACTOR]
        for c in range(n_columns):
            margins[e, c] = prior + math.sqrt(factor) * (margins[e, c] - prior)
        scales[e] *= factor
        if scales[e] < SMALLEST_SCALE:
            means[e] *= math.sqrt(scales[e])
            covariances[e] *= scales[e]
            scales[e] = 1.0


@compiled()
def _errors(label, margins, n_columns, errors):
    """Compute the difference of the target and the margin in each column, and the gate.

    A column that is right by a margin of 1 has no error. Return whether the label is not ahead of
    all others by a margin of 1.

    """
    if n_columns == 1:
        y = 1.0 if label else -1.0
        errors[0] = y - margins[0]
        return y * margins[0] < 1.0
    largest = -np.inf
    for c in range(n_columns):
        y = 1.0 if c == label else -1.0
        errors[c] = y - margins[c] if y * margins[c] < 1.0 else 0.0
        if c != label:
            largest = max(largest, margins[c])
    return margins[label] - largest < 1.0


@compiled()
def _least_relevant(experts, shares, means, covariances, inverses, scales, u, g, c, q, r, inserted):
    """Return the least relevant support vector and its score; the oldest among ties."""
    n = len(inserted)
    scores, squares = np.zeros(n), np.empty(n)
    for e in range(len(experts)):
        z = int(experts[e, KERNEL])
        root = math.sqrt(scales[e])
        squares[:] = 0.0
        for column in range(means.shape[1]):
            mean, change = means[e, column], q[e, column]
            for i in range(n):
                value = root * mean[i] + change * c[e, i]
                squares[i] += value * value
        for i in range(n):
            diagonal = i * (i + 3) // 2
            variance = inverses[z, diagonal] + u[z, i] * u[z, i] / g[z]
            variance += scales[e] * covariances[e, diagonal] + r[e] * c[e, i] * c[e, i]
            scores[i] += shares[e] * squares[i] / variance
    slot = 0
    for i in range(1, n):
        if scores[i] < scores[slot] or (scores[i] == scores[slot] and inserted[i] < inserted[slot]):
            slot = i
    return slot, scores[slot]


@compiled()
def _project(experts, means, covariances, scales, u, g, c, q, r, n):
    """Update each expert without adding the example to the support set."""
    for e in range(len(experts)):
        if r[e] == 0.0:
            continue
        z = int(experts[e, KERNEL])
        for i in range(n):
            c[e, i] += u[z, i]
        h = 1.0 / (1.0 + r[e] * g[z])
        for column in range(means.shape[1]):
            _add(means[e, column], h * q[e, column] / math.sqrt(scales[e]), c[e], n)
        add_outer(covariances[e], h * r[e] / scales[e], c[e], n)


@compiled()
def _add(mean, factor, change, n):
    if factor != 0.0:
        for i in range(n):
            mean[i] += factor * change[i]


@compiled()
def _append(experts, means, covariances, inverses, scales, u, g, c, q, r, n):
    """Update each expert, and add the example as the last support vector."""
    for e in range(len(experts)):
        c[e, n] = 1.0
        clear(covariances[e], n, n + 1)
        add_outer(covariances[e], r[e] / scales[e], c[e], n + 1)
        for column in range(means.shape[1]):
            means[e, column, n] = 0.0
            _add(means[e, column], q[e, column] / math.sqrt(scales[e]), c[e], n + 1)
    for z in range(len(inverses)):
        u[z, n] = -1.0
        clear(inverses[z], n, n + 1)
        add_outer(inverses[z], 1.0 / g[z], u[z], n + 1)


@compiled()
def _replace(j, experts, means, covariances, inverses, scales, u, g, c, q, r, n):
    """Update each expert, add the example, and remove support vector j, whose slot it takes.

    With the example added as in `_append`, Q and C are of size n + 1. The vectors a and p are column
    j of Q and Q + C. Each matrix is changed in one pass: element n of the vectors, that of the
    example, is moved to element j first.

    """
    a, p = np.empty((len(inverses), n + 1)), np.empty(n + 1)
    for z in range(len(inverses)):
        u[z, n] = -1.0
        copy_column(inverses[z], j, n, a[z])
        a[z, n] = 0.0
        factor = u[z, j] / g[z]
        for i in range(n + 1):
            a[z, i] += factor * u[z, i]
    for e in range(len(experts)):
        z = int(experts[e, KERNEL])
        scale, root, s = scales[e], math.sqrt(scales[e]), c[e]
        s[n] = 1.0
        copy_column(covariances[e], j, n, p)
        p[n] = 0.0
        factor = r[e] * s[j]
        for i in range(n + 1):
            p[i] = (scale * p[i] + factor * s[i]) + a[z, i]
        removed_a, removed_p, removed_s = a[z, j], p[j], s[j]
        p[j], s[j] = p[n], s[n]
        for column in range(means.shape[1]):
            mean, change = means[e, column], q[e, column]
            share = (root * mean[j] + change * removed_s) / removed_p
            mean[j] = 0.0
            for i in range(n):
                mean[i] += (change * s[i] - share * p[i]) / root
        clear(covariances[e], j, n)
        a[z, j] = a[z, n]
        add_outers(
            covariances[e], r[e] / scale, s, 1.0 / (scale * removed_a), a[z],
            -1.0 / (scale * removed_p), p, n,
        )  # fmt: skip
        a[z, j] = removed_a
    for z in range(len(inverses)):
        removed_a = a[z, j]
        a[z, j], u[z, j] = a[z, n], u[z, n]
        clear(inverses[z], j, n)
        add_outers(inverses[z], 1.0 / g[z], u[z], -1.0 / removed_a, a[z], 0.0, a[z], n)


@compiled()
def learn(
    label, weight, novelty, budget, rows, n, inserted, experts, scales, means, covariances, inverses,
    weights, top, examples, counts, recent, outputs,
):  # fmt: skip
    """Learn the example of the last forecast, and return its slot; -1 if it is not stored.

    Parameters
    ----------
    label
        The column of the label.
    weight
        The weight of the example, which divides its noise variances.
    novelty
        Smallest novelty of an example that is stored, as a share of its squared norm.
    budget
        Maximum number of support vectors.
    inserted
        Insertion order of the slots, for ties (n,).
    covariances, inverses
        See `Posteriors`.
    examples
        The counts of a `Mixture`.

    The other parameters are those of `forecast`.

    """
    n_experts, n_kernels, n_columns = len(experts), len(inverses), means.shape[1]
    margins, probabilities, logs, mixtures = _parts(outputs, n_experts, weights.shape[1])
    shares = np.empty(n_experts)
    hedge_weights(weights[0, :n_experts], shares)
    update_mixture(label, weights, top, examples, probabilities, logs, mixtures)
    if len(counts):
        count_label(label, counts, recent)
    _forget(experts, margins, means, covariances, scales)

    q, r = np.zeros((n_experts, n_columns)), np.zeros(n_experts)
    n_updates = 0
    for e in range(n_experts):
        if _errors(label, margins[e], n_columns, q[e]):
            r[e] = -1.0
            n_updates += 1
    if n_updates == 0:
        return -1
    u, g = np.empty((n_kernels, n + 1)), np.empty(n_kernels)
    for z in range(n_kernels):
        multiply(inverses[z], rows[z], n, u[z])
        g[z] = 1.0 + JITTER - dot(rows[z], u[z], n)
    c = np.zeros((n_experts, n + 1))
    share = 0.0
    for e in range(n_experts):
        z = int(experts[e, KERNEL])
        share += shares[e] * g[z] / (1.0 + JITTER)
        if r[e] == 0.0:
            q[e] = 0.0
            continue
        multiply(covariances[e], rows[z], n, c[e])
        c[e] *= scales[e]
        noise = experts[e, NOISE]
        if weight != 1.0:
            noise = max(noise / weight, min(noise, SMALLEST_NOISE))
        v = noise + 1.0 + JITTER + dot(rows[z], c[e], n)
        q[e] /= v
        r[e] = -1.0 / v

    add = n == 0 or (share > novelty and (g > SMALLEST_NOVELTY).all())
    slot = n
    if add and n == budget:
        slot, least = _least_relevant(
            experts, shares, means, covariances, inverses, scales, u, g, c, q, r, inserted
        )
        score = 0.0
        for e in range(n_experts):
            g_e = g[int(experts[e, KERNEL])]
            score += shares[e] * dot(q[e], q[e], n_columns) / (1.0 / g_e + r[e])
        add = score > least
    if not add:
        _project(experts, means, covariances, scales, u, g, c, q, r, n)
        return -1
    if n < budget:
        _append(experts, means, covariances, inverses, scales, u, g, c, q, r, n)
    else:
        _replace(slot, experts, means, covariances, inverses, scales, u, g, c, q, r, n)
    return slot
