"""Validation sets: labelled examples on which the removal of each support vector is evaluated."""

from __future__ import annotations

from typing import Any

from river_budget._core.store import Store
from river_budget._state import ROUNDING, Field, require
from river_budget.base import BudgetPerceptron


class ValidatedPerceptron(BudgetPerceptron):
    """A perceptron with a validation set."""

    # The examples that are no support vectors, and what is known of all of them.
    _examples = Field[Store | None](lambda: None)
    _validation = Field[Any]()

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors()

    def _check_restored(self) -> None:
        super()._check_restored()
        # The last bits depend on which came first, example or vector, so they remain as they are.
        largest = abs(self._validation.kernel_values).max(initial=1.0)
        is_right = self._validation.errors()["validation table"] <= ROUNDING * largest
        require(is_right, "the kernel values of a validation set are wrong")

    def _on_rescaled(self) -> None:
        self._validation.derive(self._validation.exact())
