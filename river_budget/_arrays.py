"""Types of arrays, and arrays that grow or are unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def padded(array: Any, *lengths: int) -> Any:
    """Return a copy of an array with new lengths along its first axes, filled up with zeros."""
    copy = np.zeros((*lengths, *array.shape[len(lengths) :]), array.dtype)
    copy[tuple(map(slice, array.shape))] = array
    return copy


def widened(array: Any, n_columns: int) -> Any:
    """Return a copy of a matrix with zeros for further columns: as `padded`, but faster."""
    copy = np.zeros((len(array), n_columns), array.dtype)
    copy[:, : array.shape[1]] = array
    return copy


def unpacked(triangle: Any, n: int) -> Any:
    """Return a symmetric matrix (n, n), given the packed rows of its lower triangle."""
    rows, columns = np.tril_indices(n)
    matrix = np.empty((n, n))
    matrix[rows, columns] = matrix[columns, rows] = triangle
    return matrix
