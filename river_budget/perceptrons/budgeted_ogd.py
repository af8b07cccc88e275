from __future__ import annotations

import math
import random

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count, check_not_negative, check_positive, check_real
from river_budget._compile import compiled
from river_budget._state import Random
from river_budget.base import ClassWeight, Perceptron, documented
from river_budget.kernels import Kernel
from river_budget.perceptrons._compiled import term_of
from river_budget.perceptrons._validation import coefficients_of
from river_budget.support import Query, Target

LOSSES = ["hinge", "logistic"]
SAMPLINGS = ["weighted", "uniform"]

# Beyond this margin, the logistic loss counts as 0: its slope is below 1e-43.
LARGEST_MARGIN = 100.0


@documented
class BudgetedOGD(Perceptron):
    """Bounded online gradient descent (BOGD and BOGD++).

    Gradient descent on the regularized hinge or logistic loss: every example decays all coefficients,
    and every example with a loss becomes a support vector. Once the budget is full, a support vector
    drawn at random is removed, and the coefficients of the others are divided by their probability
    to stay. So the expected hypothesis is that without a budget.

    BOGD draws each support vector with the same probability. BOGD++ draws it with the probability
    `1 - s |alpha| sqrt(k(x, x))`, where s makes the sum of all probabilities 1, so that large terms
    tend to stay.

    Settled by JSAT and the code of the Ahpatron's authors: coefficients are clipped at a removal, to
    `clip * learning_rate` (the toolbox of the paper's group scales all of them down instead). As the
    expectation asks, each coefficient is divided by its own probability. Negative probabilities,
    which the formula gives to terms far above the mean, are 0, and the others are normalized.

    Parameters
    ----------
    loss
        `"hinge"` or `"logistic"`. With the logistic loss, every example becomes a support vector.
    learning_rate
        Step size eta, positive.
    regularization
        Weight lambda of the squared norm, at least 0.
    clip
        Largest coefficient after a removal, in multiples of the learning rate, at least 1.
    sampling
        `"weighted"` (BOGD++) or `"uniform"` (BOGD).

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.BudgetedOGD(rb.RBF(gamma=1.0), budget=100, seed=1)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 84.22%

    References
    ----------
    [^1]: [Zhao, Wang, Wu, Jin & Hoi 2012](https://arxiv.org/abs/1206.4633)
    """

    # Every example decays the hypothesis.
    _threshold = math.inf
    _rng = Random()

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        loss: str = "hinge",
        learning_rate: float = 0.25,
        regularization: float = 1e-4,
        clip: float = 4.0,
        sampling: str = "weighted",
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        check_loss(loss)
        check_positive("learning_rate", learning_rate)
        check_not_negative("regularization", regularization)
        if learning_rate * regularization >= 1:
            raise ValueError("learning_rate * regularization must be below 1")
        check_real("clip", clip)
        if clip < 1:
            raise ValueError(f"clip must be at least 1, got {clip!r}")
        if sampling not in SAMPLINGS:
            raise ValueError(f"sampling must be one of {SAMPLINGS}, got {sampling!r}")
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget
        self.loss = loss
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.clip = clip
        self.sampling = sampling
        self.seed = seed
        self._rng = random.Random(seed)

    def _update(self, query: Query, y: Target) -> None:
        f, step = self._hypothesis, self.learning_rate * slope_of(self.loss, y.margin)
        f.shrink(1 - self.learning_rate * self.regularization)
        # A step that underflows makes no vector.
        if step * y.weight * self._store.self_value(query) == 0.0:
            return
        if self._store.n < self.budget:
            f.add(query, y, step)
        else:
            f.replace(self._remove(), query, y, step)

    def _remove(self) -> int:
        """Draw a support vector, and make up for its removal; return its slot."""
        f, store = self._hypothesis, self._store
        store.forget_query()
        return remove(
            *coefficients_of(f), f.n_labels, store.self_values, self.sampling == "weighted",
            self.clip * self.learning_rate, self._rng.random(),
        )  # fmt: skip


@compiled()
def remove(
    coefficients: Floats,
    scale: float,
    n_labels: int,
    self_values: Floats,
    is_weighted: bool,
    limit: float,
    drawn: float,
) -> int:
    """Draw a support vector by a number from 0 to 1, and make up for its removal; return its slot.

    Coefficients are those of `term_of`, and afterwards at most `limit`. Large terms tend to stay if
    the draw is weighted.
    """
    steps = np.empty(len(self_values))
    for i in range(len(steps)):
        steps[i], _, _ = term_of(coefficients, scale, n_labels, i)
    probabilities = removal_probabilities(steps * np.sqrt(self_values), is_weighted)
    sums = probabilities.cumsum()
    slot = np.searchsorted(sums[:-1], drawn * sums[-1], side="right")
    rows = coefficients.reshape((-1, 1)) if n_labels == 2 else coefficients
    for i in range(len(steps)):
        # The vector in the slot is replaced, so that its own probability, which may be 1, is not used.
        if i != slot and steps[i] > 0:
            growth = min(1 / (1 - probabilities[i]), limit / steps[i])
            for c in range(rows.shape[1]):
                rows[i, c] *= growth
    return slot


@compiled()
def removal_probabilities(sizes: Floats, is_weighted: bool) -> Floats:
    """Return the probability of each support vector to be removed, given the sizes of its terms."""
    n, total = len(sizes), sizes.sum()
    if not is_weighted or not 0 < total < np.inf:
        return np.full(n, 1 / n)
    probabilities = np.maximum(0.0, 1 - (n - 1) * sizes / total)
    return probabilities / probabilities.sum()


def check_loss(loss: str) -> None:
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {LOSSES}, got {loss!r}")


def slope_of(loss: str, margin: float) -> float:
    """Return the size of the derivative of a loss at a margin, from 0 to 1."""
    if loss == "hinge":
        return float(margin < 1)
    if margin > LARGEST_MARGIN:
        return 0.0
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1 + odds)
