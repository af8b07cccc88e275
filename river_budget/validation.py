"""Validation sets: what a hypothesis would do to known examples without one of its vectors.

A validation set keeps the kernel values of its examples with every support vector, and f on its
examples, so that all removals are evaluated without a single call of the kernel. Its table has a row
for each example and a column for each slot of the support set; a newcomer on trial has the column
after the last slot.

"""

from __future__ import annotations

import abc
import random

import numpy as np

from river_budget import loops
from river_budget.kernels import Features
from river_budget.support import Floats, SupportSet, lengthened, support_set

__all__ = ["Everything", "Reservoir", "SupportVectors", "ValidationSet"]


class ValidationSet(abc.ABC):
    """Examples with known labels, and f and kernel rows on them.

    Attributes
    ----------
    n
        Number of examples.

    """

    __slots__ = ("_signs", "_table", "_values", "n")

    def __init__(self) -> None:
        self.n = 0
        self._table: Floats = np.zeros((0, 0))
        self._values: Floats = np.zeros(0)
        self._signs: Floats = np.zeros(0)

    @property
    def table(self) -> Floats:
        """k(v, s) for each example v and each slot (n, slots or more)."""
        return self._table[: self.n]

    @property
    def values(self) -> Floats:
        """f(v) for each example v (n,)."""
        return self._values[: self.n]

    @property
    def nbytes(self) -> int:
        """Bytes that the validation set holds."""
        return self._table.nbytes + self._values.nbytes + self._signs.nbytes

    def removal_errors(self, alphas: Floats) -> Floats:
        """Return the errors that would be made without each of the vectors (vectors,).

        Parameters
        ----------
        alphas
            Coefficients of the support vectors, and of the newcomer after them.

        """
        return loops.removal_errors(self.table, self.values, self._signs, alphas)

    def pass_by(self, support: SupportSet, y: float, f: float) -> None:
        """Take notice of the current example, which is classified well."""

    @abc.abstractmethod
    def admit(self, support: SupportSet, y: float, f: float) -> None:
        """Give the current example, a newcomer to the support set, its column."""

    def dismiss(self, slot: int, alphas: Floats) -> None:
        """Take a vector's term out of f; the newcomer, if it is not it, gets its column."""
        newcomer = len(alphas) - 1
        self._values[: self.n] -= alphas[slot] * self.table[:, slot]
        self._table[: self.n, slot] = self.table[:, newcomer]

    def release(self, support: SupportSet, x: Features, y: float) -> None:
        """Take notice of an example that is no support vector any more."""

    def _add_column(self, slot: int, column: Floats, alpha: float) -> None:
        self._fit(self.n, slot + 1)
        self._table[: self.n, slot] = column
        self._values[: self.n] += alpha * column

    def _put(self, index: int, row: Floats, value: float, sign: float) -> None:
        self._fit(index + 1, len(row))
        self._table[index, : len(row)] = row
        self._values[index] = value
        self._signs[index] = sign
        self.n = max(self.n, index + 1)

    def _fit(self, n_rows: int, n_columns: int) -> None:
        rows, columns = self._table.shape
        if n_rows > rows:
            rows = max(n_rows, 2 * rows)
            self._values = lengthened(self._values, rows)
            self._signs = lengthened(self._signs, rows)
            self._table = lengthened(self._table, rows)
        if n_columns > columns:
            wider = np.zeros((rows, max(n_columns, 2 * columns)))
            wider[:, :columns] = self._table
            self._table = wider


class SupportVectors(ValidationSet):
    """The support vectors themselves: rows are slots, and the table is their Gram matrix."""

    __slots__ = ()

    def admit(self, support: SupportSet, y: float, f: float) -> None:
        row, k = support.kernel_row, support.self_value
        self._add_column(support.n, row, y)
        self._put(support.n, np.append(row, k), f + y * k, y)

    def dismiss(self, slot: int, alphas: Floats) -> None:
        newcomer = len(alphas) - 1
        super().dismiss(slot, alphas)
        for array in (self._table, self._values, self._signs):
            array[slot] = array[newcomer]
        self.n = newcomer


class _Stored(ValidationSet):
    """Examples of its own, kept beside the support set."""

    __slots__ = ("_store",)

    _store: SupportSet

    def admit(self, support: SupportSet, y: float, f: float) -> None:
        column = np.zeros(0)
        if self.n:
            self._store.decide(support.current)
            column = self._store.kernel_row
        self._add_column(support.n, column, y)

    @property
    def nbytes(self) -> int:
        return super().nbytes + (self._store.nbytes if self.n else 0)

    def _append(
        self, support: SupportSet, x: Features, row: Floats, value: float, y: float
    ) -> None:
        if not self.n:
            self._store = support_set(support.kernel)
        self._store.decide(x)
        self._store.add(y)
        self._put(self.n, row, value, y)


class Reservoir(_Stored):
    """A uniform sample of the examples that were seen and are not support vectors.

    Parameters
    ----------
    size
        Number of examples.
    seed
        Random number generator seed for reproducibility.

    """

    __slots__ = ("_n_offered", "_rng", "_size")

    def __init__(self, size: int, seed: int | None) -> None:
        super().__init__()
        self._size = size
        self._rng = random.Random(seed)
        self._n_offered = 0

    def pass_by(self, support: SupportSet, y: float, f: float) -> None:
        place = self._place()
        if place < self._size:
            self._keep(place, support, support.current, support.kernel_row, f, y)

    def release(self, support: SupportSet, x: Features, y: float) -> None:
        place = self._place()
        if place < self._size:
            f = support.decide(x)
            self._keep(place, support, x, support.kernel_row, f, y)

    def _place(self) -> int:
        """Return where the next example goes, by Vitter's algorithm R."""
        self._n_offered += 1
        return self._n_offered - 1 if self.n < self._size else self._rng.randrange(self._n_offered)

    def _keep(
        self, place: int, support: SupportSet, x: Features, row: Floats, f: float, y: float
    ) -> None:
        if place == self.n:
            self._append(support, x, row, f, y)
        else:
            self._store.decide(x)
            self._store.replace(place, y)
            self._put(place, row, f, y)


class Everything(_Stored):
    """All examples ever seen, this round's included. It grows for ever."""

    __slots__ = ()

    def pass_by(self, support: SupportSet, y: float, f: float) -> None:
        self._append(support, support.current, support.kernel_row, f, y)

    def admit(self, support: SupportSet, y: float, f: float) -> None:
        super().admit(support, y, f)
        row, k = support.kernel_row, support.self_value
        self._append(support, support.current, np.append(row, k), f + y * k, y)
