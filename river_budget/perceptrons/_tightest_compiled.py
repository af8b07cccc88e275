"""The compiled rule of the Tightest Perceptron, and its tables among the numbers of a model.

What the compiled code cannot compute, it asks for: it returns `ASK`, and the number `ASKED` says what.
The rule is then called again for the same example, with the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from river_budget._arrays import Floats, Ints
from river_budget._compile import UNCOUNTED, compiled, function_at
from river_budget.perceptrons._compiled import (
    add_term,
    least_loss,
    move_row,
    replace_term,
    set_incoming,
)
from river_budget.support.rule import BUDGET, OWN, SCALE, SKIP, Rule, assign

# Numbers of a model: whether a larger kernel value always means a smaller Euclidean distance; the
# prior; the bits of the address of SciPy's `betainc`; what is asked for, and what was answered and
# how; the vector to remove and the one nearest to it; and the number of slots of the tables.
(
    RANKS_BY_DISTANCE, PRIOR, BETAINC, ASKED, ANSWERED, ANSWER, REMOVED, NEAREST, CAPACITY,
) = range(OWN, OWN + 9)  # fmt: skip
N_NUMBERS = 9
# The place of the tables.
FIRST = OWN + N_NUMBERS

# What may be asked for: the weights w of more than two labels, or the vector nearest to the one to
# remove, where the kernel values do not tell it.
NOTHING, WEIGHTS, NEAREST_VECTOR = range(3)

# No slot: something is asked for.
ASK = -2

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
LARGEST_COUNT = 1e12


class Tables(NamedTuple):
    """The tables of the support vectors and an incoming example, by slots.

    The Gram matrix is square, `columns` are those of the labels (slots,), and the others have a value
    for each label (slots, labels). Weights that have to be computed anew are NaN.
    """

    gram: Floats
    scores: Floats
    counts: Floats
    weights: Floats
    columns: Ints


@compiled()
def tables_of(numbers, n_labels):
    """Return the tables among the numbers of a model."""
    n = np.int64(numbers[CAPACITY])
    size, end = n * n_labels, FIRST + n * n
    return Tables(
        numbers[FIRST:end].reshape((n, n)),
        numbers[end : end + size].reshape((n, n_labels)),
        numbers[end + size : end + 2 * size].reshape((n, n_labels)),
        numbers[end + 2 * size : end + 3 * size].reshape((n, n_labels)),
        numbers[end + 3 * size : end + 3 * size + n].view(np.int64),
    )


@compiled(inline="always")
def _coefficients(f):
    return f.alphas if f.matrix.shape[1] == 0 else f.matrix


@compiled(**UNCOUNTED)
def unique_largest(kernel_values, skipped):
    """Return the index of the largest value but one; -1 if it is not unique or not positive.

    The kernel values of distant vectors underflow to 0 and cannot rank them by distance.
    """
    index, largest = -1, 0.0
    for i in range(len(kernel_values)):
        if i == skipped:
            continue
        if kernel_values[i] > largest:
            index, largest = i, kernel_values[i]
        elif kernel_values[i] == largest:
            index = -1
    return index


@compiled()
def bound_counts(counts):
    """Return counts (labels,), scaled down if one is above `LARGEST_COUNT`."""
    return counts / max(1.0, counts.max() / LARGEST_COUNT)


# SciPy's `betainc`, by its address, which a cached function cannot hold itself; its last
# argument is Cython's "skip dispatch".
betainc_at = function_at(types.float64(types.float64, types.float64, types.float64, types.int32))


@compiled(**UNCOUNTED)
def renew_weights(weights, counts, n, prior, betainc):
    """Compute the weights of two labels at n vectors where they are NaN, given SciPy's function."""
    for i in range(n):
        if np.isnan(weights[i, 0]):
            a, b = counts[i, 0] + prior, counts[i, 1] + prior
            divisor = max(1.0, max(a, b) / LARGEST_COUNT)
            positive = betainc_at(betainc)(a / divisor, b / divisor, 0.5, np.int32(0))
            weights[i, 0], weights[i, 1] = 1.0 - positive, positive


