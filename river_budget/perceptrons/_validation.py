"""Validation sets: labelled examples on which the removal of each support vector is evaluated.

A validation set caches the scores of its examples and their kernel values with every support vector, so all
removals are evaluated without calling the kernel. Its table has a row for each example and a column
for each slot of the support set. The column after the last slot belongs to an incoming example.

An update first computes all kernel values that it needs. They are written after the rows and columns in
use, so that a kernel that raises leaves the validation set as it was.

"""

from __future__ import annotations

import abc
import random
import sys
from typing import Any, NamedTuple

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
from river_budget.support import Expansion, MulticlassExpansion, Query, Target, VectorStore

__all__ = ["AllExamples", "Reservoir", "SupportVectors", "ValidationSet", "coefficients_of"]

# A number of examples that is never reached.
UNLIMITED = sys.maxsize


def coefficients_of(hypothesis: Expansion) -> tuple[Floats, float]:
    """Return the coefficients and their common factor, as the compiled code takes them."""
    if isinstance(hypothesis, MulticlassExpansion):
        return hypothesis.matrix, hypothesis.scale
    return hypothesis.alphas, hypothesis.scale


class Offer(NamedTuple):
    """A vector that is removed from the support set and joins the validation set.

    Attributes
    ----------
    place
        Its row in the validation set.
    x
        The vector.
    row
        Its kernel values with the support vectors after the removal.
    label
        The column of its label.

    """

    place: int
    x: Features
    row: Floats
    label: int


