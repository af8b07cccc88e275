"""The compiled loops: plain arrays in, plain arrays out.

Feature values are stored in *tiles*: `TILE` neighbouring slots of one feature, side by side.
`table[row, slot // TILE]` is the tile of a feature row, and tile 0 is all zeros, for ever, and
stands wherever none of these slots holds the feature. Feature row 0 is empty, for ever, and stands
for names that no support vector holds. What there is one of for each slot is laid out alike, in blocks
of `TILE` slots. Thus a loop over slots never has to ask whether a value is
there.

No loop is compiled with fast math: sums are added in the order in which they are written here,
`TILE` at a time, so that every machine and every caller gets the same bits.

"""

from __future__ import annotations

import math

import numba
import numpy as np

from river_budget.kernels import (
    DOT_PRODUCT,
    EXPONENTIAL,
    MANHATTAN_DISTANCE,
    MEAN,
    POWER,
    RATIONAL,
    SQUARED_DISTANCE,
    SUM_OF_RATIONALS,
)

__all__ = [
    "LARGEST",
    "TILE",
    "check_block",
    "decide",
    "decide_block",
    "erase",
    "load",
    "oldest",
    "oldest_largest",
    "overwrite",
    "removal_errors",
    "removal_losses",
    "scan",
    "self_pairing",
    "self_value",
    "squared_norms",
    "store",
]

TILE = 64

# Nothing that is squared, or summed over a support set, may overflow.
LARGEST = 1e150

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0
_SMALLEST_EXPONENT = -708.0


