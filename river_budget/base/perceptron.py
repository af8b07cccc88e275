"""The perceptron's template, to which each algorithm adds the update of its paper."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from river import base

from river_budget._arrays import Floats, Ints, padded, widened
from river_budget._checks import check_count
from river_budget._state import Array, Count, Number
from river_budget.base.classifier import KernelClassifier
from river_budget.base.documented import documented
from river_budget.base.weights import UNIT, ClassWeight
from river_budget.kernels import Features, Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.support import ArrayFoundError, Query, Target

# Rounding errors of k(x, x) = 1 that are tolerated.
TOLERANCE = 1e-9


@documented
class Perceptron(KernelClassifier):
    """The template of the kernel perceptrons: predict, and update on a mistake.

    A subclass implements `_update`.
    """

    # The model is updated if the margin is at most this.
    _threshold = 0.0

    _largest_self_value = Number(least=0.0, most=LARGEST)
    # The number of updates with a weight other than 1, which the theorems assume.
    _n_weighted = Count()

    def __init__(
        self,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        unit_norm = self._store.kernel.has_unit_norm
        self._largest_self_value = 1.0 if unit_norm else 0.0
        # The theorems assume k(x, x) <= 1 for every example that updates the model.
        self._tracks_self_values = hasattr(self, "guarantees") and not unit_norm

    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = UNIT) -> None:
        hypothesis = self._hypothesis
        try:
            query = self._store.query(x, hypothesis)
        except ArrayFoundError:
            self._learn_with_arrays("learn_one", x, y, w)
            return
        if w is not UNIT:
            w = self._checked_weight(w, y)
            if not w:
                return
        try:
            label = self._labels.column[y]
        except (KeyError, TypeError):
            labels = self._labels.with_label(y)
            self._widen(len(labels.names))
            self._labels, label = labels, labels.add(y)
            hypothesis = self._hypothesis
            query = self._store.query(x, hypothesis)
        if self._class_weights is not None:
            w *= self._class_weights.next(label, self._labels)
        self._n_rounds = n = self._n_rounds + 1
        margin = hypothesis.margin(query, label)
        if margin <= self._threshold:
            self._begin_update(query, label, w, margin)
        if n >= self._observed_at:
            self._observe(query)

    @property
    def _assumptions(self) -> dict[str, bool]:
        """The assumptions of all theorems about the run so far, and whether each of them holds."""
        return {
            "a kernel that does not change": self._feature_scales is None,
            "all weights 1": self._n_weighted == 0,
            "k(x, x) <= 1": self._largest_self_value <= 1 + TOLERANCE,
        }

    def _learn_block(self, block: Any, columns: Ints, weights: Floats | None) -> None:
        start = 0
        try:
            # A label is a rival only from its first row on.
            for label in range(self._hypothesis.n_labels, len(self._labels.names)):
                first = int((columns == label).argmax())
                self._learn_rows(block, columns, weights, start, first)
                self._widen(label + 1)
                start = first
            self._learn_rows(block, columns, weights, start, len(columns))
        except BaseException:
            self._widen(len(self._labels.names))
            raise

    def _learn_rows(
        self, block: Any, columns: Ints, weights: Floats | None, start: int, stop: int
    ) -> None:
        while start < stop:
            end = stop
            if self._feature_scales is not None:
                end = min(stop, start + self._n_unobserved)
            row, query = self._store.scan(
                block, columns, start, end, self._threshold, self._hypothesis
            )
            if query is None:
                row = end - 1
            self._n_rounds += row + 1 - start
            self._observe_rows(block, start, row)
            if query is not None:
                weight = 1.0 if weights is None else float(weights[row])
                label = int(columns[row])
                margin = self._hypothesis.margin(query, label)
                self._begin_update(query, label, weight, margin)
            self._observe_rows(block, row, row + 1)
            start = row + 1
            if self._n_rounds >= self._checked_at:
                self._check(query or self._store.query_row(block, row))

    def _begin_update(self, query: Query, label: int, weight: float, margin: float) -> None:
        self._count_update(weight, margin)
        if self._tracks_self_values:
            self_value = float(self._store.self_value(query))
            self._largest_self_value = max(self._largest_self_value, self_value)
        self._update(query, self._hypothesis.target(query, label, weight))

    def _count_update(self, weight: float, margin: float) -> None:
        self._n_mistakes += margin <= 0.0
        self._n_weighted += weight != 1.0

    @abc.abstractmethod
    def _update(self, query: Query, y: Target) -> None:
        """Update the hypothesis on an example with a margin at or below the threshold."""

    def _add(self, query: Query, y: Target, step: float = 1.0) -> None:
        """Add the example of a query to the support set."""
        self._hypothesis.add(query, y, step)


@documented
class BudgetPerceptron(Perceptron):
    """A perceptron with at most `budget` support vectors.

    A subclass implements `_update_full`, the update once the budget is full.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget: int = budget

    def _update(self, query: Query, y: Target) -> None:
        if self._store.n < self.budget:
            self._add(query, y)
        else:
            self._update_full(query, y)

    @abc.abstractmethod
    def _update_full(self, query: Query, y: Target) -> None:
        """Update the hypothesis on a mistake while the budget is full; see `_update`."""


