"""The labels of a model, in the order of their columns."""

from __future__ import annotations

import copy
import decimal
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._core.engine import Engine
from river_budget._state import State, count, require

NEGATIVE, POSITIVE = 0, 1


class Labels:
    """The labels of a model, in the order of their columns: negative, positive, and any others.

    The first label is positive if it is True or 1. The second one takes the other side; others
    follow in order of appearance. `names` are the labels to predict for each column, at least two:
    both are the first label until the second one is seen, and None before the first.
    """

    __slots__ = ("_advice", "_limit", "column", "names")

    def __init__(
        self, limit: int, advice: str = "raise max_classes, unless the labels are ids by mistake"
    ) -> None:
        self._limit = limit
        self._advice = advice
        self.column: dict[Any, int] = {}
        self.names: list[Any] = [None, None]

    @property
    def known(self) -> dict[Any, int]:
        """The column of each label seen so far, in the order of the columns."""
        if len(self.column) < 2:
            return self.column
        return {name: column for column, name in enumerate(self.names)}

    def require_two(self, instead: str) -> None:
        """Raise ValueError if there are more than two labels."""
        if len(self.names) > 2:
            raise ValueError(f"there are {len(self.names)} labels, not two: use {instead}")

    def add(self, y: Any) -> int:
        """Return the column of a label, and register it. Raises ValueError if it is refused."""
        label = plain_label(y)
        if not _is_class(label):
            raise ValueError(f"the label is {y!r}: expected a class")
        if label in self.column:
            return self.column[label]
        n = len(self.column)
        if n == self._limit:
            raise ValueError(
                f"the label {y!r} is one class too many, at most {n} are allowed: {self._advice}"
            )
        column, names = n, self.names
        if n == 0:
            column, names = POSITIVE if label == 1 else NEGATIVE, [label, label]
        elif n == 1:
            column = 1 - next(iter(self.column.values()))
        names = [*names[:column], label, *names[column + 1 :]]
        columns = {**self.column, label: column}
        # No interrupt comes between the two.
        self.names, self.column = names, columns
        return column

    def check(self, y: Any) -> None:
        """Raise ValueError if `add` would, without registering the label."""
        copy.copy(self).add(y)

    def columns(self, y: Sequence[Any], weights: Floats | None = None) -> Ints:
        """Return the columns of labels, and register all of them, or none if one is refused.

        A label with a weight of 0 is only checked. An error names the row.
        """
        try:
            return np.array([self.column[label] for label in y], np.int64)
        except (KeyError, TypeError):
            before, columns = (self.column, self.names), []
        for row, label in enumerate(y):
            labels = self if weights is None or weights[row] else copy.copy(self)
            try:
                columns.append(labels.add(label))
            except ValueError as error:
                self.column, self.names = before
                raise ValueError(f"row {row}: {error}") from None
        return np.array(columns, np.int64)

    def state(self) -> State:
        return {"columns": dict(self.column)}

    def restore(self, state: State, engine: Engine) -> None:
        """Restore new labels, and give an engine that is restored next room for them."""
        columns = state["columns"]
        require(isinstance(columns, dict), "the labels have no columns")
        n = len(columns)
        require(n <= self._limit, f"there are {n} labels, at most {self._limit} are allowed")
        first, others = list(columns)[:2], list(columns)[2:]
        for label in first:
            self.add(label)
        require(all(map(_is_class, others)), "a label is missing")
        # `add` takes time in proportion to the number of labels.
        self.column.update(zip(others, itertools.count(2)))
        self.names.extend(others)
        given = {label: count(column) for label, column in columns.items()}
        require(self.column == given, "the labels have the wrong columns")
        engine.widen(len(self.names))


def plain_label(y: Any) -> Any:
    """Return a label as a value of Python or a time, so that equal ones have equal hashes."""
    if getattr(y, "nanosecond", 0):
        return y.to_datetime64()
    return y.item() if isinstance(y, np.generic) and not isinstance(y, np.datetime64) else y


def _is_class(label: Any) -> bool:
    """Return whether a label is hashable and not missing: None, NaN, NA, or a container of such."""
    try:
        hash(label)
        parts = label if isinstance(label, tuple | frozenset) else ()
        is_missing = label is None or label != label
        return not is_missing and all(map(_is_class, parts))
    except (TypeError, ValueError, decimal.InvalidOperation):
        return False
