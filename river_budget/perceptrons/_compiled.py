"""Compiled removals and their losses, on plain arrays."""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled
from river_budget.support._compiled import margin_and_rival

__all__ = [
    "add_term", "oldest_safest", "removal_errors", "removal_losses", "remove_term",
    "unique_largest",
]  # fmt: skip


@compiled()
def oldest_safest(scores, labels, inserted, rounding):
    """Return the vector with the largest margin, the oldest among ties.

    Parameters
    ----------
    scores
        Scores of all labels at each vector, that of an incoming example last (n + 1, labels).
    labels
        The column of the label of each vector (n + 1,).
    inserted
        Insertion order of the stored vectors (n,).
    rounding
        Margins that differ by less than this, relative to the largest score, are ties.

    """
    margins = np.empty(len(labels))
    size = 1.0
    for i in range(len(labels)):
        margins[i], _ = margin_and_rival(scores[i], labels[i])
        for c in range(scores.shape[1]):
            size = max(size, abs(scores[i, c]))
    least = margins.max() - rounding * size
    safest = -1
    for i in range(len(labels)):
        if margins[i] >= least and (
            safest < 0 or (i < len(inserted) and inserted[i] < inserted[safest])
        ):
            safest = i
    return safest


@compiled()
def add_term(scores, row, step, label, rival):
    """Add a vector's term to the scores of examples with a row of kernel values (examples,)."""
    for i in range(len(row)):
        scores[i, label] += step * row[i]
        scores[i, rival] -= step * row[i]


@compiled()
def remove_term(table, scores, slot, incoming, step, label, rival):
    """Subtract a vector's term from scores, and move the incoming example to its column.

    Parameters
    ----------
    table
        Kernel value of each example with each vector (examples, at least vectors).
    scores
        Scores of all labels at each example (examples, labels).
    slot, incoming
        The columns of the vector and of the incoming example in the table.
    step, label, rival
        See `Terms`.

    """
    for i in range(len(table)):
        change = step * table[i, slot]
        scores[i, label] -= change
        scores[i, rival] += change
        table[i, slot] = table[i, incoming]


@compiled()
def _find_largest(scores, skipped, largest):
    """Find the columns of the largest scores in descending order; -1 if there are no more.

    Parameters
    ----------
    skipped
        A column to leave out; -1 for none.
    largest
        Output (any number,).

    """
    largest[:] = -1
    for c in range(len(scores)):
        place = len(largest)
        if c != skipped:
            while place > 0 and (largest[place - 1] < 0 or scores[c] > scores[largest[place - 1]]):
                place -= 1
        if place < len(largest):
            for later in range(len(largest) - 1, place, -1):
                largest[later] = largest[later - 1]
            largest[place] = c


@compiled()
def removal_errors(table, scores, columns, steps, labels, rivals):
    """Return the 0-1 loss on validation examples after each removal; ties are errors (vectors,).

    Parameters
    ----------
    columns
        The column of the label of each example (examples,).
    steps, labels, rivals
        See `Terms` (vectors,).

    The other parameters are those of `remove_term`.

    """
    errors = np.zeros(len(steps))
    if scores.shape[1] == 2:
        alphas = np.where(labels == 1, steps, -steps)
        for i in range(len(table)):
            value, sign = scores[i, 1], 2.0 * columns[i] - 1.0
            for j in range(len(alphas)):
                margin = sign * (value - alphas[j] * table[i, j])
                errors[j] += 1.0 if margin <= 0.0 else 0.0
        return errors
    # A removal changes two scores, so the largest of the unchanged ones is among these.
    largest = np.empty(3, np.int64)
    for i in range(len(table)):
        y, g = columns[i], scores[i]
        _find_largest(g, y, largest)
        for j in range(len(steps)):
            p, q, change = labels[j], rivals[j], steps[j] * table[i, j]
            own = g[y] - (change if y == p else 0.0) + (change if y == q else 0.0)
            rival = -np.inf
            for c in largest:
                if c >= 0 and c != p and c != q:
                    rival = g[c]
                    break
            if y != p:
                rival = max(rival, g[p] - change)
            if y != q:
                rival = max(rival, g[q] + change)
            errors[j] += own <= rival
    return errors


@compiled()
def removal_losses(table, scores, weights, steps, labels, rivals):
    """Return the expected hinge loss after each removal (vectors,).

    Parameters
    ----------
    weights
        Probability of each label at each example (examples, labels).

    The other parameters are those of `removal_errors`.

    """
    losses = np.zeros(len(steps))
    if scores.shape[1] == 2:
        alphas = np.where(labels == 1, steps, -steps)
        for i in range(len(table)):
            value, weight = scores[i, 1], weights[i, 1]
            for j in range(len(alphas)):
                f = value - alphas[j] * table[i, j]
                losses[j] += weight * max(0.0, 1.0 - f) + (1.0 - weight) * max(0.0, 1.0 + f)
        return losses
    # A removal changes two scores, so the two largest of the unchanged ones are among these.
    largest = np.empty(4, np.int64)
    for i in range(len(table)):
        g, w = scores[i], weights[i]
        _find_largest(g, -1, largest)
        mean = 0.0
        for c in range(len(g)):
            mean += w[c] * g[c]
        for j in range(len(steps)):
            change = steps[j] * table[i, j]
            losses[j] += _expected_loss(g, w, mean, largest, labels[j], rivals[j], change)
    return losses


@compiled()
def _expected_loss(g, w, mean, largest, p, q, change):
    """Return sum_c w_c max(0, 1 - m_c), where g_p is lower and g_q higher by a change.

    The margin m_c = (g_c - max_{r != c} g_r) / 2 is at most 0 for all labels but the first one. The
    loss thus needs only the two largest scores and the mean score.

    """
    first, second, w_first = -np.inf, -np.inf, 0.0
    for place in range(len(largest) + 2):
        if place < len(largest):
            c = largest[place]
            if c < 0 or c in (p, q):
                continue
            value = g[c]
        elif place == len(largest):
            c, value = p, g[p] - change
        else:
            c, value = q, g[q] + change
        if value > first:
            first, second, w_first = value, first, w[c]
        elif value > second:
            second = value
    mean += change * (w[q] - w[p])
    others = (1.0 - w_first) * (1.0 + 0.5 * first) - 0.5 * (mean - w_first * first)
    return others + w_first * max(0.0, 1.0 - 0.5 * (first - second))


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
