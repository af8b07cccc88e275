"""The compiled rounds of the algorithms that have a `Rule`, on the arrays of a `NumericStore`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._compile import UNCOUNTED, compiled
from river_budget.kernels.spec import FACTORS
from river_budget.support._compiled import margin_and_rival_of, score, self_value_of
from river_budget.support._values_compiled import has_room, load, overwrite_values, set_statistic
from river_budget.support.rule import (
    LARGEST_SELF_VALUE,
    N_INSERTED,
    SCALE,
    SKIP,
    HypothesisArrays,
    choice_at,
    evaluate_at,
    example,
    step_at,
)

# The update is done: there is no slot to fill, as if the example were skipped.
DONE = SKIP

# The counts of rounds, of mistakes and of updates with a weight other than 1 in a block.
N_ROUNDS, N_MISTAKES, N_WEIGHTED = range(3)


class Code(NamedTuple):
    """The addresses of a `Rule`, and whether its step reads the kernel row of a vector to replace."""

    choice: int
    step: int
    evaluate: int
    reads_row: bool


class StoreArrays(NamedTuple):
    """The arrays of a `NumericStore`, and the example of a workspace; see `kernel_row` and `store`.

    There are the number of the example's layout, and those of the stored vectors (slots,).
    """

    workspace: Floats
    rows: Ints
    spec: Floats
    layout: int
    layouts: Ints
    heap: Ints
    n: int
    n_rows: int
    features: Ints
    tiles: Floats
    statistics: Floats


class Scratch(NamedTuple):
    """Arrays that each round overwrites: scores of more than two labels, of two, and a workspace."""

    scores: Floats
    both: Floats
    removed: Floats


@compiled(forceinline=True)
def _scratch(f, store):
    return Scratch(np.empty(f.matrix.shape[1]), np.empty(2), np.empty(len(store.workspace)))


@compiled(forceinline=True, **UNCOUNTED)
def _evaluate(code, store, workspace, alphas, scale, spec):
    """Compute the kernel row of a workspace with the names of the example, and return f(x)."""
    return evaluate_at(code.evaluate)(
        workspace, alphas, scale, spec, store.rows, store.n, store.n_rows, store.features,
        store.tiles, store.statistics,
    )  # fmt: skip


@compiled(**UNCOUNTED)
def _replace(code, f, y, slot, store, removed):
    """Update a model on an example that replaces a vector, and return whether there is room."""
    workspace, rows, features, tiles = store.workspace, store.rows, store.features, store.tiles
    if not has_room(workspace, rows, slot, features, tiles, store.heap):
        return False
    spec = store.spec[:FACTORS]
    if code.reads_row:
        load(removed, rows, slot, features, tiles)
        _evaluate(code, store, removed, f.alphas[:0], 1.0, spec)
    step_at(code.step)(f, y, slot, removed[: f.n])
    overwrite_values(workspace, rows, slot, features, tiles, store.heap)
    set_statistic(workspace, len(rows), slot, spec, store.statistics)
    f.inserted[slot] = np.int64(f.numbers[N_INSERTED])
    f.numbers[N_INSERTED] += 1.0
    return True


@compiled(**UNCOUNTED)
def _update(code, f, store, scratch, label, weight, value):
    """Update a model on the example of a workspace, given its scores; see `update`."""
    self_value = self_value_of(store.spec[:FACTORS], store.workspace, len(store.rows))
    row = store.workspace[: f.n]
    y = example(label, weight, value, scratch.scores, scratch.both, self_value, row)
    f.numbers[LARGEST_SELF_VALUE] = max(f.numbers[LARGEST_SELF_VALUE], y.self_value)
    slot = choice_at(code.choice)(f, y)
    if slot < 0 or slot == f.n or store.layouts[slot] != store.layout:
        return slot
    return DONE if _replace(code, f, y, slot, store, scratch.removed) else slot


@compiled()
def _update_one(code, f, store, label, weight, value):
    scratch = _scratch(f, store)
    score(f.matrix, f.numbers[SCALE], store.workspace[: f.n], scratch.scores)
    return _update(code, f, store, scratch, label, weight, value)


@compiled(**UNCOUNTED)
def update(
    choice, step, evaluate, reads_row, label, weight, value,
    alphas, matrix, inserted, numbers, table,
    workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Update a model on the example of a workspace, and return `DONE`.

    If the example needs a new slot or more room, or has other names than the vector to replace,
    nothing is changed, and the slot is returned. The value is f(x) with two labels.
    """
    code = Code(choice, step, evaluate, reads_row)
    f = HypothesisArrays(n, alphas, matrix, inserted, numbers, table)
    store = StoreArrays(
        workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics
    )  # fmt: skip
    return _update_one(code, f, store, label, weight, value)


