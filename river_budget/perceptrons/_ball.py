"""Projected gradient descent in a ball, the template of Sutskever's unified analysis."""

from __future__ import annotations

import math

from river_budget._checks import check_positive
from river_budget._compile import UNCOUNTED, compiled
from river_budget.base import ClassWeight, RulePerceptron, Slot
from river_budget.kernels import Kernel
from river_budget.perceptrons._norm import NormedPerceptron
from river_budget.support.rule import OWN, assign, margin_of, overlap, shrink, step_of

__all__ = ["N_NUMBERS", "BallPerceptron", "descend"]

# The squared norm of w and the bound on it, the learning rate eta, and the decay of coefficients.
SQUARE, LARGEST_SQUARE, LEARNING_RATE, DECAY = range(OWN, OWN + 4)
N_NUMBERS = 4


@compiled(**UNCOUNTED)
def descend(f, y, r, row):
    """Make one gradient step on a misclassified example, in place of the vector r if there is one.

    w <- pi_C(decay (w - term) + eta y k(x, .)).

    """
    decay, margin = f.numbers[DECAY], y.margin
    eta, square = f.numbers[LEARNING_RATE] * y.weight, f.numbers[SQUARE]
    if r < f.n:
        sigma, mu = step_of(f, r), margin_of(f, r, row)
        square += sigma * (sigma * row[r] - 2 * mu)
        margin -= sigma * overlap(f, r, y) * y.row[r]
    square = decay**2 * square + eta * (2 * decay * margin + eta * y.self_value)
    shrink(f, decay)
    assign(f, r, y, f.numbers[LEARNING_RATE])
    largest = f.numbers[LARGEST_SQUARE]
    f.numbers[SQUARE] = min(square, largest)
    if square > largest:
        shrink(f, math.sqrt(largest / square))


class BallPerceptron(NormedPerceptron, RulePerceptron):
    """A perceptron with its hypothesis in a ball: w <- pi_C(decay (w - term) + eta y k(x, .)).

    A subclass chooses the term to remove. The norm of w is updated incrementally, so the projection
    pi_C onto the ball needs no kernel row.

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
    dtype
        Type of the elements of stored arrays, as a string: `"float32"` or `"float64"`. Sums over
        them have double precision.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    """

    _n_numbers = N_NUMBERS
    _square = Slot(SQUARE, key="squared_norm")

    def __init__(
        self,
        kernel: Kernel | None,
        budget: int,
        learning_rate: float,
        gamma: float | None,
        class_weight: ClassWeight | None,
        max_classes: int,
        dtype: str,
    ) -> None:
        check_positive("learning_rate", learning_rate)
        super().__init__(kernel, budget, gamma, class_weight, max_classes, dtype)
        self.learning_rate = learning_rate
        self._own.numbers[LEARNING_RATE] = learning_rate
        self._set_ball(math.inf)

    def _set_ball(self, radius: float, decay: float = 1.0) -> None:
        """Set the radius of the ball, and the decay of the coefficients."""
        self._radius = radius
        self._own.numbers[LARGEST_SQUARE], self._own.numbers[DECAY] = radius**2, decay
