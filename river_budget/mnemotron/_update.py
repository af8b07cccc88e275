"""The compiled round of the expert posteriors, in arrays with one vector more than the budget."""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.mnemotron._lanes import LANES
from river_budget.mnemotron._mixing_compiled import HEDGE, mix, update_mixture
from river_budget.mnemotron._repeats_compiled import count_label, predict_label
from river_budget.mnemotron._triangle_compiled import (
    REORDERED,
    clear,
    copy_column,
    copy_diagonal,
    dot,
    multiply,
    subtract_and_multiply,
    update,
)

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
def _link(e, margins, probabilities):
    """Compute the probabilities of the labels from the margins of expert e."""
    n_labels = probabilities.shape[1]
    if n_labels == 2:
        probabilities[e, 1] = 0.5 * math.erfc(-margins[e, 0] / math.sqrt(2.0 * LINK))
        probabilities[e, 0] = 1.0 - probabilities[e, 1]
        return
    total = 0.0
    for c in range(n_labels):
        p = 0.5 * math.erfc(-margins[e, c] / math.sqrt(2.0 * LINK))
        probabilities[e, c] = max(p, SMALLEST_PROBABILITY)
        total += probabilities[e, c]
    for c in range(n_labels):
        probabilities[e, c] /= total


@compiled()
def _parts(outputs, n_posteriors, n_experts):
    """Return views of margins, probabilities, their logarithms and the mixtures."""
    logs = n_posteriors + n_experts
    return (
        outputs[:n_posteriors], outputs[n_posteriors:logs], outputs[logs : logs + n_experts],
        outputs[logs + n_experts :],
    )  # fmt: skip


@compiled(fastmath=REORDERED)
def _mean(means, e, c, rows, z, n):
    """Return the mean of expert e in column c at x, without the common factor and the prior."""
    total = 0.0
    for i in range(n):
        total += means[e, c, i] * rows[z, i]
    return total


@compiled()
def forecast(rows, n, experts, scales, means, weights, top, counts, recent, outputs):
    """Compute margins and probabilities of all experts at an example, and mix them.

    Given are the kernel row of x under each kernel, and the arrays of `Posteriors`, `Mixture` and
    `Repeats`. Outputs are margins, probabilities and their logarithms for each expert, and
    probabilities of the three mixtures and of the forecast (any, labels).
    """
    n_columns = means.shape[1]
    prior = prior_mean(n_columns)
    margins, probabilities, logs, mixtures = _parts(outputs, len(experts), weights.shape[1])
    for e in range(len(experts)):
        z, root = int(experts[e, KERNEL]), math.sqrt(scales[e])
        for c in range(n_columns):
            margins[e, c] = prior + root * _mean(means, e, c, rows, z, n)
        _link(e, margins, probabilities)
    if len(counts):
        predict_label(counts, recent, probabilities[len(experts)])
    mix(weights, top, probabilities, logs, mixtures)


@compiled()
def _forget(experts, margins, means, covariances, changes, scales):
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
            changes[e] *= math.sqrt(scales[e])
            scales[e] = 1.0


@compiled()
def _errors(label, e, margins, errors):
    """Compute the errors of expert e, 0 where a column is right by 1, and return the gate."""
    n_columns = errors.shape[1]
    if n_columns == 1:
        y = 1.0 if label else -1.0
        errors[e, 0] = y - margins[e, 0]
        return y * margins[e, 0] < 1.0
    largest = -np.inf
    for c in range(n_columns):
        y, m = 1.0 if c == label else -1.0, margins[e, c]
        errors[e, c] = y - m if y * m < 1.0 else 0.0
        if c != label:
            largest = max(largest, m)
    return margins[e, label] - largest < 1.0


