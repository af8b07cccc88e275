from __future__ import annotations

import math

import numpy as np

from river_budget._checks import check_count, check_positive
from river_budget._state import State, finite, number
from river_budget.base import ClassWeight
from river_budget.kernels import Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.perceptrons._basis import IN_SPAN
from river_budget.perceptrons._maintenance import (
    Maintenance,
    Nearest,
    OwnProjection,
    Projection,
    Simple,
)
from river_budget.perceptrons._norm import NormedPerceptron
from river_budget.perceptrons._rows import add_rows
from river_budget.support import Query, Target
from river_budget.theory import bounds
from river_budget.theory.bounds import Guarantee, assuming, fixed_comparator

__all__ = ["BudgetPassiveAggressive"]

MAINTENANCE: dict[str, type[Maintenance]] = {
    "simple": Simple,
    "projection": Projection,
    "nearest": Nearest,
}

# Objectives that differ by less than this, relative to that of no update, are ties: the difference
# may be due to rounding.
ROUNDING = 1e-12


class BudgetPassiveAggressive(NormedPerceptron):
    """The budgeted passive-aggressive classifier (BPA-S, BPA-P, BPA-NN).

    Every example with a margin below 1 makes the step of PA-I. Once the budget is full, the step and
    the removal solve one problem: stay close to f and give the example a margin of 1, with one
    support vector less. The removed term is projected onto the span of the incoming example and, by
    `maintenance`, of other support vectors. The vector whose projection is nearest to its term is
    removed.

    The incoming example is a candidate, too: its step is then projected onto all support vectors
    (`"projection"`), or not made. The projection of the removed term does not change the margin of
    the incoming example, so its step size is that of PA-I.

    Not settled by the paper: a candidate without an update is that of the KeLP library; the nearest
    vector is that in the kernel's Hilbert space, as there. With `"projection"`, an example that is
    numerically in the span of the support vectors is projected onto them even before the budget is
    full, which is the same hypothesis. With more than two labels, a removed term is projected for
    each label.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
    C
        Aggressiveness: the largest coefficient of a new support vector, positive.
    maintenance
        What takes over the term of a removed support vector: `"nearest"` (BPA-NN), its nearest
        support vector and the incoming example; `"simple"` (BPA-S), the incoming example;
        `"projection"` (BPA-P), all support vectors and the incoming example. The first and the last
        need `8 * budget ** 2` bytes. The time for an update grows with the budget, with
        `"projection"` with its square; with `"nearest"` only where a vector is the nearest one of
        many others.
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
    removal_displacement
        D, the sum of the distances in Hilbert space by which removals have moved f.
    excess_step
        E, the sum of all step sizes, less `min(1, C)` for each mistake.

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
    ...     rb.BudgetPassiveAggressive(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88.24%

    References
    ----------
    [^1]: [Wang & Vucetic 2010](https://proceedings.mlr.press/v9/wang10b.html)

    """

    _threshold = 1.0

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        C: float = 1.0,
        maintenance: str = "nearest",
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        check_positive("C", C)
        if maintenance not in MAINTENANCE:
            raise ValueError(f"maintenance must be one of {list(MAINTENANCE)}, got {maintenance!r}")
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget
        self.C = C
        self.maintenance = maintenance
        self._maintenance = MAINTENANCE[maintenance](self._store)
        self._removal_displacement = 0.0
        self._excess_step = 0.0

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._maintenance.nbytes

    @property
    def removal_displacement(self) -> float:
        """D, the sum of the distances in Hilbert space by which removals have moved f."""
        return self._removal_displacement

    @property
    def excess_step(self) -> float:
        """E, the sum of all step sizes, less `min(1, C)` for each mistake."""
        return self._excess_step

    def guarantees(
        self, norm: float, loss: float, path_length: float = 0.0
    ) -> tuple[Guarantee, ...]:
        """Return the bound for the run so far; see `KernelPerceptron.guarantees`."""
        run = bounds.budget_passive_aggressive_run(
            norm, loss, self.C, self.norm, self.removal_displacement, self.excess_step
        )
        return assuming(self._assumptions, *fixed_comparator(path_length, run))

    def numerical_errors(self) -> dict[str, float]:
        return {"maintenance": self._maintenance.error(), **super().numerical_errors()}

    def state(self) -> State:
        return {
            **super().state(),
            "maintenance": self._maintenance.state(),
            "removal_displacement": self._removal_displacement,
            "excess_step": self._excess_step,
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._maintenance.restore(state["maintenance"])
        self._removal_displacement = finite(state["removal_displacement"], 0.0, math.inf)
        self._excess_step = number(state["excess_step"])

    def _on_rescaled(self) -> None:
        self._maintenance.on_rescaled(self._hypothesis)
        super()._on_rescaled()

    def _take_arrays(self) -> None:
        super()._take_arrays()
        self._maintenance = MAINTENANCE[self.maintenance](self._store)

    def _update(self, query: Query, y: Target) -> None:
        if y.margin <= 0:
            self._excess_step -= min(1.0, self.C)
        loss, square = 1 - y.margin, self._store.self_value(query)
        # The coefficient of a vector with a norm close to 0 would overflow.
        step = self._step(loss, square)
        if not 0 < step * y.weight <= LARGEST:
            return
        own = self._maintenance.own(query)
        if square - own.square <= IN_SPAN * square:
            self._project(y, own, square)
        elif self._store.n < self.budget:
            self._maintenance.on_add(query, own)
            self._hypothesis.add(query, y, self._count(y, square))
        else:
            self._replace_one(query, y, own, square)

    def _replace_one(self, query: Query, y: Target, own: OwnProjection, square: float) -> None:
        """Make the step with the removal that costs least, or with none."""
        squares, loss = self._maintenance.squares(query, own), 1 - y.margin
        sizes = 0.5 * (self._hypothesis.rows**2).sum(axis=1)
        costs = 0.5 * sizes * squares + self._objective(loss, square)
        costs = np.append(costs, self._objective(loss, own.square))
        is_best = costs <= costs.min() + ROUNDING * self.C * loss
        r = self._store.oldest_largest(is_best.astype(np.float64))
        if r == self.budget:
            self._project(y, own, square)
            return
        weights, term = self._maintenance.weights(r, query, own), self._hypothesis.rows[r]
        left = self._maintenance.residual_scores(r, weights, squares[r], query, self._hypothesis)
        self._square += sizes[r] * squares[r] - float(term @ left)
        self._removal_displacement += math.sqrt(sizes[r] * squares[r])
        self._maintenance.on_replace(r, query, own)
        step = self._count(y, square)
        self._hypothesis.replace(r, query, y, step)
        add_rows(self._hypothesis, np.multiply.outer(weights, term))

    def _project(self, y: Target, own: OwnProjection, square: float) -> None:
        """Make the step along the projection of the incoming example; none if that is 0."""
        if own.square > 0:
            step = self._count(y, own.square)
            self._removal_displacement += step * math.sqrt(max(0.0, square - own.square))
            self._hypothesis.shift(y, step * own.weights)

    def _count(self, y: Target, square: float) -> float:
        """Return the size of a step along a vector with a squared norm, which is counted."""
        step = self._step(1 - y.margin, square)
        self._excess_step += step
        change = step * y.weight
        self._square += change * (2 * y.margin + change * square)
        return step

    def _step(self, loss: float, square: float) -> float:
        """Return the step size of PA-I along a vector with a squared norm."""
        return min(self.C, loss / square) if square > 0 else 0.0

    def _objective(self, loss: float, square: float) -> float:
        """Return what that step leaves of the objective: `step^2 square / 2 + C remaining loss`."""
        step = self._step(loss, square)
        return 0.5 * step * (step * square) + self.C * max(0.0, loss - step * square)
