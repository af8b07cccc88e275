"""What a store does that scales features before the kernel."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget.kernels import Kernel
from river_budget.kernels._compiled import TILE, self_value
from river_budget.kernels.wrappers import Scaled
from river_budget.support.store import VectorStore


class ScaledStore(VectorStore):
    """A store that multiplies features by factors, their inverse scales, before the kernel."""

    __slots__ = ("_factors", "_pooled", "_spec", "_statistics")

    # The slot of what is derived.
    _derived: ClassVar[str]

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        # The factors of features by name, and of all others.
        self._factors: Mapping[Any, float] = {}
        self._pooled = 1.0
        self._spec: Any
        # The self statistic of each vector, 0 in free slots.
        self._statistics: Floats = np.zeros((0, TILE))

    def self_value_of(self, slot: int) -> float:
        return self_value(self._spec, self._statistics.item(slot))

    @property
    def resolved_kernel(self) -> Kernel:
        return self._in_units_of_user(self.kernel)

    def _in_units_of_user(self, kernel: Kernel) -> Kernel:
        """Return a kernel for examples in the units of the user."""
        if not self._is_scaled:
            return kernel
        scales = tuple((name, 1 / factor) for name, factor in self._factors.items())
        return Scaled(kernel, scales, 1 / self._pooled)

    @property
    def _is_scaled(self) -> bool:
        return bool(self._factors) or self._pooled != 1.0

    def _factor(self, name: Any) -> float:
        return self._factors.get(name, self._pooled)

    def _factors_of(self, names: Collection[Any]) -> Floats:
        """Return the factors of features (names,)."""
        pooled = itertools.repeat(self._pooled)
        return np.fromiter(map(self._factors.get, names, pooled), np.float64, len(names))

    def _extend(self, n_blocks: int) -> None:
        super()._extend(n_blocks)
        self._statistics = padded(self._statistics, n_blocks)

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
