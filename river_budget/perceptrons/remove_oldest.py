from __future__ import annotations

from river_budget.base import BudgetPerceptron, Example, Expansion, with_example


@with_example(accuracy="81.54%", budget=100)
class RemoveOldestPerceptron(BudgetPerceptron):
    """The kernel perceptron that removes its oldest support vector once its budget is full.

    Use it for drift, in the least time and memory of all. No mistake bound is known: it lacks the
    Forgetron's shrinking step.

    References
    ----------
    [^1]: [Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget), section 3
    """

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(f.oldest, y)
