"""Transformers that River lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from river_budget._features import check_shape
from river_budget._state import Field, Learned, require
from river_budget.kernels import Features

__all__ = ["UnitNorm"]


def _names(value: Any) -> tuple[Any, ...]:
    """Return a value unchanged. Raises ValueError or TypeError unless it is a tuple of names."""
    require(type(value) is tuple, f"{value!r:.100} is no tuple of names")
    hash(value)
    return value


class UnitNorm(Learned, base.Transformer):
    """Scales arrays to Euclidean norm 1. Use it for embeddings.

    Other features are passed on unchanged, and so is an array of zeros. A name may be missing.

    Parameters
    ----------
    names
        The names of the arrays.

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
        """Return a copy of an example with its arrays scaled.

        Parameters
        ----------
        x
            The features. ValueError is raised if the value of one of the names is not an array of
            numbers in one dimension.
        """
        scaled = dict(x)
        for name in self.names:
            if name in x:
                check_shape(name, x[name])
                scaled[name] = _unit(x[name])
        return scaled


def _unit(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with norm 1, of the same type if that is one of floats, else of doubles."""
    doubles = array.astype(np.float64)
    # Dividing by a power of two rounds nothing, and keeps the squares of any values in range.
    _, exponent = math.frexp(abs(doubles).max())
    doubles = np.ldexp(doubles, -exponent)
    unit = doubles / (math.sqrt(np.square(doubles).sum()) or 1.0)
    return unit.astype(array.dtype) if array.dtype.kind == "f" else unit
