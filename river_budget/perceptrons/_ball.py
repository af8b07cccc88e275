"""Projected gradient descent in a ball, the template of Sutskever's unified analysis."""

from __future__ import annotations

import math

from river_budget._checks import check_count, check_positive
from river_budget._state import State, number
from river_budget.base import ClassWeight, Perceptron
from river_budget.kernels import Kernel
from river_budget.support import Query, Target

__all__ = ["BallPerceptron"]


class BallPerceptron(Perceptron):
    """A perceptron with its hypothesis in a ball: w <- pi_C(decay (w - term) + eta y k(x, .)).

    A subclass sets the radius of the ball C, and chooses in `_update` the term to remove and the
    decay of the others. The norm of w is updated incrementally, so the projection pi_C onto the
    ball needs no kernel row.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
    learning_rate
        Coefficient eta of a new support vector, positive.
    gamma
        Short for the kernel `RBF(gamma)`.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far.
    max_classes
        Maximum number of labels.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    """

    _radius: float

    def __init__(
        self,
        kernel: Kernel | None,
        budget: int,
        learning_rate: float,
        gamma: float | None,
        class_weight: ClassWeight | None,
        max_classes: int,
    ) -> None:
        check_count("budget", budget)
        check_positive("learning_rate", learning_rate)
        super().__init__(kernel, gamma, class_weight, max_classes)
        self.budget = budget
        self.learning_rate = learning_rate
        self._square = 0.0

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, updated incrementally."""
        return math.sqrt(max(0.0, self._square))

    def numerical_errors(self) -> dict[str, float]:
        return {"squared norm": abs(self.norm**2 - self._hypothesis.norm**2)}

    def state(self) -> State:
        return {**super().state(), "squared_norm": self._square}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._square = number(state["squared_norm"])

    def _descend(self, query: Query, y: Target, removed: int | None, decay: float = 1.0) -> None:
        """Make one gradient step on a misclassified example.

        Parameters
        ----------
        query, y
            As in `_update`.
        removed
            The slot of the support vector to remove, or None.
        decay
            Factor of the other coefficients.

        """
        f, eta, margin = self._hypothesis, self.learning_rate * y.weight, y.margin
        self_value = self._store.self_value(query)
        if removed is not None:
            sigma, mu = f.step_of(removed), f.margin_of(removed)
            self._square += sigma * (sigma * self._store.self_value_of(removed) - 2 * mu)
            margin -= sigma * f.overlap(removed, y) * float(query.row[removed])
        self._square = decay**2 * self._square + eta * (2 * decay * margin + eta * self_value)
        f.shrink(decay)
        if removed is None:
            f.add(query, y, self.learning_rate)
        else:
            f.replace(removed, query, y, self.learning_rate)
        self._project()

    def _on_rescaled(self) -> None:
        self._square = self._hypothesis.norm**2
        self._project()

    def _project(self) -> None:
        """Project w onto the ball."""
        square = self._radius**2
        if self._square > square:
            self._hypothesis.shrink(math.sqrt(square / self._square))
            self._square = square
