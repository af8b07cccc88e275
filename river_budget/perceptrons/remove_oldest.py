from __future__ import annotations

from river_budget._core.expansion import Example, Expansion
from river_budget.base import BudgetPerceptron, documented


@documented
class RemoveOldestPerceptron(BudgetPerceptron):
    """The kernel perceptron that removes its oldest support vector once its budget is full.

    It is cheap and adapts to drift. No mistake bound is known: it lacks the Forgetron's shrinking
    step.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=100)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 81.54%

    References
    ----------
    [^1]: [Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget), section 3
    """

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(f.oldest, y)
