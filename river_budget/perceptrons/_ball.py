"""Projected gradient descent in a ball, the template of Sutskever's unified analysis."""

from __future__ import annotations

import math

from river_budget._checks import check_positive
from river_budget._compile import UNCOUNTED, compiled
from river_budget.base import RulePerceptron, Slot
from river_budget.perceptrons._norm import NormedPerceptron
from river_budget.support.rule import OWN, assign, margin_of, overlap, shrink, step_of

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

    A subclass chooses the term to remove, and its constructor sets the ball. The norm of w is updated
    incrementally, so the projection pi_C onto the ball needs no kernel row.
    """

    _n_numbers = N_NUMBERS
    _square = Slot(SQUARE, key="squared_norm")

    def _set_ball(self, learning_rate: float, radius: float) -> None:
        check_positive("learning_rate", learning_rate)
        self.learning_rate = learning_rate
        self._radius = radius
        numbers = self._own.numbers
        numbers[LEARNING_RATE], numbers[DECAY] = learning_rate, 1.0
        numbers[LARGEST_SQUARE] = radius**2
