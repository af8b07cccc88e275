"""The compiled kernels, which compute the kernel row of an example over columns and lists.

The stored vectors are numbered by *slots*. A *tile* holds the values of a feature in `TILE`
consecutive slots, a *block*. The *column* of a feature that many vectors have is the tiles of all
blocks, from tile `features[row, COLUMN]` on; that from tile 0 on is all zeros. The *list* of a rare
one is pairs of a slot and a value, its *entries*, in any order; half a tile of them takes the place
of a tile. Feature row 0 is always empty, and is used for names that no vector has. Arrays with one
value per slot have the shape (blocks, TILE), too.

Terms are summed in the order of the source code, so that all machines and callers get the same
bits.
"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import EMBEDDED, compiled
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

TILE = 64

# Number of entries in place of a tile.
ENTRIES = TILE // 2

# Columns of `features`: the number of vectors with the feature; the number of those with a value
# other than 0; the first tile of its column, 0 for a feature in a list; and its first entry.
COUNT, LENGTH, COLUMN, START = range(4)

# Bound on squares and kernel values, so that sums over a support set cannot overflow.
LARGEST = 1e150

# Above this value of gamma times the largest squared norm, the cancellation in differences of
# squared norms costs significant digits of the kernel values: the error is about 1e-16 times that
# value.
CANCELS_ABOVE = 1e5

# Zeros are left out if there are this many more of them than other values.
FEWEST_ZEROS = 32

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0
_SMALLEST_EXPONENT = -708.0


@compiled(forceinline=True)
def exp(x):
    """Return exp(x) for x <= 0, and 0 below -708, in code that LLVM vectorizes; errors are below 5e-16.

    Adding a large constant rounds the exponent to an integer in the low bits of `shifted`. The
    remainder in [-ln(2)/2, ln(2)/2] is evaluated by a Taylor polynomial.
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

    For sums of rationals it is the inner statistic of x and the zero vector, in which each name of
    the kernel that x lacks counts 1.
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
def _tile(r, block, features):
    return np.uint64(features[r, COLUMN]) + np.uint64(block)


