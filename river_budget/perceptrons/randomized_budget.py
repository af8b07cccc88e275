from __future__ import annotations

import random
import sys

from river_budget._state import State, random_state, restore_random
from river_budget.base import BudgetPerceptron, ClassWeight
from river_budget.kernels import Kernel
from river_budget.support import Query, Target

__all__ = ["RandomizedBudgetPerceptron"]


class RandomizedBudgetPerceptron(BudgetPerceptron):
    """The randomized budget perceptron (RBP).

    Once the budget is full, a misclassified example replaces a support vector drawn at random.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
    seed
        Random number generator seed for reproducibility.
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
    ...     rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100, seed=1)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 81.11%

    References
    ----------
    [^1]: [Cesa-Bianchi & Gentile 2006](https://doi.org/10.1007/11776420_36)

    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
    ) -> None:
        super().__init__(kernel, budget, gamma, class_weight, max_classes)
        self.seed = seed
        self._rng = random.Random(seed)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + sys.getsizeof(self._rng)

    def state(self) -> State:
        return {**super().state(), "rng": random_state(self._rng)}

    def restore(self, state: State) -> None:
        super().restore(state)
        restore_random(self._rng, state["rng"])

    def _update_full(self, query: Query, y: Target) -> None:
        self._hypothesis.replace(self._rng.randrange(self.budget), query, y)
