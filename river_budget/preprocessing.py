"""Transformers that River lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base

from river_budget._features import check_shape
from river_budget._state import Field, Learned, require
from river_budget.kernels import Features

__all__ = ["UnitNorm"]


def _names(value: Any) -> tuple[Any, ...]:
    """Return a value, which must be a tuple of names. Raises ValueError or TypeError otherwise."""
    require(type(value) is tuple, f"{value!r:.100} is no tuple of names")
    hash(value)
    return value


class UnitNorm(Learned, base.Transformer):
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

    names = Field[tuple[Any, ...]](check=_names)

    def __init__(self, *names: base.typing.FeatureName) -> None:
        self.names = names

    def transform_one(self, x: Features) -> Features:
        scaled = dict(x)
        for name in filter(x.__contains__, self.names):
            array = x[name]
            check_shape(name, array)
            doubles = array.astype(np.float64)
            # A power of two changes no digit, and squares of any values then fit.
            doubles = np.ldexp(doubles, -math.frexp(abs(doubles).max())[1])
            unit = doubles / (math.sqrt(np.square(doubles).sum()) or 1.0)
            scaled[name] = unit.astype(array.dtype) if array.dtype.kind == "f" else unit
        return scaled
