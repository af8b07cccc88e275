"""The states of models as values that can be compared."""

from __future__ import annotations

import numpy as np


def content(value, without=()):
    """Return a state, or a part of it, as a value that can be compared."""
    if isinstance(value, dict):
        return {key: content(part, without) for key, part in value.items() if key not in without}
    if isinstance(value, list | tuple):
        return [content(part, without) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value
