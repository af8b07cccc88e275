"""The support vectors of the Tightest Perceptron as a validation set that counts labels."""

from __future__ import annotations

import math

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, floats, integers, require
from river_budget.perceptrons._tightest_compiled import (
    CAPACITY,
    FIRST,
    N_NUMBERS,
    Tables,
    tables_of,
)
from river_budget.support import AlgorithmState, Expansion

__all__ = ["CountedVectors"]


class CountedVectors(AlgorithmState):
    """The tables of the support vectors, which are numbers of their model; see `Tables`.

    Parameters
    ----------
    budget
        Maximum number of support vectors.

    """

    __slots__ = ("_limit", "_n_labels")

    def __init__(self, budget: int) -> None:
        super().__init__(N_NUMBERS)
        self._limit = budget + 1
        self._n_labels = 2

    @property
    def tables(self) -> Tables:
        """The tables, by slots."""
        tables: Tables = tables_of.py_func(self.numbers, self._n_labels)
        return tables

    def widen(self, n_labels: int) -> None:
        """Add scores and counts of 0 for new labels, up to `n_labels`."""
        if n_labels > self._n_labels:
            self._resize(len(self.tables.gram), n_labels)

    def reserve(self, n: int) -> None:
        """Allocate room for a number of vectors, and for an incoming example."""
        capacity, needed = len(self.tables.gram), min(n + 1, self._limit)
        if capacity < needed:
            self._resize(max(needed, min(2 * capacity, self._limit)), self._n_labels)

    def start_again(self, counts: Floats) -> None:
        """Set the counts of the first vectors, whose weights have to be computed anew."""
        tables = self.tables
        tables.counts[: len(counts)] = counts
        tables.weights[: len(counts)] = math.nan

    def renew(self, hypothesis: Expansion) -> None:
        """Compute Gram matrix and scores anew."""
        n, tables = hypothesis.store.n, self.tables
        tables.gram[:n, :n] = hypothesis.store.gram()
        tables.scores[:n] = hypothesis.values()

    def errors(self, hypothesis: Expansion) -> dict[str, float]:
        """Return the largest errors of the cached values; see `Machine.numerical_errors`."""
        n, tables = hypothesis.store.n, self.tables
        scores = np.abs(tables.scores[:n] - hypothesis.values()).max(initial=0.0)
        gram = np.abs(tables.gram[:n, :n] - hypothesis.store.gram()).max(initial=0.0)
        return {"validation scores": float(scores), "validation table": float(gram)}

    def state(self, n: int) -> State:
        """Return Gram matrix, scores and columns of the labels of n vectors."""
        tables = self.tables
        return {
            "table": tables.gram[:n, :n].copy(),
            "scores": tables.scores[:n].copy(),
            "columns": tables.columns[:n].copy(),
        }

    def restore(self, state: State, counts: Floats) -> None:
        """Restore new tables from the state and the counts of all vectors."""
        n, n_labels = counts.shape
        gram, scores = floats(state["table"], (None, None)), floats(state["scores"], (n, n_labels))
        matches = gram.shape == (n, n)
        require(matches, "a validation table has too few or too many rows or columns")
        columns = integers(state["columns"], (n,))
        require(
            ((columns >= 0) & (columns < n_labels)).all(),
            "the labels of a validation set are wrong",
        )
        require((counts >= 0).all(), "a count is negative")
        self._resize(min(n + 1, self._limit), n_labels)
        tables = self.tables
        tables.gram[:n, :n], tables.scores[:n], tables.columns[:n] = gram, scores, columns
        self.start_again(counts)

    def _resize(self, capacity: int, n_labels: int) -> None:
        """Allocate tables for a number of slots and labels. Weights have to be computed anew."""
        before, fixed = self.tables, self.numbers[:FIRST]
        self.numbers = np.zeros(FIRST + capacity * (capacity + 3 * n_labels + 1))
        self.numbers[:FIRST] = fixed
        self.numbers[CAPACITY], self._n_labels = capacity, n_labels
        n, width, tables = len(before.gram), before.counts.shape[1], self.tables
        tables.gram[:n, :n], tables.columns[:n] = before.gram, before.columns
        tables.scores[:n, :width], tables.counts[:n, :width] = before.scores, before.counts
        tables.weights[:] = math.nan
