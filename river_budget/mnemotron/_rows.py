"""The compiled kernel rows of one example under several kernels over one store of vectors."""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels._compiled import (
    LARGEST,
    TILE,
    apply_kernel_function,
    covers,
    inner_statistics,
    raw_self_value,
    self_statistic,
)
from river_budget.kernels.spec import DOT_PRODUCT, FACTORS, INNER_STATISTIC, MANHATTAN_DISTANCE
from river_budget.support._compiled import squared_norm_of
from river_budget.support._values_compiled import overwrite_values

# The specs of the kernels, and those of their inner statistics, which have the largest gamma of the
# kernels with the same inner statistics.
KERNELS, INNER = range(2)

# What follows the slots of a kernel spec here: the first of these kernels, which computes them for
# all; and whether the norms of the vectors are kept, by which kernel values are divided here.
LEADER, KEEPS_NORM, N_SLOTS = range(FACTORS, FACTORS + 3)


@compiled()
def _active(reads, z, values, rows):
    """Return the values and feature rows that a kernel reads."""
    n_active = 0
    for j in range(len(values)):
        n_active += reads[1 + z, j] != 0.0
    if n_active == len(values):
        return values, rows
    own_values, own_rows = np.empty(n_active), np.empty(n_active, rows.dtype)
    i = 0
    for j in range(len(values)):
        if reads[1 + z, j] != 0.0:
            own_values[i], own_rows[i] = values[j], rows[j]
            i += 1
    return own_values, own_rows


@compiled()
def _magnitude(specs, reads, z, values):
    """Return the sum of the squares of what a kernel reads; of absolute values for `MANHATTAN`."""
    is_sum = specs[KERNELS, z, INNER_STATISTIC] == MANHATTAN_DISTANCE
    total = 0.0
    for j in range(len(values)):
        if reads[1 + z, j] != 0.0:
            total += abs(values[j]) if is_sum else values[j] * values[j]
    return total


@compiled()
def prepare(specs, reads, values):
    """Return whether the values of an example are valid; if so, scale them in place."""
    n_kernels = specs.shape[1]
    for value in values:
        if not abs(value) < np.inf:
            return False
    for z in range(n_kernels):
        magnitude = _magnitude(specs, reads, z, values)
        if not (magnitude <= LARGEST and raw_self_value(specs[KERNELS, z], magnitude) <= LARGEST):
            return False
    for j in range(len(values)):
        values[j] *= reads[0, j]
    for z in range(n_kernels):
        if specs[KERNELS, z, INNER_STATISTIC] == DOT_PRODUCT:
            magnitude = _magnitude(specs, reads, z, values)
            if not raw_self_value(specs[KERNELS, z], magnitude) <= LARGEST:
                return False
    return True


@compiled()
def check_examples(specs, reads, block):
    """Return the index of the first invalid row of a block, or the number of rows."""
    values = np.empty(block.shape[1])
    for i in range(len(block)):
        values[:] = block[i]
        if not prepare(specs, reads, values):
            return i
    return len(block)


@compiled()
def kernel_rows(specs, reads, values, rows, n, n_rows, features, tiles, statistics, out):
    """Compute the kernel rows of a prepared example (kernels, blocks, TILE).

    Kernels with the same inner statistic and features share it; see `kernels._compiled.kernel_row`.
    """
    n_kernels, n_blocks = specs.shape[1], (n + TILE - 1) // TILE
    covered = covers(rows, n_rows)
    x_statistics = np.empty(n_kernels)
    for z in range(n_kernels):
        leader = int(specs[INNER, z, LEADER])
        if leader < z:
            x_statistics[z] = x_statistics[leader]
            out[z, :n_blocks] = out[leader, :n_blocks]
            continue
        own_values, own_rows = _active(reads, z, values, rows)
        x_statistics[z] = self_statistic(specs[KERNELS, z], own_values)
        inner_statistics(
            specs[INNER, z], x_statistics[z], covered, own_values, own_rows, features, tiles,
            statistics[z], n_blocks, out[z],
        )  # fmt: skip
    for z in range(n_kernels):
        spec = specs[KERNELS, z]
        apply_kernel_function(spec, x_statistics[z], statistics[z], n_blocks, out[z])
        if spec[KEEPS_NORM] != 0.0:
            x_norm = math.sqrt(raw_self_value(spec, x_statistics[z]))
            _normalize(x_norm, statistics, n_blocks, z, out)


@compiled()
def _normalize(x_norm, norms, n_blocks, z, out):
    """Divide the row of kernel z by norms; the vectors of norm 0 have kernel values of 0."""
    for block in range(n_blocks):
        for i in range(TILE):
            product = x_norm * norms[z, block, i]
            out[z, block, i] = out[z, block, i] / product if product > 0.0 else 0.0


@compiled()
def set_statistics(specs, reads, values, rows, slot, statistics):
    """Set the self statistics of the vector in a slot, or its norm under a kernel that `KEEPS_NORM`."""
    for z in range(specs.shape[1]):
        spec = specs[KERNELS, z]
        own_values, _ = _active(reads, z, values, rows)
        statistic = self_statistic(spec, own_values)
        if spec[KEEPS_NORM] != 0.0:
            statistic = math.sqrt(raw_self_value(spec, statistic))
        statistics[z, slot // TILE, slot % TILE] = statistic


@compiled()
def overwrite(specs, reads, workspace, rows, slot, features, tiles, heap, statistics, squares):
    """Overwrite a stored vector with scaled values of the same feature rows, if `has_room`."""
    overwrite_values(workspace, rows, slot, features, tiles, heap)
    squares[slot // TILE, slot % TILE] = squared_norm_of(workspace, len(rows))
    values = workspace[len(workspace) - len(rows) :]
    set_statistics(specs, reads, values, rows, slot, statistics)
