"""Online gradient descent in a ball, as the unified analysis of budget perceptrons sees it."""

from __future__ import annotations

import math

from river_budget._checks import check_count, check_positive
from river_budget._state import State, number
from river_budget.base import Perceptron
from river_budget.kernels import Kernel
from river_budget.support import Query

__all__ = ["BallPerceptron"]


class BallPerceptron(Perceptron):
    """A perceptron whose hypothesis stays in a ball: w <- pi_C(decay (w - term) + eta y k(x, .)).

    An algorithm is one subclass that sets the ball's radius, and says in `_update` which term goes
    and how much the rest decays. The norm of w is kept up to date, so that the projection pi_C costs
    no kernel row.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors.
    learning_rate
        Coefficient eta of a newcomer.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    """

    _radius: float

    def __init__(self, kernel: Kernel | None, budget: int, learning_rate: float) -> None:
        check_count("budget", budget)
        check_positive("learning_rate", learning_rate)
        super().__init__(kernel)
        self.budget = budget
        self.learning_rate = learning_rate
        self._square = 0.0

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, as it is kept up to date."""
        return math.sqrt(max(0.0, self._square))

    def numerical_errors(self) -> dict[str, float]:
        return {"squared norm": abs(self.norm**2 - self._hypothesis.norm**2)}

    def state(self) -> State:
        return {**super().state(), "squared_norm": self._square}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._square = number(state["squared_norm"])

    def _descend(self, query: Query, y: float, removed: int | None, decay: float = 1.0) -> None:
        """Make one step with an example.

        Parameters
        ----------
        query, y
            As in `_update`.
        removed
            The slot whose term is removed, or None.
        decay
            Factor of the terms that stay.

        """
        hypothesis, eta, f = self._hypothesis, self.learning_rate, query.answer
        self_value = self._store.self_value(query)
        if removed is not None:
            alpha = hypothesis.coefficient_of(removed)
            f_removed, _ = hypothesis.evaluate_slot(removed)
            self._square += alpha * (alpha * self._store.self_value_of(removed) - 2 * f_removed)
            f -= alpha * float(query.row[removed])
        self._square = decay**2 * self._square + eta * (2 * y * decay * f + eta * self_value)
        hypothesis.shrink(decay)
        if removed is None:
            hypothesis.add(query, eta * y)
        else:
            hypothesis.replace(removed, query, eta * y)
        self._project()

    def _project(self) -> None:
        """Project w onto the ball."""
        square = self._radius**2
        if self._square > square:
            self._hypothesis.shrink(math.sqrt(square / self._square))
            self._square = square