class ValidationSet(abc.ABC):
    """Labelled examples with their kernel rows and scores.

    Parameters
    ----------
    budget
        Maximum number of support vectors.
    limit
        Maximum number of examples, an incoming one included.

    Attributes
    ----------
    n
        Number of examples.
    table
        k(v, s) for each example v and each slot (n or more, slots or more).
    scores
        The scores of all labels at each example (n or more, labels).

    """

    __slots__ = ("_budget", "_columns", "_limit", "n", "scores", "table")

    # Whether an incoming example becomes a validation example at once.
    _holds_incoming = True

    def __init__(self, budget: int, limit: int) -> None:
        self.n = 0
        self._budget = budget
        self._limit = limit
        self.table: Floats = np.zeros((0, 0))
        self.scores: Floats = np.zeros((0, 2))
        # The columns of the labels.
        self._columns: Ints = np.zeros(0, np.int64)

    @property
    def nbytes(self) -> int:
        """Memory of the validation set in bytes."""
        return self.table.nbytes + self.scores.nbytes + self._columns.nbytes

    def widen(self, n_labels: int) -> None:
        """Add scores of 0 for new labels, up to `n_labels`."""
        self.scores = widened(self.scores, n_labels)

    @abc.abstractmethod
    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        """Compute table and scores anew, after the scales of the features have changed."""

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Handle an example that was classified correctly."""

    @abc.abstractmethod
    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Compute the kernel values of an incoming example, without a change of the set."""

    def fewest_errors(self, hypothesis: Expansion, y: Target) -> int:
        """Return the slot whose removal gives the fewest errors, the oldest among ties.

        It is the number of slots for the incoming example.

        """
        return _compiled.fewest_errors(
            self.table, self.scores, self._columns, self._n_next, *coefficients_of(hypothesis),
            hypothesis.store.inserted, y.weight, y.label, y.rival,
        )  # fmt: skip

    def add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Add the incoming example, which is about to join the hypothesis."""
        self.n = self._n_next
        column = self.table[: self.n, hypothesis.store.n]
        _compiled.add_term(self.scores, column, y.weight, y.label, y.rival)

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Replace a vector, which is about to leave the hypothesis, by the incoming example."""
        self.n = self._n_next
        _compiled.replace_term(
            self.table, self.scores, self.n, slot, *coefficients_of(hypothesis),
            hypothesis.store.n, y.weight, y.label, y.rival,
        )  # fmt: skip

    def offer(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> Offer | None:
        """Return what the set takes of a vector that is to be removed; None for nothing."""
        return None

    def accept(self, offer: Offer, hypothesis: Expansion) -> None:
        """Add an offer after the removal."""

    @abc.abstractmethod
    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        """Return the largest errors of the cached values; see `Machine.numerical_errors`."""

    def state(self, n_vectors: int) -> State:
        """Return the table, the scores and the columns of the labels."""
        return {
            "table": self.table[: self.n, :n_vectors].copy(),
            "scores": self.scores[: self.n].copy(),
            "columns": self._columns[: self.n].copy(),
        }

    def restore(self, state: State, store: VectorStore) -> None:
        """Restore an empty validation set from its state, given the store of the support vectors."""
        table, n_labels = floats(state["table"], (None, None)), self.scores.shape[1]
        matches = table.shape[1] == store.n
        require(matches, "a validation table has too few or too many columns")
        self.n = len(table)
        self.table = table
        self.scores = floats(state["scores"], (self.n, n_labels))
        self._columns = integers(state["columns"], (self.n,))
        require(
            ((self._columns >= 0) & (self._columns < n_labels)).all(),
            "the labels of a validation set are wrong",
        )

    @property
    def _n_next(self) -> int:
        """Number of examples after the incoming one has joined the hypothesis."""
        return self.n + self._holds_incoming

    def _errors(self, scores: Floats, rows: Floats) -> dict[str, float]:
        table = self.table[: self.n, : rows.shape[1]]
        return {
            "validation scores": float(np.abs(self.scores[: self.n] - scores).max(initial=0.0)),
            "validation table": float(np.abs(table - rows).max(initial=0.0)),
        }

    def _set_example(self, index: int, row: Floats, scores: Any, label: int) -> None:
        self._reserve(index + 1, len(row))
        self.table[index, : len(row)] = row
        self.scores[index] = scores
        self._columns[index] = label

    def _reserve(self, n_rows: int, n_columns: int) -> None:
        old = self.table.shape
        rows = _extended(old[0], n_rows, self._limit)
        columns = _extended(old[1], n_columns, self._budget + 1)
        if (rows, columns) != old:
            table = np.zeros((rows, columns))
            table[: old[0], : old[1]] = self.table
            self.table = table
            self.scores = padded(self.scores, rows)
            self._columns = padded(self._columns, rows)


def _extended(size: int, needed: int, limit: int) -> int:
    """Return a size of at least `needed`: the present one, or twice that up to a limit."""
    return size if needed <= size else max(needed, min(2 * size, limit))


class SupportVectors(ValidationSet):
    """The support vectors themselves: rows are slots, and the table is their Gram matrix."""

    __slots__ = ()

    def __init__(self, budget: int) -> None:
        super().__init__(budget, budget + 1)

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        n, self_value = self.n, hypothesis.store.self_value(query)
        if n >= len(self._columns):
            self._reserve(n + 1, n + 1)
        self.scores[n] = hypothesis.scores(query)
        self._columns[n] = y.label
        _compiled.set_incoming(self.table, n, query.row, self_value)

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        super().replace(slot, hypothesis, query, y)
        self.n -= 1
        _compiled.move_row(self.table, self.scores, self._columns, self.n, slot)

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        return self._errors(hypothesis.values(), hypothesis.store.gram())

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        n = hypothesis.store.n
        self.table[:n, :n] = hypothesis.store.gram()
        self.scores[:n] = hypothesis.values()

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        require(self.n == store.n, "the Gram matrix has the wrong size")


class _StoredExamples(ValidationSet):
    """A validation set with a store of its own examples."""

    __slots__ = ("_store",)

    def __init__(self, budget: int, limit: int) -> None:
        super().__init__(budget, limit)
        self._store: VectorStore | None = None

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        slot = hypothesis.store.n
        self._reserve(self.n, slot + 1)
        if self._store is not None:
            examples = self._store.query(hypothesis.store.features(query))
            self.table[: self.n, slot] = examples.row

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        queries = [hypothesis.query(x) for x in self.examples]
        rows = [query.row for query in queries]
        return self._errors(
            np.array([hypothesis.scores(query) for query in queries]).reshape(
                self.n, hypothesis.n_labels
            ),
            np.array(rows).reshape(self.n, hypothesis.store.n),
        )

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        if self._store is not None:
            self._store.rescale(hypothesis.store.kernel, scales.factors, scales.pooled)
        queries = [hypothesis.query(x) for x in self.examples]
        for index, query in enumerate(queries):
            self.table[index, : query.n] = query.row
            self.scores[index] = hypothesis.scores(query)

    @property
    def examples(self) -> list[Features]:
        """The examples, in the order of the rows of the table."""
        return [] if self._store is None else [self._store.vector(i) for i in range(self.n)]

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self._store is None else self._store.nbytes)

    def state(self, n_vectors: int) -> State:
        store = None if self._store is None else self._store.state()
        return {**super().state(n_vectors), "store": store}

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        if state["store"] is not None:
            self._store = store.empty_like()
            self._store.restore(state["store"])
        n_stored = 0 if self._store is None else self._store.n
        require(self.n == n_stored, "a validation set has other examples than its store")

    def _append(self, store: VectorStore, x: Features) -> None:
        """Store an example."""
        if self._store is None:
            self._store = store.empty_like()
        self._store.add(self._store.entry(x))


