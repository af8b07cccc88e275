"""The weights of examples, given by the caller or by their classes."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
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

    __slots__ = ("_counts", "_given", "_last", "_n_before", "_total")

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
        # The number of examples of each label, by columns, which balanced weights need, and their sum.
        self._counts = [0, 0]
        self._total = 0
        # The columns of the last examples, which may not be learned, and the number of those before.
        self._last: list[int] = []
        self._n_before = 0

    def begin(self, columns: list[int]) -> None:
        """Begin with examples that may be learned, of classes with these columns."""
        self._last, self._n_before = columns, self._total

    def next(self, column: int, labels: Labels) -> float:
        """Return the weight of the class of the next example, which is counted first."""
        if self._given is not None:
            return self._given.get(labels.names[column], 1.0)
        counts = self._counts
        if column >= len(counts):
            counts += [0] * (column + 1 - len(counts))
        counts[column] += 1
        self._total += 1
        return self._total / ((len(counts) - counts.count(0)) * counts[column])

    def take_back(self, n_rounds: int) -> None:
        """Uncount those of the last examples that were not learned, given the number of rounds."""
        n_before, n_counted = self._n_before, sum(self._counts)
        for column in self._last[n_rounds - n_before : n_counted - n_before]:
            self._counts[column] -= 1
        self._total = n_rounds

    def state(self) -> Ints | None:
        return np.array(self._counts, np.int64) if self._given is None else None

    def restore(self, counts: Any, n_rounds: int, labels: Labels) -> None:
        """Restore the counts. Raises ValueError if they are not those of a number of rounds."""
        if self._given is not None:
            require(counts is None, "given class weights need no counts")
            return
        self._counts, self._total = integers(counts, (None,)).tolist(), n_rounds
        # A label whose first example was interrupted has none.
        counted = {column for column, n in enumerate(self._counts) if n != 0}
        require(
            min(self._counts, default=-1) >= 0
            and counted <= set(labels.column.values())
            and sum(self._counts) == n_rounds,
            "the numbers of examples of the labels are wrong",
        )
