"""Array types, padding and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def padded(array: Any, length: int) -> Any:
    """Return a copy of an array, padded with zeros to a length along the first axis."""
    copy = np.zeros((length, *array.shape[1:]), array.dtype)
    copy[: len(array)] = array
    return copy


def widened(array: Any, n_columns: int) -> Any:
    """Return a copy of a matrix, padded with zeros to a number of columns."""
    copy = np.zeros((len(array), n_columns), array.dtype)
    copy[:, : array.shape[1]] = array
    return copy
