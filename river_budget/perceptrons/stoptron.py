from __future__ import annotations

from river_budget._core.expansion import Example, Expansion
from river_budget.base import BudgetPerceptron, GrowingPerceptron, documented


@documented
class Stoptron(GrowingPerceptron, BudgetPerceptron):
    """The kernel perceptron that stops learning once its budget is full.

    Use it as the baseline that any other use of the same budget must beat. It learns only the first
    mistakes, so its accuracy depends strongly on the order of the stream.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> model = preprocessing.StandardScaler() | rb.Stoptron(rb.RBF(gamma=1.0), budget=100)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 83.11%

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), section 5
    """

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            self._add(f, y)
