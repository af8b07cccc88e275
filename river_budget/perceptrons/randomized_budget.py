from __future__ import annotations

from river_budget._compile import UNCOUNTED, compiled
from river_budget.base import ClassWeight, RandomBits, RulePerceptron
from river_budget.kernels import Kernel
from river_budget.support import Rule
from river_budget.support.rule import BUDGET, OWN, add, draw

__all__ = ["RandomizedBudgetPerceptron"]


# The state of the random number generator.
BITS = OWN


@compiled(**UNCOUNTED)
def _random(f, y):
    """Choose a random vector, or a new slot while the budget is not full."""
    return draw(f.numbers, BITS, f.n) if f.n >= f.numbers[BUDGET] else f.n


class RandomizedBudgetPerceptron(RulePerceptron):
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
    dtype
        Type of the elements of stored arrays, as a string: `"float32"` or `"float64"`. Sums over
        them have double precision.

    Attributes
    ----------
    classes
        The labels seen so far: the negative one, the positive one, others as they appeared.
    support_vectors
        The support vectors as dicts, oldest first.
    coefficients
        Their coefficients, signed (n_support,) with two labels; a column for each label with more
        (n_support, n_classes).
    n_support, n_rounds, n_mistakes
        Number of support vectors, of examples learned, and of those with a margin of at most 0.
    norm
        Norm of f in the kernel's Hilbert space.
    resolved_kernel
        The kernel, with the width and the scales of the features that were learned.
    memory_bytes
        Memory of the model in bytes.

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