@documented
class GrowingPerceptron(Perceptron):
    """A perceptron that never removes a support vector, so that its hypotheses can be averaged.

    A subclass changes the hypothesis only through `_add` and `_shift`.
    """

    # For each slot and label, the sum of (round x change of the coefficient) over all updates. The
    # sum of the hypotheses after rounds 1 to T is (T + 1) times the last one minus this.
    _moments = Array("n_support", "_hypothesis.n_labels", start=(0, 2))

    def averaged_scores_one(self, x: Features) -> dict[Any, float]:
        """Return the mean of the scores of each label under the hypotheses after rounds 1 to T.

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
        return self._by_label(self._averaged_scores(x).tolist())

    def averaged_decision_function_one(self, x: Features) -> float:
        """Return the mean of f_1(x), ..., f_T(x), where f_t is the hypothesis after round t.

        See `averaged_scores_one`, which is for any number of labels.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If there are more than two labels, or a value is not a finite number or is too large for
            the kernel.
        """
        self._labels.require_two("averaged_scores_one")
        return float(self._averaged_scores(x)[1])

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._moments = widened(self._moments, n_labels)

    def _averaged_scores(self, x: Features) -> Floats:
        query = self._query(x)
        scores = np.array(self._hypothesis.scores(query))
        if not self._n_rounds:
            return scores
        moments = query.row @ self._moments[: query.n]
        return ((self._n_rounds + 1) * scores - moments) / self._n_rounds

    def _add(self, query: Query, y: Target, step: float = 1.0) -> None:
        n = self._store.n
        if n == len(self._moments):
            self._moments = padded(self._moments, max(8, 2 * n))
        moment = self._n_rounds * step * y.weight
        self._moments[n, y.label], self._moments[n, y.rival] = moment, -moment
        self._hypothesis.add(query, y, step)

    def _merge(self, slot: int, others: list[int], weights: Floats) -> None:
        """Replace a vector by a linear combination of others; its coefficients become 0."""
        self._hypothesis.merge(slot, others, weights)
        self._moments[others] += np.multiply.outer(weights, self._moments[slot])

    def _remove(self, slots: list[int]) -> None:
        self._moments = np.delete(self._moments[: self.n_support], slots, axis=0)
        self._hypothesis.remove(slots)

    def _shift(self, y: Target, change: Floats) -> None:
        """Change the coefficients of the label and the rival; see `Expansion.shift`."""
        moments = self._n_rounds * change * y.weight
        self._moments[: len(change), y.label] += moments
        self._moments[: len(change), y.rival] -= moments
        self._hypothesis.shift(y, change)
