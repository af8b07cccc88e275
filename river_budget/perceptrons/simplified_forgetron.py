from __future__ import annotations

from river_budget._checks import check_budget, check_positive
from river_budget.base import Example, Expansion, parameter, with_example
from river_budget.perceptrons._templates import BallPerceptron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="80.35%", budget=500)
class SimplifiedForgetron(BallPerceptron):
    """The simplified Forgetron of Sutskever's unified analysis.

    Use it for a bound against a moving comparator, with a budget of 500 or more. Every mistake
    decays all coefficients, adds the example, and projects the hypothesis onto a ball. Once the
    budget is full, the support vector with the smallest coefficient is removed first. The budget
    determines the weight decay `1 / U^2` and the radius `U / 2`.

    With a budget `B >= 500`, `k(x, x) <= 1` and the default learning rate, it makes fewer than
    `2 L(g) + 32 U^2 + 96 U S` mistakes, where `U^2 = B / (32 log_2(8 B))`, against any moving
    comparator `g_1, g_2, ...` with cumulative hinge loss `L(g)`, path length
    `S = sum ||g_t - g_(t-1)||` and norms of at most `U / 2` (Theorem 2). Smaller budgets have no
    bound. Below six, the decay factor is 0: every mistake erases all that was learned.

    References
    ----------
    [^1]: [Sutskever 2009](https://doi.org/10.1145/1553374.1553501), Algorithm 2
    """

    budget: int = parameter(default=500, check=check_budget)
    learning_rate: float = parameter(default=1 / 32, check=check_positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._radius = bounds.simplified_forgetron_norm(self.budget)
        self._decay = max(0.0, 1 - self.learning_rate / (2 * self._radius) ** 2)

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return (bounds.simplified_forgetron(norm, loss, self.budget, path_length),)

    def _update(self, f: Expansion, y: Example) -> None:
        self._descend(f, y, f.n if f.n < self.budget else f.smallest)
