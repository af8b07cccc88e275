"""The compiled kernel rows of one example under several kernels over one store of vectors."""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels._compiled import (
    LARGEST,
    TILE,
    apply_kernel_function,
    covers,
    inner_statistics,
    is_valid,
    raw_self_value,
    self_statistic,
)
from river_budget.kernels.spec import FACTORS, GAMMA
from river_budget.support._compiled import squared_norm_of
from river_budget.support._values_compiled import overwrite_values

__all__ = [
    "GAMMA_OF_GROUP", "LEADER", "check_examples", "kernel_rows", "overwrite", "prepare", "set_statistics",
]  # fmt: skip

# What follows the slots of a kernel spec here: the largest gamma of the kernels with the same inner
# statistics, and the first of these kernels, which computes them for all.
GAMMA_OF_GROUP, LEADER = FACTORS, FACTORS + 1


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
def prepare(specs, reads, values, rows):
    """Return whether the values of an example are valid; if so, scale them in place.

    Parameters
    ----------
    specs
        The spec of each kernel, followed by `GAMMA_OF_GROUP` and `LEADER` (kernels, any).
    reads
        The factor of each value, and whether each kernel reads it (1 + kernels, m).
    values, rows
        The values of the example and their feature rows (m,).

    """
    for value in values:
        if not abs(value) < np.inf:
            return False
    for z in range(len(specs)):
        own_values, _ = _active(reads, z, values, rows)
        if not is_valid(specs[z], own_values, self_statistic(specs[z], own_values)):
            return False
    for j in range(len(values)):
        values[j] *= reads[0, j]
    for z in range(len(specs)):
        own_values, _ = _active(reads, z, values, rows)
        if not raw_self_value(specs[z], self_statistic(specs[z], own_values)) <= LARGEST:
            return False
    return True


@compiled()
def check_examples(specs, reads, rows, block):
    """Return the index of the first invalid row of a block, or the number of rows."""
    values = np.empty(block.shape[1])
    for i in range(len(block)):
        values[:] = block[i]
        if not prepare(specs, reads, values, rows):
            return i
    return len(block)


@compiled()
def kernel_rows(specs, reads, values, rows, n, n_rows, features, tiles, statistics, out):
    """Compute the kernel rows of a prepared example.

    Kernels with the same inner statistic and features share it.

    Parameters
    ----------
    statistics
        `self_statistic` of each stored vector under each kernel (kernels, blocks, TILE).
    out
        Output (kernels, blocks, TILE).

    The other parameters are those of `prepare` and `kernels._compiled.kernel_row`.

    """
    covered = covers(rows, n_rows)
    n_blocks = (n + TILE - 1) // TILE
    x_statistics = np.empty(len(specs))
    for z in range(len(specs)):
        leader = int(specs[z, LEADER])
        if leader < z:
            x_statistics[z] = x_statistics[leader]
            out[z, :n_blocks] = out[leader, :n_blocks]
            continue
        spec = specs[z, :FACTORS].copy()
        own_values, own_rows = _active(reads, z, values, rows)
        x_statistics[z] = self_statistic(spec, own_values)
        spec[GAMMA] = specs[z, GAMMA_OF_GROUP]
        inner_statistics(
            spec, x_statistics[z], covered, own_values, own_rows, features, tiles, statistics[z],
            n_blocks, out[z],
        )  # fmt: skip
    for z in range(len(specs)):
        apply_kernel_function(specs[z], x_statistics[z], statistics[z], n_blocks, out[z])


@compiled()
def set_statistics(specs, reads, values, rows, slot, statistics):
    """Set the statistics of the vector in a slot, given its scaled values."""
    for z in range(len(specs)):
        own_values, _ = _active(reads, z, values, rows)
        statistics[z, slot // TILE, slot % TILE] = self_statistic(specs[z], own_values)


@compiled()
def overwrite(specs, reads, workspace, rows, slot, features, tiles, heap, statistics, squares):
    """Overwrite a stored vector with scaled values of the same feature rows, if `has_room`."""
    overwrite_values(workspace, rows, slot, features, tiles, heap)
    squares[slot // TILE, slot % TILE] = squared_norm_of(workspace, len(rows))
    values = workspace[len(workspace) - len(rows) :]
    set_statistics(specs, reads, values, rows, slot, statistics)