@compiled()
def _least_relevant(experts, shares, means, covariances, inverses, scales, u, g, c, q, r, inserted):
    """Return the least relevant support vector and its score; the oldest among ties."""
    n = len(inserted)
    scores, squares = np.zeros(n), np.empty(n)
    prior, own = np.empty(u.shape), np.empty((1, u.shape[1]))
    for z in range(len(inverses)):
        copy_diagonal(inverses, z, n, prior, z)
        for i in range(n):
            prior[z, i] += u[z, i] * u[z, i] / g[z]
    for e in range(len(experts)):
        z, root = int(experts[e, KERNEL]), math.sqrt(scales[e])
        copy_diagonal(covariances, e, n, own, 0)
        squares[:] = 0.0
        for column in range(means.shape[1]):
            for i in range(n):
                value = root * means[e, column, i] + q[e, column] * c[e, i]
                squares[i] += value * value
        for i in range(n):
            variance = prior[z, i] + scales[e] * own[0, i] + r[e] * c[e, i] * c[e, i]
            scores[i] += shares[e] * squares[i] / variance
    slot = 0
    for i in range(1, n):
        if scores[i] < scores[slot] or (scores[i] == scores[slot] and inserted[i] < inserted[slot]):
            slot = i
    return slot, scores[slot]


@compiled()
def _change_means(e, means, factor, q, c, n):
    """Add `factor q c` to the means of expert e."""
    for column in range(means.shape[1]):
        change = factor * q[e, column]
        if change != 0.0:
            for i in range(n):
                means[e, column, i] += change * c[e, i]


@compiled()
def _project(experts, means, changes, scales, u, g, c, q, r, n):
    """Update each expert without storing the example; covariances change when they are next read."""
    for e in range(len(experts)):
        if r[e] == 0.0:
            continue
        z = int(experts[e, KERNEL])
        h = 1.0 / (1.0 + r[e] * g[z])
        factor = math.sqrt(-h * r[e] / scales[e])
        for i in range(n):
            c[e, i] += u[z, i]
            changes[e, i] = factor * c[e, i]
        _change_means(e, means, h / math.sqrt(scales[e]), q, c, n)


@compiled()
def _append(experts, means, covariances, inverses, scales, u, g, c, q, r, n):
    """Update each expert, and add the example as the last support vector."""
    vectors = np.zeros((3, c.shape[1]))
    for e in range(len(experts)):
        c[e, n] = 1.0
        _put(vectors, 1, math.sqrt(-r[e] / scales[e]), c, e, n + 1)
        update(covariances, e, vectors, n + 1)
        _change_means(e, means, 1.0 / math.sqrt(scales[e]), q, c, n + 1)
    vectors[1] = 0.0
    for z in range(len(inverses)):
        u[z, n] = -1.0
        _put(vectors, 0, math.sqrt(1.0 / g[z]), u, z, n + 1)
        update(inverses, z, vectors, n + 1)


@compiled()
def _put(vectors, i, factor, x, e, n):
    """Set vector i to a multiple of vector x, e."""
    for k in range(n):
        vectors[i, k] = factor * x[e, k]


@compiled()
def _put_moved(vectors, i, factor, x, e, j, n):
    """Set vector i to a multiple of vector x, e, whose element n is moved to element j."""
    _put(vectors, i, factor, x, e, n)
    vectors[i, j] = factor * x[e, n]


