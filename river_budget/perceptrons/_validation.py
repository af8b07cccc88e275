"""Validation sets: labelled examples on which the removal of each support vector is evaluated.

A validation set caches the scores of its examples and their kernel values with every support vector, so all
removals are evaluated without calling the kernel. Its table has a row for each example and a column
for each slot of the support set. The column after the last slot belongs to an incoming example.

"""

from __future__ import annotations

import abc
import random
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints, padded, widened
from river_budget._state import (
    State,
    count,
    floats,
    integers,
    random_state,
    require,
    restore_random,
)
from river_budget.kernels import Features
from river_budget.perceptrons import _compiled
from river_budget.support import Expansion, Query, Target, Terms, VectorStore

__all__ = ["AllExamples", "Reservoir", "SupportVectors", "ValidationSet"]

Scores = Sequence[float]


class ValidationSet(abc.ABC):
    """Labelled examples with their kernel rows and scores.

    Attributes
    ----------
    n
        Number of examples.

    """

    __slots__ = ("_columns", "_scores", "_table", "n")

    def __init__(self) -> None:
        self.n = 0
        self._table: Floats = np.zeros((0, 0))
        self._scores: Floats = np.zeros((0, 2))
        # The columns of the labels.
        self._columns: Ints = np.zeros(0, np.int64)

    @property
    def table(self) -> Floats:
        """k(v, s) for each example v and each slot (n, slots or more)."""
        return self._table[: self.n]

    @property
    def scores(self) -> Floats:
        """The scores of all labels at each example (n, labels)."""
        return self._scores[: self.n]

    @property
    def nbytes(self) -> int:
        """Memory of the validation set in bytes."""
        return self._table.nbytes + self._scores.nbytes + self._columns.nbytes

    def widen(self, n_labels: int) -> None:
        """Add scores of 0 for new labels, up to `n_labels`."""
        self._scores = widened(self._scores, n_labels)

    @abc.abstractmethod
    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        """Compute table and scores anew, after the scales of the features have changed."""

    def removal_errors(self, terms: Terms) -> Floats:
        """Return the number of errors after the removal of each vector (vectors,).

        The terms are those of the support vectors, and of the incoming example after them.

        """
        return _compiled.removal_errors(self.table, self.scores, self._columns, *terms)

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Handle an example that was classified correctly."""

    @abc.abstractmethod
    def on_add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Add the column of an example that joins the support set, and its term to the scores."""

    def on_remove(self, slot: int, terms: Terms) -> None:
        """Subtract a vector's term from the scores, and move the incoming example to its column."""
        _compiled.remove_term(
            self.table, self.scores, slot, len(terms.steps) - 1,
            terms.steps[slot], terms.labels[slot], terms.rivals[slot],
        )  # fmt: skip

    def on_removed(self, hypothesis: Expansion, x: Features, label: int) -> None:
        """Handle an example that was removed from the support set, with the column of its label."""

    @abc.abstractmethod
    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        """Return the largest errors of the cached values; see `Machine.numerical_errors`."""

    def state(self) -> State:
        """Return the table, the scores and the columns of the labels."""
        return {
            "table": self.table.copy(),
            "scores": self.scores.copy(),
            "columns": self._columns[: self.n].copy(),
        }

    def restore(self, state: State, store: VectorStore) -> None:
        """Restore an empty validation set from its state, given the store of the support vectors."""
        table = floats(state["table"], (None, None))
        columns = range(store.n, 2 * store.n + 3)
        require(table.shape[1] in columns, "a validation table has too few or too many columns")
        self.n = len(table)
        self._table = table
        n_labels = self._scores.shape[1]
        self._scores = floats(state["scores"], (self.n, n_labels))
        self._columns = integers(state["columns"], (self.n,))
        require(
            ((self._columns >= 0) & (self._columns < n_labels)).all(),
            "the labels of a validation set are wrong",
        )

    def _errors(self, scores: Floats, rows: Floats) -> dict[str, float]:
        table = self.table[:, : rows.shape[1]]
        return {
            "validation scores": float(np.abs(self.scores - scores).max(initial=0.0)),
            "validation table": float(np.abs(table - rows).max(initial=0.0)),
        }

    def _add_column(self, slot: int, column: Floats, y: Target) -> None:
        self._reserve(self.n, slot + 1)
        self._table[: self.n, slot] = column
        _compiled.add_term(self._scores, column, y.weight, y.label, y.rival)

    def _set_example(self, index: int, row: Floats, scores: Scores, label: int) -> None:
        self._reserve(index + 1, len(row))
        self._table[index, : len(row)] = row
        self._scores[index] = scores
        self._columns[index] = label
        self.n = max(self.n, index + 1)

    def _set_incoming(self, index: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Set an example that joins the support set."""
        k = hypothesis.store.self_value(query)
        self._set_example(index, np.append(query.row, k), hypothesis.scores(query), y.label)
        self._scores[index, y.label] += y.weight * k
        self._scores[index, y.rival] -= y.weight * k

    def _reserve(self, n_rows: int, n_columns: int) -> None:
        rows, columns = self._table.shape
        if n_rows > rows:
            rows = max(n_rows, 2 * rows)
            self._scores = padded(self._scores, rows)
            self._columns = padded(self._columns, rows)
            self._table = padded(self._table, rows)
        if n_columns > columns:
            self._table = widened(self._table, max(n_columns, 2 * columns))


class SupportVectors(ValidationSet):
    """The support vectors themselves: rows are slots, and the table is their Gram matrix."""

    __slots__ = ()

    def on_add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        n = hypothesis.store.n
        self._add_column(n, query.row, y)
        self._set_incoming(n, hypothesis, query, y)

    def on_remove(self, slot: int, terms: Terms) -> None:
        incoming = self.n - 1
        super().on_remove(slot, terms)
        for array in (self._table, self._scores, self._columns):
            array[slot] = array[incoming]
        self.n = incoming

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        return self._errors(hypothesis.values(), hypothesis.store.gram())

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        n = hypothesis.store.n
        self._table[:n, :n] = hypothesis.store.gram()
        self._scores[:n] = hypothesis.values()

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        require(self.n == store.n, "the Gram matrix has the wrong size")


class _StoredExamples(ValidationSet):
    """A validation set with a store of its own examples."""

    __slots__ = ("_store",)

    def __init__(self) -> None:
        super().__init__()
        self._store: VectorStore | None = None

    def on_add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        column = np.zeros(0)
        if self._store is not None:
            column = self._store.query(hypothesis.store.features(query)).row
        self._add_column(hypothesis.store.n, column, y)

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        queries = [hypothesis.query(x) for x in self.examples]
        rows = [query.row for query in queries]
        return self._errors(
            np.array([hypothesis.scores(query) for query in queries]).reshape(self.scores.shape),
            np.array(rows).reshape(self.n, hypothesis.store.n),
        )

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        if self._store is not None:
            self._store.rescale(hypothesis.store.kernel, scales.factors, scales.pooled)
        queries = [hypothesis.query(x) for x in self.examples]
        for index, query in enumerate(queries):
            self._table[index, : query.n] = query.row
            self._scores[index] = hypothesis.scores(query)

    @property
    def examples(self) -> list[Features]:
        """The examples, in the order of the rows of the table."""
        return [] if self._store is None else [self._store.vector(i) for i in range(self.n)]

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self._store is None else self._store.nbytes)

    def state(self) -> State:
        store = None if self._store is None else self._store.state()
        return {**super().state(), "store": store}

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        if state["store"] is not None:
            self._store = store.empty_like()
            self._store.restore(state["store"])
        n_stored = 0 if self._store is None else self._store.n
        require(self.n == n_stored, "a validation set has other examples than its store")

    def _append(self, store: VectorStore, x: Features) -> None:
        """Store an example, which is then to be set as the last one."""
        if self._store is None:
            self._store = store.empty_like()
        self._store.add(self._store.entry(x))


class Reservoir(_StoredExamples):
    """A uniform random sample of the examples seen so far that are not support vectors.

    Parameters
    ----------
    size
        Maximum number of examples.
    seed
        Random number generator seed for reproducibility.

    """

    __slots__ = ("_n_offered", "_rng", "_size")

    def __init__(self, size: int, seed: int | None) -> None:
        super().__init__()
        self._size = size
        self._rng = random.Random(seed)
        self._n_offered = 0

    @property
    def nbytes(self) -> int:
        return super().nbytes + sys.getsizeof(self._rng)

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        index = self._draw()
        if index < self._size:
            self._store_at(index, hypothesis.store, hypothesis.store.features(query))
            self._set_example(index, query.row, hypothesis.scores(query), y.label)

    def on_removed(self, hypothesis: Expansion, x: Features, label: int) -> None:
        index = self._draw()
        if index < self._size:
            query = hypothesis.query(x)
            self._store_at(index, hypothesis.store, x)
            self._set_example(index, query.row, hypothesis.scores(query), label)

    def state(self) -> State:
        return {
            **super().state(),
            "n_offered": self._n_offered,
            "rng": random_state(self._rng),
        }

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        self._n_offered = count(state["n_offered"])
        restore_random(self._rng, state["rng"])
        require(self.n == min(self._size, self._n_offered), "the reservoir has the wrong size")

    def _draw(self) -> int:
        """Return the index for the next example, by algorithm R; at least `size` to discard it."""
        self._n_offered += 1
        return self._n_offered - 1 if self.n < self._size else self._rng.randrange(self._n_offered)

    def _store_at(self, index: int, store: VectorStore, x: Features) -> None:
        if self._store is None or index == self.n:
            self._append(store, x)
        else:
            self._store.replace(index, self._store.entry(x))


class AllExamples(_StoredExamples):
    """All examples seen so far, the current one included. Its size is unbounded."""

    __slots__ = ()

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._append(hypothesis.store, hypothesis.store.features(query))
        self._set_example(self.n, query.row, hypothesis.scores(query), y.label)

    def on_add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        super().on_add(hypothesis, query, y)
        self._append(hypothesis.store, hypothesis.store.features(query))
        self._set_incoming(self.n, hypothesis, query, y)
