"""Compiled removals and their losses, on plain arrays.

A validation set is a table of kernel values (examples, vectors), the scores of all labels (examples,
labels) and the columns of the examples' labels (examples,). An *incoming example* is a column of the
table, and often a row, after those of the stored vectors and examples. Only a removal or an addition
makes it count. For step, label and rival of a vector, see `Terms`.
"""

from __future__ import annotations

import numpy as np

from river_budget._compile import UNCOUNTED, compiled
from river_budget.kernels._compiled import TILE
from river_budget.support._compiled import oldest_largest


@compiled(**UNCOUNTED)
def set_incoming(table, n, row, self_value):
    """Set an incoming example as row and column n of a Gram matrix."""
    for i in range(n):
        table[i, n] = row[i]
        table[n, i] = row[i]
    table[n, n] = self_value


@compiled(**UNCOUNTED)
def term_of(coefficients, scale, n_labels, slot):
    """Return step size, label and rival of the vector in a slot.

    The coefficients without their common factor are those of the vectors (blocks, TILE) with two
    labels, and of all labels (slots, labels) with more.
    """
    if n_labels == 2:
        alpha = scale * coefficients[slot // TILE, slot % TILE]
        label = 1 if alpha > 0.0 else 0
        return abs(alpha), label, 1 - label
    row = coefficients[slot]
    label = row.argmax()
    return scale * row[label], label, row.argmin()


@compiled(**UNCOUNTED)
def add_term(scores, row, step, label, rival):
    """Add a vector's term to the scores of examples with a row of kernel values (examples,)."""
    for i in range(len(row)):
        change = step * row[i]
        scores[i, label] += change
        scores[i, rival] -= change


@compiled(**UNCOUNTED)
def replace_term(table, scores, n, slot, coefficients, scale, incoming, step, label, rival):
    """Replace a vector's term and column by those of the incoming example, which may be the vector."""
    add_term(scores, table[:n, incoming], step, label, rival)
    removed = step, label, rival
    if slot < incoming:
        removed = term_of(coefficients, scale, scores.shape[1], slot)
    add_term(scores, table[:n, slot], -removed[0], removed[1], removed[2])
    for i in range(n):
        table[i, slot] = table[i, incoming]


@compiled(**UNCOUNTED)
def move_row(table, scores, columns, old, new):
    """Move an example of a validation set to another row."""
    for j in range(table.shape[1]):
        table[new, j] = table[old, j]
    for c in range(scores.shape[1]):
        scores[new, c] = scores[old, c]
    columns[new] = columns[old]


@compiled(**UNCOUNTED)
def _find_largest(scores, skipped, largest):
    """Write the columns of the largest scores but `skipped`, in descending order; -1 at the end."""
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
    """Return the 0-1 loss on validation examples after each removal; ties are errors (vectors,)."""
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
    """Return the hinge loss expected by weights (examples, labels) after each removal (vectors,)."""
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


@compiled(**UNCOUNTED)
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
def _with_incoming(table, scores, coefficients, scale, n, step, label, rival):
    """Return the scores of examples after the incoming example has joined n vectors, and all terms."""
    after = scores[: len(table)].copy()
    add_term(after, table[:, n], step, label, rival)
    steps = np.empty(n + 1)
    labels, rivals = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for i in range(n):
        steps[i], labels[i], rivals[i] = term_of(coefficients, scale, scores.shape[1], i)
    steps[n], labels[n], rivals[n] = step, label, rival
    return after, (steps, labels, rivals)


@compiled()
def fewest_errors(
    table, scores, columns, n_examples, coefficients, scale, inserted, step, label, rival
):  # fmt: skip
    """Return the slot whose removal gives the fewest errors, the oldest among ties; n for incoming."""
    n, table = len(inserted), table[:n_examples]
    after, terms = _with_incoming(table, scores, coefficients, scale, n, step, label, rival)
    errors = removal_errors(table, after, columns, *terms)
    return oldest_largest(-errors, inserted)


@compiled()
def least_loss(table, scores, weights, coefficients, scale, inserted, step, label, rival):
    """Return the slot whose removal gives the least expected loss; see `removal_losses`."""
    n, table = len(inserted), table[: len(inserted) + 1]
    after, terms = _with_incoming(table, scores, coefficients, scale, n, step, label, rival)
    losses = removal_losses(table, after, weights, *terms)
    return oldest_largest(-losses, inserted)
