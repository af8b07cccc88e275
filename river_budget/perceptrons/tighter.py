from __future__ import annotations

import math

from river_budget._checks import check_count
from river_budget._state import Part
from river_budget.base import BudgetPerceptron, ClassWeight, documented
from river_budget.kernels import Kernel
from river_budget.perceptrons._validation import (
    AllExamples,
    Reservoir,
    SupportVectors,
    ValidationSet,
)
from river_budget.support import Query, Target

__all__ = ["TighterPerceptron"]


@documented
class TighterPerceptron(BudgetPerceptron):
    """The Tighter Perceptron.

    Once the budget is full, a misclassified example is added, and the support vector whose removal
    gives the fewest errors on a validation set is removed. It may be the incoming example. Among
    ties, the oldest is removed.

    Parameters
    ----------
    validation
        The validation set. `"support"`: the support vectors themselves (Tighter^0). An integer A: a
        uniform random sample of A examples among those seen so far that are not support vectors
        (Tighter^A). `"all"`: every example seen so far (Tighter^Full); memory and the time per
        mistake then grow with the stream.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.TighterPerceptron(rb.RBF(gamma=1.0), budget=100, validation=100, seed=1)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 85.09%

    References
    ----------
    [^1]: [Weston, Bordes & Bottou 2005](https://proceedings.mlr.press/r5/weston05a.html)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.4

    """

    # Correctly classified examples are offered to the validation set.
    _threshold = math.inf
    _validation = Part[ValidationSet](state=["n_support"], restore=["_store"])

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        validation: str | int = "support",
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        super().__init__(kernel, budget, gamma, class_weight, max_classes, dtype)
        self.validation = validation
        self.seed = seed
        self._validation = _validation_set(budget, validation, seed)

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors(self._hypothesis)

    def _on_rescaled(self) -> None:
        self._validation.rescale(self._hypothesis, self._feature_scales)

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._validation.widen(n_labels)

    def _update(self, query: Query, y: Target) -> None:
        if y.margin > 0:
            self._validation.on_correct(self._hypothesis, query, y)
            return
        self._validation.set_incoming(self._hypothesis, query, y)
        if self._store.n < self.budget:
            self._validation.add(self._hypothesis, query, y)
        super()._update(query, y)

    def _update_full(self, query: Query, y: Target) -> None:
        hypothesis, validation = self._hypothesis, self._validation
        r = validation.fewest_errors(hypothesis, y)
        offer = validation.offer(r, hypothesis, query, y)
        validation.replace(r, hypothesis, query, y)
        if r < self.budget:
            hypothesis.replace(r, query, y)
        if offer is not None:
            validation.accept(offer, hypothesis)


def _validation_set(budget: int, validation: str | int, seed: int | None) -> ValidationSet:
    if validation == "support":
        return SupportVectors(budget)
    if validation == "all":
        return AllExamples(budget)
    if isinstance(validation, str):
        raise ValueError(
            f"validation must be 'support', 'all' or a whole number, got {validation!r}"
        )
    check_count("validation", validation)
    return Reservoir(budget, validation, seed)
