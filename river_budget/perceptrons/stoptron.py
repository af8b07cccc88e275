from __future__ import annotations

from river_budget._checks import check_count
from river_budget.base import ClassWeight, GrowingPerceptron, documented
from river_budget.kernels import Kernel
from river_budget.support import Query, Target


@documented
class Stoptron(GrowingPerceptron):
    """The kernel perceptron that stops learning once its budget is full.

    It is the baseline that any other use of the same budget has to beat. It learns only the first
    mistakes, so its accuracy varies strongly with the order of the stream.

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

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget

    def _update(self, query: Query, y: Target) -> None:
        if self._store.n < self.budget:
            self._add(query, y)
