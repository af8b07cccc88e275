"""What the values of features may be, and the errors about all others.

A value is a number, a text (a category), an array, or unknown. The native store asks this module about
what is not a plain float.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._checks import DEEPEST, is_bounded, shown, warn
from river_budget.kernels import LARGEST, Category, Features

# Longer messages are cut to about this many characters.
LONGEST_MESSAGE = 480

# What `as_double` may raise: converting a value of any type can fail in any of these ways.
NOT_NUMBERS = (TypeError, ValueError, ArithmeticError, AttributeError)

# The names of the types of None, `pd.NA` and `pd.NaT`. With names, pandas need not be imported.
NULLS = frozenset(["NoneType", "NAType", "NaTType"])

# Only texts up to this length are compared with the pattern: on long ones, that takes too long.
LONGEST_NUMBER = 100
NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")

# One warning is given for each name whose texts read as numbers, and none after this many names. The
# names are remembered by their hashes.
MOST_WARNINGS = 100
_WARNED: set[int] = set()


def dict_of(x: Mapping[Any, Any]) -> Features:
    """Return a mapping as a dict. Raises ValueError if a name is not hashable."""
    try:
        return dict(x)
    except TypeError:
        for name in x:
            if not _is_hashable(name):
                raise ValueError(f"feature {shown(name)}: the name is not hashable") from None
        raise


def _is_hashable(name: Any) -> bool:
    try:
        hash(name)
    except TypeError:
        return False
    return True


def check_name(name: Any) -> None:
    """Raise ValueError if a name that is not a text is too large, or nested too deep."""
    if not is_bounded(name):
        limits = f"integers up to 2**1000, nested at most {DEEPEST} deep"
        raise ValueError(f"feature {shown(name)}: a name may have {limits}")


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, judged by its type."""
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in "biuf"
    return type(value).__name__ not in NULLS and not isinstance(value, str | bytes | complex)


def is_array(value: Any) -> bool:
    """Return whether a value is an array feature; an array without dimensions is a number."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def is_unknown(value: Any) -> bool:
    """Return whether a value is unknown: None, NaN, `pd.NA` or `pd.NaT`."""
    return type(value).__name__ in NULLS or (is_number(value) and bool(value != value))


def as_double(value: Any) -> float:
    """Return a number as a double. Raises one of `NOT_NUMBERS` for other values."""
    # The type comes first, because NumPy converts a complex number by dropping its imaginary part.
    if not is_number(value):
        raise TypeError
    return float(value)


def category_of(name: Any, text: str) -> Category:
    """Return the feature that a text is. Warns once for each name if the text reads as a number."""
    category = Category.of(name, text)
    reads_as_number = len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text)
    if reads_as_number and hash(name) not in _WARNED and len(_WARNED) < MOST_WARNINGS:
        _WARNED.add(hash(name))
        found = shortened(f"feature {name!r} has the text {category[1]!r}")
        warn(f"{found}, which is learned as a category: convert it to a number if it is one")
    return category


# Only for short names and texts, so that the cache takes less than a megabyte.
small_category_of = functools.lru_cache(512, typed=True)(category_of)


def as_given(x: Features) -> Features:
    """Return features as the user gives them: a text instead of a category with the value 1."""
    given = {}
    for name, value in x.items():
        if type(name) is Category and value == 1.0:
            name, value = name
        given[name] = value
    return given


def pack_rows(rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the values of a frame as doubles (rows, columns), or None unless all are finite numbers."""
    values: Any = rows
    if rows.dtype.kind not in "biuf":
        try:
            values = [[as_double(value) for value in row] for row in rows]
        except NOT_NUMBERS:
            return None
    packed = np.array(values, np.float64, order="C").reshape(rows.shape)
    return packed if np.isfinite(packed).all() else None


def check_shape(name: Any, value: Any) -> None:
    """Raise ValueError unless a value is an array of numbers in one dimension, and not empty."""
    is_numeric = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuf"
    if not is_numeric or not len(value) or np.ma.is_masked(value):
        raise ValueError(
            f"feature {name!r} is not an array of numbers in one dimension, or has masked elements"
        )


def checked_array(name: Any, value: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a copy of an array feature. Raises ValueError unless its squared norm is finite."""
    check_shape(name, value)
    with np.errstate(over="ignore"):
        copy = np.array(value, dtype)
        elements = copy.astype(np.float64)
        if np.dot(elements, elements) <= LARGEST:
            return copy
    raise ValueError(f"feature {name!r} is an array with a value that is not finite, or too large")


def invalid_example(x: Any, takes_unknown: bool) -> ValueError:
    """Return an error that says why an example is invalid, and names the feature if one is to blame."""
    if not isinstance(x, Mapping):
        return ValueError(shortened(f"x must be a dict of features, got {shown(x)}"))

    sizes = {}
    for name, value in x.items():
        if isinstance(value, str) or is_array(value) or (takes_unknown and is_unknown(value)):
            continue
        sizes[name] = _size_of(value)
        if not math.isfinite(sizes[name]):
            reason = ": expected a finite number, a text or an array"
            if is_unknown(value):
                reason = ", which is unknown: leave out gamma, or use preprocessing.StatImputer"
            return ValueError(_described(name, value) + reason)

    # Each value is valid, so the example as a whole is too large for the kernel.
    limit = f"too large: k(x, x) or the norm of x exceeds {LARGEST:g}"
    if not sizes or any(map(is_array, x.values())):
        return ValueError(f"the example is {limit}")
    largest = max(sizes, key=sizes.__getitem__)
    return ValueError(f"{_described(largest, x[largest])}, which is {limit}")


def _size_of(value: Any) -> float:
    """Return the absolute value of a number; NaN if a value is no number."""
    try:
        return abs(as_double(value))
    except NOT_NUMBERS:
        return math.nan


def _described(name: Any, value: Any) -> str:
    return shortened(f"feature {shown(name)} has the value {shown(value)}")


def shortened(text: str) -> str:
    """Return a text for a message, without the middle of a long text or the end of a long number."""
    text = re.sub(r"(\d{20})\d{20,}", r"\1...", text)
    if len(text) <= LONGEST_MESSAGE:
        return text
    return f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 4 :]}"
