"""The compiled expert that knows only the labels; see `Repeats`."""

from __future__ import annotations

from river_budget._compile import compiled

# Runs are counted by the power of two below their length: 1, 2 to 3, 4 to 7, ..., at least 1,024.
N_BINS = 11

# What is added to each count, so that no probability is 0.
PRIOR = 0.5


@compiled()
def _bin_of(length):
    """Return the bin of the length of a run, at least 1."""
    last = 0
    while length > 1 and last < N_BINS - 1:
        length //= 2
        last += 1
    return last


@compiled()
def predict_label(counts, recent, probabilities):
    """Compute the probabilities of the next label (labels,)."""
    n_labels, last = len(probabilities), recent[0]
    if last < 0:
        probabilities[:] = 1.0 / n_labels
        return
    length = _bin_of(recent[1])
    ended = counts[last, length] + PRIOR
    went_on = counts[last, N_BINS + length] + PRIOR
    total = 0.0
    for c in range(n_labels):
        if c != last:
            probabilities[c] = counts[last, 2 * N_BINS + c] + PRIOR
            total += probabilities[c]
    for c in range(n_labels):
        probabilities[c] *= ended / ((ended + went_on) * total)
    probabilities[last] = went_on / (ended + went_on)


@compiled()
def count_label(label, counts, recent):
    """Count a label after the last one."""
    last = recent[0]
    if last >= 0:
        length = _bin_of(recent[1])
        if label == last:
            counts[last, N_BINS + length] += 1.0
        else:
            counts[last, length] += 1.0
            counts[last, 2 * N_BINS + label] += 1.0
    recent[1] = recent[1] + 1 if label == last else 1
    recent[0] = label
