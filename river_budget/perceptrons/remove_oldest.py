from __future__ import annotations

from river_budget.base import BudgetPerceptron
from river_budget.support import Query

__all__ = ["RemoveOldestPerceptron"]


class RemoveOldestPerceptron(BudgetPerceptron):
    """The kernel perceptron on a budget that gives up its oldest support vector.

    This is the Forgetron's removal step without its shrinking step. It costs next to nothing and
    follows a drifting stream, but no mistake bound is known for it.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 81.55%

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 3.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """

    def _update_full(self, query: Query, y: float) -> None:
        self._hypothesis.replace(self._store.oldest, query, y)
