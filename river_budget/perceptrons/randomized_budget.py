from __future__ import annotations

from river_budget.base import Example, Expansion, RandomPerceptron, with_example


@with_example(accuracy="81.34%", budget=100, seed=1)
class RandomizedBudgetPerceptron(RandomPerceptron):
    """The randomized budget perceptron (RBP).

    Use it where time and memory are scarce: it is less sensitive to the order of the stream than
    removal by age. Once the budget is full, a misclassified example replaces a support vector drawn
    at random.

    References
    ----------
    [^1]: [Cesa-Bianchi & Gentile 2006](https://doi.org/10.1007/11776420_36)
    """

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(int(f.n * self._random()), y)
