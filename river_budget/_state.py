"""What a model has learned, as plain values and arrays, and checks of what comes back.

Every class gives its state as a dict of None, truth values, numbers, texts, tuples, dicts, kernels,
arrays and such dicts, and takes it back with `restore` on a new object with the same parameters.
What comes back may have been written by anybody: each value is checked here or by the class.

"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats

__all__ = [
    "State", "count", "finite", "floats", "integers", "number", "random_state", "require",
    "restore_random",
]  # fmt: skip

State = dict[str, Any]

LARGEST_COUNT = 2**62

# The state of `random.Random`: its version, and the length of its internal array.
RANDOM_VERSION, RANDOM_LENGTH = 3, 625


def require(holds: Any, otherwise: str) -> None:
    """Raise ValueError, which tells what is wrong, unless something holds."""
    if not holds:
        raise ValueError(otherwise)


def floats(value: Any, shape: Sequence[int | None]) -> Floats:
    """Return a copy of a finite array of this shape, None for any length."""
    array = _array(value, np.float64, shape)
    require(np.isfinite(array).all(), "an array has a value that is not finite")
    return array


def integers(value: Any, shape: Sequence[int | None]) -> NDArray[np.int64]:
    """Return a copy of an array of whole numbers of this shape, None for any length."""
    return _array(value, np.int64, shape)


def number(value: Any) -> float:
    """Return a finite number."""
    require(type(value) is float and abs(value) < float("inf"), f"{value!r} is no finite number")
    return value


def finite(value: Any, least: float, most: float) -> float:
    """Return a number from a range, its ends included."""
    require(least <= number(value) <= most, f"{value!r} is not from {least} to {most}")
    return value


def count(value: Any) -> int:
    """Return a whole number of at least 0."""
    require(type(value) is int and 0 <= value < LARGEST_COUNT, f"{value!r} is no count")
    return value


def random_state(rng: random.Random) -> State:
    """Return the state of a random number generator."""
    _, internal, gauss = rng.getstate()
    return {"internal": np.array(internal, np.int64), "gauss": gauss}


def restore_random(rng: random.Random, state: State) -> None:
    """Set a random number generator to a state."""
    internal = integers(state["internal"], (RANDOM_LENGTH,))
    require(((internal >= 0) & (internal < 2**32)).all(), "a generator's state is out of range")
    if state["gauss"] is not None:
        number(state["gauss"])
    rng.setstate((RANDOM_VERSION, tuple(internal.tolist()), state["gauss"]))


def _array(value: Any, dtype: Any, shape: Sequence[int | None]) -> NDArray[Any]:
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(n in (None, length) for n, length in zip(shape, value.shape, strict=True))
    )
    require(fits, f"an array of {np.dtype(dtype)} {tuple(shape)} was expected")
    return value.copy()
