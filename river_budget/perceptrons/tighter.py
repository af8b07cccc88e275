from __future__ import annotations

import math
import random
import sys
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count
from river_budget._state import Count, Part, Random, State, require
from river_budget.base import ClassWeight, Perceptron, documented
from river_budget.kernels import Features, Kernel
from river_budget.perceptrons import _compiled
from river_budget.perceptrons._validation import SupportVectors, ValidationSet, coefficients_of
from river_budget.support import Expansion, Query, Target, VectorStore


@documented
class TighterPerceptron(Perceptron):
    """The Tighter Perceptron.

    Once the budget is full, a misclassified example is added, and the support vector whose removal
    gives the fewest errors on a validation set is removed. It may be the incoming example. Among
    ties, the oldest is removed.

    Parameters
    ----------
    validation
        The validation set. `"support"`: the support vectors themselves (Tighter^0). An integer A: a
        uniform random sample of A examples among those seen so far that are not support vectors
        (Tighter^A). `"all"`: every example seen so far (Tighter^Full); memory and the time per
        mistake then grow with the stream.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.TighterPerceptron(rb.RBF(gamma=1.0), budget=100, validation=100, seed=1)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 85.09%

    References
    ----------
    [^1]: [Weston, Bordes & Bottou 2005](https://proceedings.mlr.press/r5/weston05a.html)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.4
    """

    # Correctly classified examples are offered to the validation set.
    _threshold = math.inf
    _validation = Part[ValidationSet](before="_prepare_validation")

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        validation: str | int = "support",
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget
        self.validation = validation
        self.seed = seed
        self._validation = _validation_set(budget, validation, seed)

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors(self._hypothesis)

    def _prepare_validation(self, state: State) -> None:
        self._validation.prepare(state, self._store)

    def _on_rescaled(self) -> None:
        self._validation.rescale(self._hypothesis, self._feature_scales)

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._validation.widen(n_labels)

    def _update(self, query: Query, y: Target) -> None:
        f, validation = self._hypothesis, self._validation
        if y.margin > 0:
            validation.on_correct(f, query, y)
            return
        validation.set_incoming(f, query, y)
        if self._store.n < self.budget:
            validation.add(f, query, y)
        else:
            validation.replace(validation.fewest_errors(f, y), f, query, y)


class StoredExamples(ValidationSet):
    """A validation set with a store of its own examples, which is made with the first of them."""

    _store = Part[VectorStore | None]()

    def __init__(self, budget: int, limit: int) -> None:
        super().__init__(budget, limit)
        self._store = None

    @property
    def examples(self) -> list[Features]:
        """The examples, in the order of the rows of the table."""
        return [] if self._store is None else [self._store.vector(i) for i in range(self.n)]

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._reserve(self.n, self.n_vectors + 1)
        if self._store is not None:
            examples = self._store.query(hypothesis.store.features(query))
            self.table[: self.n, self.n_vectors] = examples.row

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        if self._store is not None:
            self._store.rescale(hypothesis.store.kernel, scales.factors, scales.pooled)
        super().rescale(hypothesis, scales)

    def prepare(self, state: State, store: VectorStore) -> None:
        super().prepare(state, store)
        if state["store"] is not None:
            self._store = store.empty_like()

    def _check_restored(self) -> None:
        super()._check_restored()
        n_stored = 0 if self._store is None else self._store.n
        require(self.n == n_stored, "a validation set has other examples than its store")

    def _anew(self, hypothesis: Expansion) -> tuple[Floats, Floats]:
        queries = [hypothesis.query(x) for x in self.examples]
        scores = np.array([hypothesis.scores(query) for query in queries])
        rows = np.array([query.row for query in queries])
        return scores.reshape(self.n, self.n_labels), rows.reshape(self.n, self.n_vectors)

    def _put(
        self, index: int, x: Features, row: Floats, scores: Any, label: int, hypothesis: Expansion
    ) -> None:
        """Store an example, in place of another one unless the index is the next one."""
        if self._store is None:
            self._store = hypothesis.store.empty_like()
        entry = self._store.entry(x)
        if index == self.n:
            self._store.add(entry)
        else:
            self._store.replace(index, entry)
        self._reserve(index + 1, len(row))
        self.table[index, : len(row)] = row
        self.scores[index] = scores
        self._columns[index] = label
        self.n = self._store.n


class Reservoir(StoredExamples):
    """A uniform random sample of the examples seen so far that are not support vectors."""

    _n_offered = Count()
    _rng = Random()

    def __init__(self, budget: int, size: int, seed: int | None) -> None:
        super().__init__(budget, size)
        self._rng = random.Random(seed)

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        index = self._draw()
        if index < self._limit:
            x, scores = hypothesis.store.features(query), hypothesis.scores(query)
            self._put(index, x, query.row, scores, y.label, hypothesis)
        self._n_offered += 1

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        index, store = self._draw(), hypothesis.store
        if index >= self._limit:
            super().replace(slot, hypothesis, query, y)
        else:
            x, row, label = store.features(query), query.row, y.label
            if slot < store.n:
                x, row = store.vector(slot), store.row(slot)
                row[slot] = query.row[slot]
                terms = coefficients_of(hypothesis)
                _, label, _ = _compiled.term_of(*terms, self.n_labels, slot)
            super().replace(slot, hypothesis, query, y)
            self._put(index, x, row, row @ hypothesis.rows, label, hypothesis)
        self._n_offered += 1

    def _draw(self) -> int:
        """Return the index for the next example, by algorithm R; at least the limit to discard it."""
        n = self._n_offered
        return n if self.n < self._limit else self._rng.randrange(n + 1)

    def _check_restored(self) -> None:
        super()._check_restored()
        expected = min(self._limit, self._n_offered)
        require(self.n == expected, "the reservoir has the wrong size")


class AllExamples(StoredExamples):
    """All examples seen so far, the current one included. Its size is unbounded."""

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._append(query.row, hypothesis, query, y)

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        row = np.append(query.row, hypothesis.store.self_value(query))
        super().set_incoming(hypothesis, query, y)
        self._append(row, hypothesis, query, y)

    def _append(self, row: Floats, hypothesis: Expansion, query: Query, y: Target) -> None:
        x = hypothesis.store.features(query)
        self._put(self.n, x, row, hypothesis.scores(query), y.label, hypothesis)


def _validation_set(budget: int, validation: str | int, seed: int | None) -> ValidationSet:
    if validation == "support":
        return SupportVectors(budget, budget + 1)
    if validation == "all":
        return AllExamples(budget, sys.maxsize)
    if isinstance(validation, str):
        raise ValueError(
            f"validation must be 'support', 'all' or a whole number, got {validation!r}"
        )
    check_count("validation", validation)
    return Reservoir(budget, validation, seed)
