from __future__ import annotations

import math

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_positive, one_of
from river_budget._state import Field
from river_budget.base import BudgetPerceptron, Example, Expansion, Number, parameter, with_example
from river_budget.kernels import LARGEST
from river_budget.perceptrons._maintenance import Maintenance, Nearest, Projection
from river_budget.perceptrons._span import IN_SPAN
from river_budget.perceptrons._templates import ProvenPerceptron
from river_budget.theory import Guarantee, bounds

MAINTENANCE = {"simple": Maintenance, "projection": Projection, "nearest": Nearest}

# Objectives that differ by less than this, relative to that of no update, are ties: the difference
# may be due to rounding.
ROUNDING = 1e-12


@with_example(accuracy="88.24%", budget=100)
class BudgetPassiveAggressive(ProvenPerceptron, BudgetPerceptron):
    """The budgeted passive-aggressive classifier (BPA-S, BPA-P, BPA-NN).

    Use it for updates on margin errors with few vectors. Every example with a margin below 1 makes the
    step of PA-I. Once the budget is full, a support vector is removed: the one whose term is nearest to
    its projection onto the span of the vectors that take it over. These are the incoming example and,
    depending on `maintenance`, other support vectors. The margin of the incoming example does not
    change. That example may be removed instead: then its step is projected onto all support vectors
    (`"projection"`), or not made.

    The paper leaves some points open. As in the KeLP library, there may be no update, and the nearest
    vector is nearest in the kernel's Hilbert space. With `"projection"`, an example in the span of the
    support vectors is projected even before the budget is full, which gives the same hypothesis. With
    more than two labels, a term is projected for each label.

    Parameters
    ----------
    C
        Aggressiveness: the largest coefficient of a new support vector, positive.
    maintenance
        What takes over the term of a removed support vector beside the incoming example:
        `"simple"` (BPA-S), nothing; `"nearest"` (BPA-NN), the nearest support vector;
        `"projection"` (BPA-P), all support vectors, in time that grows with the square of the budget.
        The last two need `8 * budget ** 2` bytes.

    References
    ----------
    [^1]: [Wang & Vucetic 2010](https://proceedings.mlr.press/v9/wang10b.html)
    """

    _threshold = 1.0

    _maintenance = Field[Maintenance]()
    removal_displacement = Number(
        least=0.0,
        doc="D, the sum of the distances in Hilbert space by which removals have moved f.",
    )
    excess_step = Number(doc="E, the sum of all step sizes, less `min(1, C)` for each mistake.")

    C: float = parameter(default=1.0, check=check_positive)
    maintenance: str = parameter(default="nearest", check=one_of(*MAINTENANCE))

    def __post_init__(self) -> None:
        super().__post_init__()
        # A single vector has no neighbour.
        is_alone = self.budget == 1 and self.maintenance == "nearest"
        maintenance = MAINTENANCE["simple" if is_alone else self.maintenance]
        self._maintenance = maintenance(self._f)

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return (bounds.budget_passive_aggressive_run(norm, loss, self),)

    def numerical_errors(self) -> dict[str, float]:
        return {"maintenance": self._maintenance.error(), **super().numerical_errors()}

    def _check_restored(self) -> None:
        super()._check_restored()
        self._maintenance.check()

    def _derive(self) -> None:
        # The new object computes its matrices when they are needed.
        self._maintenance = type(self._maintenance)(self._f)

    def _on_rescaled(self) -> None:
        self._maintenance.on_rescaled()
        super()._on_rescaled()

    def _update(self, f: Expansion, y: Example) -> None:
        if y.margin <= 0:
            self.excess_step -= min(1.0, self.C)
        square = y.self_value
        # The coefficient of a vector with a norm close to 0 would overflow.
        if not 0 < self._step(1 - y.margin, square) * y.weight <= LARGEST:
            return
        weights, projected = self._maintenance.project()
        if square - projected <= IN_SPAN * square:
            self._shift(f, y, weights, projected)
        elif f.n < self.budget:
            self._maintenance.on_put()
            f.add(y, self._counted_step(y, square))
        else:
            self._replace_one(f, y, weights, projected)

    def _replace_one(self, f: Expansion, y: Example, weights: Floats, projected: float) -> None:
        """Remove the support vector, or the incoming example, whose removal costs the objective least.

        `weights` and `projected` are coefficients and squared norm of the projection of the example.
        """
        maintenance, loss = self._maintenance, 1 - y.margin
        # The squared norm of the part of each term that is lost with its vector.
        squares = f.sizes * maintenance.squares()
        # The objective after the removal of each support vector, and of the incoming example.
        costs = np.empty(f.n + 1)
        costs[:-1] = 0.5 * squares + self._objective(loss, y.self_value)
        costs[-1] = self._objective(loss, projected)
        r = f.cheapest(costs, ROUNDING * self.C * loss)
        if r == f.n:
            self._shift(f, y, weights, projected)
            return

        self.removal_displacement += math.sqrt(squares[r])
        change = np.multiply.outer(maintenance.take_over(r), f.matrix[r])
        maintenance.on_put(r)
        f.replace(r, y, self._counted_step(y, y.self_value))
        f.change(change)

    def _shift(self, f: Expansion, y: Example, weights: Floats, projected: float) -> None:
        """Make the step along the projection of the incoming example, or none if that is 0."""
        if projected > 0:
            step = self._counted_step(y, projected)
            self.removal_displacement += step * math.sqrt(max(0.0, y.self_value - projected))
            f.shift(y, step * weights)

    def _counted_step(self, y: Example, square: float) -> float:
        """Return the step size along a vector with a squared norm, and add it to the excess step."""
        step = self._step(1 - y.margin, square)
        self.excess_step += step
        return step

    def _step(self, loss: float, square: float) -> float:
        """Return the step size of PA-I along a vector with a squared norm."""
        return min(self.C, loss / square) if square > 0 else 0.0

    def _objective(self, loss: float, square: float) -> float:
        """Return the objective after that step: `step^2 square / 2 + C remaining loss`."""
        step = self._step(loss, square)
        return 0.5 * step * (step * square) + self.C * max(0.0, loss - step * square)
