from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.expansion import Example, Expansion
from river_budget._core.removal import VectorScores
from river_budget._state import Part
from river_budget.base import BudgetPerceptron, documented


@documented
class FixedBudgetPerceptron(BudgetPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Once the budget is full, a misclassified example is added, and the support vector with the
    largest margin `y (f(x) - alpha k(x, x))` without its own term is removed. It may be the
    incoming example. This works well with clean labels; with noisy labels, the mislabelled examples
    are kept.

    The margins of the support vectors are updated incrementally, so a mistake costs two kernel
    rows.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.FixedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 62.37%

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1
    """

    _scores = Part(VectorScores, state=["_f"], restore=["_f"])

    def numerical_errors(self) -> dict[str, float]:
        errors = self._scores.values(self._f) - self._scores_from_scratch()
        return {"scores": float(np.abs(errors).max(initial=0.0))}

    def _derive(self) -> None:
        self._scores.take_back(self._f)

    def _on_rescaled(self) -> None:
        self._scores.derive(self._f, self._scores_from_scratch())

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            self._scores.put(f, f.n)
            f.add(y)
            return
        r = self._scores.safest(f)
        if r < f.n:
            self._scores.put(f, r)
            f.replace(r, y)

    def _scores_from_scratch(self) -> Floats:
        gram = self._f.store.gram()
        np.fill_diagonal(gram, 0.0)
        return gram @ self._f.matrix
