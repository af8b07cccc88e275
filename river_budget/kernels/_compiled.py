"""The compiled kernels, which compute the kernel row of an example over tiles.

The stored vectors are numbered by *slots*. A *tile* holds the values of one feature in `TILE`
consecutive slots, a *block*. `table[row, slot // TILE]` is the tile of a feature row. Tile 0 is all
zeros, and is used wherever no slot of the block has the feature. Feature row 0 is always empty, and
is used for names that no vector has. Arrays with one value per slot have the shape (blocks, TILE),
too, so loops over slots need no branches.

Nothing is compiled with fast math: terms are summed in the order of the source code, `TILE` slots
at a time, so that all machines and callers get the same bits.

"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels.spec import (
    COEF0,
    DEGREE,
    DOT_PRODUCT,
    EXPONENTIAL,
    FACTORS,
    GAMMA,
    INNER_STATISTIC,
    KERNEL_FUNCTION,
    MANHATTAN_DISTANCE,
    MEAN,
    N_NAMES,
    NORMALIZED,
    POWER,
    RATIONAL,
    SQUARED_DISTANCE,
    SUM_OF_RATIONALS,
)

__all__ = [
    "LARGEST", "TILE", "apply_kernel_function", "covers", "exp", "inner_statistics", "is_valid",
    "kernel_row", "prepare", "raw_self_value", "self_statistic", "self_value",
]  # fmt: skip

TILE = 64

# Bound on squares and kernel values, so that sums over a support set cannot overflow.
LARGEST = 1e150

# Above this value of gamma times the largest squared norm, the cancellation in differences of
# squared norms costs significant digits of the kernel values: the error is about 1e-16 times that
# value.
CANCELS_ABOVE = 1e5

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0
_SMALLEST_EXPONENT = -708.0


@compiled(forceinline=True)
def exp(x):
    """Return exp(x) for x <= 0, and 0 below -708, in code that LLVM vectorizes.

    Adding a large constant rounds the exponent to an integer in the low bits of `shifted`. The
    remainder in [-ln(2)/2, ln(2)/2] is evaluated by a Taylor polynomial. The relative error is
    below 5e-16.

    """
    shifted = x * _LOG2_E + _ROUND
    whole = shifted - _ROUND
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    p = 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return p * power if x > _SMALLEST_EXPONENT else 0.0


@compiled(forceinline=True)
def _squares(values):
    total = 0.0
    for value in values:
        total += value * value
    return total


@compiled(forceinline=True)
def self_statistic(spec, values):
    """Return the statistic of x alone from which its inner statistics with sparse vectors follow.

    It is <x, x> for dot products and squared distances, and ||x||_1 for the Manhattan distance. For
    sums of rationals it is the inner statistic of x and the zero vector, in which each name of the
    kernel that x lacks counts 1.

    """
    total = 0.0
    if spec[INNER_STATISTIC] == MANHATTAN_DISTANCE:
        for value in values:
            total += abs(value)
    elif spec[INNER_STATISTIC] == SUM_OF_RATIONALS:
        total += spec[N_NAMES] - len(values)
        for value in values:
            total += 1.0 / (1.0 + spec[GAMMA] * value * value)
    else:
        total = _squares(values)
    return total


@compiled(forceinline=True)
def is_valid(spec, values, statistic):
    """Return whether all values are finite and neither squares nor kernel values overflow."""
    if spec[INNER_STATISTIC] == SUM_OF_RATIONALS:
        statistic = _squares(values)
    return statistic <= LARGEST and raw_self_value(spec, statistic) <= LARGEST


@compiled(forceinline=True)
def prepare(spec, values):
    """Return whether the values of an example are valid; if so, scale them in place."""
    if not is_valid(spec, values, self_statistic(spec, values)):
        return False
    for j in range(len(spec) - FACTORS):
        values[j] *= spec[FACTORS + j]
    return True


@compiled(forceinline=True)
def raw_self_value(spec, statistic):
    """Return k(x, x) before normalization, given the self statistic of x."""
    function = spec[KERNEL_FUNCTION]
    if function in (EXPONENTIAL, RATIONAL, MEAN):
        return 1.0
    if function == POWER:
        return (spec[GAMMA] * statistic + spec[COEF0]) ** np.int64(spec[DEGREE])
    return statistic


@compiled()
def self_value(spec, statistic):
    """Return k(x, x), given the self statistic of x."""
    value = raw_self_value(spec, statistic)
    if spec[NORMALIZED] != 0.0:
        return 1.0 if value > 0.0 else 0.0
    return value


@compiled(forceinline=True)
def _dot_products(values, rows, table, tiles, n_blocks, row):
    n_quads = len(rows) // 4
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(0, 4 * n_quads, 4):
            t, v = table[rows[j], block], values[j]
            t1, v1 = table[rows[j + 1], block], values[j + 1]
            t2, v2 = table[rows[j + 2], block], values[j + 2]
            t3, v3 = table[rows[j + 3], block], values[j + 3]
            for i in range(TILE):
                row[block, i] += (v * tiles[t, i] + v1 * tiles[t1, i]) + (
                    v2 * tiles[t2, i] + v3 * tiles[t3, i]
                )
        for j in range(4 * n_quads, len(rows)):
            t, v = table[rows[j], block], values[j]
            for i in range(TILE):
                row[block, i] += v * tiles[t, i]


@compiled(forceinline=True)
def _squared_distances(values, rows, table, tiles, n_blocks, row):
    n_quads = len(rows) // 4
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(0, 4 * n_quads, 4):
            t, v = table[rows[j], block], values[j]
            t1, v1 = table[rows[j + 1], block], values[j + 1]
            t2, v2 = table[rows[j + 2], block], values[j + 2]
            t3, v3 = table[rows[j + 3], block], values[j + 3]
            for i in range(TILE):
                d = v - tiles[t, i]
                d1 = v1 - tiles[t1, i]
                d2 = v2 - tiles[t2, i]
                d3 = v3 - tiles[t3, i]
                row[block, i] += (d * d + d1 * d1) + (d2 * d2 + d3 * d3)
        for j in range(4 * n_quads, len(rows)):
            t, v = table[rows[j], block], values[j]
            for i in range(TILE):
                d = v - tiles[t, i]
                row[block, i] += d * d


@compiled(forceinline=True)
def _manhattan_distances(values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                row[block, i] += abs(v - tiles[t, i])


@compiled(forceinline=True)
def _manhattan_excesses(values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                row[block, i] += abs(v - tiles[t, i]) - abs(tiles[t, i])


@compiled(forceinline=True)
def _sums_of_rationals(gamma, rest, values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = rest
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                d = v - tiles[t, i]
                row[block, i] += 1.0 / (1.0 + gamma * d * d)


@compiled(forceinline=True)
def _sums_of_rational_excesses(gamma, values, rows, table, tiles, statistics, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = statistics[block, i]
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                s = tiles[t, i]
                d = v - s
                row[block, i] += 1.0 / (1.0 + gamma * d * d) - 1.0 / (1.0 + gamma * s * s)


@compiled(forceinline=True)
def _cancels(spec, x_statistic, statistics, n_blocks):
    """Return whether the statistics are too large to subtract without losing digits."""
    limit = CANCELS_ABOVE / spec[GAMMA]
    n_above = 1 if x_statistic > limit else 0
    for block in range(n_blocks):
        for i in range(TILE):
            n_above += statistics[block, i] > limit
    return n_above > 0


@compiled(forceinline=True)
def _square_error(s, square):
    """Return what s * s lost to rounding, by Dekel's product; `square` is s * s."""
    c = 134217729.0 * s
    high = c - (c - s)
    low = s - high
    return ((high * high - square) + 2.0 * high * low) + low * low


