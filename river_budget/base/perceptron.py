"""The perceptron's template: an algorithm adds the step that its paper changes."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from river import base

from river_budget._arrays import Floats, lengthened
from river_budget._checks import check_count
from river_budget._state import State, finite, floats
from river_budget.base.classifier import KernelClassifier
from river_budget.kernels import Features, Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.support import Query

__all__ = ["BudgetPerceptron", "GrowingPerceptron", "Perceptron"]


class Perceptron(KernelClassifier):
    """The kernel perceptron's rounds: predict, and update on a mistake.

    An algorithm is one subclass with one method, `_update`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    # An update is made where y f(x) is at most this.
    _threshold = 0.0

    def __init__(self, kernel: Kernel | None = None) -> None:
        super().__init__(kernel)
        unit_norm = self._store.kernel.has_unit_norm
        self._largest_self_value = 1.0 if unit_norm else 0.0
        # Theorems assume that k(x, x) <= 1 wherever the model is updated.
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
        """Change the hypothesis after a round that asks for it.

        Parameters
        ----------
        query
            The example, with its kernel row and f(x) as its answer.
        y
            The label's sign.

        """


class BudgetPerceptron(Perceptron):
    """A perceptron with at most `budget` support vectors.

    An algorithm is one subclass that says what happens once the budget is full, `_update_full`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors.

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
        """Change the hypothesis after a mistake with the budget full; see `_update`."""


class GrowingPerceptron(Perceptron):
    """A perceptron whose support set only grows, so that its hypotheses can be averaged.

    An algorithm is one subclass that changes the hypothesis with `_add` and `_shift` alone.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        super().__init__(kernel)
        # The sum over updates of the round times the change of each coefficient, by slots. The
        # hypotheses after rounds 1 to T add up to (T + 1) times the last one less this.
        self._moments: Floats = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._moments.nbytes

    def averaged_decision_function_one(self, x: Features) -> float:
        """Return the mean of f_1(x), ..., f_T(x), the hypotheses after each round so far.

        This is the online-to-batch conversion of [^1]: on examples that are drawn independently, the
        average generalizes better than the last hypothesis. It takes one more kernel row, and no
        hypothesis is stored.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernel can take.

        References
        ----------
        [^1]: [Cesa-Bianchi, N., Conconi, A. and Gentile, C., 2004. On the generalization ability of on-line learning algorithms. IEEE Transactions on Information Theory, 50(9), pp.2050-2057.](https://doi.org/10.1109/TIT.2004.833339)

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
        """Store the example of a query as one more support vector."""
        n = self._store.n
        if n == len(self._moments):
            self._moments = lengthened(self._moments, max(8, 2 * n))
        self._moments[n] = self._n_rounds * coefficient
        self._hypothesis.add(query, coefficient)

    def _shift(self, change: Floats) -> None:
        """Add to the coefficients (n_support,)."""
        self._moments[: len(change)] += self._n_rounds * change
        self._hypothesis.shift(change)
