"""Symmetric matrices as packed lower triangles, for code that is not compiled; see `_triangle`."""

from __future__ import annotations

from typing import Any

import numpy as np

from river_budget._arrays import Floats

__all__ = ["packed", "packed_size", "unpacked"]


def packed_size(n: int) -> int:
    """Return the number of elements of a triangle with n rows."""
    return n * (n + 1) // 2


def packed(matrices: Any) -> Floats:
    """Return the lower triangles of symmetric matrices (..., n, n)."""
    rows, columns = np.tril_indices(matrices.shape[-1])
    return matrices[..., rows, columns]


def unpacked(triangles: Floats, n: int) -> Floats:
    """Return the symmetric matrices (..., n, n) of triangles."""
    rows, columns = np.tril_indices(n)
    matrices: Any = np.empty((*triangles.shape[:-1], n, n))
    matrices[..., rows, columns] = matrices[..., columns, rows] = triangles[..., : len(rows)]
    return matrices
