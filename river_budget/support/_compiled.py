"""The compiled code of the support set, on the arrays of `kernels._compiled`.

A *workspace* holds a kernel row, one value per slot, followed by the values of one example.
"""

from __future__ import annotations

import numpy as np

from river_budget._compile import UNCOUNTED, compiled
from river_budget.kernels._compiled import (
    TILE,
    is_valid,
    kernel_row,
    prepare,
    self_statistic,
    self_value,
)


@compiled(forceinline=True)
def expand(alphas, scale, n, row):
    """Return the sum of the scaled coefficients times the kernel row; 0 without coefficients."""
    sums = np.zeros(TILE)
    n_blocks = min(len(alphas), (n + TILE - 1) // TILE)
    for block in range(n_blocks):
        for i in range(TILE):
            sums[i] += alphas[block, i] * row[block, i]
    f = 0.0
    for i in range(TILE):
        f += sums[i]
    return scale * f


@compiled(**UNCOUNTED)
def evaluate(
    workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics
):  # fmt: skip
    """Compute the kernel row of the example of a workspace and return f(x); NaN if x is invalid.

    The values in the workspace are scaled in place. Given are the coefficients (blocks, TILE), or
    (0, TILE) for f = 0, their common factor, and the parameters of `kernels._compiled.kernel_row`.
    """
    row = workspace[: statistics.size].reshape(statistics.shape)
    values = workspace[statistics.size :]
    if not prepare(spec, values):
        return np.nan
    kernel_row(spec, values, rows, n_rows, features, tiles, statistics, n, row)
    return expand(alphas, scale, n, row)


@compiled(**UNCOUNTED)
def score(matrix, scale, row, scores):
    """Compute the scores of all labels (labels,) in one pass over a kernel row (n,)."""
    scores[:] = 0.0
    for i in range(min(len(row), len(matrix))):
        k = scale * row[i]
        for c in range(len(scores)):
            scores[c] += k * matrix[i, c]


@compiled(**UNCOUNTED)
def margin_and_rival(scores, label):
    """Return the margin (g_y - g_s) / 2 of a label y and its rival s, the first among ties."""
    rival, largest = -1, -np.inf
    for c in range(len(scores)):
        if c != label and scores[c] > largest:
            rival, largest = c, scores[c]
    return 0.5 * (scores[label] - largest), rival


@compiled(**UNCOUNTED)
def margin_and_rival_of(label, value, scores):
    """Return margin and rival of an example, given f(x) if there are no scores: two labels."""
    if len(scores) == 0:
        return (value if label else -value), 1 - label
    return margin_and_rival(scores, label)


@compiled()
def terms(alphas, scale, n, label, step):
    """Return step sizes, labels and rivals of stored vectors and an incoming example (n + 1,)."""
    steps = np.empty(n + 1)
    labels, rivals = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for i in range(n + 1):
        alpha = scale * alphas[i // TILE, i % TILE] if i < n else (step if label else -step)
        steps[i] = abs(alpha)
        labels[i] = alpha > 0.0
        rivals[i] = 1 - labels[i]
    return steps, labels, rivals


@compiled(**UNCOUNTED)
def _evaluate_row(
    block, i, matrix, scores,
    workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Compute the kernel row of a row of a block and the scores, if there are any; return f(x)."""
    values = workspace[statistics.size :]
    for j in range(len(values)):
        values[j] = block[i, j]
    f = evaluate(workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics)
    if len(scores):
        score(matrix, scale, workspace[:n], scores)
    return f


@compiled(**UNCOUNTED)
def scan(
    block, columns, start, stop, threshold, matrix, scores,
    workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics,
):  # fmt: skip
    """Return the first row from `start` on with a margin of at most `threshold`, and its f(x).

    If there is none, the row is `stop`. The workspace and `scores` are those of the last row.
    """
    for i in range(start, stop):
        f = _evaluate_row(
            block, i, matrix, scores,
            workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics,
        )  # fmt: skip
        if margin_and_rival_of(columns[i], f, scores)[0] <= threshold:
            return i, f
    return stop, 0.0


@compiled()
def score_block(
    block, matrix, workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics
):  # fmt: skip
    """Return the scores of all labels for each row of the block (rows, labels); see `scan`."""
    n_labels = matrix.shape[1]
    scores = np.empty((len(block), max(2, n_labels)))
    for i in range(len(block)):
        f = _evaluate_row(
            block, i, matrix, scores[i, :n_labels],
            workspace, alphas, scale, spec, rows, n, n_rows, features, tiles, statistics,
        )  # fmt: skip
        if n_labels == 0:
            scores[i, 0], scores[i, 1] = -f, f
    return scores


@compiled(**UNCOUNTED)
def check_block(spec, block):
    """Return the index of the first invalid row, or the number of rows."""
    for i in range(len(block)):
        if not is_valid(spec, block[i], self_statistic(spec, block[i])):
            return i
    return len(block)


@compiled(**UNCOUNTED)
def self_value_of(spec, workspace, n_values):
    """Return k(x, x) for the example of a workspace."""
    return self_value(spec, self_statistic(spec, workspace[len(workspace) - n_values :]))


@compiled(**UNCOUNTED)
def oldest(inserted, n):
    """Return the slot that was filled first."""
    # The loop for the minimum alone is vectorized.
    least, slot = inserted[0], 0
    for i in range(1, n):
        least = min(least, inserted[i])
    while inserted[slot] != least:
        slot += 1
    return slot


@compiled(**UNCOUNTED)
def oldest_largest(scores, inserted):
    """Return the slot with the largest score; see `VectorStore.oldest_largest`."""
    slot = 0
    for i in range(1, len(scores)):
        if scores[i] > scores[slot] or (
            scores[i] == scores[slot] and i < len(inserted) and inserted[i] < inserted[slot]
        ):
            slot = i
    return slot


@compiled(**UNCOUNTED)
def is_flat(row, low, high):
    """Return whether all values are above `high`, or all are below `low`; False for none."""
    if len(row) == 0:
        return False
    smallest, largest = row[0], row[0]
    for value in row:
        smallest, largest = min(smallest, value), max(largest, value)
    return smallest > high or largest < low


@compiled(**UNCOUNTED)
def squared_norm_of(workspace, n_values):
    """Return the squared norm of the example of a workspace."""
    total = 0.0
    for value in workspace[len(workspace) - n_values :]:
        total += value * value
    return total
