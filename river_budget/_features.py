"""Which values of features are valid, and errors that describe those that are not."""

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

# The length of the longest text in a message.
LONG = 480

# Errors that converting a value to a double may raise.
NOT_NUMBERS = (TypeError, ValueError, ArithmeticError, AttributeError)

# The types of None, and of `pd.NA` and `pd.NaT`, for which pandas need not be imported.
NULLS = frozenset(["NoneType", "NAType", "NaTType"])

# A longer text is not read as a number, so that no input costs more than its length.
LONGEST_NUMBER = 100
NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")

# Hashes of names that the warning about texts was given for, and how many of them are remembered.
_WARNED: set[int] = set()
MOST_WARNINGS = 100


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
    """Raise ValueError unless a name, which is no text, can be that of a feature."""
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
    """Return whether a value is missing: None, NaN, or what pandas has in their places."""
    return type(value).__name__ in NULLS or (is_number(value) and bool(value != value))


def as_double(value: Any) -> float:
    """Return a number as a double. Raises one of `NOT_NUMBERS` for other values."""
    # First the type: converting a complex number would warn, and lose its imaginary part.
    if not is_number(value):
        raise TypeError
    return float(value)


def category_of(name: Any, text: str) -> Category:
    """Return a text as a feature. Warns of the first text of a name that reads as a number."""
    category = Category.of(name, text)
    is_number_text = len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text)
    if is_number_text and hash(name) not in _WARNED and len(_WARNED) < MOST_WARNINGS:
        _WARNED.add(hash(name))
        found = shortened(f"feature {name!r} has the text {category[1]!r}")
        warn(f"{found}, which is learned as a category: convert it to a number if it is one")
    return category


# For names and texts that are small, so that the cache takes less than a megabyte.
small_category_of = functools.lru_cache(512, typed=True)(category_of)


def as_given(x: Features) -> Features:
    """Return features with texts instead of categories."""
    # A category is itself the pair of a name and a text.
    return dict(
        name if type(name) is Category and value == 1.0 else (name, value)
        for name, value in x.items()
    )


def pack_rows(rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the values of a frame as doubles (rows, columns); None if not all are finite numbers."""
    values: Any = rows
    if rows.dtype.kind not in "biuf":
        try:
            values = [[as_double(value) for value in row] for row in rows]
        except NOT_NUMBERS:
            return None
    packed = np.array(values, np.float64, order="C").reshape(rows.shape)
    return packed if np.isfinite(packed).all() else None


def check_shape(name: Any, value: Any) -> None:
    """Raise ValueError unless a value is an array of numbers, in one dimension."""
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
    """Return an error that describes why an example is invalid."""
    if not isinstance(x, Mapping):
        return ValueError(shortened(f"x must be a dict of features, got {shown(x)}"))
    sizes = {}
    for name, value in x.items():
        if isinstance(value, str) or is_array(value) or (takes_unknown and is_unknown(value)):
            continue
        try:
            sizes[name] = abs(as_double(value))
        except NOT_NUMBERS:
            sizes[name] = math.nan
        if not math.isfinite(sizes[name]):
            reason = ": expected a finite number, a text or an array"
            if is_unknown(value):
                reason = ", which is unknown: leave out gamma, or use preprocessing.StatImputer"
            return ValueError(
                shortened(f"feature {shown(name)} has the value {shown(value)}") + reason
            )
    limit = f"too large: k(x, x) or the norm of x exceeds {LARGEST:g}"
    if not sizes or any(map(is_array, x.values())):
        return ValueError(f"the example is {limit}")
    name = max(sizes, key=sizes.__getitem__)
    text = shortened(f"feature {shown(name)} has the value {shown(x[name])}")
    return ValueError(f"{text}, which is {limit}")


def shortened(text: str) -> str:
    """Return a text for messages: its very long numbers are cut, and its middle if it is long itself."""
    text = re.sub(r"(\d{20})\d{20,}", r"\1...", text)
    return text if len(text) <= LONG else f"{text[: LONG // 2]} ... {text[-LONG // 4 :]}"
