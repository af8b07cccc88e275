from __future__ import annotations

from river_budget._compile import UNCOUNTED, compiled
from river_budget.base import ClassWeight, RandomBits, RulePerceptron, documented
from river_budget.kernels import Kernel
from river_budget.support import Rule
from river_budget.support.rule import BUDGET, OWN, add, draw

# The state of the random number generator.
BITS = OWN


@compiled(**UNCOUNTED)
def _random(f, y):
    """Choose a random vector, or a new slot while the budget is not full."""
    return draw(f.numbers, BITS, f.n) if f.n >= f.numbers[BUDGET] else f.n


@documented
class RandomizedBudgetPerceptron(RulePerceptron):
    """The randomized budget perceptron (RBP).

    Once the budget is full, a misclassified example replaces a support vector drawn at random.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100, seed=1)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 81.32%

    References
    ----------
    [^1]: [Cesa-Bianchi & Gentile 2006](https://doi.org/10.1007/11776420_36)
    """

    _rule = Rule(_random, add)
    _n_numbers = 1
    _rng = RandomBits(BITS)

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
        self._own.seed(BITS, seed)