@compiled(**UNCOUNTED)
def _nearest(f, t, y, r):
    """Return the vector nearest to the one in slot r, the incoming example for n; -1 if unknown."""
    if f.numbers[ANSWERED] == NEAREST_VECTOR:
        return np.int64(f.numbers[ANSWER])
    if not f.numbers[RANKS_BY_DISTANCE]:
        return np.int64(-1)
    row = y.row if r == f.n else t.gram[r, : f.n + 1]
    return np.int64(unique_largest(row, r))


@compiled(**UNCOUNTED)
def _set_incoming(f, t, y):
    """Write an incoming example after the vectors. Only a removal or an addition makes it count."""
    set_incoming(t.gram, f.n, y.row, y.self_value)
    for c in range(len(y.scores)):
        t.scores[f.n, c], t.counts[f.n, c], t.weights[f.n, c] = y.scores[c], 0.0, np.nan
    t.counts[f.n, y.label], t.columns[f.n] = y.weight, y.label


@compiled()
def _has_weights(f, t, n_vectors):
    """Compute the weights of two labels, and return whether those of all labels are known."""
    if t.weights.shape[1] == 2:
        address = f.numbers.view(np.int64)[BETAINC]
        renew_weights(t.weights, t.counts, n_vectors, f.numbers[PRIOR], address)
        return True
    return not np.isnan(t.weights[:n_vectors, 0]).any()


@compiled()
def _move_counts(f, t, r):
    """Add the counts of the vector in slot r to those of the nearest one, times the kernel value."""
    nearest = np.int64(f.numbers[NEAREST])
    t.counts[nearest] += bound_counts(t.counts[r]) * max(0.0, t.gram[nearest, r])
    t.weights[nearest] = np.nan
    t.counts[r] = t.counts[f.n]
    t.weights[r] = t.weights[f.n]


@compiled(**UNCOUNTED)
def _exchange(f, t, y, r):
    """Replace the vector in slot r by the incoming example, which may be the vector; n for it."""
    _move_counts(f, t, r)
    replace_term(
        t.gram, t.scores, f.n + 1, r, _coefficients(f), f.numbers[SCALE], f.n, y.weight, y.label,
        y.rival,
    )  # fmt: skip
    move_row(t.gram, t.scores, t.columns, f.n, r)


@compiled()
def _choose(f, y):
    """Choose the vector whose removal gives the least loss (Eq. 2), once the budget is full.

    A correctly classified example is counted at the vector nearest to it.
    """
    if y.margin <= 0.0 and f.n < f.numbers[BUDGET]:
        return f.n
    t, r = tables_of(f.numbers, len(y.scores)), f.n
    if y.margin <= 0.0:
        if f.numbers[ANSWERED] == NOTHING:
            _set_incoming(f, t, y)
        if not _has_weights(f, t, f.n + 1):
            f.numbers[ASKED] = WEIGHTS
            return ASK
        r = least_loss(
            t.gram, t.scores, t.weights, _coefficients(f), f.numbers[SCALE], f.inserted[: f.n],
            y.weight, y.label, y.rival,
        )  # fmt: skip
    nearest = _nearest(f, t, y, r)
    f.numbers[REMOVED], f.numbers[NEAREST] = r, nearest
    if nearest < 0:
        f.numbers[ASKED] = NEAREST_VECTOR
        return ASK
    if y.margin > 0.0:
        t.counts[nearest, y.label] += y.weight * max(0.0, y.row[nearest])
        t.weights[nearest, :] = np.nan
        return SKIP
    if r < f.n:
        return r
    _exchange(f, t, y, r)
    return SKIP


@compiled()
def _add_or_exchange(f, y, r, row):
    """Add the example, in place of the vector r if there is one."""
    t = tables_of(f.numbers, len(y.scores))
    if r < f.n:
        _exchange(f, t, y, r)
    else:
        _set_incoming(f, t, y)
        add_term(t.scores, t.gram[: r + 1, r], y.weight, y.label, y.rival)
    assign(f, r, y, 1.0)


RULE = Rule(_choose, _add_or_exchange)
