"""Compiled removals and their losses, on plain arrays.

An *incoming example* is set as a column of a validation table, and often as a row, after those of the
stored vectors and examples. Only a removal or an addition makes it count.

"""

from __future__ import annotations

import numpy as np
from numba import types

from river_budget._compile import UNCOUNTED, compiled, function_at
from river_budget.support._compiled import TILE, oldest_largest

__all__ = [
    "add_term", "bound_counts", "fewest_errors", "least_loss", "move_counts", "move_row", "nearest_to",
    "removal_losses", "renew_weights", "replace_term", "set_incoming", "term_of",
    "unique_largest",
]  # fmt: skip

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
LARGEST_COUNT = 1e12


@compiled(**UNCOUNTED)
def set_incoming(table, n, row, self_value):
    """Set an incoming example as row and column n of a Gram matrix."""
    for i in range(n):
        table[i, n] = row[i]
        table[n, i] = row[i]
    table[n, n] = self_value


@compiled(**UNCOUNTED)
def term_of(coefficients, scale, n_labels, slot):
    """Return step size, label and rival of a stored vector; see `Terms`.

    Parameters
    ----------
    coefficients
        With two labels, the coefficient of each vector (blocks, TILE); else of each label (slots,
        labels).
    scale
        Their common factor.
    n_labels
        Number of labels.
    slot
        The slot of the vector.

    """
    if n_labels == 2:
        alpha = scale * coefficients[slot // TILE, slot % TILE]
        label = 1 if alpha > 0.0 else 0
        return abs(alpha), label, 1 - label
    row = coefficients[slot]
    label = row.argmax()
    return scale * row[label], label, row.argmin()


@compiled()
def _terms(coefficients, scale, n_labels, n, step, label, rival):
    """Return the terms of n vectors, followed by that of an incoming example (n + 1,)."""
    steps = np.empty(n + 1)
    labels, rivals = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for i in range(n):
        steps[i], labels[i], rivals[i] = term_of(coefficients, scale, n_labels, i)
    steps[n], labels[n], rivals[n] = step, label, rival
    return steps, labels, rivals


@compiled(**UNCOUNTED)
def add_term(scores, row, step, label, rival):
    """Add a vector's term to the scores of examples with a row of kernel values (examples,)."""
    for i in range(len(row)):
        change = step * row[i]
        scores[i, label] += change
        scores[i, rival] -= change


@compiled(**UNCOUNTED)
def replace_term(table, scores, n, slot, coefficients, scale, incoming, step, label, rival):
    """Replace a vector's term and column by those of the incoming example, which may be the vector.

    Parameters
    ----------
    table, scores, n
        Kernel value of n examples with each vector, and their scores of all labels.
    slot, incoming
        The columns of the vector and of the incoming example in the table.
    step, label, rival
        The term of the incoming example; see `Terms`.

    The other parameters are those of `term_of`.

    """
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
    table
        Kernel value of each example with each vector (examples, at least vectors).
    scores
        Scores of all labels at each example (examples, labels).
    columns
        The column of the label of each example (examples,).
    steps, labels, rivals
        See `Terms` (vectors,).

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
def _with_incoming(table, scores, n_examples, incoming, step, label, rival):
    """Return the scores of examples after the incoming example has joined the vectors."""
    after = scores[:n_examples].copy()
    add_term(after, table[:n_examples, incoming], step, label, rival)
    return after


@compiled()
def fewest_errors(
    table, scores, columns, n_examples, coefficients, scale, inserted, step, label, rival
):  # fmt: skip
    """Return the slot whose removal gives the fewest errors on validation examples.

    It is the oldest among ties, and `len(inserted)` for the incoming example.

    Parameters
    ----------
    n_examples
        Number of examples.
    inserted
        Insertion order of the vectors (n,).
    step, label, rival
        The term of the incoming example.

    The other parameters are those of `term_of` and `removal_errors`.

    """
    n = len(inserted)
    terms = _terms(coefficients, scale, scores.shape[1], n, step, label, rival)
    after = _with_incoming(table, scores, n_examples, n, step, label, rival)
    errors = removal_errors(table[:n_examples], after, columns, *terms)
    return oldest_largest(-errors, inserted)


@compiled()
def least_loss(table, scores, weights, coefficients, scale, inserted, step, label, rival):
    """Return the slot whose removal gives the least expected hinge loss on the vectors.

    The incoming example is one of them. The parameters are those of `fewest_errors` and
    `removal_losses`.

    """
    n = len(inserted)
    terms = _terms(coefficients, scale, scores.shape[1], n, step, label, rival)
    after = _with_incoming(table, scores, n + 1, n, step, label, rival)
    losses = removal_losses(table[: n + 1], after, weights, *terms)
    return oldest_largest(-losses, inserted)


@compiled()
def nearest_to(table, slot, n):
    """Return which of the other n vectors has the largest kernel value with a vector.

    It is -1 as in `unique_largest`.

    """
    row = table[slot, :n].copy()
    row[slot] = -np.inf
    return unique_largest(row)


@compiled()
def bound_counts(counts):
    """Return counts (labels,), scaled down if one is above `LARGEST_COUNT`."""
    return counts / max(1.0, counts.max() / LARGEST_COUNT)


@compiled()
def move_counts(table, counts, weights, removed, nearest, incoming):
    """Add the counts of a removed vector to those of the nearest one, times the kernel value.

    The incoming example takes the slot of the removed vector, unless it is the one itself.

    Parameters
    ----------
    counts, weights
        Counts and weights of each label at each vector (at least vectors, labels). Weights that are
        not up to date are NaN.
    removed, nearest, incoming
        The slots of the three; the incoming example is the last one.

    """
    kernel_value = max(0.0, table[nearest, removed])
    counts[nearest] += bound_counts(counts[removed]) * kernel_value
    weights[nearest] = np.nan
    if removed < incoming:
        counts[removed] = counts[incoming]
        weights[removed] = weights[incoming]


# SciPy's `betainc`, by its address, which a cached function cannot hold itself; its last
# argument is Cython's "skip dispatch".
betainc_at = function_at(types.float64(types.float64, types.float64, types.float64, types.int32))


@compiled(**UNCOUNTED)
def renew_weights(weights, counts, n, prior, betainc):
    """Compute the weights of two labels at n vectors where they are NaN; see `move_counts`.

    Parameters
    ----------
    prior
        Both parameters of the Beta prior.
    betainc
        The address of SciPy's function.

    """
    for i in range(n):
        if np.isnan(weights[i, 0]):
            a, b = counts[i, 0] + prior, counts[i, 1] + prior
            divisor = max(1.0, max(a, b) / LARGEST_COUNT)
            positive = betainc_at(betainc)(a / divisor, b / divisor, 0.5, np.int32(0))
            weights[i, 0], weights[i, 1] = 1.0 - positive, positive


@compiled(**UNCOUNTED)
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
