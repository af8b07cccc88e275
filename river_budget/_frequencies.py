"""Random frequencies and signs that follow from a seed and the name of a feature, on any machine."""

from __future__ import annotations

import functools
import math
import numbers
from fractions import Fraction
from hashlib import shake_256
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_SIGNS = 2**18  # More signs of an array are not kept in the cache.


def text_of(name: Any) -> str:
    """Return a text that equal names share on any machine; names of other kinds are told apart by their `repr`."""
    if isinstance(name, tuple):
        return f"({','.join([text_of(part) for part in name])},)"
    if isinstance(name, frozenset):
        return f"{{{','.join(sorted([text_of(part) for part in name]))}}}"
    if isinstance(name, numbers.Real) and math.isfinite(name):
        return str(Fraction(name if isinstance(name, numbers.Rational) else float(name)))
    return repr(str(name)) if isinstance(name, str) else repr(name)


def bits_of(seed: int, name: Any, n_bytes: int) -> bytes:
    return shake_256(f"{seed}:{text_of(name)}".encode(errors="surrogatepass")).digest(n_bytes)


def new_frequencies(seed: int, name: Any, n: int) -> NDArray[np.float32]:
    """Return n normal numbers that follow from a seed and a name, as float32."""
    bits = np.frombuffer(bits_of(seed, name, 8 * n), "<u4").reshape(2, n)
    u, v = (bits + 0.5) / 2.0**32  # uniform; what follows is the method of Box and Muller
    return (np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v)).astype(np.float32)


def new_signs(seed: int, name: Any, n_blocks: int, size: int) -> NDArray[np.int8]:
    """Return the signs of a Hadamard transform of arrays, as int8 (n_blocks, 3, size)."""
    bits = np.frombuffer(bits_of(seed, name, n_blocks * 3 * size // 8), np.uint8)
    return (2 * np.unpackbits(bits).astype(np.int8) - 1).reshape(n_blocks, 3, size)


# All models share these caches. They are only asked for small names and few signs, which bounds their bytes.
frequencies_of = functools.lru_cache(1000)(new_frequencies)
signs_of = functools.lru_cache(16)(new_signs)