@compiled(**UNCOUNTED)
def _learn(code, f, store, scratch, block, columns, weights, start, stop, threshold, counts):
    workspace, value = store.workspace, 0.0
    values = workspace[len(workspace) - len(store.rows) :]
    for i in range(start, stop):
        for j in range(len(values)):
            values[j] = block[i, j]
        scale = f.numbers[SCALE]
        value = _evaluate(code, store, workspace, f.alphas, scale, store.spec)
        score(f.matrix, scale, workspace[: f.n], scratch.scores)
        margin, _ = margin_and_rival_of(columns[i], value, scratch.scores)
        if margin <= threshold:
            slot = _update(code, f, store, scratch, columns[i], weights[i], value)
            if slot != DONE:
                return slot, value
            counts[N_MISTAKES] += margin <= 0.0
            counts[N_WEIGHTED] += weights[i] != 1.0
        counts[N_ROUNDS] += 1
    return DONE, value


@compiled()
def _learn_rows(code, f, store, block, columns, weights, start, stop, threshold, counts):
    scratch = _scratch(f, store)
    return _learn(
        code, f, store, scratch, block, columns, weights, start, stop, threshold, counts
    )  # fmt: skip


@compiled(**UNCOUNTED)
def learn(
    choice, step, evaluate, reads_row, block, columns, weights, start, stop, threshold, counts,
    alphas, matrix, inserted, numbers, table,
    workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Learn the rows of a block, up to one whose example cannot be stored here; see `update`.

    The model is updated if the margin is at most `threshold`, and the counts increase, but not by
    the row that is left. Returned are its slot, or `DONE`, and f(x) for the last row in the
    workspace.
    """
    code = Code(choice, step, evaluate, reads_row)
    f = HypothesisArrays(n, alphas, matrix, inserted, numbers, table)
    store = StoreArrays(
        workspace, rows, spec, layout, layouts, heap, n, n_rows, features, tiles, statistics
    )  # fmt: skip
    return _learn_rows(code, f, store, block, columns, weights, start, stop, threshold, counts)


@compiled()
def choose(choice, label, weight, value, scores, self_value, row, n,
           alphas, matrix, inserted, numbers, table):  # fmt: skip
    """Return the slot for an example, given its self value and its kernel row; see `update`."""
    f = HypothesisArrays(n, alphas, matrix, inserted, numbers, table)
    y = example(label, weight, value, scores, np.empty(2), self_value, row)
    f.numbers[LARGEST_SELF_VALUE] = max(f.numbers[LARGEST_SELF_VALUE], self_value)
    return choice_at(choice)(f, y)


@compiled()
def finish(step, slot, removed, label, weight, value, scores, self_value, row, n,
           alphas, matrix, inserted, numbers, table):  # fmt: skip
    """Update a model on an example for a slot, given the kernel row of the vector to remove."""
    f = HypothesisArrays(n, alphas, matrix, inserted, numbers, table)
    y = example(label, weight, value, scores, np.empty(2), self_value, row)
    step_at(step)(f, y, slot, removed)
