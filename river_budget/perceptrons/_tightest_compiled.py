"""The compiled rule of the Tightest Perceptron, and its tables among the numbers of a model.

What the compiled code cannot compute, it asks for: it returns `ASK`, and the number `ASKED` says what.
The rule is then called again for the same example, with the answer.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._compile import UNCOUNTED, compiled
from river_budget.perceptrons._compiled import (
    add_term,
    least_loss,
    move_counts,
    move_row,
    nearest_to,
    renew_weights,
    replace_term,
    set_incoming,
    unique_largest,
)
from river_budget.support.rule import BUDGET, OWN, SCALE, SKIP, Rule, assign

__all__ = [
    "ANSWER", "ANSWERED", "ASK", "ASKED", "BETAINC", "CAPACITY", "FIRST", "NOTHING", "N_NUMBERS",
    "PRIOR", "RANKS_BY_DISTANCE", "REMOVED", "RULE", "WEIGHTS", "Tables", "tables_of",
]  # fmt: skip

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


class Tables(NamedTuple):
    """The tables of the support vectors and an incoming example, by slots.

    Attributes
    ----------
    gram
        The Gram matrix (slots, slots).
    scores
        The scores of all labels (slots, labels).
    counts
        The counts c of each label (slots, labels).
    weights
        The weights w computed from them; NaN where they have to be computed anew (slots, labels).
    columns
        The columns of the labels (slots,).

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


@compiled(forceinline=True, **UNCOUNTED)
def _ask(f, question):
    f.numbers[ASKED] = question
    return ASK


@compiled(forceinline=True, **UNCOUNTED)
def _answered(f, question):
    """Return whether a question was answered."""
    is_answered = f.numbers[ANSWERED] == question
    f.numbers[ANSWERED] = NOTHING if is_answered else f.numbers[ANSWERED]
    return is_answered


@compiled(**UNCOUNTED)
def _nearest(f, t, y, r):
    """Return the vector nearest to the one in slot r, the incoming example for n; -1 if unknown."""
    if _answered(f, NEAREST_VECTOR):
        return np.int64(f.numbers[ANSWER])
    if not f.numbers[RANKS_BY_DISTANCE]:
        return np.int64(-1)
    return unique_largest(y.row) if r == f.n else nearest_to(t.gram, r, f.n + 1)


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


@compiled(**UNCOUNTED)
def _exchange(f, t, y, r):
    """Replace the vector in slot r by the incoming example, which may be the vector; n for it."""
    nearest, n = np.int64(f.numbers[NEAREST]), f.n
    move_counts(t.gram, t.counts, t.weights, r, nearest, n)
    replace_term(
        t.gram, t.scores, n + 1, r, _coefficients(f), f.numbers[SCALE], n, y.weight, y.label,
        y.rival,
    )  # fmt: skip
    move_row(t.gram, t.scores, t.columns, n, r)


@compiled()
def _choose(f, y):
    """Choose the vector whose removal gives the least loss (Eq. 2), once the budget is full.

    A correctly classified example is counted at the vector nearest to it.

    """
    if y.margin <= 0.0 and f.n < f.numbers[BUDGET]:
        return f.n
    t, r = tables_of(f.numbers, len(y.scores)), f.n
    if y.margin <= 0.0:
        if not _answered(f, WEIGHTS) and f.numbers[ANSWERED] == NOTHING:
            _set_incoming(f, t, y)
        if not _has_weights(f, t, f.n + 1):
            return _ask(f, WEIGHTS)
        r = least_loss(
            t.gram, t.scores, t.weights, _coefficients(f), f.numbers[SCALE], f.inserted[: f.n],
            y.weight, y.label, y.rival,
        )  # fmt: skip
    nearest = _nearest(f, t, y, r)
    f.numbers[REMOVED], f.numbers[NEAREST] = r, nearest
    if nearest < 0:
        return _ask(f, NEAREST_VECTOR)
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
