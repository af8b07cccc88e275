"""Mini-batches: frames of any library, and dicts of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from river.utils import dataframe

# Types of labels of which an array may have its own type, and the kinds of these.
KINDS = {bool: "b", int: "i", float: "f", str: "U"}


class Columns:
    """Columns of numbers (rows,) or of arrays (rows, elements) by features, as a frame."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self.values = {name: _column(values) for name, values in columns.items()}
        shapes = {name: values.shape for name, values in self.values.items()}
        lengths = {shape[0] if shape else None for shape in shapes.values()}
        if len(lengths) != 1 or None in lengths:
            raise ValueError(f"expected columns of equal length, got the shapes {shapes}")

    @property
    def columns(self) -> list[Any]:
        return list(self.values)

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))


def _column(values: Any) -> NDArray[Any]:
    """Return a column as an array, in which masked values are unknown. Times are refused anyway."""
    array = np.asarray(values)
    if not np.ma.is_masked(values) or array.dtype.kind in "mM":
        return array
    unknown: Any = np.nan if array.dtype.kind in "biuf" else None
    return np.where(np.ma.getmaskarray(values), unknown, array)


def frame_of(X: Any) -> Any:
    """Return a frame of any library, or a dict of arrays, as a frame."""
    return Columns(X) if isinstance(X, Mapping) else dataframe.into_frame(X)


def labels_of(y: Any, n_rows: int) -> list[Any]:
    """Return the labels of rows, from a series, an array or a list.

    Raises ValueError if y is something else, or of another length.
    """
    labels = _list_of(y)
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels")
    return labels


def _list_of(y: Any) -> list[Any]:
    if isinstance(y, np.ndarray):
        # `tolist` would turn times into integers.
        return list(y) if y.dtype.kind == "M" else y.astype(object).tolist()
    if isinstance(y, list):
        return y
    try:
        return dataframe.into_series(y).to_list()
    except TypeError:
        raise ValueError(f"y is a {type(y).__name__}: expected a series of labels") from None


def rows_of(frame: Any) -> NDArray[Any]:
    """Return the values of a frame (rows, columns), of any type: of objects if there are arrays."""
    if isinstance(frame, Columns) and all(map(_are_numbers, frame.values.values())):
        return np.array(list(frame.values.values())).T
    if isinstance(frame, Columns) or _has_others(frame):
        columns = [_values_of(frame, name) for name in frame.columns]
        rows = np.empty((len(frame), len(columns)), object)
        for j, values in enumerate(columns):
            rows[:, j] = list(values)
        return rows
    # For pandas, its own conversion is faster than that of narwhals.
    return frame.to_native().to_numpy() if frame.implementation.is_pandas() else frame.to_numpy()


def series_like(values: Any, frame: Any) -> Any:
    """Return values as a series of the library of a frame; as an array for a dict of arrays."""
    if isinstance(frame, Columns):
        return values if isinstance(values, np.ndarray) else _array_of(values)
    return dataframe.to_native_series(values, name=None, like=frame)


def frame_like(by_label: Mapping[Any, Any], frame: Any) -> Any:
    """Return a column for each label, as a frame of the library of another one, or a dict of arrays."""
    if isinstance(frame, Columns):
        return {label: np.array(values) for label, values in by_label.items()}
    return dataframe.to_native_frame(by_label, like=frame)


def _array_of(labels: list[Any]) -> NDArray[Any]:
    """Return labels as an array: of their type if it is one that leaves them as they are, or of objects."""
    objects = np.fromiter(labels, object, len(labels))
    kinds = {KINDS.get(type(label)) for label in labels}
    if len(kinds) == 1 and None not in kinds:
        array = np.array(labels)
        if array.dtype.kind in kinds and (array == objects).all():
            return array
    return objects


def _are_numbers(values: NDArray[Any]) -> bool:
    return values.ndim == 1 and values.dtype.kind in "biuf"


def _has_others(frame: Any) -> bool:
    """Return whether a frame has a column that is not of numbers; pandas converts all itself."""
    return not frame.implementation.is_pandas() and not all(
        dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()
    )


def _values_of(frame: Any, name: Any) -> Any:
    """Return the values of a column: numbers of Python, others as they are, or arrays."""
    if isinstance(frame, Columns):
        values = frame.values[name]
        return values.tolist() if _are_numbers(values) else values
    series = frame[name]
    if isinstance(series.dtype, nw.Array | nw.List):
        return [np.array(value, np.float64) for value in series.to_list()]
    return series.to_list()