@numba.njit(cache=True, forceinline=True)
def exp(x):
    """Return exp(x) for x <= 0, and 0 below -708, in code that LLVM vectorises.

    Rounding by a large constant leaves the exponent's whole part in the low bits of `shifted`; the
    rest is a Taylor polynomial on [-ln(2)/2, ln(2)/2]. The relative error is below 5e-16.

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


@numba.njit(cache=True, forceinline=True)
def _squares(values):
    total = 0.0
    for value in values:
        total += value * value
    return total


@numba.njit(cache=True, forceinline=True)
def self_pairing(program, values):
    """Return <x, x>, or what else x's pairing with the zero vector takes.

    That is ||x||_1 under the Manhattan distance, and the pairing itself for sums of rationals, in
    which each of the kernel's names that x lacks counts 1.

    """
    total = 0.0
    if program[0] == MANHATTAN_DISTANCE:
        for value in values:
            total += abs(value)
    elif program[0] == SUM_OF_RATIONALS:
        total += program[4] - len(values)
        for value in values:
            total += 1.0 / (1.0 + program[2] * value * value)
    else:
        total = _squares(values)
    return total


@numba.njit(cache=True, forceinline=True)
def _are_fit(program, values, pairing):
    """Tell whether nothing is NaN or infinite, nor overflows where it is squared or summed."""
    if program[0] == SUM_OF_RATIONALS:
        pairing = _squares(values)
    return pairing <= LARGEST and _raw_self_value(program, pairing) <= LARGEST


@numba.njit(cache=True, forceinline=True)
def _raw_self_value(program, pairing):
    if program[1] == EXPONENTIAL or program[1] == RATIONAL or program[1] == MEAN:
        return 1.0
    if program[1] == POWER:
        return (program[2] * pairing + program[3]) ** np.int64(program[4])
    return pairing


@numba.njit(cache=True)
def self_value(program, pairing):
    """Return k(x, x) from x's pairing with itself."""
    value = _raw_self_value(program, pairing)
    if program[5] != 0.0:
        return 1.0 if value > 0.0 else 0.0
    return value


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
def _manhattan_distances(values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                row[block, i] += abs(v - tiles[t, i])


@numba.njit(cache=True, forceinline=True)
def _manhattan_excesses(values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = 0.0
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                row[block, i] += abs(v - tiles[t, i]) - abs(tiles[t, i])


@numba.njit(cache=True, forceinline=True)
def _sums_of_rationals(width, rest, values, rows, table, tiles, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = rest
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                d = v - tiles[t, i]
                row[block, i] += 1.0 / (1.0 + width * d * d)


@numba.njit(cache=True, forceinline=True)
def _sums_of_rational_excesses(width, values, rows, table, tiles, pairings, n_blocks, row):
    for block in range(n_blocks):
        for i in range(TILE):
            row[block, i] = pairings[block, i]
        for j in range(len(rows)):
            v, t = values[j], table[rows[j], block]
            for i in range(TILE):
                s = tiles[t, i]
                d = v - s
                row[block, i] += 1.0 / (1.0 + width * d * d) - 1.0 / (1.0 + width * s * s)


@numba.njit(cache=True, forceinline=True)
def _pair(program, x_pairing, covered, values, rows, table, tiles, pairings, n_blocks, row):
    """Fill the row with the pairings of x and the support vectors.

    Where x holds every feature that any support vector holds, a distance is a plain sum. Elsewhere
    the features that x lacks come in by the support vectors' pairings with themselves.

    """
    pairing = np.int64(program[0])
    if pairing == DOT_PRODUCT:
        _dot_products(values, rows, table, tiles, n_blocks, row)
    elif pairing == SQUARED_DISTANCE and covered:
        _squared_distances(values, rows, table, tiles, n_blocks, row)
    elif pairing == SQUARED_DISTANCE:
        _dot_products(values, rows, table, tiles, n_blocks, row)
        for block in range(n_blocks):
            for i in range(TILE):
                square = (x_pairing + pairings[block, i]) - 2.0 * row[block, i]
                row[block, i] = max(0.0, square)
    elif pairing == SUM_OF_RATIONALS and covered:
        rest = program[4] - len(values)
        _sums_of_rationals(program[2], rest, values, rows, table, tiles, n_blocks, row)
    elif pairing == SUM_OF_RATIONALS:
        _sums_of_rational_excesses(program[2], values, rows, table, tiles, pairings, n_blocks, row)
    elif covered:
        _manhattan_distances(values, rows, table, tiles, n_blocks, row)
    else:
        _manhattan_excesses(values, rows, table, tiles, n_blocks, row)
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = max(0.0, pairings[block, i] + row[block, i])


@numba.njit(cache=True, forceinline=True)
def _profile(profile, gamma, coef0, degree, n_blocks, row):
    """Turn pairings into kernel values."""
    if profile == EXPONENTIAL:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = exp(-gamma * row[block, i])
    elif profile == RATIONAL:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = 1.0 / (1.0 + gamma * row[block, i])
    elif profile == MEAN:
        for block in range(n_blocks):
            for i in range(TILE):
                row[block, i] = row[block, i] / degree if degree > 0 else 1.0
    elif profile == POWER:
        base = np.empty(TILE)
        for block in range(n_blocks):
            for i in range(TILE):
                base[i] = gamma * row[block, i] + coef0
                row[block, i] = 1.0
            for _ in range(degree):
                for i in range(TILE):
                    row[block, i] *= base[i]


@numba.njit(cache=True, forceinline=True)
def _normalize(program, x_value, pairings, n_blocks, row):
    x_norm = math.sqrt(x_value)
    for block in range(n_blocks):
        for i in range(TILE):
            norms = x_norm * math.sqrt(_raw_self_value(program, pairings[block, i]))
            row[block, i] = row[block, i] / norms if norms > 0.0 else 0.0


@numba.njit(cache=True, forceinline=True)
def _expand(coefficients, scale, n_blocks, row):
    """Return the sum of the scaled coefficients times the kernel row."""
    sums = np.zeros(TILE)
    for block in range(n_blocks):
        for i in range(TILE):
            sums[i] += coefficients[block, i] * row[block, i]
    f = 0.0
    for i in range(TILE):
        f += sums[i]
    return scale * f


@numba.njit(cache=True, forceinline=True)
def _covers(rows, n_rows):
    known = 0
    for r in rows:
        known += r != 0
    return known == n_rows


@numba.njit(cache=True, forceinline=True)
def _decide(program, values, rows, n_rows, table, tiles, pairings, coefficients, scale, n, row):
    """Fill the kernel row (blocks, TILE) of x and return f(x); see `decide`."""
    profile = np.int64(program[1])
    gamma, coef0, degree = program[2], program[3], np.int64(program[4])
    normalized = program[5] != 0.0
    x_pairing = self_pairing(program, values)
    x_value = _raw_self_value(program, x_pairing)
    if not _are_fit(program, values, x_pairing):
        return np.nan
    covered = _covers(rows, n_rows)
    n_blocks = (n + TILE - 1) // TILE
    _pair(program, x_pairing, covered, values, rows, table, tiles, pairings, n_blocks, row)
    _profile(profile, gamma, coef0, degree, n_blocks, row)
    if normalized:
        _normalize(program, x_value, pairings, n_blocks, row)
    return _expand(coefficients, scale, n_blocks, row)


@numba.njit(cache=True)
def decide(sheet, program, rows, n_rows, table, tiles, pairings, coefficients, scale, n):
    """Return f(x), or NaN if x is not fit to be used.

    Parameters
    ----------
    sheet
        Room for the kernel row of x, k(x, s) for each slot, followed by the values of x
        (slots + m,).
    program
        The kernel (6,).
    rows
        The feature rows of x (m,), 0 for a name that no support vector holds.
    n_rows
        Number of feature rows in use.
    table
        Tile of each feature row and block of slots (feature rows, blocks).
    tiles
        Values of the support vectors (tiles, TILE).
    pairings
        Pairing of each support vector with itself (blocks, TILE).
    coefficients
        Coefficient of each support vector (blocks, TILE), 0 in free slots.
    scale
        What all coefficients are to be multiplied by.
    n
        Number of support vectors, in slots 0 to n - 1.

    """
    row = sheet[: coefficients.size].reshape(coefficients.shape)
    values = sheet[coefficients.size :]
    return _decide(
        program, values, rows, n_rows, table, tiles, pairings, coefficients, scale, n, row
    )


@numba.njit(cache=True)
def scan(
    block, signs, start, threshold,
    sheet, program, rows, n_rows, table, tiles, pairings, coefficients, scale, n,
):  # fmt: skip
    """Return the first line from `start` on with y f(x) <= threshold, and f(x) there.

    The number of lines stands for a block without such a line.

    Parameters
    ----------
    block
        One example a line (lines, m).
    signs
        Labels of the lines, +1 or -1 (lines,).

    The other parameters are those of `decide`. The sheet is left as `decide` leaves it at the line
    that was found.

    """
    row = sheet[: coefficients.size].reshape(coefficients.shape)
    values = sheet[coefficients.size :]
    for i in range(start, len(block)):
        for j in range(len(values)):
            values[j] = block[i, j]
        f = _decide(
            program, values, rows, n_rows, table, tiles, pairings, coefficients, scale, n, row
        )
        if signs[i] * f <= threshold:
            return i, f
    return len(block), 0.0


@numba.njit(cache=True)
def decide_block(
    block, sheet, program, rows, n_rows, table, tiles, pairings, coefficients, scale, n
):
    """Return f(x) for each line of the block (lines,)."""
    row = sheet[: coefficients.size].reshape(coefficients.shape)
    values = sheet[coefficients.size :]
    f = np.empty(len(block))
    for i in range(len(block)):
        for j in range(len(values)):
            values[j] = block[i, j]
        f[i] = _decide(
            program, values, rows, n_rows, table, tiles, pairings, coefficients, scale, n, row
        )
    return f


@numba.njit(cache=True)
def check_block(program, block):
    """Return the first line that is not fit to be used, or the number of lines."""
    for i in range(len(block)):
        pairing = self_pairing(program, block[i])
        if not _are_fit(program, block[i], pairing):
            return i
    return len(block)


@numba.njit(cache=True)
def store(
    sheet, rows, slot, program, pairings, table, tiles, tile_uses, row_uses, free
):  # fmt: skip
    """Store the example of a sheet in an empty slot, unless a name of its has no feature row yet.

    Returns whether it was stored.

    Parameters
    ----------
    sheet
        A sheet that ends in the values of the example; see `decide`.
    rows
        The feature rows of the example (m,), 0 where there is none.
    slot
        Where it goes.
    tile_uses, row_uses
        How many values each tile and each feature row holds, zeros that were given included.
    free
        The free tiles as a stack: `free[0]` counts them, the top is `free[free[0]]`. There have to
        be m of them.

    """
    for r in rows:
        if r == 0:
            return False
    values = sheet[len(sheet) - len(rows) :]
    block, lane = slot // TILE, slot % TILE
    for j in range(len(rows)):
        r = rows[j]
        t = table[r, block]
        if t == 0:
            t = free[free[0]]
            free[0] -= 1
            table[r, block] = t
        tiles[t, lane] = values[j]
        tile_uses[t] += 1
        row_uses[r] += 1
    pairings[block, lane] = self_pairing(program, values)
    return True


@numba.njit(cache=True)
def overwrite(sheet, rows, slot, program, pairings, table, tiles):
    """Store the example of a sheet in the place of one with the same feature rows; see `store`."""
    values = sheet[len(sheet) - len(rows) :]
    block, lane = slot // TILE, slot % TILE
    for j in range(len(rows)):
        tiles[table[rows[j], block], lane] = values[j]
    pairings[block, lane] = self_pairing(program, values)


@numba.njit(cache=True)
def load(sheet, rows, slot, table, tiles):
    """Put the values of a stored example at the end of a sheet; see `store`."""
    values = sheet[len(sheet) - len(rows) :]
    for j in range(len(rows)):
        values[j] = tiles[table[rows[j], slot // TILE], slot % TILE]


@numba.njit(cache=True)
def erase(rows, slot, table, tiles, tile_uses, row_uses, free):
    """Empty a slot, free the tiles that hold nothing now, and count the feature rows that do not.

    The parameters are those of `store`.

    """
    block, lane = slot // TILE, slot % TILE
    n_unused = 0
    for r in rows:
        t = table[r, block]
        tiles[t, lane] = 0.0
        tile_uses[t] -= 1
        row_uses[r] -= 1
        n_unused += row_uses[r] == 0
        if tile_uses[t] == 0:
            table[r, block] = 0
            free[0] += 1
            free[free[0]] = t
    return n_unused


@numba.njit(cache=True)
def oldest(born, n):
    """Return the slot that was filled first."""
    slot = 0
    for i in range(1, n):
        if born[i] < born[slot]:
            slot = i
    return slot


@numba.njit(cache=True)
def oldest_largest(scores, born):
    """Return the slot with the largest score, the oldest of several.

    Parameters
    ----------
    scores
        Score of each slot that is taken, and of a newcomer after them if there is one
        (n,) or (n + 1,).
    born
        When each slot was filled (n,).

    """
    slot = 0
    for i in range(1, len(scores)):
        if scores[i] > scores[slot] or (
            scores[i] == scores[slot] and i < len(born) and born[i] < born[slot]
        ):
            slot = i
    return slot


@numba.njit(cache=True)
def removal_errors(table, values, signs, alphas):
    """Return the 0-1 loss on validation examples without each vector (vectors,); f = 0 is an error.

    Parameters
    ----------
    table
        Kernel value of each example and each vector (examples, vectors or more).
    values, signs
        f and the label at each example (examples,).
    alphas
        Coefficients of the vectors (vectors,).

    """
    errors = np.zeros(len(alphas))
    for i in range(len(table)):
        for j in range(len(alphas)):
            margin = signs[i] * (values[i] - alphas[j] * table[i, j])
            errors[j] += 1.0 if margin <= 0.0 else 0.0
    return errors


@numba.njit(cache=True)
def removal_losses(table, values, weights, alphas):
    """Return the expected hinge loss without each vector (vectors,).

    Parameters
    ----------
    weights
        Probability of the positive label at each example (examples,).

    The other parameters are those of `removal_errors`.

    """
    losses = np.zeros(len(alphas))
    for i in range(len(table)):
        value, weight = values[i], weights[i]
        for j in range(len(alphas)):
            f = value - alphas[j] * table[i, j]
            losses[j] += weight * max(0.0, 1.0 - f) + (1.0 - weight) * max(0.0, 1.0 + f)
    return losses


@numba.njit(cache=True)
def squared_norms(tiles, table, row_uses, n_blocks):
    """Return the squared norm of each stored example (blocks, TILE)."""
    squares = np.zeros((n_blocks, TILE))
    for r in range(len(table)):
        if row_uses[r] > 0:
            for block in range(n_blocks):
                t = table[r, block]
                for i in range(TILE):
                    squares[block, i] += tiles[t, i] * tiles[t, i]
    return squares
