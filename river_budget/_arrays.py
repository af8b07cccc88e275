"""Arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "lengthened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def lengthened(array: Any, length: int) -> Any:
    """Return a copy of the array whose first axis has this length, filled up with zeros."""
    copied = np.zeros((length, *array.shape[1:]), array.dtype)
    copied[: len(array)] = array
    return copied
