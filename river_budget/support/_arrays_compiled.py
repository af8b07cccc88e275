"""The compiled code of an `ArrayStore`: inner statistics of arrays, and kernel rows from them.

Sums are in double precision, in an order that the processor's vector instructions suggest: their
last bits may differ between machines.
"""

from __future__ import annotations

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels._compiled import LARGEST, TILE, apply_kernel_function, raw_self_value
from river_budget.kernels.spec import (
    DOT_PRODUCT,
    GAMMA,
    INNER_STATISTIC,
    MANHATTAN_DISTANCE,
    SQUARED_DISTANCE,
    SUM_OF_RATIONALS,
)
from river_budget.support._compiled import expand

# Number of vectors that are read at a time.
STEP = 4

ANY_ORDER = {"reassoc", "contract", "nsz"}


@compiled(forceinline=True, fastmath=ANY_ORDER)
def _term(statistic, gamma, v, s):
    if statistic == DOT_PRODUCT:
        return v * s
    d = v - s
    if statistic == SQUARED_DISTANCE:
        return d * d
    if statistic == MANHATTAN_DISTANCE:
        return abs(d)
    return 1.0 / (1.0 + gamma * d * d)


@compiled(forceinline=True, fastmath=ANY_ORDER)
def _add(statistic, gamma, x, vectors, n, row):
    for i in range(0, n, STEP):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(len(x)):
            v = np.float64(x[j])
            a += _term(statistic, gamma, v, np.float64(vectors[i, j]))
            b += _term(statistic, gamma, v, np.float64(vectors[i + 1, j]))
            c += _term(statistic, gamma, v, np.float64(vectors[i + 2, j]))
            d += _term(statistic, gamma, v, np.float64(vectors[i + 3, j]))
        row[i] += a
        row[i + 1] += b
        row[i + 2] += c
        row[i + 3] += d


@compiled()
def add_statistics(statistic, gamma, x, vectors, n, row):
    """Add the inner statistics of an array (m,) and n vectors (slots, m) to a row (slots,)."""
    if statistic == DOT_PRODUCT:
        _add(DOT_PRODUCT, gamma, x, vectors, n, row)
    elif statistic == SQUARED_DISTANCE:
        _add(SQUARED_DISTANCE, gamma, x, vectors, n, row)
    elif statistic == MANHATTAN_DISTANCE:
        _add(MANHATTAN_DISTANCE, gamma, x, vectors, n, row)
    else:
        _add(SUM_OF_RATIONALS, gamma, x, vectors, n, row)


@compiled(fastmath=ANY_ORDER)
def squared_norm(x):
    total = 0.0
    for element in x:
        v = np.float64(element)
        total += v * v
    return total


@compiled(fastmath=ANY_ORDER)
def self_statistic(spec, x):
    """Return the self statistic of an array; see `kernels._compiled`."""
    if spec[INNER_STATISTIC] in (DOT_PRODUCT, SQUARED_DISTANCE):
        return squared_norm(x)
    total = 0.0
    for element in x:
        v = np.float64(element)
        if spec[INNER_STATISTIC] == MANHATTAN_DISTANCE:
            total += abs(v)
        else:
            total += 1.0 / (1.0 + spec[GAMMA] * v * v)
    return total


@compiled()
def finish(spec, x_statistic, statistics, alphas, scale, n, row):
    """Turn inner statistics into a kernel row (blocks, TILE), and return f(x); NaN if x is invalid."""
    if x_statistic > LARGEST or raw_self_value(spec, x_statistic) > LARGEST:
        return np.nan
    n_blocks = (n + TILE - 1) // TILE
    apply_kernel_function(spec, x_statistic, statistics, n_blocks, row)
    return expand(alphas, scale, n, row)
