from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.choices import add_example, safest, take_place
from river_budget.base import Array, BudgetPerceptron, Example, Expansion, with_example


@with_example(accuracy="62.37%", budget=100)
class FixedBudgetPerceptron(BudgetPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Use it with clean labels and no drift only: it keeps mislabelled examples. Once the budget is
    full, a misclassified example is added, and the support vector with the largest margin
    `y (f(x) - alpha k(x, x))` without its own term is removed. It may be the incoming example.

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1
    """

    # The scores at each support vector without its own term.
    _scores = Array("_f.n_labels", "n_support", start=(2, 0))

    def numerical_errors(self) -> dict[str, float]:
        errors = self._scores_of(self._f, self.n_support) - self._scores_from_scratch()
        return {"scores": float(np.abs(errors).max(initial=0.0))}

    def _on_rescaled(self) -> None:
        self._scores = self._scores_from_scratch()

    def _update(self, f: Expansion, y: Example) -> None:
        scores = self._scores_of(f, f.n + 1)
        if f.n < self.budget:
            add_example(f, scores)
            self._scores = scores
            f.add(y)
            return
        r = safest(f, scores)
        if r < f.n:
            take_place(f, scores, r)
            self._scores = scores
            f.replace(r, y)

    def _scores_of(self, f: Expansion, n: int) -> Floats:
        """Return the scores of all labels with room for n vectors (labels, n)."""
        scores, used = np.zeros((f.n_labels, n)), self._scores[:, : f.n]
        scores[: len(used), : f.n] = used
        return scores

    def _scores_from_scratch(self) -> Floats:
        gram = self._f.store.gram()
        np.fill_diagonal(gram, 0.0)
        return (gram @ self._f.matrix).T.copy()
