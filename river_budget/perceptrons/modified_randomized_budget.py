from __future__ import annotations

from river_budget._checks import check_positive
from river_budget.base import Example, Expansion, RandomPerceptron, parameter, with_example
from river_budget.perceptrons._templates import BallPerceptron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="81.64%", budget=100, seed=1)
class ModifiedRandomizedBudgetPerceptron(RandomPerceptron, BallPerceptron):
    """The modified randomized budget perceptron of Sutskever's unified analysis.

    Use it for a bound against a moving comparator with any budget. Every mistake draws one of
    `budget` slots at random. If there is a support vector in the slot, it is removed, even before the
    budget is full. In expectation, this is a weight decay. Then the example is added, and the
    hypothesis is projected onto a ball with the radius `sqrt(budget) / 8`.

    With `k(x, x) <= 1` and the default learning rate, the expected number of mistakes is at most
    `4/3 (L(g) + B / 2 + 6 S sqrt(B))` against any moving comparator `g_1, g_2, ...` with cumulative
    hinge loss `L(g)`, path length `S = sum ||g_t - g_(t-1)||` and norms of at most `sqrt(B) / 8`
    (Theorem 1).

    References
    ----------
    [^1]: [Sutskever 2009](https://doi.org/10.1145/1553374.1553501), Algorithm 1
    """

    learning_rate: float = parameter(default=1 / 16, check=check_positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._radius = bounds.modified_randomized_budget_norm(self.budget)

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return (bounds.modified_randomized_budget(norm, loss, self.budget, path_length),)

    def _update(self, f: Expansion, y: Example) -> None:
        self._descend(f, y, min(f.n, int(self.budget * self._random())))
