from __future__ import annotations

from river_budget._core.removal import ValidationTable
from river_budget.base import Example, Expansion, with_example
from river_budget.perceptrons._validation import ValidatedPerceptron


@with_example(accuracy="62.37%", budget=100)
class FixedBudgetPerceptron(ValidatedPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Use it only with clean labels and without drift, because it keeps mislabelled examples. Once the
    budget is full, a misclassified example is added, and the support vector that has the largest
    margin without its own term, `y (f(x) - alpha k(x, x))`, is removed. It may be the incoming one.

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._validation = ValidationTable(self._f, self.budget + 1)

    def _update(self, f: Expansion, y: Example) -> None:
        vectors = self._validation
        vectors.join()
        vectors.finish(vectors.safest() if f.n == self.budget else -1)