class Reservoir(_StoredExamples):
    """A uniform random sample of the examples seen so far that are not support vectors.

    Parameters
    ----------
    budget
        Maximum number of support vectors.
    size
        Maximum number of examples.
    seed
        Random number generator seed for reproducibility.

    """

    __slots__ = ("_n_offered", "_rng")

    _holds_incoming = False

    def __init__(self, budget: int, size: int, seed: int | None) -> None:
        super().__init__(budget, size)
        self._rng = random.Random(seed)
        self._n_offered = 0

    @property
    def nbytes(self) -> int:
        return super().nbytes + sys.getsizeof(self._rng)

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        index, store = self._draw(), hypothesis.store
        if index < self._limit:
            self._put(index, store, store.features(query))
            self._set_example(index, query.row, hypothesis.scores(query), y.label)
        self._n_offered += 1

    def offer(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> Offer | None:
        index, store = self._draw(), hypothesis.store
        if index >= self._limit:
            self._n_offered += 1
            return None
        if slot == store.n:
            return Offer(index, store.features(query), query.row, y.label)
        row = store.row(slot)
        row[slot] = query.row[slot]
        _, label, _ = _compiled.term_of(*coefficients_of(hypothesis), hypothesis.n_labels, slot)
        return Offer(index, store.vector(slot), row, label)

    def accept(self, offer: Offer, hypothesis: Expansion) -> None:
        self._put(offer.place, hypothesis.store, offer.x)
        self._set_example(offer.place, offer.row, offer.row @ hypothesis.rows, offer.label)
        self._n_offered += 1

    def state(self, n_vectors: int) -> State:
        return {
            **super().state(n_vectors),
            "n_offered": self._n_offered,
            "rng": random_state(self._rng),
        }

    def restore(self, state: State, store: VectorStore) -> None:
        super().restore(state, store)
        self._n_offered = count(state["n_offered"])
        restore_random(self._rng, state["rng"])
        expected = min(self._limit, self._n_offered)
        require(self.n == expected, "the reservoir has the wrong size")

    def _draw(self) -> int:
        """Return the index for the next example, by algorithm R; at least the limit to discard it."""
        n = self._n_offered
        return n if self.n < self._limit else self._rng.randrange(n + 1)

    def _put(self, index: int, store: VectorStore, x: Features) -> None:
        """Store an example, in place of another one if the index is not the next one."""
        if self._store is None or index == self.n:
            self._append(store, x)
            self.n += 1
        else:
            self._store.replace(index, self._store.entry(x))


class AllExamples(_StoredExamples):
    """All examples seen so far, the current one included. Its size is unbounded."""

    __slots__ = ()

    def __init__(self, budget: int) -> None:
        super().__init__(budget, UNLIMITED)

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._set_example(self.n, query.row, hypothesis.scores(query), y.label)
        self._append(hypothesis.store, hypothesis.store.features(query))
        self.n += 1

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        row = np.append(query.row, hypothesis.store.self_value(query))
        super().set_incoming(hypothesis, query, y)
        self._set_example(self.n, row, hypothesis.scores(query), y.label)

    def add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._append(hypothesis.store, hypothesis.store.features(query))
        super().add(hypothesis, query, y)

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        self._append(hypothesis.store, hypothesis.store.features(query))
        super().replace(slot, hypothesis, query, y)