@compiled(forceinline=True)
def get_slot(e, tiles):
    e = np.uint64(e)
    return np.uint64(tiles[e // np.uint64(ENTRIES), np.uint64(2) * (e % np.uint64(ENTRIES))])


@compiled(forceinline=True)
def get_value(e, tiles):
    e = np.uint64(e)
    place = np.uint64(2) * (e % np.uint64(ENTRIES)) + np.uint64(1)
    return tiles[e // np.uint64(ENTRIES), place]


@compiled(forceinline=True)
def _dot_products(values, rows, features, tiles, n_blocks, row):
    n_quads = len(rows) // 4
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(0, 4 * n_quads, 4):
            t, v = _tile(rows[j], block, features), values[j]
            t1, v1 = _tile(rows[j + 1], block, features), values[j + 1]
            t2, v2 = _tile(rows[j + 2], block, features), values[j + 2]
            t3, v3 = _tile(rows[j + 3], block, features), values[j + 3]
            for i in range(TILE):
                row[block, i] += (v * tiles[t, i] + v1 * tiles[t1, i]) + (
                    v2 * tiles[t2, i] + v3 * tiles[t3, i]
                )
        for j in range(4 * n_quads, len(rows)):
            t, v = _tile(rows[j], block, features), values[j]
            for i in range(TILE):
                row[block, i] += v * tiles[t, i]


@compiled(forceinline=True)
def _squared_distances(values, rows, features, tiles, n_blocks, row):
    n_quads = len(rows) // 4
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(0, 4 * n_quads, 4):
            t, v = _tile(rows[j], block, features), values[j]
            t1, v1 = _tile(rows[j + 1], block, features), values[j + 1]
            t2, v2 = _tile(rows[j + 2], block, features), values[j + 2]
            t3, v3 = _tile(rows[j + 3], block, features), values[j + 3]
            for i in range(TILE):
                d = v - tiles[t, i]
                d1 = v1 - tiles[t1, i]
                d2 = v2 - tiles[t2, i]
                d3 = v3 - tiles[t3, i]
                row[block, i] += (d * d + d1 * d1) + (d2 * d2 + d3 * d3)
        for j in range(4 * n_quads, len(rows)):
            t, v = _tile(rows[j], block, features), values[j]
            for i in range(TILE):
                d = v - tiles[t, i]
                row[block, i] += d * d


@compiled(forceinline=True)
def _manhattan_distances(values, rows, features, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(len(rows)):
            v, t = values[j], _tile(rows[j], block, features)
            for i in range(TILE):
                row[block, i] += abs(v - tiles[t, i])


@compiled(forceinline=True)
def _sums_of_rationals(gamma, rest, values, rows, features, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = rest
        for j in range(len(rows)):
            v, t = values[j], _tile(rows[j], block, features)
            for i in range(TILE):
                d = v - tiles[t, i]
                row[block, i] += 1.0 / (1.0 + gamma * d * d)


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
def _load_feature(r, features, tiles, n_blocks, feature):
    """Copy the values of a feature in all vectors (blocks, TILE)."""
    for block in range(n_blocks):
        t = _tile(r, block, features)
        for i in range(TILE):
            feature[block, i] = tiles[t, i]
    if features[r, COLUMN] == 0:
        for e in range(features[r, START], features[r, START] + features[r, LENGTH]):
            slot = get_slot(e, tiles)
            feature[slot // np.uint64(TILE), slot % np.uint64(TILE)] = get_value(e, tiles)


@compiled()
def _exact_distances(squared, values, rows, features, tiles, n_blocks, row):
    """Fill the row with sums of squared or absolute differences over all features.

    The terms of features that x lacks are summed with twice the digits, and so in any order.
    """
    feature, low = np.empty((n_blocks, TILE)), np.zeros((n_blocks, TILE))
    high = np.zeros((n_blocks, TILE))
    present = np.zeros(len(features), np.bool_)
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
    for j in range(len(rows)):
        present[rows[j]] = True
        _load_feature(rows[j], features, tiles, n_blocks, feature)
        for block in range(n_blocks):
            for i in range(TILE):
                d = values[j] - feature[block, i]
                row[block, i] += d * d if squared else abs(d)
    for r in range(1, len(features)):
        if present[r] or features[r, LENGTH] == 0:
            continue
        _load_feature(r, features, tiles, n_blocks, feature)
        for block in range(n_blocks):
            for i in range(TILE):
                s = feature[block, i]
                term = s * s if squared else abs(s)
                error = _square_error(s, term) if squared else 0.0
                total = high[block, i] + term
                rest = total - high[block, i]
                low[block, i] += ((high[block, i] - (total - rest)) + (term - rest)) + error
                high[block, i] = total
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] += high[block, i] + low[block, i]


@compiled(forceinline=True)
def _partition(values, rows, features, own_values, own_rows):
    """Copy the features of x that can overlap: those in columns first and those in lists last."""
    end, start = 0, len(rows)
    for j in range(len(rows)):
        r, v = rows[j], values[j]
        # Without branches, whose outcome would be random: the place between both ends is free.
        own_values[end], own_rows[end] = v, r
        own_values[start - 1], own_rows[start - 1] = v, r
        is_kept = (r != 0) & (v != 0.0)
        is_listed = features[r, COLUMN] == 0
        end += is_kept & (not is_listed)
        start -= is_kept & is_listed
    return end, start


@compiled(forceinline=True)
def _overlap(statistic, gamma, v, s):
    """Return the term of a feature that is added to the self statistics of two vectors."""
    d = v - s
    if statistic == MANHATTAN_DISTANCE:
        return (abs(d) - abs(v)) - abs(s)
    common = 1.0 / (1.0 + gamma * d * d) - 1.0 / (1.0 + gamma * v * v)
    return common + (1.0 - 1.0 / (1.0 + gamma * s * s))


@compiled(forceinline=True)
def _overlaps(statistic, gamma, values, rows, end, features, tiles, n_blocks, row):
    """Fill the row with the sums of `_overlap` over features, those from `end` on in lists."""
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(end):
            v, t = values[j], _tile(rows[j], block, features)
            for i in range(TILE):
                row[block, i] += _overlap(statistic, gamma, v, tiles[t, i])
    for j in range(end, len(rows)):
        v, first = values[j], features[rows[j], START]
        for e in range(first, first + features[rows[j], LENGTH]):
            slot = get_slot(e, tiles)
            row[slot // np.uint64(TILE), slot % np.uint64(TILE)] += _overlap(
                statistic, gamma, v, get_value(e, tiles)
            )


@compiled(forceinline=True)
def _add_products(values, rows, features, tiles, row):
    for j in range(len(rows)):
        v, first = values[j], features[rows[j], START]
        for e in range(first, first + features[rows[j], LENGTH]):
            slot = get_slot(e, tiles)
            row[slot // np.uint64(TILE), slot % np.uint64(TILE)] += v * get_value(e, tiles)


@compiled()
def _sparse_statistics(spec, x_statistic, values, rows, features, tiles, statistics, n_blocks, row):
    """Fill the row with inner statistics where features are missing, are 0 or are in lists.

    A distance follows from self statistics and from the features that x shares with a vector, the
    *overlaps*. If it would lose significant digits, the terms of all features are summed instead.
    """
    statistic, gamma = np.int64(spec[INNER_STATISTIC]), spec[GAMMA]
    if statistic in (SQUARED_DISTANCE, MANHATTAN_DISTANCE) and _cancels(
        spec, x_statistic, statistics, n_blocks
    ):
        squared = statistic == SQUARED_DISTANCE
        _exact_distances(squared, values, rows, features, tiles, n_blocks, row)
        return
    own_values, own_rows = np.empty(len(rows)), np.empty(len(rows), np.uint32)
    end, start = _partition(values, rows, features, own_values, own_rows)
    if statistic in (DOT_PRODUCT, SQUARED_DISTANCE):
        _dot_products(own_values[:end], own_rows[:end], features, tiles, n_blocks, row)
        _add_products(own_values[start:], own_rows[start:], features, tiles, row)
        if statistic == SQUARED_DISTANCE:
            for block in range(n_blocks):
                for i in range(TILE):
                    square = (x_statistic + statistics[block, i]) - 2.0 * row[block, i]
                    row[block, i] = max(0.0, square)
        return
    for j in range(start, len(rows)):
        own_values[end + j - start], own_rows[end + j - start] = own_values[j], own_rows[j]
    n_own = end + len(rows) - start
    if statistic == MANHATTAN_DISTANCE:
        _overlaps(
            MANHATTAN_DISTANCE, gamma, own_values[:n_own], own_rows[:n_own], end, features, tiles,
            n_blocks, row,
        )  # fmt: skip
    else:
        x_statistic -= spec[N_NAMES]
        _overlaps(
            SUM_OF_RATIONALS, gamma, own_values[:n_own], own_rows[:n_own], end, features, tiles,
            n_blocks, row,
        )  # fmt: skip
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = max(0.0, (x_statistic + statistics[block, i]) + row[block, i])


@compiled(forceinline=True)
def _is_plain(values, rows, features):
    """Return whether no feature of x is in a list, and not too many of its values are 0."""
    n_listed, n_nonzero = 0, 0
    for j in range(len(rows)):
        r = rows[j]
        n_listed += (features[r, COLUMN] == 0) & (features[r, LENGTH] != 0)
        n_nonzero += values[j] != 0.0
    return n_listed == 0 and 2 * n_nonzero + FEWEST_ZEROS >= len(rows)


@compiled(**EMBEDDED)
def inner_statistics(
    spec, x_statistic, covered, values, rows, features, tiles, statistics, n_blocks, row
):
    """Fill the row with inner statistics: plain sums if x has all features of the vectors."""
    statistic = np.int64(spec[INNER_STATISTIC])
    is_plain = (covered or statistic == DOT_PRODUCT) and _is_plain(values, rows, features)
    if not is_plain:
        _sparse_statistics(
            spec, x_statistic, values, rows, features, tiles, statistics, n_blocks, row
        )
    elif statistic == DOT_PRODUCT:
        _dot_products(values, rows, features, tiles, n_blocks, row)
    elif statistic == SQUARED_DISTANCE:
        _squared_distances(values, rows, features, tiles, n_blocks, row)
    elif statistic == MANHATTAN_DISTANCE:
        _manhattan_distances(values, rows, features, tiles, n_blocks, row)
    else:
        rest = spec[N_NAMES] - len(values)
        _sums_of_rationals(spec[GAMMA], rest, values, rows, features, tiles, n_blocks, row)


@compiled(forceinline=True)
def apply_kernel_function(spec, x_statistic, statistics, n_blocks, row):
    """Convert inner statistics to kernel values in place."""
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
    if spec[NORMALIZED] != 0.0:
        x_norm = math.sqrt(raw_self_value(spec, x_statistic))
        for block in range(n_blocks):
            for i in range(TILE):
                norms = x_norm * math.sqrt(raw_self_value(spec, statistics[block, i]))
                row[block, i] = row[block, i] / norms if norms > 0.0 else 0.0


@compiled(forceinline=True)
def covers(rows, n_rows):
    """Return whether feature rows are all of the ones in use, whose number is given."""
    known = 0
    for r in rows:
        known += r != 0
    return known == n_rows


@compiled(**EMBEDDED)
def kernel_row(spec, values, rows, n_rows, features, tiles, statistics, n, row):
    """Compute the kernel row of a valid x (blocks, TILE), with the values that `prepare` has scaled.

    Given are the kernel spec, the values of x and their feature rows (m,), 0 for a name that no
    vector has; the number of feature rows in use; `COUNT`, `LENGTH`, `COLUMN` and `START` of each
    (feature rows, 4); values of the stored vectors in columns and lists (tiles, TILE); and the
    `self_statistic` of each (blocks, TILE) of n of them.
    """
    x_statistic = self_statistic(spec, values)
    covered = covers(rows, n_rows)
    n_blocks = (n + TILE - 1) // TILE
    inner_statistics(
        spec, x_statistic, covered, values, rows, features, tiles, statistics, n_blocks, row
    )
    apply_kernel_function(spec, x_statistic, statistics, n_blocks, row)
