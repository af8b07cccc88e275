"""Symmetric matrices as triangles, for code that is not compiled.

A *packed* triangle has row after row of the lower triangle; a *tiled* one is that of
`_triangle_compiled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget.mnemotron._lanes import LANES
from river_budget.mnemotron._triangle_compiled import ROWS, row_start

# Bytes to which arrays are aligned, so that no vector of lanes is on two lines of the cache.
ALIGNMENT = 8 * LANES


def with_lanes(n: int) -> int:
    """Return the length of a vector with n elements, filled up to whole lanes."""
    return -(-n // LANES) * LANES


def tiled_size(n: int) -> int:
    """Return the number of elements of a tiled triangle with n rows, filled up to `ROWS`."""
    return int(row_start.py_func(-(-n // ROWS) * ROWS)) + with_lanes(n)


def aligned_zeros(*shape: int) -> Floats:
    """Return zeros that start at a multiple of `ALIGNMENT`."""
    size = int(np.prod(shape))
    zeros: Floats = np.zeros(size + LANES)
    start = -zeros.ctypes.data % ALIGNMENT // zeros.itemsize
    return zeros[start : start + size].reshape(shape)


def aligned_copy(array: Any) -> Floats:
    """Return a copy of an array that starts at a multiple of `ALIGNMENT`."""
    copy = aligned_zeros(*array.shape)
    copy[:] = array
    return copy


def packed(triangles: Floats, n: int) -> Floats:
    """Return the packed triangles of tiled ones with n rows (..., any)."""
    rows, columns = np.tril_indices(n)
    return triangles[..., row_start.py_func(rows) + columns]


def unpacked(triangles: Floats, n: int) -> Floats:
    """Return the symmetric matrices of packed triangles (..., n, n)."""
    rows, columns = np.tril_indices(n)
    matrices: Any = np.empty((*triangles.shape[:-1], n, n))
    matrices[..., rows, columns] = matrices[..., columns, rows] = triangles
    return matrices


def put(matrices: Any, triangles: Floats) -> None:
    """Write symmetric matrices (..., n, n) to tiled triangles (..., any)."""
    indices = np.arange(matrices.shape[-1])
    tiles = indices // LANES
    rows, columns = np.nonzero(tiles[:, None] >= tiles)
    triangles[..., row_start.py_func(rows) + columns] = matrices[..., rows, columns]
    firsts = LANES * tiles
    places = triangles.shape[-1] - firsts - LANES + indices - firsts
    triangles[..., places] = matrices[..., indices, indices]
