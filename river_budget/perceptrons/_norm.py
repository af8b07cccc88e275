"""Perceptrons that keep the norm of their hypothesis."""

from __future__ import annotations

import math

from river_budget._state import Number
from river_budget.base import Perceptron


class NormedPerceptron(Perceptron):
    """A perceptron that updates the squared norm of its hypothesis, which may be limited to a ball."""

    _square = Number(key="squared_norm")
    _radius = math.inf

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, updated incrementally."""
        return math.sqrt(max(0.0, self._square))

    def numerical_errors(self) -> dict[str, float]:
        return {"squared norm": abs(self.norm**2 - self._f.norm**2)}

    def _on_rescaled(self) -> None:
        super()._on_rescaled()
        self._square = self._f.norm**2
        self._limit_norm()

    def _limit_norm(self) -> None:
        """Project f onto the ball."""
        largest = self._radius**2
        if self._square > largest:
            self._f.shrink(math.sqrt(largest / self._square))
            self._square = largest
