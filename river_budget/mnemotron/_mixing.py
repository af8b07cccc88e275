"""The compiled mixture of the experts; see `Mixture`."""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled

__all__ = ["hedge_weights", "mix", "update_mixture"]

# Learning rates of the two mixers.
SLOW, FAST = 0.002, 0.02

# Forgetting factor of both hedges: log weights are multiplied by it in every round.
RHO = 0.995

# Hedges take probabilities p as FLOOR + (1 - 2 FLOOR) p, so that no weight can vanish.
FLOOR = 0.02

# The mixers take probabilities from CLIP / n_labels to 1 - CLIP / 2.
CLIP = 0.02


@compiled()
def hedge_weights(log_weights, weights):
    """Compute weights with a sum of 1 from their logarithms."""
    largest = log_weights.max()
    total = 0.0
    for e in range(len(log_weights)):
        weights[e] = math.exp(log_weights[e] - largest)
        total += weights[e]
    for e in range(len(log_weights)):
        weights[e] /= total


@compiled()
def _softmax(logits):
    hedge_weights(logits, logits)


@compiled()
def mix(weights, top, probabilities, logs, mixtures):
    """Compute the forecast from the probabilities of the experts.

    Parameters
    ----------
    weights, top
        See `Mixture`.
    probabilities
        The probabilities of the labels under each expert (experts, labels).
    logs
        Output for the logarithms of the clipped probabilities (experts, labels).
    mixtures
        Output for the probabilities of the labels in the three mixtures and in the forecast (4,
        labels).

    """
    n_experts, n_labels = probabilities.shape
    lowest, highest = CLIP / n_labels, 1.0 - CLIP / 2.0
    hedge, shares = np.empty(n_experts), np.empty(3)
    hedge_weights(weights[0], hedge)
    hedge_weights(top, shares)
    mixtures[:] = 0.0
    for e in range(n_experts):
        for c in range(n_labels):
            p = probabilities[e, c]
            logs[e, c] = math.log(min(max(p, lowest), highest))
            mixtures[0, c] += hedge[e] * p
            mixtures[1, c] += weights[1, e] * logs[e, c]
            mixtures[2, c] += weights[2, e] * logs[e, c]
    _softmax(mixtures[1])
    _softmax(mixtures[2])
    for c in range(n_labels):
        for i in range(3):
            mixtures[3, c] += shares[i] * mixtures[i, c]
    if n_labels == 2:
        half = 0.5 * (mixtures[3, 1] - mixtures[3, 0])
        mixtures[3, 0], mixtures[3, 1] = 0.5 - half, 0.5 + half


@compiled()
def _update_hedge(label, balance, log_weights, probabilities):
    """Add the balanced log probabilities of a label to the decayed log weights of a hedge."""
    for i in range(len(log_weights)):
        gain = math.log(FLOOR + (1.0 - 2.0 * FLOOR) * probabilities[i, label])
        log_weights[i] = RHO * log_weights[i] + balance * gain


@compiled()
def update_mixture(label, weights, top, counts, probabilities, logs, mixtures):
    """Update all weights by the label of the last forecast; see `mix`.

    The hedges weigh an example of a label with the share s by 1 / sqrt(C s), for C labels.

    """
    n_experts, n_labels = probabilities.shape
    balance = math.sqrt(counts.sum() / (n_labels * counts[label]))
    counts[label] += 1.0
    _update_hedge(label, balance, weights[0], probabilities)
    _update_hedge(label, balance, top, mixtures)
    for e in range(n_experts):
        slow, fast = logs[e, label], logs[e, label]
        for c in range(n_labels):
            slow -= mixtures[1, c] * logs[e, c]
            fast -= mixtures[2, c] * logs[e, c]
        weights[1, e] += SLOW * slow
        weights[2, e] += FAST * fast
