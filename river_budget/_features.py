"""Which values of features are valid, and errors that describe those that are not."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.kernels.spec import LARGEST

# Errors that converting a value to a double may raise.
NOT_NUMBERS = (TypeError, ValueError, ArithmeticError, AttributeError)

# Types whose values are always numbers. Values of other types are checked one by one.
NUMBERS = frozenset(
    [bool, int, float, decimal.Decimal, fractions.Fraction]
    + [t for t in np.sctypeDict.values() if issubclass(t, np.bool_ | np.integer | np.floating)]
) - {np.timedelta64}  # fmt: skip


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, judged by its type."""
    if type(value) in NUMBERS:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "biuf"
    return not isinstance(value, str | bytes | complex | np.generic)


def is_array(value: Any) -> bool:
    """Return whether a value is an array feature; an array without dimensions is a number."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def as_double(value: Any) -> float:
    """Return a number as a double. Raises one of `NOT_NUMBERS` for other values."""
    # First the type: converting a complex number would warn, and lose its imaginary part.
    if not is_number(value):
        raise TypeError
    return float(value)


def pack_rows(columns: Sequence[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the values of a frame as doubles (rows, columns). Raises ValueError for others."""
    if rows.dtype.kind in "biuf":
        return np.array(rows, np.float64, order="C")
    packed = np.empty(rows.shape)
    for i, values in enumerate(rows):
        try:
            packed[i] = [as_double(value) for value in values]
        except NOT_NUMBERS:
            x = dict(zip(columns, values, strict=True))
            raise ValueError(f"row {i}: {invalid_example(x)}") from None
    return packed


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
        elif not (_is_finite(value) and abs(value) <= LARGEST):
            raise invalid_example({name: value})


def check_shape(name: Any, value: Any) -> None:
    """Raise ValueError unless a value is an array of numbers, in one dimension."""
    if not isinstance(value, np.ndarray):
        raise ValueError(f"feature {name!r} has the value {value!r}: expected an array")
    if value.ndim != 1 or value.dtype.kind not in "biuf" or not len(value):
        raise ValueError(
            f"feature {name!r} is an array of {value.dtype} with the shape {value.shape}: "
            "expected numbers in one dimension"
        )


def check_array(name: Any, value: NDArray[Any]) -> None:
    check_shape(name, value)
    if not np.isfinite(value).all():
        raise ValueError(f"feature {name!r} is an array with a value that is not finite")


def invalid_example(x: Any, kernel: Any = None) -> ValueError:
    """Return an error that describes why an example is invalid, under a kernel or in general."""
    if not isinstance(x, Mapping):
        return ValueError(f"x must be a dict of features, got {x!r}")
    numbers = {name: value for name, value in x.items() if not is_array(value)}
    for name, value in numbers.items():
        if isinstance(value, str | bytes):
            return ValueError(
                f"feature {name!r} has the value {value!r}, which is not a number: "
                "encode it first, for example with preprocessing.OneHotEncoder"
            )
        if not _is_finite(value):
            return ValueError(f"feature {name!r} has the value {value!r}: expected a finite number")
    if len(numbers) < len(x):
        return ValueError(f"the values of the example are too large under {kernel}")
    if not x:
        return ValueError(f"k(x, x) is too large for an example without features under {kernel}")
    name, value = max(x.items(), key=lambda item: abs(item[1]))
    limit = f"k(x, x) or the norm of x exceeds {LARGEST:g}"
    under = f" under {kernel}" if kernel is not None else ""
    return ValueError(
        f"feature {name!r} has the value {value!r}, which is too large: {limit}{under}"
    )


def another_length(name: Any, array: NDArray[Any], length: int) -> ValueError:
    return ValueError(
        f"feature {name!r} is an array of {len(array)} elements, but others have {length}"
    )


def _is_finite(value: Any) -> bool:
    try:
        return is_number(value) and math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False
