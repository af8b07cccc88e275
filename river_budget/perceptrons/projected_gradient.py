from __future__ import annotations

import math

from river_budget._checks import check_not_negative, check_positive
from river_budget._core.gram import appended, backward, forward_of
from river_budget.base import Example, Expansion, Number, parameter, with_example
from river_budget.perceptrons._span import IN_SPAN, SpanPerceptron
from river_budget.perceptrons._templates import NormedPerceptron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="88.70%")
class ProjectedGradient(SpanPerceptron, NormedPerceptron):
    """Projected gradient descent on one set of approximately independent examples.

    Use it for a support set that stays small by itself, without a learning rate to choose. It is
    gradient descent on the hinge loss in a ball, with steps `U / sqrt(3 + G)`, where G is the sum of
    the squared norms of past gradients. An example within distance `eta` of the span of the
    support vectors, or any once the budget is full, is projected onto the span; any other one
    becomes a support vector.

    The set and the steps are those of the paper's POMDR, without its optimistic part, and without
    what depends on the length of the stream. The constant 3 and the ball are from the authors' code.
    The bound is ours.

    Parameters
    ----------
    eta
        Threshold on the distance (not on its square), at least 0.
    norm_bound
        Radius U of the ball, positive.

    References
    ----------
    [^1]: [Li & Liao 2023](https://arxiv.org/abs/2212.12989)
    """

    _threshold = 1.0
    gradients = Number(least=0.0, doc="G, the sum of the squared norms of the gradients followed.")
    residuals = Number(
        least=0.0, doc="R, the sum of the distances of projected examples from the span."
    )
    excess_loss = Number(least=0.0, doc="E, the sum of the hinge losses, less 1 for each mistake.")

    eta: float = parameter(default=0.1, check=check_not_negative)
    norm_bound: float = parameter(default=10.0, check=check_positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._radius = self.norm_bound

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return (bounds.projected_gradient_run(norm, loss, self),)

    def _update(self, f: Expansion, y: Example) -> None:
        loss, square = 1 - y.margin, y.self_value
        self.excess_loss += loss - (y.margin <= 0)
        z = forward_of(self._factor, f)
        projected = float(z @ z)
        rest = max(0.0, square - projected)
        # A vector with a norm of 0 would make the factor singular.
        if loss == 0 or square == 0:
            return

        step = self.norm_bound / math.sqrt(3 + self.gradients)
        is_new = rest > IN_SPAN * square and f.n < self.budget
        if is_new and (math.sqrt(rest) > self.eta or not f.n):
            self._factor = appended(self._factor, z, math.sqrt(rest))
            f.add(y, step)
            followed = square
        else:
            f.shift(y, step * backward(self._factor, z))
            self.residuals += math.sqrt(rest)
            followed = projected

        self.gradients += followed
        change = step * y.weight
        self._square += change * (2 * y.margin + change * followed)
        self._limit_norm()
