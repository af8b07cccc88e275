"""Array types and padding."""

from __future__ import annotations

import math
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


def zero_matrix(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of zeros that begins at a line of the cache."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def widened(array: Any, n_columns: int) -> Any:
    """Return a copy of a matrix, padded with zeros to a number of columns, faster than `padded`."""
    copy = np.zeros((len(array), n_columns), array.dtype)
    copy[:, : array.shape[1]] = array
    return copy
