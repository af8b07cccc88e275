"""The learned state of a model as plain values and arrays, and the validation of a restored state.

The `state` method of a class returns a dict of None, booleans, numbers, strings, tuples, kernels,
arrays and nested dicts. Its `restore` method takes such a dict on a new object with the same
parameters. A state may come from an untrusted file, so every value is validated, here or by the
class.

"""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats

__all__ = [
    "LARGEST_COUNT", "ROUNDING", "State", "count", "finite", "floats", "integers", "number", "random_state",
    "require", "require_definite", "require_numbers", "restore_random",
]  # fmt: skip

State = dict[str, Any]

# No sum of products of such numbers overflows.
LARGEST_NUMBER = 1e150

LARGEST_COUNT = 2**62

# What rounding may add to an element of a matrix, as a share of the largest one.
ROUNDING = 1e-6

# The state of `random.Random`: its version, and the length of its internal array.
RANDOM_VERSION, RANDOM_LENGTH = 3, 625


def require(condition: Any, message: str) -> None:
    """Raise ValueError with a message unless a condition holds."""
    if not condition:
        raise ValueError(message)


def floats(value: Any, shape: Sequence[int | None]) -> Floats:
    """Return a copy of a float array of a given shape; None allows any length.

    Raises
    ------
    ValueError
        If the type or shape differs, or a value is not finite.

    """
    array = _array(value, np.float64, shape)
    bounded = np.abs(array).max(initial=0.0) <= LARGEST_NUMBER
    require(bounded, "an array has a value that is not finite or too large")
    return array


def integers(value: Any, shape: Sequence[int | None]) -> NDArray[np.int64]:
    """Return a copy of an integer array of a given shape; None allows any length."""
    return _array(value, np.int64, shape)


def number(value: Any) -> float:
    """Return a value that has to be a finite float."""
    require(type(value) is float and abs(value) < float("inf"), f"{value!r} is not a finite float")
    return value


def finite(value: Any, least: float, most: float) -> float:
    """Return a value that has to be a float from `least` to `most`."""
    require(least <= number(value) <= most, f"{value!r} is not between {least} and {most}")
    return value


def count(value: Any) -> int:
    """Return a value that has to be an integer of at least 0."""
    require(type(value) is int and 0 <= value < LARGEST_COUNT, f"{value!r} is not a count")
    return value


def require_numbers(values: Any) -> None:
    """Raise ValueError unless all values of a dict are finite numbers."""
    require(isinstance(values, dict), f"{values!r} is no dict")
    for name, value in values.items():
        require(_is_finite(value), f"{name!r} has the value {value!r}, which is not finite")


def require_definite(matrices: Floats, otherwise: str) -> None:
    """Raise ValueError unless matrices (..., n, n) are symmetric, and no eigenvalue is below 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True, initial=0.0)
        tolerance = ROUNDING * largest
        transposed = matrices.swapaxes(-2, -1)
        require((np.abs(matrices - transposed) <= tolerance).all(), f"{otherwise}: not symmetric")
        try:
            np.linalg.cholesky(matrices + (tolerance + (largest == 0)) * np.eye(matrices.shape[-1]))
        except np.linalg.LinAlgError:
            raise ValueError(f"{otherwise}: not positive semi-definite") from None


def random_state(rng: random.Random) -> State:
    """Return the state of a random number generator."""
    _, internal, gauss = rng.getstate()
    return {"internal": np.array(internal, np.int64), "gauss": gauss}


def restore_random(rng: random.Random, state: State) -> None:
    """Restore a random number generator from its state."""
    internal = integers(state["internal"], (RANDOM_LENGTH,))
    require(
        ((internal >= 0) & (internal < 2**32)).all(),
        "the state of a random number generator is out of range",
    )
    if state["gauss"] is not None:
        number(state["gauss"])
    rng.setstate((RANDOM_VERSION, tuple(internal.tolist()), state["gauss"]))


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, numbers.Real) and math.isfinite(value)
    except OverflowError:
        return False


def _array(value: Any, dtype: Any, shape: Sequence[int | None]) -> NDArray[Any]:
    is_valid = (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(n in (None, length) for n, length in zip(shape, value.shape, strict=True))
    )
    require(is_valid, f"expected an array of {np.dtype(dtype)} with shape {tuple(shape)}")
    return value.copy()