@compiled(forceinline=True)
def _add_missing(squared, rows, table, tiles, n_blocks, row):
    """Add the squares or the absolute values of the features that x lacks.

    Feature rows have another order in a model that was loaded. The sums are taken with twice the
    digits, and so do not depend on the order.

    """
    present = np.zeros(len(table), np.bool_)
    for r in rows:
        present[r] = True
    high, low = np.empty(TILE), np.empty(TILE)
    for block in range(n_blocks):
        for i in range(TILE):
            high[i], low[i] = 0.0, 0.0
        for r in range(1, len(table)):
            t = table[r, block]
            if t == 0 or present[r]:
                continue
            for i in range(TILE):
                s = tiles[t, i]
                term = s * s if squared else abs(s)
                error = _square_error(s, term) if squared else 0.0
                total = high[i] + term
                rest = total - high[i]
                low[i] += ((high[i] - (total - rest)) + (term - rest)) + error
                high[i] = total
        for i in range(TILE):
            row[block, i] += high[i] + low[i]


@compiled(forceinline=True)
def _squared_distances_by_parts(
    spec, x_statistic, values, rows, table, tiles, statistics, n_blocks, row
):
    """Fill the row with squared distances if x lacks features of some vectors.

    ||x||^2 + ||s||^2 - 2 <x, s> takes time in the number of features of x only. If it would lose
    significant digits, the features that x lacks are added one by one instead.

    """
    if _cancels(spec, x_statistic, statistics, n_blocks):
        _squared_distances(values, rows, table, tiles, n_blocks, row)
        _add_missing(True, rows, table, tiles, n_blocks, row)
        return
    _dot_products(values, rows, table, tiles, n_blocks, row)
    for block in range(n_blocks):
        for i in range(TILE):
            square = (x_statistic + statistics[block, i]) - 2.0 * row[block, i]
            row[block, i] = max(0.0, square)


