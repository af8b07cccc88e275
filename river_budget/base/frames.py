"""Mini-batches: frames of any library and dicts of arrays come in, and the same kind goes out."""

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
    """A mini-batch, as the models read it."""

    columns: list[Any]  # The names of the columns.
    rows: NDArray[Any]  # The values (rows, columns): numbers, or objects of any type.
    native: Any  # The frame of the user's library; None for a dict of arrays.


def frame_of(X: Any) -> Frame:
    """Return the mini-batch of a user. Raises ValueError if it is neither a frame nor a dict of arrays."""
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
    """Return rows (rows, columns), given columns of values (rows,) or of arrays (rows, elements)."""
    arrays = [_array_of(name, values) for name, values in columns.items()]
    shapes = {name: values.shape for name, values in zip(columns, arrays, strict=True)}
    lengths = {shape[:1] for shape in shapes.values()}
    is_valid = len(lengths) == 1 and () not in lengths
    require(is_valid, f"expected columns of equal length, got the shapes {shown(shapes)}")

    has_numbers = [values.ndim == 1 and values.dtype.kind in "biuf" for values in arrays]
    if all(has_numbers):
        return np.array(arrays).T
    rows = np.empty((len(arrays[0]), len(arrays)), object)
    for j, values in enumerate(arrays):
        rows[:, j] = values.tolist() if has_numbers[j] else list(values)
    return rows


def _array_of(name: Any, values: Any) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise ValueError(
            f"column {shown(name)} has masked values: give NaN or None for unknown ones"
        )
    # Beside texts, NumPy would turn numbers into texts, and it drops a NUL at the end of a text.
    has_texts = isinstance(values, list) and any(isinstance(value, str) for value in values)
    try:
        return np.asarray(values, object if has_texts else None)
    except ValueError:
        raise ValueError(
            f"column {shown(name)} has arrays of different lengths, or lacks one"
        ) from None


def labels_of(y: Any, n_rows: int) -> list[Any]:
    """Return the labels of rows. Raises ValueError if y is not a series of this length."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "M":
        y = y.astype(object)  # Values of Python; times stay as they are.
    # The methods of pandas and polars, and of pyarrow, take less time than a series of narwhals.
    to_list = getattr(y, "to_list", None) or getattr(y, "to_pylist", None)
    is_series = to_list or isinstance(y, list | tuple) or getattr(y, "ndim", 0) == 1
    require(is_series, f"y is a {type(y).__name__}: expected a series of labels")
    labels = to_list() if to_list else list(y)
    require(len(labels) == n_rows, f"X has {n_rows} rows, but y has {len(labels)} labels")
    return labels


def series_like(values: Any, frame: Frame) -> Any:
    """Return values in the series of a frame's library; in an array if the frame was a dict."""
    if frame.native is not None:
        like = dataframe.into_frame(frame.native)
        return dataframe.to_native_series(values, name=None, like=like)
    if isinstance(values, np.ndarray):
        return values
    are_alike = len({*map(type, values)}) == 1
    if are_alike and isinstance(values[0], bool | int | float | str):
        array = np.array(values)
        # NumPy keeps neither integers that are too large nor a NUL at the end of a text.
        if array.tolist() == values:
            return array
    return np.fromiter(values, object, len(values))


def frame_like(by_label: Mapping[Any, Any], frame: Frame) -> Any:
    """Return columns, one for each label, in the kind of frame that was given."""
    if frame.native is None:
        return {label: np.array(values) for label, values in by_label.items()}
    return dataframe.to_native_frame(by_label, like=dataframe.into_frame(frame.native))


def by_row(act: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Call a function for each row of some columns, and return the results. A ValueError names the row."""
    results = []
    for row, values in enumerate(zip(*columns, strict=True)):
        try:
            results.append(act(*values))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None
    return results