@compiled()
def _replace(j, experts, means, covariances, inverses, scales, u, g, c, q, r, n):
    """Update each expert, add the example, and remove support vector j, whose slot it takes.

    With the example added as in `_append`, the vectors a and p are column j of Q and Q + C.
    """
    vectors = np.zeros((3, c.shape[1]))
    a, p = np.empty((len(inverses), n + 1)), np.empty((1, n + 1))
    for z in range(len(inverses)):
        u[z, n] = -1.0
        copy_column(inverses, z, j, n, a, z)
        a[z, n] = 0.0
        factor = u[z, j] / g[z]
        for i in range(n + 1):
            a[z, i] += factor * u[z, i]
        _put_moved(vectors, 0, math.sqrt(1.0 / g[z]), u, z, j, n)
        _put_moved(vectors, 1, math.sqrt(1.0 / a[z, j]), a, z, j, n)
        clear(inverses, z, j, n)
        update(inverses, z, vectors, n)
    for e in range(len(experts)):
        z = int(experts[e, KERNEL])
        scale, root = scales[e], math.sqrt(scales[e])
        c[e, n] = 1.0
        copy_column(covariances, e, j, n, p, 0)
        p[0, n] = 0.0
        factor = r[e] * c[e, j]
        for i in range(n + 1):
            p[0, i] = (scale * p[0, i] + factor * c[e, i]) + a[z, i]
        _put_moved(vectors, 0, math.sqrt(1.0 / (scale * a[z, j])), a, z, j, n)
        _put_moved(vectors, 1, math.sqrt(1.0 / (scale * p[0, j])), p, 0, j, n)
        _put_moved(vectors, 2, math.sqrt(-r[e] / scale), c, e, j, n)
        clear(covariances, e, j, n)
        update(covariances, e, vectors, n)
        removed_p, removed_c = p[0, j], c[e, j]
        p[0, j], c[e, j] = p[0, n], c[e, n]
        for column in range(means.shape[1]):
            change = q[e, column]
            share = (root * means[e, column, j] + change * removed_c) / removed_p
            means[e, column, j] = 0.0
            for i in range(n):
                means[e, column, i] += (change * c[e, i] - share * p[0, i]) / root


@compiled()
def learn(
    label, weight, rows, n, inserted,
    experts, scales, means, weights, top, counts, recent, outputs,
    novelty, budget, covariances, changes, inverses, examples,
):  # fmt: skip
    """Learn the example of the last forecast, and return its slot; -1 if it is not stored.

    The weight divides the noise variances, the insertion order of the slots (n,) breaks ties, and
    `examples` are the counts of a `Mixture`. See `forecast` and `Posteriors` for other parameters.
    """
    n_experts, n_kernels, n_columns = len(experts), len(inverses), means.shape[1]
    margins, probabilities, logs, mixtures = _parts(outputs, n_experts, weights.shape[1])
    shares = weights[HEDGE, :n_experts] / weights[HEDGE, :n_experts].sum()
    update_mixture(label, weights, top, examples, probabilities, logs, mixtures)
    if len(counts):
        count_label(label, counts, recent)
    _forget(experts, margins, means, covariances, changes, scales)

    q, r = np.zeros((n_experts, n_columns)), np.zeros(n_experts)
    n_updates = 0
    for e in range(n_experts):
        if _errors(label, e, margins, q):
            r[e] = -1.0
            n_updates += 1
    if n_updates == 0:
        return -1
    size = LANES * (n // LANES + 1)
    u, g = np.zeros((n_kernels, size)), np.empty(n_kernels)
    for z in range(n_kernels):
        multiply(inverses, z, rows, z, n, u)
        g[z] = 1.0 + JITTER - dot(rows, z, u, z, n)
    c = np.zeros((n_experts, size))
    share = 0.0
    for e in range(n_experts):
        z = int(experts[e, KERNEL])
        share += shares[e] * g[z] / (1.0 + JITTER)
        if r[e] != 0.0 or changes[e, :n].any():
            subtract_and_multiply(covariances, e, changes, rows, z, n, c)
            changes[e] = 0.0
        if r[e] == 0.0:
            c[e] = 0.0
            q[e] = 0.0
            continue
        for i in range(n):
            c[e, i] *= scales[e]
        noise = experts[e, NOISE]
        if weight != 1.0:
            noise = max(noise / weight, min(noise, SMALLEST_NOISE))
        v = noise + 1.0 + JITTER + dot(rows, z, c, e, n)
        for column in range(n_columns):
            q[e, column] /= v
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
            score += shares[e] * dot(q, e, q, e, n_columns) / (1.0 / g_e + r[e])
        add = score > least
    if not add:
        _project(experts, means, changes, scales, u, g, c, q, r, n)
        return -1
    if n < budget:
        _append(experts, means, covariances, inverses, scales, u, g, c, q, r, n)
    else:
        _replace(slot, experts, means, covariances, inverses, scales, u, g, c, q, r, n)
    return slot
