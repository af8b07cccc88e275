"""Feature rows, the packing of values, and the validation of examples."""

from __future__ import annotations

import decimal
import fractions
import functools
import itertools
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.kernels import Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.kernels.spec import Spec

Rows = NDArray[np.uint32]

# Errors that packing values as doubles may raise; AttributeError if x is not a mapping.
NOT_NUMBERS = (struct.error, TypeError, ValueError, ArithmeticError, AttributeError)

# Types whose values are always numbers. Values of other types are checked one by one.
NUMBERS = frozenset(
    [bool, int, float, decimal.Decimal, fractions.Fraction]
    + [t for t in np.sctypeDict.values() if issubclass(t, np.bool_ | np.integer | np.floating)]
) - {np.timedelta64}  # fmt: skip

# The default of a lookup: row 0, for a name that no vector has.
EMPTY_ROWS = itertools.repeat(0)


class ArrayFoundError(ValueError):
    """An example has an array as a value, and the store takes numbers only."""


class FeatureIndex:
    """The feature rows of the names that stored vectors have, and row 0, empty, for all others."""

    __slots__ = ("_free", "_names", "by_name")

    def __init__(self) -> None:
        self.by_name: dict[Any, int] = {}
        self._names: list[Any] = [None]
        self._free: list[int] = []

    @property
    def n_rows(self) -> int:
        """Number of rows, including row 0 and free ones."""
        return len(self._names)

    def names(self, rows: Iterable[int]) -> list[Any]:
        """Return the name of each row."""
        return [self._names[row] for row in rows]

    def assign(self, names: Sequence[Any]) -> list[int]:
        """Assign a row to each of the new names, and add rows if there are too few free ones."""
        lacking = len(names) - len(self._free)
        if lacking > 0:
            n_rows = self.n_rows
            n_new = max(lacking, 8, n_rows // 2)
            self._names += [None] * n_new
            self._free += reversed(range(n_rows, n_rows + n_new))
        rows = [self._free.pop() for _ in names]
        for name, row in zip(names, rows, strict=True):
            self.by_name[name] = row
            self._names[row] = name
        return rows

    def release(self, rows: Iterable[int]) -> None:
        for row in rows:
            del self.by_name[self._names[row]]
            self._names[row] = None
            self._free.append(row)

    @property
    def containers(self) -> list[Any]:
        """The objects whose sizes add up to the size of the index."""
        return [self.by_name, self._names, self._free, *self.by_name]


class Layout:
    """The feature rows and the packing of a sequence of names, valid until the store changes.

    The positions of `active` names, those the kernel reads, are None for all. These are `stored`;
    their rows are 0 for a name without one, and their factors follow the kernel in `spec` if they
    are scaled. Layouts of a store with the same `number`, which is 0 before a vector is stored,
    have equal rows. A workspace has `size` values, of which those of the features begin at byte
    `start`.
    """

    __slots__ = (
        "active", "names", "number", "pack", "pack_into", "rows", "size", "spec", "start", "stored"
    )  # fmt: skip

    def __init__(
        self,
        names: list[Any],
        active: list[int] | None,
        index: FeatureIndex,
        row_size: int,
        spec: Spec,
    ) -> None:
        stored = names if active is None else [names[i] for i in active]
        self.names = names
        self.active = active
        self.stored = stored
        self.rows = np.fromiter(map(index.by_name.get, stored, EMPTY_ROWS), np.uint32, len(stored))
        self.spec = spec
        self.number = 0
        values = packer(len(names))
        self.pack, self.pack_into = values.pack, values.pack_into
        self.resize(row_size)

    def resize(self, row_size: int) -> None:
        """Set the number of values in front of those of the features."""
        self.size = row_size + len(self.stored)
        self.start = 8 * row_size


@functools.lru_cache
def packer(n_values: int) -> struct.Struct:
    """Return a struct that packs a number of values as doubles."""
    return struct.Struct(f"{n_values}d")


def pack_rows(columns: Sequence[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the values of a frame as doubles (rows, columns). Raises ValueError for others."""
    if rows.dtype.kind in "biuf":
        return np.array(rows, np.float64, order="C")
    pack, packed = packer(len(columns)).pack, []
    for i, values in enumerate(rows):
        try:
            # First the types: packing a complex number would warn, and lose its imaginary part.
            check_types(values)
            packed.append(pack(*values))
        except NOT_NUMBERS:
            x = dict(zip(columns, values, strict=True))
            raise ValueError(f"row {i}: {invalid_example(x)}") from None
    return np.frombuffer(b"".join(packed)).reshape(rows.shape)


def check_types(values: Iterable[Any]) -> None:
    """Raise TypeError if a value is not a real number, even if it can be converted to one."""
    if not all(map(_is_number, values)):
        raise TypeError


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


def is_array(value: Any) -> bool:
    """Return whether a value is an array feature; an array without dimensions is a number."""
    return isinstance(value, np.ndarray) and value.ndim > 0


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


def invalid_example(x: Any, kernel: Kernel | None = None) -> ValueError:
    """Return an error that describes why an example is invalid, under a kernel or in general."""
    if not isinstance(x, Mapping):
        return ValueError(f"x must be a dict of features, got {x!r}")
    for name, value in x.items():
        if is_array(value):
            return ArrayFoundError(f"feature {name!r} is an array: expected a number")
    for name, value in x.items():
        if isinstance(value, str | bytes):
            return ValueError(
                f"feature {name!r} has the value {value!r}, which is not a number: "
                "encode it first, for example with preprocessing.OneHotEncoder"
            )
        if not _is_finite(value):
            return ValueError(f"feature {name!r} has the value {value!r}: expected a finite number")
    if not x:
        return ValueError(f"k(x, x) is too large for an example without features under {kernel}")
    name, value = max(x.items(), key=lambda item: abs(item[1]))
    limit = f"k(x, x) or the norm of x exceeds {LARGEST:g}"
    under = f" under {kernel}" if kernel is not None else ""
    return ValueError(
        f"feature {name!r} has the value {value!r}, which is too large: {limit}{under}"
    )


def _is_number(value: Any) -> bool:
    """Return whether a value is a real number, judged by its type."""
    if type(value) in NUMBERS:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "biuf"
    return not isinstance(value, str | bytes | complex | np.generic)


def _is_finite(value: Any) -> bool:
    try:
        return _is_number(value) and math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False
