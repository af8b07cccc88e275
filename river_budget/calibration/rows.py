"""The rows of mini-batches as examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from river_budget.base import frame_of, rows_of
from river_budget.kernels import Features

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoDataFrame

__all__ = ["rows_as_dicts"]


def rows_as_dicts(X: IntoDataFrame) -> list[Features]:
    """Return the rows of a frame, or of a dict of arrays, as dicts of features."""
    frame = frame_of(X)
    return [dict(zip(frame.columns, row, strict=True)) for row in rows_of(frame).tolist()]
