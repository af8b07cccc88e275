"""The perceptron's template, to which each algorithm adds the update of its paper."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from river import base

from river_budget._arrays import Floats, padded
from river_budget._checks import check_count
from river_budget._state import State, finite, floats
from river_budget.base.classifier import KernelClassifier
from river_budget.kernels import Features, Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.support import Query

__all__ = ["BudgetPerceptron", "GrowingPerceptron", "Perceptron"]


class Perceptron(KernelClassifier):
    """The template of the kernel perceptrons: predict, and update on a mistake.

    A subclass implements `_update`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    # The model is updated if y f(x) is at most this.
    _threshold = 0.0

    def __init__(self, kernel: Kernel | None = None) -> None:
        super().__init__(kernel)
        unit_norm = self._store.kernel.has_unit_norm
        self._largest_self_value = 1.0 if unit_norm else 0.0
        # The theorems assume k(x, x) <= 1 for every example that updates the model.
        self._tracks_self_values = hasattr(self, "guarantees") and not unit_norm

    def learn_one(self, x: Features, y: base.typing.ClfTarget) -> None:
        query = self._store.query(x, self._hypothesis)
        sign = self._labels.sign(y)
        self._n_rounds += 1
        if sign * query.answer <= self._threshold:
            self._begin_update(query, sign)

    def state(self) -> State:
        return {**super().state(), "largest_self_value": self._largest_self_value}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._largest_self_value = finite(state["largest_self_value"], 0.0, LARGEST)

    def _learn_block(self, block: Any, signs: Floats) -> None:
        store, hypothesis, threshold = self._store, self._hypothesis, self._threshold
        start, n_rows, labels = 0, len(signs), signs.tolist()
        while start < n_rows:
            row, query = store.scan(block, signs, start, threshold, hypothesis)
            if query is None:
                break
            self._n_rounds += row + 1 - start
            self._begin_update(query, labels[row])
            start = row + 1
        self._n_rounds += n_rows - start

    def _begin_update(self, query: Query, y: float) -> None:
        self._n_mistakes += y * query.answer <= 0.0
        if self._tracks_self_values:
            self_value = float(self._store.self_value(query))
            self._largest_self_value = max(self._largest_self_value, self_value)
        self._update(query, y)

    @abc.abstractmethod
    def _update(self, query: Query, y: float) -> None:
        """Update the hypothesis on an example with y f(x) at or below the threshold.

        Parameters
        ----------
        query
            The example with its kernel row, and f(x) as its answer.
        y
            The sign of the label.

        """


class BudgetPerceptron(Perceptron):
    """A perceptron with at most `budget` support vectors.

    A subclass implements `_update_full`, the update once the budget is full.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.

    """

    def __init__(self, kernel: Kernel | None = None, budget: int = 100) -> None:
        check_count("budget", budget)
        super().__init__(kernel)
        self.budget: int = budget

    def _update(self, query: Query, y: float) -> None:
        if self._store.n < self.budget:
            self._hypothesis.add(query, y)
        else:
            self._update_full(query, y)

    @abc.abstractmethod
    def _update_full(self, query: Query, y: float) -> None:
        """Update the hypothesis on a mistake while the budget is full; see `_update`."""


class GrowingPerceptron(Perceptron):
    """A perceptron that never removes a support vector, so that its hypotheses can be averaged.

    A subclass changes the hypothesis only through `_add` and `_shift`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        super().__init__(kernel)
        # For each slot, the sum of (round x change of the coefficient) over all updates. The sum of
        # the hypotheses after rounds 1 to T is (T + 1) times the last one minus this.
        self._moments: Floats = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._moments.nbytes

    def averaged_decision_function_one(self, x: Features) -> float:
        """Return the mean of f_1(x), ..., f_T(x), where f_t is the hypothesis after round t.

        This is the online-to-batch conversion of [^1]: on i.i.d. examples, the average generalizes
        better than the last hypothesis. It needs one kernel row, and stores no past hypothesis.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.

        References
        ----------
        [^1]: [Cesa-Bianchi, Conconi & Gentile 2004](https://doi.org/10.1109/TIT.2004.833339)

        """
        query = self._store.query(x, self._hypothesis)
        if not self._n_rounds:
            return query.answer
        moment = float(np.dot(self._moments[: query.n], query.row))
        return ((self._n_rounds + 1) * query.answer - moment) / self._n_rounds

    def state(self) -> State:
        return {**super().state(), "moments": self._moments[: self.n_support].copy()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._moments = floats(state["moments"], (self.n_support,))

    def _add(self, query: Query, coefficient: float) -> None:
        """Add the example of a query to the support set."""
        n = self._store.n
        if n == len(self._moments):
            self._moments = padded(self._moments, max(8, 2 * n))
        self._moments[n] = self._n_rounds * coefficient
        self._hypothesis.add(query, coefficient)

    def _shift(self, change: Floats) -> None:
        """Add a change to the coefficients (n_support,)."""
        self._moments[: len(change)] += self._n_rounds * change
        self._hypothesis.shift(change)