@compiled(forceinline=True)
def _manhattan_distances_by_parts(
    spec, x_statistic, values, rows, table, tiles, statistics, n_blocks, row
):
    """Fill the row with Manhattan distances; see `_squared_distances_by_parts`."""
    if _cancels(spec, x_statistic, statistics, n_blocks):
        _manhattan_distances(values, rows, table, tiles, n_blocks, row)
        _add_missing(False, rows, table, tiles, n_blocks, row)
        return
    _manhattan_excesses(values, rows, table, tiles, n_blocks, row)
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = max(0.0, statistics[block, i] + row[block, i])


@compiled(forceinline=True)
def inner_statistics(
    spec, x_statistic, covered, values, rows, table, tiles, statistics, n_blocks, row
):
    """Fill the row with the inner statistics of x and the stored vectors.

    If x has every feature of the stored vectors (`covered`), a distance is a plain sum over
    features.

    """
    statistic = np.int64(spec[INNER_STATISTIC])
    if statistic == DOT_PRODUCT:
        _dot_products(values, rows, table, tiles, n_blocks, row)
    elif statistic == SQUARED_DISTANCE and covered:
        _squared_distances(values, rows, table, tiles, n_blocks, row)
    elif statistic == SQUARED_DISTANCE:
        _squared_distances_by_parts(
            spec, x_statistic, values, rows, table, tiles, statistics, n_blocks, row
        )
    elif statistic == SUM_OF_RATIONALS and covered:
        rest = spec[N_NAMES] - len(values)
        _sums_of_rationals(spec[GAMMA], rest, values, rows, table, tiles, n_blocks, row)
    elif statistic == SUM_OF_RATIONALS:
        _sums_of_rational_excesses(
            spec[GAMMA], values, rows, table, tiles, statistics, n_blocks, row
        )
    elif covered:
        _manhattan_distances(values, rows, table, tiles, n_blocks, row)
    else:
        _manhattan_distances_by_parts(
            spec, x_statistic, values, rows, table, tiles, statistics, n_blocks, row
        )


@compiled(forceinline=True)
def _apply_kernel_function(spec, n_blocks, row):
    """Convert inner statistics to kernel values in place, without normalizing them."""
    function = np.int64(spec[KERNEL_FUNCTION])
    gamma, coef0 = spec[GAMMA], spec[COEF0]
    degree, n_names = np.int64(spec[DEGREE]), np.int64(spec[N_NAMES])
    if function == EXPONENTIAL:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = exp(-gamma * row[block, i])
    elif function == RATIONAL:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = 1.0 / (1.0 + gamma * row[block, i])
    elif function == MEAN:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = row[block, i] / n_names if n_names > 0 else 1.0
    elif function == POWER:
        base = np.empty(TILE)
        for block in range(n_blocks):
            for i in range(TILE):
                base[i] = gamma * row[block, i] + coef0
                row[block, i] = 1.0
            for _ in range(degree):
                for i in range(TILE):
                    row[block, i] *= base[i]


@compiled(forceinline=True)
def _normalize(spec, x_value, statistics, n_blocks, row):
    x_norm = math.sqrt(x_value)
    for block in range(n_blocks):
        for i in range(TILE):
            norms = x_norm * math.sqrt(raw_self_value(spec, statistics[block, i]))
            row[block, i] = row[block, i] / norms if norms > 0.0 else 0.0


@compiled(forceinline=True)
def apply_kernel_function(spec, x_statistic, statistics, n_blocks, row):
    """Convert inner statistics to kernel values in place."""
    _apply_kernel_function(spec, n_blocks, row)
    if spec[NORMALIZED] != 0.0:
        _normalize(spec, raw_self_value(spec, x_statistic), statistics, n_blocks, row)


@compiled(forceinline=True)
def covers(rows, n_rows):
    """Return whether feature rows are all of the ones in use, whose number is given."""
    known = 0
    for r in rows:
        known += r != 0
    return known == n_rows


@compiled()
def kernel_row(spec, values, rows, n_rows, table, tiles, statistics, n, row):
    """Compute the kernel row of a valid x, with the scaled values that `prepare` returned True for.

    Parameters
    ----------
    spec
        The kernel spec; see `kernels.spec`.
    values, rows
        The values of x and their feature rows (m,), 0 for a name that no vector has.
    n_rows
        Number of feature rows in use.
    table
        Tile of each feature row and block of slots (feature rows, blocks).
    tiles
        Values of the stored vectors (tiles, TILE).
    statistics
        `self_statistic` of each stored vector (blocks, TILE).
    n
        Number of stored vectors, in slots 0 to n - 1.
    row
        Output (blocks, TILE).

    """
    x_statistic = self_statistic(spec, values)
    covered = covers(rows, n_rows)
    n_blocks = (n + TILE - 1) // TILE
    inner_statistics(
        spec, x_statistic, covered, values, rows, table, tiles, statistics, n_blocks, row
    )
    apply_kernel_function(spec, x_statistic, statistics, n_blocks, row)
