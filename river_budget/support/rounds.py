"""The compiled rounds of the algorithms that have a `Rule`, on the arrays of a `NumericStore`.

`vectors` are the arguments of `_compiled.evaluate` that describe the stored vectors.

"""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels.spec import FACTORS
from river_budget.support._compiled import score, self_value_of
from river_budget.support._values_compiled import (
    has_room,
    load,
    overwrite_values,
    set_statistic,
)
from river_budget.support.rule import (
    LARGEST_SELF_VALUE,
    N_INSERTED,
    SCALE,
    SKIP,
    Hypothesis,
    choice_at,
    evaluate_at,
    example,
    margin_and_rival_of,
    step_at,
)

__all__ = ["DONE", "N_MISTAKES", "N_ROUNDS", "N_WEIGHTED", "choose", "finish", "learn", "update"]

# No slot: the update is done.
DONE = -1

# The counts of rounds, of mistakes and of updates with a weight other than 1 in a block.
N_ROUNDS, N_MISTAKES, N_WEIGHTED = range(3)


@compiled()
def _update(
    choice, step, evaluate, reads_row, f, y, workspace, rows, spec, layout, layouts, heap,
    vectors,
):  # fmt: skip
    """Update a model on an example, and return `DONE`.

    If the example needs a new slot or more room, or its names are not those of the vector to
    replace, nothing is changed, and the slot is returned.

    """
    _, _, features, tiles, statistics = vectors
    f.numbers[LARGEST_SELF_VALUE] = max(f.numbers[LARGEST_SELF_VALUE], y.self_value)
    slot = choice_at(choice)(f, y)
    if slot == SKIP:
        return DONE
    if slot == f.n or layouts[slot] != layout:
        return slot
    if not has_room(workspace, rows, slot, features, tiles, heap):
        return slot
    removed, stored_spec = workspace, spec[:FACTORS]
    if reads_row:
        removed = np.empty(len(workspace))
        load(removed, rows, slot, features, tiles)
        evaluate_at(evaluate)(removed, f.alphas[:0], 1.0, stored_spec, rows, *vectors)
    step_at(step)(f, y, slot, removed[: f.n])
    overwrite_values(workspace, rows, slot, features, tiles, heap)
    set_statistic(workspace, len(rows), slot, stored_spec, statistics)
    f.inserted[slot] = np.int64(f.numbers[N_INSERTED])
    f.numbers[N_INSERTED] += 1.0
    return DONE


@compiled()
def update(
    choice, step, evaluate, reads_row, label, weight, value,
    alphas, matrix, inserted, numbers, own_table,
    workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Update a model on the example of a workspace; see `_update`.

    Parameters
    ----------
    choice, step, evaluate
        The addresses of a `Rule`.
    reads_row
        Whether the step reads the kernel row of the vector to replace.
    label, weight
        Label and weight of the example.
    value
        f(x), with two labels.
    alphas, matrix, inserted, numbers, own_table
        See `Hypothesis`.
    layout, layouts
        The number of the layout of the example, and those of the stored vectors (slots,).
    heap
        See `_values_compiled.store`.

    The other parameters are those of `_compiled.evaluate`.

    """
    f = Hypothesis(n, alphas, matrix, inserted, numbers, own_table)
    vectors = n, n_rows, features, tiles, statistics
    scores = np.empty(matrix.shape[1])
    score(matrix, numbers[SCALE], workspace[:n], scores)
    self_value = self_value_of(spec[:FACTORS], workspace, len(rows))
    y = example(label, weight, value, scores, self_value, workspace[:n])
    return _update(
        choice, step, evaluate, reads_row, f, y, workspace, rows, spec, layout, layouts, heap,
        vectors,
    )  # fmt: skip


@compiled()
def learn(
    choice, step, evaluate, reads_row, block, columns, weights, start, stop, threshold, counts,
    alphas, matrix, inserted, numbers, own_table,
    workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Learn the rows of a block, up to one whose example cannot be stored here; see `update`.

    Parameters
    ----------
    block, columns, weights
        The rows (rows, m), and their labels and weights (rows,).
    start, stop
        The rows to learn.
    threshold
        The model is updated if the margin is at most this.
    counts
        Output: numbers of rounds, mistakes and weighted updates, without the row that is left.

    The other parameters are those of `update`.

    Returns
    -------
    The slot for the example of the row that is left, or `DONE`; and f(x) for the last row that was
    evaluated. The workspace holds its kernel row and its values.

    """
    values = workspace[len(workspace) - len(rows) :]
    f = Hypothesis(n, alphas, matrix, inserted, numbers, own_table)
    vectors = n, n_rows, features, tiles, statistics
    value, scores = 0.0, np.empty(matrix.shape[1])
    for i in range(start, stop):
        for j in range(len(values)):
            values[j] = block[i, j]
        value = evaluate_at(evaluate)(workspace, alphas, numbers[SCALE], spec, rows, *vectors)
        score(matrix, numbers[SCALE], workspace[:n], scores)
        margin, _ = margin_and_rival_of(columns[i], value, scores)
        if margin <= threshold:
            self_value = self_value_of(spec[:FACTORS], workspace, len(rows))
            y = example(columns[i], weights[i], value, scores, self_value, workspace[:n])
            slot = _update(
                choice, step, evaluate, reads_row, f, y, workspace, rows, spec, layout, layouts,
                heap, vectors,
            )  # fmt: skip
            if slot != DONE:
                return slot, value
            counts[N_MISTAKES] += margin <= 0.0
            counts[N_WEIGHTED] += weights[i] != 1.0
        counts[N_ROUNDS] += 1
    return DONE, value


@compiled()
def choose(choice, label, weight, value, scores, self_value, row, n,
           alphas, matrix, inserted, numbers, table):  # fmt: skip
    """Return the slot for an example, given its self value and its kernel row; see `update`."""
    f = Hypothesis(n, alphas, matrix, inserted, numbers, table)
    y = example(label, weight, value, scores, self_value, row)
    f.numbers[LARGEST_SELF_VALUE] = max(f.numbers[LARGEST_SELF_VALUE], self_value)
    return choice_at(choice)(f, y)


@compiled()
def finish(step, slot, removed, label, weight, value, scores, self_value, row, n,
           alphas, matrix, inserted, numbers, table):  # fmt: skip
    """Update a model on an example for a slot, given the kernel row of the vector to remove."""
    f = Hypothesis(n, alphas, matrix, inserted, numbers, table)
    y = example(label, weight, value, scores, self_value, row)
    step_at(step)(f, y, slot, removed)
