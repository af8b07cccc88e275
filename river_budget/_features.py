"""Which values of features are valid, and errors that describe those that are not."""

from __future__ import annotations

import decimal
import fractions
import functools
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.kernels.base import Category, Features, with_categories
from river_budget.kernels.spec import LARGEST

# The length of the longest text in a message.
LONG = 480

# Errors that converting a value to a double may raise.
NOT_NUMBERS = (TypeError, ValueError, ArithmeticError, AttributeError)

# Types whose values are always numbers. Values of other types are checked one by one.
NUMBERS = frozenset(
    [bool, int, float, decimal.Decimal, fractions.Fraction]
    + [t for t in np.sctypeDict.values() if issubclass(t, np.bool_ | np.integer | np.floating)]
) - {np.timedelta64}  # fmt: skip

# Types of which no other value is a number.
OTHERS = (str, bytes, complex, np.generic)

# The types of None, and of `pd.NA` and `pd.NaT`, for which pandas need not be imported.
NULLS = frozenset(["NoneType", "NAType", "NaTType"])

# A text that ends in one of these may be a number.
LAST_DIGITS = frozenset("0123456789.")
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

# Names that the warning about texts was given for, and how many of them are remembered.
_WARNED: set[Any] = set()
MOST_WARNINGS = 100


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, judged by its type."""
    if type(value) in NUMBERS:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "biuf"
    return type(value).__name__ not in NULLS and not isinstance(value, OTHERS)


def is_unknown(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or what pandas has in their places."""
    return type(value).__name__ in NULLS or (
        is_number(value) and not is_array(value) and bool(value != value)
    )


@functools.lru_cache(512, typed=True)
def category_of(name: Any, text: str) -> Category:
    """Return a text as a feature. Warns of the first text of a name that reads as a number."""
    category = Category.of(name, text)
    if text[-1:] in LAST_DIGITS:
        _warn_of_number(category)
    return category


def as_given(x: Features) -> Features:
    """Return features with texts instead of categories."""
    # A category is itself the pair of a name and a text.
    return dict(
        name if type(name) is Category and value == 1.0 else (name, value)
        for name, value in x.items()
    )


def _warn_of_number(category: Category) -> None:
    name, text = category
    if name in _WARNED or len(_WARNED) == MOST_WARNINGS or not NUMBER.fullmatch(text):
        return
    _WARNED.add(name)
    warnings.warn(
        f"feature {name!r} has the text {text!r}, which is learned as a category: convert it to "
        "a number if it is one",
        stacklevel=4,
    )


def is_array(value: Any) -> bool:
    """Return whether a value is an array feature; an array without dimensions is a number."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def as_double(value: Any) -> float:
    """Return a number as a double. Raises one of `NOT_NUMBERS` for other values."""
    # First the type: converting a complex number would warn, and lose its imaginary part.
    if not is_number(value):
        raise TypeError
    return float(value)


def pack_rows(rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the values of a frame as doubles (rows, columns); None if there are others."""
    values: Any = rows
    if rows.dtype.kind not in "biuf":
        try:
            values = [[as_double(value) for value in row] for row in rows]
        except NOT_NUMBERS:
            return None
    packed = np.array(values, np.float64, order="C").reshape(rows.shape)
    return None if np.isnan(packed).any() else packed


def check_features(x: Any) -> None:
    """Raise ValueError unless x maps names to arrays, or to finite numbers that can be squared.

    To be called before a pipeline learns raw features: a scaler would learn a value that the
    classifier then refuses.
    """
    if not isinstance(x, Mapping):
        raise invalid_example(x)
    for name, value in x.items():
        if is_array(value):
            check_array(name, value)
        elif isinstance(value, str):
            raise ValueError(
                f"{_valued(name, value)}, which is not a number: leave out the scaler, or encode "
                "texts first, for example with preprocessing.OneHotEncoder"
            )
        elif not (_is_finite(value) and abs(value) <= LARGEST):
            raise invalid_example({name: value})


def shortened(text: str) -> str:
    """Return a text for messages: its very long numbers are cut, and its middle if it is long itself."""
    text = re.sub(r"(\d{20})\d{20,}", r"\1...", text)
    return text if len(text) <= LONG else f"{text[: LONG // 2]} ... {text[-LONG // 4 :]}"


def check_shape(name: Any, value: Any) -> None:
    """Raise ValueError unless a value is an array of numbers, in one dimension."""
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{_valued(name, value)}: expected an array")
    if value.ndim != 1 or value.dtype.kind not in "biuf" or not len(value):
        raise ValueError(
            f"feature {name!r} is an array of {value.dtype} with the shape {value.shape}: "
            "expected numbers in one dimension"
        )
    if np.ma.is_masked(value):
        raise ValueError(f"feature {name!r} is an array with masked elements")


def check_array(name: Any, value: NDArray[Any]) -> None:
    check_shape(name, value)
    if not np.isfinite(value).all():
        raise ValueError(f"feature {name!r} is an array with a value that is not finite")


def invalid_example(x: Any, kernel: Any = None, takes_unknown: bool = False) -> ValueError:
    """Return an error that describes why an example is invalid, under a kernel or in general."""
    under = f" under {kernel}" if kernel is not None else ""
    if not isinstance(x, Mapping):
        return ValueError(shortened(f"x must be a dict of features, got {x!r}"))
    x = with_categories(dict(x))
    if takes_unknown:
        x = {name: value for name, value in x.items() if not is_unknown(value)}
    numbers = {name: value for name, value in x.items() if not is_array(value)}
    for name, value in numbers.items():
        if is_unknown(value):
            return ValueError(
                f"{_valued(name, value)}, which is unknown: leave out gamma, so that the mean of "
                "the feature takes its place, or impute it first, for example with "
                "preprocessing.StatImputer"
            )
        if not _is_finite(value):
            return ValueError(f"{_valued(name, value)}: expected a finite number or a text")
    if len(numbers) < len(x):
        return ValueError(f"the values of the example are too large{under}")
    if not x:
        return ValueError(f"k(x, x) is too large for an example without features{under}")
    name, value = max(x.items(), key=lambda item: abs(item[1]))
    limit = f"k(x, x) or the norm of x exceeds {LARGEST:g}"
    return ValueError(f"{_valued(name, value)}, which is too large: {limit}{under}")


def _valued(name: Any, value: Any) -> str:
    return shortened(f"feature {name!r} has the value {value!r}")


def another_length(name: Any, array: NDArray[Any], length: int) -> ValueError:
    return ValueError(
        f"feature {name!r} is an array of {len(array)} elements, but others have {length}"
    )


def _is_finite(value: Any) -> bool:
    try:
        return is_number(value) and math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False
