"""Perceptrons that choose a removal by its errors on a validation set of labelled examples."""

from __future__ import annotations

from typing import Any

from river_budget._core.store import Store
from river_budget._state import ROUNDING, Field, require
from river_budget.base import BudgetPerceptron


class ValidatedPerceptron(BudgetPerceptron):
    """A perceptron with a validation set."""

    # The examples of the validation set that are no support vectors, if any.
    _examples = Field[Store | None](lambda: None)
    # The labels, scores and kernel values of the whole validation set.
    _validation = Field[Any]()

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors()

    def _check_restored(self) -> None:
        super()._check_restored()
        # The restored values stay, because computing them anew could change their last bits: these
        # depend on which of two examples came first.
        largest = abs(self._validation.kernel_values).max(initial=1.0)
        is_right = self._validation.errors()["validation table"] <= ROUNDING * largest
        require(is_right, "the kernel values of a validation set are wrong")

    def _on_rescaled(self) -> None:
        self._validation.derive(self._validation.exact())
