"""Validation sets: labelled examples on which the removal of each support vector is evaluated."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count
from river_budget._core.choices import uniform
from river_budget._core.expansion import Example, Expansion
from river_budget._core.removal import ValidationTable, VectorTable
from river_budget._core.store import Store
from river_budget._features import as_given
from river_budget._state import Count, Learned, Part, require
from river_budget.base.scales import Scales
from river_budget.kernels import Features
from river_budget.perceptrons._draws import key_of


class SupportVectors(Learned):
    """The support vectors themselves as validation set, and the base of other ones."""

    table = Part[ValidationTable](state=["_f"], restore=["_f"])

    def __init__(self, f: Expansion, table: ValidationTable) -> None:
        self._f = f
        self.table = table

    def on_correct(self, y: Example) -> None:
        """Handle an example that was classified correctly."""

    def join(self, y: Example) -> None:
        """Let the example of the round join the vectors."""
        self.table.join(self._f)

    def replace(self, slot: int, y: Example) -> None:
        """Replace a vector by the example, which may be the vector itself: `n_support`."""
        self.table.remove(self._f, slot)
        if slot < self._f.n:
            self._f.replace(slot, y)

    def anew(self) -> tuple[Floats, Floats]:
        """Return scores and kernel values of the examples, computed from scratch."""
        gram = self._f.store.gram()
        return gram @ self._f.matrix, gram

    def take_back(self) -> None:
        """Take back what was learned in a round that the hypothesis has taken back."""
        self.table.take_back(self._f)

    def rescale(self, scales: Scales) -> None:
        """Follow a change of the kernel."""


class StoredExamples(SupportVectors):
    """A validation set with a store of its own examples, which begins with the first of them."""

    _store = Part[Store]()

    def __init__(self, f: Expansion, table: ValidationTable) -> None:
        super().__init__(f, table)
        self._begin()
        # The last change of the store: its round, and how to undo it.
        self._last: tuple[int, Any] = 0, None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_last": (0, None)}

    @property
    def examples(self) -> list[Features]:
        """The examples, in the order of the rows of the table."""
        return [as_given(self._store.vector(i)) for i in range(self._store.n)]

    def join(self, y: Example) -> None:
        self.table.join(self._f, self._column(self._f.store.example()))

    def anew(self) -> tuple[Floats, Floats]:
        f = self._f
        columns = [self._column(f.store.vector(slot)) for slot in range(f.n)]
        table = np.array(columns).reshape(f.n, self._store.n).T
        return table @ f.matrix, table

    def take_back(self) -> None:
        changed_in, saved = self._last
        if changed_in > self._f.n_rounds:
            self._store.undo(saved)
            self._last = 0, None
        super().take_back()

    def rescale(self, scales: Scales) -> None:
        self._store.rescale(self._f.store.kernels, scales.factors, scales.pooled)

    def _begin(self) -> None:
        self._store = self._f.store.empty_like()

    def _check_restored(self) -> None:
        require(self.table.m == self._store.n, "a validation set has other examples than its store")

    def _column(self, x: Features) -> Floats:
        """Return the kernel values of x with the examples (m,)."""
        self._store.set_example(x)
        return self._store.row()

    def _put(self, i: int, x: Features, row: Floats, scores: Any, label: int) -> None:
        """Store an example, in place of another one unless i is a new one."""
        if self._store.n == 0:
            self._begin()
        store, f = self._store, self._f
        self._last = f.n_rounds, store.save(i)
        store.set_example(x)
        store.put_example(i)
        self.table.put(f, i, row, scores, label)


class Reservoir(StoredExamples):
    """A uniform random sample of the examples seen so far that are not support vectors."""

    _key = Count()

    def __init__(self, f: Expansion, budget: int, size: int, seed: int | None) -> None:
        super().__init__(f, ValidationTable(budget + 1, size))
        self._key = key_of(seed)
        self._size = size

    def on_correct(self, y: Example) -> None:
        i, f = self._draw(), self._f
        if i < self._size:
            self._put(i, f.store.example(), f.row, f.last_scores(), y.label)

    def replace(self, slot: int, y: Example) -> None:
        i, f = self._draw(), self._f
        if i >= self._size:
            super().replace(slot, y)
            return
        x, row, label = f.store.example(), f.row, y.label
        if slot < f.n:
            x, row = f.store.vector(slot), f.store.row_of(slot)
            label = int(f.matrix[slot].argmax())
            row[slot] = f.row_at(slot)
        super().replace(slot, y)
        self._put(i, x, row, row @ f.matrix, label)

    def _draw(self) -> int:
        """Return the index for the next example, by algorithm R; at least the size to discard it."""
        n = self._n_offered - 1
        return n if n < self._size else int((n + 1) * uniform(self._key, self._f.n_rounds))

    @property
    def _n_offered(self) -> int:
        # Every example is one, or it is added as a support vector without a removal.
        return self._f.n_rounds - self._f.n

    def _check_restored(self) -> None:
        super()._check_restored()
        expected = min(self._size, self._n_offered)
        require(self.table.m == expected, "the reservoir has the wrong size")


class AllExamples(StoredExamples):
    """All examples seen so far, the current one included. Its size is unbounded."""

    def __init__(self, f: Expansion, budget: int) -> None:
        super().__init__(f, ValidationTable(budget + 1, sys.maxsize))

    def on_correct(self, y: Example) -> None:
        self._append(self._f.store.example(), y)

    def join(self, y: Example) -> None:
        x = self._f.store.example()
        self._append(x, y)
        self.table.join(self._f, self._column(x))

    def _append(self, x: Features, y: Example) -> None:
        f, table = self._f, self.table
        self._put(table.m, x, f.row[: table.n], f.last_scores(), y.label)


def validation_set(
    f: Expansion, budget: int, validation: str | int, seed: int | None
) -> SupportVectors:
    """Return an empty validation set; see `TighterPerceptron`."""
    if validation == "support":
        return SupportVectors(f, VectorTable(budget + 1))
    if validation == "all":
        return AllExamples(f, budget)
    if isinstance(validation, str):
        raise ValueError(
            f"validation must be 'support', 'all' or a whole number, got {validation!r}"
        )
    check_count("validation", validation)
    return Reservoir(f, budget, validation, seed)
