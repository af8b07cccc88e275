"""Online gradient descent in a ball, as the unified analysis of budget perceptrons sees it."""

from __future__ import annotations

import math

from river_budget import kernels
from river_budget.base import Perceptron
from river_budget.checks import check_count, check_positive

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

    def __init__(self, kernel: kernels.Kernel | None, budget: int, learning_rate: float) -> None:
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

    def _descend(self, y: float, f: float, removed: int | None, decay: float = 1.0) -> None:
        """Make one step with the current example.

        Parameters
        ----------
        y, f
            As in `_update`.
        removed
            The slot whose term goes, or None.
        decay
            What the terms that stay are multiplied by.

        """
        support, eta = self._support, self.learning_rate
        self_value = support.self_value
        if removed is not None:
            alpha = support.coefficient_of(removed)
            f_removed, _ = support.decide_slot(removed)
            self._square += alpha * (alpha * support.self_value_of(removed) - 2 * f_removed)
            f -= alpha * support.kernel_row[removed]
        self._square = decay**2 * self._square + eta * (2 * y * decay * f + eta * self_value)
        support.shrink(decay)
        if removed is None:
            support.add(eta * y)
        else:
            support.replace(removed, eta * y)
        self._project()

    def _project(self) -> None:
        """Put w at the closest point of the ball."""
        square = self._radius**2
        if self._square > square:
            self._support.shrink(math.sqrt(square / self._square))
            self._square = square
