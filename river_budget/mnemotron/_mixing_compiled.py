"""The compiled mixture of the experts; see `Mixture`."""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled

# The rows of weights: the logarithms of those of a hedge, these themselves, and the mixers.
LOG_WEIGHTS, HEDGE, SLOW_MIXER, FAST_MIXER = range(4)

# Learning rates of the two mixers.
SLOW, FAST = 0.002, 0.02

# Forgetting factor of both hedges: log weights are multiplied by it in every round.
RHO = 0.995

# Hedges take probabilities p as FLOOR + (1 - 2 FLOOR) p, so that no weight can vanish.
FLOOR = 0.02

# The mixers take probabilities from CLIP / n_labels to 1 - CLIP / 2.
CLIP = 0.02


@compiled()
def softmax(logits, i, weights, j):
    """Set row j of the weights to the softmax of row i of the logits."""
    largest = -np.inf
    for e in range(logits.shape[1]):
        largest = max(largest, logits[i, e])
    total = 0.0
    for e in range(logits.shape[1]):
        weights[j, e] = math.exp(logits[i, e] - largest)
        total += weights[j, e]
    for e in range(logits.shape[1]):
        weights[j, e] /= total


@compiled()
def _take_logarithms(probabilities, e, logs):
    """Compute the logarithms of the clipped probabilities of expert e, up to a common term."""
    n_labels = probabilities.shape[1]
    lowest, highest = CLIP / n_labels, 1.0 - CLIP / 2.0
    if n_labels == 2:
        first = min(max(probabilities[e, 0], lowest), highest)
        logs[e, 0] = 0.0
        logs[e, 1] = math.log(min(max(probabilities[e, 1], lowest), highest) / first)
        return
    for c in range(n_labels):
        logs[e, c] = math.log(min(max(probabilities[e, c], lowest), highest))


@compiled()
def mix(weights, top, probabilities, logs, mixtures):
    """Compute the forecast from the weights of a `Mixture` and the probabilities of the experts.

    Outputs are the logarithms of the latter, and the three mixtures and the forecast (4, labels).
    """
    n_experts, n_labels = probabilities.shape
    mixtures[:] = 0.0
    for e in range(n_experts):
        _take_logarithms(probabilities, e, logs)
        for c in range(n_labels):
            mixtures[0, c] += weights[HEDGE, e] * probabilities[e, c]
            mixtures[1, c] += weights[SLOW_MIXER, e] * logs[e, c]
            mixtures[2, c] += weights[FAST_MIXER, e] * logs[e, c]
    softmax(mixtures, 1, mixtures, 1)
    softmax(mixtures, 2, mixtures, 2)
    for c in range(n_labels):
        for i in range(3):
            mixtures[3, c] += top[HEDGE, i] * mixtures[i, c]
    if n_labels == 2:
        half = 0.5 * (mixtures[3, 1] - mixtures[3, 0])
        mixtures[3, 0], mixtures[3, 1] = 0.5 - half, 0.5 + half


@compiled()
def _update_hedge(label, balance, weights, probabilities):
    """Add the balanced log probabilities of a label to the decayed log weights of a hedge."""
    for i in range(weights.shape[1]):
        gain = math.log(FLOOR + (1.0 - 2.0 * FLOOR) * probabilities[i, label])
        weights[LOG_WEIGHTS, i] = RHO * weights[LOG_WEIGHTS, i] + balance * gain
    softmax(weights, LOG_WEIGHTS, weights, HEDGE)


@compiled()
def update_mixture(label, weights, top, counts, probabilities, logs, mixtures):
    """Update all weights by the label of the last forecast; a share s counts 1 / sqrt(C s)."""
    n_experts, n_labels = probabilities.shape
    balance = math.sqrt(counts.sum() / (n_labels * counts[label]))
    counts[label] += 1.0
    _update_hedge(label, balance, weights, probabilities)
    _update_hedge(label, balance, top, mixtures)
    for e in range(n_experts):
        slow, fast = logs[e, label], logs[e, label]
        for c in range(n_labels):
            slow -= mixtures[1, c] * logs[e, c]
            fast -= mixtures[2, c] * logs[e, c]
        weights[SLOW_MIXER, e] += SLOW * slow
        weights[FAST_MIXER, e] += FAST * fast
