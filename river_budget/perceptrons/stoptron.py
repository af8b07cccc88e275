from __future__ import annotations

from river_budget.base import BudgetPerceptron, Example, Expansion, GrowingPerceptron, with_example


@with_example(accuracy="83.11%", budget=100)
class Stoptron(GrowingPerceptron, BudgetPerceptron):
    """The kernel perceptron that stops learning once its budget is full.

    Use it as the baseline that any other use of the same budget must beat. It learns only the first
    mistakes, so its accuracy depends strongly on the order of the stream.

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), section 5
    """

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            self._add(f, y)
