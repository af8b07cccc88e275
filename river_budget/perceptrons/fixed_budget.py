from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats, padded, widened
from river_budget._state import State, floats
from river_budget.base import BudgetPerceptron, ClassWeight
from river_budget.kernels import Kernel
from river_budget.perceptrons import _compiled
from river_budget.support import Query, Target

__all__ = ["FixedBudgetPerceptron"]

# Margins that differ by less than this, relative to the largest score, are ties: the difference may
# be due to rounding.
ROUNDING = 1e-12


class FixedBudgetPerceptron(BudgetPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Once the budget is full, a misclassified example is added, and the support vector with the
    largest margin `y (f(x) - alpha k(x, x))` without its own term is removed. It may be the
    incoming example. This works well with clean labels; with noisy labels, the mislabelled examples
    are kept.

    The margins of the support vectors are updated incrementally, so a mistake costs two kernel
    rows.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
    gamma
        Short for the kernel `RBF(gamma)`.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far.
    max_classes
        Maximum number of labels.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.FixedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 62.38%

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1

    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
    ) -> None:
        super().__init__(kernel, budget, gamma, class_weight, max_classes)
        # The scores at each support vector without its own term, by slots.
        self._scores: Floats = np.zeros((0, 2))

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._scores.nbytes

    def numerical_errors(self) -> dict[str, float]:
        scores = self._scores_from_scratch()
        return {"scores": float(np.abs(self._scores - scores).max(initial=0.0))}

    def state(self) -> State:
        return {**super().state(), "scores": self._scores.copy()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._scores = floats(state["scores"], (self.n_support, self._hypothesis.n_labels))

    def _on_rescaled(self) -> None:
        self._scores = self._scores_from_scratch()

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._scores = widened(self._scores, n_labels)

    def _update(self, query: Query, y: Target) -> None:
        if self._store.n < self.budget:
            self._scores = self._scores_with(query, y)
        super()._update(query, y)

    def _update_full(self, query: Query, y: Target) -> None:
        scores, terms = self._scores_with(query, y), self._hypothesis.terms(y)
        r = _compiled.oldest_safest(scores, terms.labels, self._store.inserted, ROUNDING)
        if r == self.budget:
            return
        row = np.append(self._store.row(r), query.row[r])
        _compiled.add_term(scores, row, -terms.steps[r], terms.labels[r], terms.rivals[r])
        scores[r] = scores[-1]
        self._scores = scores[:-1]
        self._hypothesis.replace(r, query, y)

    def _scores_from_scratch(self) -> Floats:
        gram = self._store.gram()
        np.fill_diagonal(gram, 0.0)
        return gram @ self._hypothesis.rows

    def _scores_with(self, query: Query, y: Target) -> Floats:
        """Return the scores without own terms after an example is added, its own last."""
        scores = padded(self._scores, query.n + 1)
        scores[-1] = self._hypothesis.scores(query)
        _compiled.add_term(scores, query.row, y.weight, y.label, y.rival)
        return scores
