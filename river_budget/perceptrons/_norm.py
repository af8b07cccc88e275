"""Perceptrons that keep the norm of their hypothesis."""

from __future__ import annotations

import math

from river_budget._arrays import Floats
from river_budget._state import Number
from river_budget.base import Perceptron
from river_budget.support import Target


class NormedPerceptron(Perceptron):
    """A perceptron that updates the squared norm of its hypothesis, which may be limited to a ball."""

    _square = Number(key="squared_norm")
    _radius = math.inf

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, updated incrementally."""
        return math.sqrt(max(0.0, self._square))

    def numerical_errors(self) -> dict[str, float]:
        return {"squared norm": abs(self.norm**2 - self._hypothesis.norm**2)}

    def _on_rescaled(self) -> None:
        self._square = self._hypothesis.norm**2
        self._limit_norm()

    def _add_rows(self, change: Floats) -> None:
        """Add a change to the coefficients of all labels (n, labels), whose rows sum to 0."""
        # It is a sum of differences to the first label.
        for label in range(1, change.shape[1]):
            self._hypothesis.shift(Target(label, 0, 0.0), change[:, label])

    def _limit_norm(self) -> None:
        """Project f onto the ball."""
        largest = self._radius**2
        if self._square > largest:
            self._hypothesis.shrink(math.sqrt(largest / self._square))
            self._square = largest
