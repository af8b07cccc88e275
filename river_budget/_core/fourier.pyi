from typing import Any

import numpy as np
from numpy.typing import NDArray

def frequencies_of(seed: int, name: Any, n: int) -> NDArray[np.float32]:
    """Return n normal numbers that follow from a seed and a name."""

def signs_of(seed: int, name: Any, size: int, n: int) -> NDArray[np.int8]:
    """Return the signs of an array feature, padded to a size, for n projections (blocks, 3, size)."""

def size_of(length: int) -> int:
    """Return the smallest power of two that an array of a length is padded to."""
