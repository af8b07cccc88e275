from __future__ import annotations

import math
import random
import sys

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count, check_not_negative, check_positive, check_real
from river_budget._state import State, random_state, restore_random
from river_budget.base import ClassWeight, Perceptron
from river_budget.kernels import Kernel
from river_budget.perceptrons._losses import check_loss, slope_of
from river_budget.perceptrons._rows import add_rows
from river_budget.support import Query, Target

__all__ = ["BudgetedOGD"]

SAMPLINGS = ["weighted", "uniform"]


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

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
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

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.BudgetedOGD(rb.RBF(gamma=1.0), budget=100, seed=1)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 84.23%

    References
    ----------
    [^1]: [Zhao, Wang, Wu, Jin & Hoi 2012](https://arxiv.org/abs/1206.4633)

    """

    # Every example decays the hypothesis.
    _threshold = math.inf

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

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + sys.getsizeof(self._rng)

    def state(self) -> State:
        return {**super().state(), "rng": random_state(self._rng)}

    def restore(self, state: State) -> None:
        super().restore(state)
        restore_random(self._rng, state["rng"])

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
        probabilities = self._removal_probabilities()
        sums = probabilities.cumsum()
        slot = int(np.searchsorted(sums[:-1], self._rng.random() * sums[-1], side="right"))
        rows = self._hypothesis.rows
        steps = rows.max(axis=1)
        # The vector in the slot is replaced, so that its own probability, which may be 1, is not used.
        probabilities[slot] = 0.0
        factors = 1 / (1 - probabilities)
        limits = np.divide(
            self.clip * self.learning_rate, steps, out=np.full(len(steps), np.inf), where=steps > 0
        )
        growth = np.minimum(factors, limits) - 1
        add_rows(self._hypothesis, growth[:, None] * rows)
        return slot

    def _removal_probabilities(self) -> Floats:
        """Return the probability of each support vector to be removed (n,)."""
        n, uniform = self.budget, np.full(self.budget, 1 / self.budget)
        if self.sampling == "uniform":
            return uniform
        sizes = self._hypothesis.rows.max(axis=1) * np.sqrt(self._store.self_values)
        if not 0 < sizes.sum() < math.inf:
            return uniform
        probabilities = np.maximum(0.0, 1 - (n - 1) * sizes / sizes.sum())
        return probabilities / probabilities.sum()
