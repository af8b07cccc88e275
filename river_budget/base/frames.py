"""Mini-batches: frames of any library, and dicts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from river.utils import dataframe

# Types of labels of which an array may have its own type.
PLAIN_TYPES = {bool, int, float, str}


class Columns:
    """Columns of numbers (rows,) or of arrays (rows, elements) by features, as a frame."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self.columns = list(columns)
        for name, values in columns.items():
            if np.ma.is_masked(values):
                raise ValueError(
                    f"column {name!r} has masked values: give NaN or None for unknown ones"
                )
        self.values = [np.asarray(values) for values in columns.values()]
        shapes = {name: v.shape for name, v in zip(self.columns, self.values, strict=True)}
        lengths = {shape[0] if shape else None for shape in shapes.values()}
        if len(lengths) != 1 or None in lengths:
            raise ValueError(f"expected columns of equal length, got the shapes {shapes}")

    def __len__(self) -> int:
        return len(self.values[0])


def frame_of(X: Any) -> Any:
    """Return a frame of any library, or a dict of arrays, as a frame. Raises ValueError for others."""
    if isinstance(X, Mapping):
        return Columns(X)
    try:
        return dataframe.into_frame(X)
    except TypeError:
        expected = "expected a frame in memory, or a dict with an array for each feature"
        raise ValueError(f"X is a {type(X).__name__}: {expected}") from None


def labels_of(y: Any, n_rows: int) -> list[Any]:
    """Return the labels of rows. Raises ValueError if y is no series, or of another length."""
    if isinstance(y, np.ndarray) and y.ndim == 1:
        # `tolist` would turn times into integers.
        labels = list(y) if y.dtype.kind == "M" else y.astype(object).tolist()
    elif isinstance(y, list | tuple):
        labels = list(y)
    else:
        # A wrapper of narwhals would take longer than the list.
        plain = getattr(y, "to_list", None) or getattr(y, "to_pylist", None)
        if plain is None:
            raise ValueError(f"y is a {type(y).__name__}: expected a series of labels")
        labels = plain()
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels")
    return labels


def rows_of(frame: Any) -> NDArray[Any]:
    """Return the values of a frame (rows, columns), of any type: of objects if there are arrays."""
    columns: list[Any]
    if isinstance(frame, Columns):
        is_number = [v.ndim == 1 and v.dtype.kind in "biuf" for v in frame.values]
        if all(is_number):
            return np.array(frame.values).T
        pairs = zip(frame.values, is_number, strict=True)
        columns = [values.tolist() if is_plain else values for values, is_plain in pairs]
    elif frame.implementation.is_pandas():
        # Its own conversion is faster than that of narwhals.
        return frame.to_native().to_numpy()
    elif all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        return frame.to_numpy()
    else:
        columns = [series.to_list() for series in frame.iter_columns()]
        for values, dtype in zip(columns, frame.schema.values(), strict=True):
            if isinstance(dtype, nw.Array | nw.List):
                values[:] = [np.array(value, np.float64) for value in values]
    rows = np.empty((len(frame), len(columns)), object)
    for j, values in enumerate(columns):
        rows[:, j] = list(values)
    return rows


def series_like(values: Any, frame: Any) -> Any:
    """Return values as a series of the library of a frame; as an array for a dict of arrays."""
    if not isinstance(frame, Columns):
        return dataframe.to_native_series(values, name=None, like=frame)
    if isinstance(values, np.ndarray):
        return values
    types = set(map(type, values))
    if len(types) == 1 and types <= PLAIN_TYPES:
        # Of their type, if that leaves them as they are.
        array = np.array(values)
        if array.tolist() == values and set(map(type, array.tolist())) == types:
            return array
    return np.fromiter(values, object, len(values))


def frame_like(by_label: Mapping[Any, Any], frame: Any) -> Any:
    """Return a column for each label, as a frame of the library of another one, or a dict of arrays."""
    if isinstance(frame, Columns):
        return {label: np.array(values) for label, values in by_label.items()}
    return dataframe.to_native_frame(by_label, like=frame)


def by_row(act: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Return what a function returns for each row of columns. A ValueError names the row."""
    results = []
    for row, values in enumerate(zip(*columns, strict=True)):
        try:
            results.append(act(*values))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None
    return results
