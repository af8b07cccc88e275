"""Transformers that River lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base

from river_budget._features import check_shape
from river_budget.kernels import Features

__all__ = ["UnitNorm"]


class UnitNorm(base.Transformer):
    """Scales arrays to Euclidean norm 1, which is usual for embeddings.

    An array of zeros, other features and missing names are left alone.

    Parameters
    ----------
    names
        The names of the arrays.

    Raises
    ------
    ValueError
        By `transform_one`, if the value of a name is not an array of numbers in one dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from river_budget import preprocessing
    >>> scaler = preprocessing.UnitNorm("embedding")
    >>> scaler.transform_one({"embedding": np.array([3.0, 4.0]), "hour": 13})
    {'embedding': array([0.6, 0.8]), 'hour': 13}
    """

    def __init__(self, *names: base.typing.FeatureName) -> None:
        self.names = names

    def transform_one(self, x: Features) -> Features:
        return {**x, **{name: _unit(name, x[name]) for name in self.names if name in x}}


def _unit(name: Any, array: Any) -> Any:
    """Return an array divided by its norm."""
    check_shape(name, array)
    doubles = array.astype(np.float64)
    # A power of two changes no digit, and squares of any values then fit.
    doubles = np.ldexp(doubles, -math.frexp(abs(doubles).max())[1])
    norm = math.sqrt(np.square(doubles).sum())
    unit = doubles / norm if norm > 0.0 else doubles
    return unit.astype(array.dtype) if array.dtype.kind == "f" else unit
