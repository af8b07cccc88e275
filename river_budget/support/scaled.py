"""What a store does that scales features before the kernel."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from river_budget._arrays import Floats
from river_budget.kernels import Kernel
from river_budget.kernels.wrappers import Scaled
from river_budget.support.store import VectorStore

__all__ = ["ScaledStore"]


class ScaledStore(VectorStore):
    """A store that divides features by scales before the kernel.

    A subclass keeps one thing that is derived from kernel and names, and that copies compute anew.

    """

    __slots__ = ("_pooled", "_scales")

    # The slot of what is derived.
    _derived: ClassVar[str]

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        # The scales of features by name, and of all others.
        self._scales: Mapping[Any, float] = {}
        self._pooled = 1.0

    @property
    def resolved_kernel(self) -> Kernel:
        return self._in_units_of_user(self.kernel)

    def _in_units_of_user(self, kernel: Kernel) -> Kernel:
        """Return a kernel for examples in the units of the user."""
        if not self._is_scaled:
            return kernel
        return Scaled(kernel, tuple(self._scales.items()), self._pooled)

    @property
    def _is_scaled(self) -> bool:
        return bool(self._scales) or self._pooled != 1.0

    def _scale(self, name: Any) -> float:
        """Return the scale of a feature."""
        return self._scales.get(name, self._pooled)

    def _scales_of(self, names: Sequence[Any]) -> Floats:
        """Return the scales of features (names,)."""
        pooled = itertools.repeat(self._pooled)
        return np.fromiter(map(self._scales.get, names, pooled), np.float64, len(names))

    @abc.abstractmethod
    def _derive(self) -> None:
        """Compute what is derived."""

    def __getstate__(self) -> Any:
        _, slots = super().__getstate__()
        return None, {**slots, self._derived: None}

    def __setstate__(self, state: Any) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self._derive()
