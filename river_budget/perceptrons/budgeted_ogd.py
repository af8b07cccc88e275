from __future__ import annotations

import math

from river_budget._checks import check_not_negative, check_positive, check_real, one_of
from river_budget._core.maintenance import draw
from river_budget._state import require
from river_budget.base import Example, Expansion, RandomPerceptron, parameter, with_example

LOSSES = ["hinge", "logistic"]

# Beyond this margin, the logistic loss counts as 0: its slope is below 1e-43.
LARGEST_MARGIN = 100.0


@with_example(accuracy="83.24%", budget=100, seed=1)
class BudgetedOGD(RandomPerceptron):
    """Bounded online gradient descent (BOGD and BOGD++).

    Use it for rare classes, with `class_weight="balanced"`. Every example decays all coefficients,
    and one with a loss becomes a support vector. Once the budget is full, a support vector drawn at
    random is removed, and the coefficients of the others are divided by their probability to stay.
    So the expected hypothesis is that of a model without a budget.

    BOGD draws all support vectors with the same probability, BOGD++ with
    `1 - s |alpha| sqrt(k(x, x))`, where s makes the sum 1; negative probabilities are 0, and the
    others are normalized. As in JSAT and the code of the Ahpatron's authors, a removal clips the
    coefficients.

    Parameters
    ----------
    loss
        `"hinge"` or `"logistic"`, with which every example becomes a support vector.
    learning_rate
        Step size eta, positive.
    regularization
        Weight lambda of the squared norm, at least 0.
    clip
        Largest coefficient after a removal, as a multiple of the learning rate, at least 1.
    sampling
        `"weighted"` (BOGD++) or `"uniform"` (BOGD).

    References
    ----------
    [^1]: [Zhao, Wang, Wu, Jin & Hoi 2012](https://arxiv.org/abs/1206.4633)
    """

    # Every example decays the hypothesis.
    _threshold = math.inf

    loss: str = parameter(default="hinge", check=one_of(*LOSSES))
    learning_rate: float = parameter(default=0.25, check=check_positive)
    regularization: float = parameter(default=1e-4, check=check_not_negative)
    clip: float = parameter(default=4.0, check=check_real)
    sampling: str = parameter(default="weighted", check=one_of("weighted", "uniform"))

    def __post_init__(self) -> None:
        super().__post_init__()
        is_shrinking = self.learning_rate * self.regularization < 1
        require(is_shrinking, "learning_rate * regularization must be below 1")
        require(self.clip >= 1, f"clip must be at least 1, got {self.clip!r}")

    def _update(self, f: Expansion, y: Example) -> None:
        step = self.learning_rate * slope_of(self.loss, y.margin)
        f.shrink(1 - self.learning_rate * self.regularization)
        # A step that underflows makes no vector.
        if step * y.weight * y.self_value == 0.0:
            return
        if f.n < self.budget:
            f.add(y, step)
        else:
            limit = self.clip * self.learning_rate
            r = draw(f, self._random(), self.sampling == "weighted", limit)
            f.replace(r, y, step)


def slope_of(loss: str, margin: float) -> float:
    """Return the absolute derivative of a loss at a margin, from 0 to 1."""
    if loss == "hinge":
        return float(margin < 1)
    if margin > LARGEST_MARGIN:
        return 0.0
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1 + odds)
