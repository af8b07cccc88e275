"""The compiled round over a shared store: kernel rows, forecast, update and replacement.

A *workspace* holds the kernel rows of an example (kernels x slots), followed by its values. The
arguments come in groups, which are tuples in the calling code: the store (see `_rows.kernel_rows`),
what overwrites a vector in it, the experts and what updates them (see `_update.forecast`, `learn`).
"""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled
from river_budget.mnemotron._rows import kernel_rows, overwrite, prepare
from river_budget.mnemotron._update import forecast, learn
from river_budget.support._values_compiled import has_room


@compiled()
def compute_rows(workspace, specs, reads, rows, n, n_rows, features, tiles, statistics):
    """Compute the kernel rows of the example of a workspace, and return whether it is valid."""
    values = workspace[statistics.size :]
    if not prepare(specs, reads, values):
        return False
    out = workspace[: statistics.size].reshape(statistics.shape)
    kernel_rows(specs, reads, values, rows, n, n_rows, features, tiles, statistics, out)
    return True


@compiled()
def _rows_of(workspace, statistics):
    """Return the kernel rows in a workspace (kernels, slots)."""
    return workspace[: statistics.size].reshape(
        (statistics.shape[0], statistics.shape[1] * statistics.shape[2])
    )


@compiled()
def predict(
    workspace, specs, reads, rows, n, n_rows, features, tiles, statistics,
    experts, scales, means, weights, top, counts, recent, outputs,
):  # fmt: skip
    """Compute kernel rows and forecast of an example, and return whether it is valid."""
    values, k = workspace[statistics.size :], _rows_of(workspace, statistics)
    # A call of `compute_rows` would take seconds more to compile.
    if not prepare(specs, reads, values):
        return False
    out = k.reshape(statistics.shape)
    kernel_rows(specs, reads, values, rows, n, n_rows, features, tiles, statistics, out)
    forecast(k, n, experts, scales, means, weights, top, counts, recent, outputs)
    return True


@compiled()
def predict_block(
    block, probabilities, workspace, specs, reads, rows, n, n_rows, features, tiles, statistics,
    experts, scales, means, weights, top, counts, recent, outputs,
):  # fmt: skip
    """Compute the probabilities of the labels for each row of a valid block (rows, labels)."""
    values, k = workspace[statistics.size :], _rows_of(workspace, statistics)
    out = k.reshape(statistics.shape)
    for i in range(len(block)):
        for j in range(len(values)):
            values[j] = reads[0, j] * block[i, j]
        kernel_rows(specs, reads, values, rows, n, n_rows, features, tiles, statistics, out)
        forecast(k, n, experts, scales, means, weights, top, counts, recent, outputs)
        probabilities[i] = outputs[-1]


@compiled()
def learn_query(
    label, weight, workspace, specs, reads, rows, n, n_rows, features, tiles, statistics,
    heap, squares, numbers, number, inserted, n_inserted,
    experts, scales, means, weights, top, counts, recent, outputs,
    novelty, budget, covariances, changes, inverses, examples,
):  # fmt: skip
    """Learn the example of the last forecast, and return its slot, -1 if it is not stored.

    Returned is also whether it is stored there already, which needs room and a vector of its
    layout.
    """
    slot = learn(
        label, weight, _rows_of(workspace, statistics), n, inserted[:n],
        experts, scales, means, weights, top, counts, recent, outputs,
        novelty, budget, covariances, changes, inverses, examples,
    )  # fmt: skip
    if slot < 0 or slot == n or numbers[slot] != number:
        return slot, False
    if not has_room(workspace, rows, slot, features, tiles, heap):
        return slot, False
    overwrite(specs, reads, workspace, rows, slot, features, tiles, heap, statistics, squares)
    inserted[slot] = n_inserted
    return slot, True


@compiled()
def _is_mistake(probabilities, label):
    largest = -np.inf
    for c in range(len(probabilities)):
        if c != label:
            largest = max(largest, probabilities[c])
    return probabilities[label] <= largest


@compiled()
def learn_block(
    block, labels, sample_weights, start, stop, until_check,
    workspace, specs, reads, rows, n, n_rows, features, tiles, statistics,
    heap, squares, numbers, number, inserted, n_inserted,
    experts, scales, means, weights, top, counts, recent, outputs,
    novelty, budget, covariances, changes, inverses, examples,
):  # fmt: skip
    """Learn rows of a block, until an example has to be stored by the calling code.

    It also stops after `until_check` replacements. Returned are the last row that was learned, its
    slot, whether it is stored there already, and the numbers of mistakes and of vectors stored.
    """
    n_mistakes, n_stored = 0, 0
    for i in range(start, stop):
        workspace[statistics.size :] = block[i]
        predict(
            workspace, specs, reads, rows, n, n_rows, features, tiles, statistics,
            experts, scales, means, weights, top, counts, recent, outputs,
        )  # fmt: skip
        n_mistakes += _is_mistake(outputs[-1], labels[i])
        slot, is_stored = learn_query(
            labels[i], sample_weights[i], workspace, specs, reads, rows, n, n_rows, features, tiles,
            statistics, heap, squares, numbers, number, inserted, n_inserted + n_stored,
            experts, scales, means, weights, top, counts, recent, outputs,
            novelty, budget, covariances, changes, inverses, examples,
        )  # fmt: skip
        n_stored += is_stored
        if (slot >= 0 and not is_stored) or n_stored == until_check:
            return i, slot, is_stored, n_mistakes, n_stored
    return stop - 1, -1, False, n_mistakes, n_stored
