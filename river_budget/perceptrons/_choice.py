"""Ties between support vectors go to the oldest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._core.store import Store


def oldest_of(store: Store, is_chosen: NDArray[Any]) -> int:
    """Return the oldest of the slots for which a mask is true; an incoming example, n, is the youngest."""
    slots = np.flatnonzero(is_chosen)
    ages = np.append(store.insertion_order, store.n_inserted)
    return int(slots[ages[slots].argmin()])
