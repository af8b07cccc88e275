from __future__ import annotations

from river_budget._state import Part
from river_budget.base import BudgetPerceptron, ClassWeight, Example, Expansion, with_example
from river_budget.kernels import Kernel
from river_budget.perceptrons._draws import Draws


@with_example(accuracy="81.11%", budget=100, seed=1)
class RandomizedBudgetPerceptron(BudgetPerceptron):
    """The randomized budget perceptron (RBP).

    Once the budget is full, a misclassified example replaces a support vector drawn at random.

    References
    ----------
    [^1]: [Cesa-Bianchi & Gentile 2006](https://doi.org/10.1007/11776420_36)
    """

    _rng = Part[Draws]()

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        super().__init__(kernel, budget, gamma, class_weight, max_classes, dtype)
        self.seed = seed
        self._rng = Draws(self._f, seed)

    def _derive(self) -> None:
        self._rng.take_back()

    def _update(self, f: Expansion, y: Example) -> None:
        if f.n < self.budget:
            f.add(y)
        else:
            f.replace(self._rng.randrange(f.n), y)
