"""Validation sets: labelled examples on which the removal of each support vector is evaluated."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.choices import uniform
from river_budget._core.expansion import Example, Expansion
from river_budget._core.removal import ValidationTable, follow
from river_budget._core.store import Store
from river_budget._features import as_given
from river_budget._state import Count, Learned, Part, require
from river_budget.kernels import Features


class SupportVectors(Learned):
    """The support vectors themselves as validation set, and the base of other ones."""

    table = Part[ValidationTable](state=["_f"], restore=["_f"])

    def __init__(self, f: Expansion, *most: int) -> None:
        self._f = f
        self.table = ValidationTable(*most)

    def on_correct(self, y: Example) -> None:
        """End a round whose example was classified correctly."""

    def on_mistake(self, y: Example, is_full: bool) -> None:
        """End a round whose example is added; if the budget is full, a vector is removed."""
        f, table = self._f, self.table
        table.join(f)
        table.finish(f, table.least_loss(f) if is_full else -1)

    def kernel_values(self) -> Floats:
        """Return the kernel values of examples and vectors, computed from scratch."""
        return self._f.store.gram()


class StoredExamples(SupportVectors):
    """A validation set with a store of its own examples, which begins with the first of them."""

    _store = Part[Store]()

    def __init__(self, f: Expansion, *most: int) -> None:
        super().__init__(f, *most)
        self._store = f.store.empty_like()

    @property
    def examples(self) -> list[Features]:
        """The examples, in the order of the rows of the table."""
        return [as_given(self._store.vector(i)) for i in range(self._store.n)]

    def kernel_values(self) -> Floats:
        store = self._f.store
        follow(self._store, store)  # Its scales may have changed since the examples were stored.
        columns = [self._column(store.vector(slot)) for slot in range(store.n)]
        return np.array(columns).reshape(store.n, self._store.n).T

    def _check_restored(self) -> None:
        require(self.table.m == self._store.n, "a validation set has other examples than its store")

    def _column(self, x: Features) -> Floats:
        self._store.set_example(x)
        return self._store.row()

    def _offer(self, x: Features, row: Floats, scores: Any, label: int) -> None:
        if self._store.n == 0:
            self._store = self._f.store.empty_like()
        self._store.set_example(x)
        self.table.offer(self._f, row, scores, label)

    def _offer_example(self, y: Example) -> None:
        f = self._f
        self._offer(f.store.example(), f.row, f.last_scores(), y.label)


class Reservoir(StoredExamples):
    """A uniform random sample of the examples seen so far that are not support vectors."""

    _key = Count()

    def __init__(self, f: Expansion, most_vectors: int, size: int, seed: int | None) -> None:
        super().__init__(f, most_vectors, size)
        self._key = random.Random(seed).getrandbits(62)
        self._size = size

    def on_correct(self, y: Example) -> None:
        i = self._draw()
        if i < self._size:
            self._offer_example(y)
            self.table.put(self._f, i, self._store)

    def on_mistake(self, y: Example, is_full: bool) -> None:
        f, table = self._f, self.table
        x = f.store.example()
        table.join(f, self._column(x))
        if not is_full:
            table.finish(f)
            return
        i, slot = self._draw(), table.least_loss(f)
        if i >= self._size:
            table.finish(f, slot)
            return
        row, matrix, label = f.row, f.matrix, y.label
        if slot < f.n:
            x, row, label = f.store.vector(slot), f.store.row_of(slot), int(matrix[slot].argmax())
            row[slot], matrix[slot] = f.row_at(slot), 0.0
            matrix[slot, y.label], matrix[slot, y.rival] = y.weight, -y.weight
        self._offer(x, row, row @ matrix, label)
        table.finish(f, slot, i, self._store)

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

    def on_correct(self, y: Example) -> None:
        self._offer_example(y)
        self.table.put(self._f, self.table.m, self._store)

    def on_mistake(self, y: Example, is_full: bool) -> None:
        f, table = self._f, self.table
        self._offer_example(y)
        table.join(f, np.append(self._store.row(), y.self_value))
        slot = table.least_loss(f) if is_full else -1
        table.finish(f, slot, table.m, self._store)
