"""Validation sets: labelled examples on which the removal of each support vector is evaluated.

A validation set caches scores and kernel values, so all removals are evaluated without the kernel. An
update first computes all kernel values that it needs, and writes them after the rows and columns in
use, so that a kernel that raises leaves the validation set as it was.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded, widened
from river_budget._state import Array, Learned, State, require
from river_budget.perceptrons import _compiled
from river_budget.support import Expansion, Query, Target, VectorStore


def coefficients_of(f: Expansion) -> tuple[Floats, float]:
    """Return the coefficients and their common factor, as the compiled code takes them."""
    return f.alphas if f.n_labels == 2 else f.matrix, f.scale


class ValidationSet(Learned, abc.ABC):
    """Labelled examples, at most `limit`, with their kernel rows and scores (n or more, labels).

    The table has k(v, s) for each example v and each slot, and for an incoming s after the last slot
    (n or more, slots or more). An incoming example counts from `set_incoming` on.
    """

    table = Array("n", "n_vectors", start=(0, 0))
    scores = Array("n", "n_labels", start=(0, 2))
    # The columns of the labels.
    _columns = Array("n", start=(0,), dtype=np.int64)

    def __init__(self, budget: int, limit: int) -> None:
        self.n = self.n_vectors = 0
        self._budget = budget
        self._limit = limit

    @property
    def n_labels(self) -> int:
        return self.scores.shape[1]

    def widen(self, n_labels: int) -> None:
        self.scores = widened(self.scores, n_labels)

    def rescale(self, hypothesis: Expansion, scales: Any) -> None:
        """Compute table and scores anew, after the scales of the features have changed."""
        self.scores[: self.n], self.table[: self.n, : self.n_vectors] = self._anew(hypothesis)

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        """Return the largest errors of the cached values; see `Machine.numerical_errors`."""
        scores, rows = self._anew(hypothesis)
        table = self.table[: self.n, : self.n_vectors]
        return {
            "validation scores": float(np.abs(self.scores[: self.n] - scores).max(initial=0.0)),
            "validation table": float(np.abs(table - rows).max(initial=0.0)),
        }

    def on_correct(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Handle an example that was classified correctly."""

    @abc.abstractmethod
    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Set the kernel values of an incoming example."""

    def fewest_errors(self, hypothesis: Expansion, y: Target) -> int:
        """Return the slot whose removal gives the fewest errors; the next one for the incoming."""
        return _compiled.fewest_errors(
            self.table, self.scores, self._columns, self.n, *coefficients_of(hypothesis),
            hypothesis.store.inserted, y.weight, y.label, y.rival,
        )  # fmt: skip

    def add(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Add the incoming example to the hypothesis."""
        column = self.table[: self.n, self.n_vectors]
        _compiled.add_term(self.scores, column, y.weight, y.label, y.rival)
        hypothesis.add(query, y)
        self.n_vectors += 1

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        """Replace a vector of the hypothesis by the incoming example, which may be the vector."""
        _compiled.replace_term(
            self.table, self.scores, self.n, slot, *coefficients_of(hypothesis), self.n_vectors,
            y.weight, y.label, y.rival,
        )  # fmt: skip
        if slot < self.n_vectors:
            hypothesis.replace(slot, query, y)

    def prepare(self, state: State, store: VectorStore) -> None:
        """Set the sizes of a state that is about to be restored, given the store of the vectors."""
        self.n, self.n_vectors = len(state["table"]), store.n
        matches = np.shape(state["table"]) == (self.n, self.n_vectors)
        require(matches, "a validation table has too few or too many columns")

    def _check_restored(self) -> None:
        require(
            ((self._columns >= 0) & (self._columns < self.n_labels)).all(),
            "the labels of a validation set are wrong",
        )

    @abc.abstractmethod
    def _anew(self, hypothesis: Expansion) -> tuple[Floats, Floats]:
        """Return the scores and the table, computed from scratch (n, labels) (n, slots)."""

    def _reserve(self, n_rows: int, n_columns: int) -> None:
        old = self.table.shape
        rows = _extended(old[0], n_rows, self._limit)
        columns = _extended(old[1], n_columns, self._budget + 1)
        if (rows, columns) != old:
            self.table = padded(widened(self.table, columns), rows)
            self.scores = padded(self.scores, rows)
            self._columns = padded(self._columns, rows)


def _extended(size: int, needed: int, limit: int) -> int:
    """Return a size of at least `needed`: the present one, or twice that up to a limit."""
    return size if needed <= size else max(needed, min(2 * size, limit))


class SupportVectors(ValidationSet):
    """The support vectors themselves: rows are slots, and the table is their Gram matrix."""

    def set_incoming(self, hypothesis: Expansion, query: Query, y: Target) -> None:
        n, self_value = self.n, hypothesis.store.self_value(query)
        if n >= len(self._columns):
            self._reserve(n + 1, n + 1)
        self.scores[n] = hypothesis.scores(query)
        self._columns[n] = y.label
        _compiled.set_incoming(self.table, n, query.row, self_value)
        self.n += 1

    def replace(self, slot: int, hypothesis: Expansion, query: Query, y: Target) -> None:
        super().replace(slot, hypothesis, query, y)
        self.n -= 1
        _compiled.move_row(self.table, self.scores, self._columns, self.n, slot)

    def _check_restored(self) -> None:
        super()._check_restored()
        require(self.n == self.n_vectors, "the Gram matrix has the wrong size")

    def _anew(self, hypothesis: Expansion) -> tuple[Floats, Floats]:
        return hypothesis.values(), hypothesis.store.gram()
