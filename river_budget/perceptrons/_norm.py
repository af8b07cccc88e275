"""Perceptrons that keep the norm of their hypothesis."""

from __future__ import annotations

import math

from river_budget._checks import check_positive
from river_budget.base import BudgetPerceptron, Example, Expansion, Number


class NormedPerceptron(BudgetPerceptron):
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


class BallPerceptron(NormedPerceptron):
    """The template of Sutskever's analysis: w <- pi_C(decay (w - term) + eta y k(x, .)), in a ball C."""

    _decay = 1.0

    def _set_ball(self, learning_rate: float, radius: float) -> None:
        check_positive("learning_rate", learning_rate)
        self.learning_rate = learning_rate
        self._radius = radius

    def _descend(self, f: Expansion, y: Example, r: int) -> None:
        """Make one gradient step on the example, in place of the vector r if there is one."""
        decay, margin, square = self._decay, y.margin, self._square
        eta = self.learning_rate * y.weight
        if r < f.n:
            sigma, mu = f.step_of(r), f.margin_of(r)
            square += sigma * (sigma * f.self_value_of(r) - 2 * mu)
            margin -= sigma * f.overlap(r) * f.row_at(r)
        self._square = decay**2 * square + eta * (2 * decay * margin + eta * y.self_value)
        f.shrink(decay)
        if r < f.n:
            f.replace(r, y, self.learning_rate)
        else:
            f.add(y, self.learning_rate)
        self._limit_norm()
