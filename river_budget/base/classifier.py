"""Classifiers whose hypothesis is a kernel expansion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count
from river_budget._state import Part, State, require
from river_budget.base.documented import documented
from river_budget.base.frames import rows_of
from river_budget.base.labels import Labels
from river_budget.base.machine import Machine
from river_budget.base.weights import ClassWeight
from river_budget.kernels import RBF, Features, Kernel, check_kernel
from river_budget.support import (
    ArrayFoundError,
    ArrayStore,
    Expansion,
    Query,
    Scales,
    VectorStore,
    vector_store,
)
from river_budget.support.numeric import NumericStore

ADVICE = "raise max_classes, unless the labels are ids by mistake"


@documented
class KernelClassifier(Machine):
    """A classifier whose hypothesis is a kernel expansion over the support set.

    It takes any number of labels, new ones at any time. See `support.target` for the reduction of
    more than two labels to a binary algorithm.
    """

    _hypothesis = Part[Expansion](before="_prepare_hypothesis")

    def __init__(
        self,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        if kernel is not None:
            if isinstance(kernel, int) and hasattr(type(self), "budget"):
                raise ValueError(f"kernel must be a kernel, got {kernel}: write budget={kernel}")
            check_kernel(kernel)
            if gamma is not None:
                raise ValueError("give kernel or gamma, not both")
        check_count("max_classes", max_classes)
        given = RBF(gamma) if kernel is None else kernel
        super().__init__(Labels(max_classes, ADVICE), (given,), class_weight, dtype)
        self.kernel = kernel
        self.gamma = gamma
        self.max_classes = max_classes
        self._store = vector_store(given)
        self._hypothesis = Expansion(self._store)

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def resolved_kernel(self) -> Kernel:
        """The kernel, with the width and the scales of the features that were learned."""
        return self._store.resolved_kernel

    def scores_one(self, x: Features) -> dict[Any, float]:
        return self._by_label(self._hypothesis.scores(self._query(x)))

    def decision_function_one(self, x: Features) -> float:
        self._labels.require_two("scores_one or scores_many")
        return self._query(x).answer

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        return self._labels.names[self._hypothesis.best(self._query(x))]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        scores = self.scores_one(x)
        return dict(zip(scores, _softmax(list(scores.values())), strict=True))

    @property
    def n_support(self) -> int:
        return self._store.n

    @property
    def support_vectors(self) -> list[Features]:
        return [self._store.vector(slot) for slot in self._store.by_age]

    @property
    def coefficients(self) -> Floats:
        return self._hypothesis.coefficients[self._store.by_age]

    @property
    def norm(self) -> float:
        return self._hypothesis.norm

    def _prepare_hypothesis(self, state: State) -> None:
        """Give the hypothesis the form that arrays, labels and scales ask for."""
        if "arrays" in state["store"] and not self._takes_arrays:
            self._take_arrays()
        self._widen(len(self._labels.names))
        scales = self._feature_scales
        if scales is not None:
            self._store.rescale(self._store.kernel, scales.factors, scales.pooled)

    def _check_restored(self) -> None:
        super()._check_restored()
        budget = getattr(self, "budget", None)
        require(
            budget is None or self.n_support <= budget,
            "there are more support vectors than the budget allows",
        )

    def _query(self, x: Features) -> Query:
        try:
            return self._store.query(x, self._hypothesis)
        except ArrayFoundError:
            return self._asked_with_arrays("_query", x)

    def _novelty(self, x: Features) -> float:
        query = self._store.query(x, self._hypothesis)
        square = self._store.self_value(query)
        return max(0.0, 1.0 - self._projected(query) / square) if square > 0.0 else 0.0

    def _projected(self, query: Query) -> float:
        """Return the largest squared norm of a projection of an example onto a support vector."""
        squares = self._store.self_values
        return float((query.row[squares > 0.0] ** 2 / squares[squares > 0.0]).max(initial=0.0))

    @property
    def _takes_arrays(self) -> bool:
        return not isinstance(self._store, NumericStore)

    def _take_arrays(self) -> None:
        self._store = ArrayStore(self._store.kernel, self.dtype)
        self._hypothesis = Expansion(self._store)

    def _widen(self, n_labels: int) -> None:
        """Give the hypothesis, and all that is derived from it, a column for each label."""
        if n_labels > self._hypothesis.n_labels:
            self._hypothesis = self._hypothesis.with_labels(n_labels)

    @property
    def _examples(self) -> VectorStore:
        return self._store

    def _rescale(self, scales: Scales) -> None:
        kernel = self._store.kernel
        if scales.gamma:
            kernel = kernel.with_width(scales.gamma, self._store.names)
        self._store.rescale(kernel, scales.factors, scales.pooled)
        self._on_rescaled()

    def _on_rescaled(self) -> None:
        """Compute all anew that was computed from the kernel."""

    def _block(self, frame: Any) -> Any:
        return self._store.block(frame.columns, rows_of(frame))

    def _score_block(self, block: Any) -> Floats:
        return self._store.score_block(block, self._hypothesis)

    def _probabilities(self, scores: Floats) -> Floats:
        odds = np.exp(0.5 * (scores - scores.max(axis=1, keepdims=True, initial=-np.inf)))
        return odds / odds.sum(axis=1, keepdims=True)

    def _by_label(self, values: Sequence[float]) -> dict[Any, float]:
        return {label: values[column] for label, column in self._labels.known.items()}


def _softmax(scores: Sequence[float]) -> list[float]:
    """Return softmax(scores / 2): with two labels, the logistic function of f and of -f."""
    largest = max(scores, default=0.0)
    odds = [math.exp(0.5 * (score - largest)) for score in scores]
    total = sum(odds)
    return [value / total for value in odds]
