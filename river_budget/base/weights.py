"""The weights of examples, given by the caller or by their classes."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_weight
from river_budget._state import integers, require
from river_budget.base.frames import list_of
from river_budget.base.labels import Labels

# The default weight of an example. It needs no check, and is recognized by its identity.
UNIT = 1.0

ClassWeight = Mapping[Any, float] | str
Weights = float | Iterable[float]

# A smaller weight is 0: its products with step sizes could underflow.
SMALLEST_WEIGHT = 1e-100
SMALLEST_CLASS_WEIGHT = 1e-12


def weight_of(w: Any) -> float:
    """Return the weight of an example as a float. Raises ValueError if it is invalid."""
    check_weight("w", w)
    return float(w) if w >= SMALLEST_WEIGHT else 0.0


def weights_of(w: Any, n: int) -> Floats:
    """Return the weights of n rows (n,), given as a series, a sequence or one number."""
    if isinstance(w, numbers.Number):
        values = [w] * n
    else:
        values = list_of(w, f"w must be a series or a sequence of weights, got {w!r}")
    if len(values) != n:
        raise ValueError(f"X has {n} rows, but w has {len(values)} weights")
    weights = np.empty(n)
    for row, value in enumerate(values):
        try:
            weights[row] = weight_of(value)
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None
    return weights


class ClassWeights:
    """The weight of each class, given or from the number of its examples so far."""

    __slots__ = ("_counts", "_given", "_n_rounds", "_next")

    def __init__(self, given: ClassWeight) -> None:
        self._given: dict[Any, float] | None = None
        if isinstance(given, Mapping):
            for label, weight in given.items():
                name = f"class_weight: the weight of {label!r}"
                check_weight(name, weight, least=SMALLEST_CLASS_WEIGHT)
            self._given = {label: float(weight) for label, weight in given.items()}
        elif not isinstance(given, str) or given != "balanced":
            raise ValueError(
                f"class_weight must be a dict from labels to weights or 'balanced', got {given!r}"
            )
        # The numbers of examples of the labels, by columns, after so many rounds, and the columns of
        # the examples that came next. Which of these were learned tells the number of rounds.
        self._counts: list[int] = []
        self._n_rounds = 0
        self._next: list[int] = []

    def of_next(self, columns: list[int], n_rounds: int, labels: Labels) -> list[float]:
        """Return the weights of the classes of the next examples, given the number of rounds."""
        if self._given is not None:
            return [self._given.get(labels.names[column], 1.0) for column in columns]
        counts, weights = self._counted(n_rounds), []
        if columns:
            # No interrupt comes between the values of an assignment.
            self._counts, self._n_rounds, self._next = counts.copy(), n_rounds, columns
        counts += [0] * (len(labels.names) - len(counts))
        for n, column in enumerate(columns, n_rounds + 1):
            counts[column] += 1
            weights.append(n / ((len(counts) - counts.count(0)) * counts[column]))
        return weights

    def _counted(self, n_rounds: int) -> list[int]:
        """Return the number of learned examples of each label, by columns."""
        counts = self._counts.copy()
        for column in self._next[: n_rounds - self._n_rounds]:
            counts += [0] * (column + 1 - len(counts))
            counts[column] += 1
        return counts

    def state(self, n_rounds: int) -> Ints | None:
        return np.array(self._counted(n_rounds), np.int64) if self._given is None else None

    def restore(self, counts: Any, n_rounds: int, labels: Labels) -> None:
        """Restore the counts. Raises ValueError if they are not those of a number of rounds."""
        if self._given is not None:
            require(counts is None, "given class weights need no counts")
            return
        self._counts, self._n_rounds = integers(counts, (None,)).tolist(), n_rounds
        # A label whose first example was interrupted has none.
        counted = {column for column, n in enumerate(self._counts) if n != 0}
        require(
            min(self._counts, default=0) >= 0
            and counted <= set(labels.column.values())
            and sum(self._counts) == n_rounds,
            "the numbers of examples of the labels are wrong",
        )
