"""Array types and padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def padded(array: Any, *lengths: int) -> Any:
    """Return a copy of an array, padded with zeros to lengths along its first axes."""
    copy = np.zeros((*lengths, *array.shape[len(lengths) :]), array.dtype)
    copy[tuple(map(slice, array.shape))] = array
    return copy


def widened(array: Any, n_columns: int) -> Any:
    """Return a copy of a matrix, padded with zeros to a number of columns, faster than `padded`."""
    copy = np.zeros((len(array), n_columns), array.dtype)
    copy[:, : array.shape[1]] = array
    return copy


def unpacked(triangles: Any, n: int) -> Any:
    """Return the symmetric matrices (matrices, n, n) of packed rows of lower triangles."""
    rows, columns = np.tril_indices(n)
    matrices = np.empty((len(triangles), n, n))
    matrices[:, rows, columns] = matrices[:, columns, rows] = triangles
    return matrices
