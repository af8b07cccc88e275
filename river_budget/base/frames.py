"""Mini-batches: frames of any library, and dicts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries
from numpy.typing import NDArray
from river.utils import dataframe

from river_budget._checks import shown
from river_budget._state import require

# A mini-batch is a frame of any library or a dict of columns, (rows,) of values or (rows, elements).
Columns = Mapping[Any, NDArray[Any] | Sequence[Any]]
Batch = IntoDataFrame | Columns
LabelSeries = IntoSeries | NDArray[Any] | Sequence[Any]


class Frame(NamedTuple):
    """The names of columns, their values (rows, columns) of any type, and what was given; None for a dict."""

    columns: list[Any]
    rows: NDArray[Any]
    native: Any


def frame_of(X: Any) -> Frame:
    """Return a frame of any library, or a dict of arrays. Raises ValueError for others."""
    if isinstance(X, Mapping):
        return Frame(list(X), _rows_of(X), None)
    pandas = nw.dependencies.get_pandas()
    if pandas is not None and isinstance(X, pandas.DataFrame) and X.columns.is_unique:
        # As narwhals would, in a tenth of the time. It refuses names that are not unique.
        return Frame(X.columns.tolist(), X.to_numpy(), X)
    try:
        frame = dataframe.into_frame(X)
    except TypeError:
        expected = "expected a frame in memory, or a dict with an array for each feature"
        raise ValueError(f"X is a {type(X).__name__}: {expected}") from None
    if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        rows = frame.to_numpy()
    else:
        rows = _rows_of(frame.to_dict(as_series=False))
    return Frame(frame.columns, rows, X)


def _rows_of(columns: Mapping[Any, Any]) -> NDArray[Any]:
    """Return the rows of columns of values (rows,) or of arrays (rows, elements)."""
    arrays = [_array_of(name, values) for name, values in columns.items()]
    shapes = {name: values.shape for name, values in zip(columns, arrays, strict=True)}
    lengths = {shape[:1] for shape in shapes.values()}
    is_valid = len(lengths) == 1 and () not in lengths
    require(is_valid, f"expected columns of equal length, got the shapes {shown(shapes)}")
    is_number = [values.ndim == 1 and values.dtype.kind in "biuf" for values in arrays]
    if all(is_number):
        return np.array(arrays).T
    rows = np.empty((len(arrays[0]), len(arrays)), object)
    for j, values in enumerate(arrays):
        rows[:, j] = values.tolist() if is_number[j] else list(values)
    return rows


def _array_of(name: Any, values: Any) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise ValueError(
            f"column {shown(name)} has masked values: give NaN or None for unknown ones"
        )
    # An array of texts would make texts of numbers beside them, and cut a NUL at the end.
    has_texts = isinstance(values, list) and any(isinstance(value, str) for value in values)
    try:
        return np.asarray(values, object if has_texts else None)
    except ValueError:
        raise ValueError(
            f"column {shown(name)} has arrays of different lengths, or lacks one"
        ) from None


def labels_of(y: Any, n_rows: int) -> list[Any]:
    """Return the labels of rows. Raises ValueError if y is no series, or of another length."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "M":
        y = y.astype(object)  # of values of Python, but for times
    # A wrapper of narwhals would take longer than the list.
    plain = getattr(y, "to_list", None) or getattr(y, "to_pylist", None)
    is_series = plain or isinstance(y, list | tuple) or getattr(y, "ndim", 0) == 1
    require(is_series, f"y is a {type(y).__name__}: expected a series of labels")
    labels = plain() if plain else list(y)
    require(len(labels) == n_rows, f"X has {n_rows} rows, but y has {len(labels)} labels")
    return labels


def series_like(values: Any, frame: Frame) -> Any:
    """Return values as a series of the library of a frame; as an array for a dict of arrays."""
    if frame.native is not None:
        like = dataframe.into_frame(frame.native)
        return dataframe.to_native_series(values, name=None, like=like)
    if isinstance(values, np.ndarray):
        return values
    if len({*map(type, values)}) == 1 and isinstance(values[0], bool | int | float | str):
        array = np.array(values)
        if array.tolist() == values:  # no text ends in a NUL, and no integer is too large
            return array
    return np.fromiter(values, object, len(values))


def frame_like(by_label: Mapping[Any, Any], frame: Frame) -> Any:
    """Return a column for each label, as a frame of the library of another one, or a dict of arrays."""
    if frame.native is None:
        return {label: np.array(values) for label, values in by_label.items()}
    return dataframe.to_native_frame(by_label, like=dataframe.into_frame(frame.native))


def by_row(act: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Return what a function returns for each row of columns. A ValueError names the row."""
    results = []
    for row, values in enumerate(zip(*columns, strict=True)):
        try:
            results.append(act(*values))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None
    return results
