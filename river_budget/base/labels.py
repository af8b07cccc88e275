"""The labels and the weights of examples."""

from __future__ import annotations

import contextlib
import copy
import decimal
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_class_weight, is_bounded, shown, weight_of
from river_budget._core.engine import Engine
from river_budget._state import State, count, require
from river_budget.base.frames import by_row

ClassWeight = Mapping[Any, float] | str


class Labels:
    """The labels of a model, and the column of the scores that belongs to each.

    Column 0 is that of the negative label, column 1 that of the positive one. The first label is positive
    if it is True or 1, and negative otherwise. The second label takes the other side, and all others
    follow as they appear.
    """

    __slots__ = ("_limit", "column", "names")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.column: dict[Any, int] = {}
        # The label to predict for each column, at least two: None twice before the first label, and the
        # first label twice before the second.
        self.names: list[Any] = [None, None]

    def require_two(self, instead: str) -> None:
        """Raise ValueError if there are more than two labels."""
        if len(self.names) > 2:
            raise ValueError(f"there are {len(self.names)} labels, not two: use {instead}")

    def add(self, y: Any) -> int:
        """Return the column of a label, which is new or known. Raises ValueError if it is refused."""
        label = plain_label(y)
        check_class(label)
        if label in self.column:
            return self.column[label]
        n = len(self.column)
        excess = f"the label {shown(y)} is one class too many, at most {n} are allowed"
        require(n < self._limit, f"{excess}: raise max_classes, unless they are ids by mistake")

        labels = [*self.column, label]
        if n == 1 and labels[0] == 1:
            labels.reverse()  # The positive label came first.
        names, column = _names_of(labels), _columns_of(labels)
        # One statement, which no interrupt can divide.
        self.names, self.column = names, column
        return column[label]

    def check(self, y: Any) -> None:
        """Raise ValueError if `add` would refuse a label. Nothing changes."""
        try:
            is_known = y in self.column
        except TypeError:  # It is not hashable.
            is_known = False
        if not is_known:
            copy.copy(self).add(y)

    def columns(self, y: Sequence[Any], weights: Floats | None = None) -> Ints:
        """Return the columns of the labels of rows (rows,), and add the new ones among them.

        A label is not added if all of its rows have the weight 0. If one is refused, none is added,
        and the ValueError names its row.
        """
        with contextlib.suppress(KeyError, TypeError):  # Some label is new, or not hashable.
            return np.fromiter(map(self.column.__getitem__, y), np.int64, len(y))

        learned = copy.copy(self)

        def column_of(label: Any, weight: float) -> int:
            try:
                return learned.column[label]
            except (KeyError, TypeError):
                # A label that comes only with the weight 0 is checked, but not added.
                labels = learned if weight else copy.copy(learned)
                return labels.add(label)

        weights = np.ones(len(y)) if weights is None else weights
        columns = by_row(column_of, y, weights)
        self.names, self.column = learned.names, learned.column
        return np.array(columns, np.int64)

    def weights(self, columns: Ints, given: Mapping[Any, float]) -> Floats:
        """Return the weight of the label of each column (rows,), 1 where none is given."""
        by_column = np.array([given.get(name, 1.0) for name in self.names])
        # A label whose rows all have the weight 0 has no column yet, and any weight will do.
        return by_column.take(columns, mode="clip")

    def state(self) -> State:
        return {"columns": dict(self.column)}

    def restore(self, state: State, engine: Engine) -> None:
        """Restore new labels from a state, and widen the engine, which is restored next, for them."""
        columns = state["columns"]
        require(isinstance(columns, dict), "the labels have no columns")
        labels, n = list(columns), len(columns)
        require(n <= self._limit, f"there are {n} labels, at most {self._limit} are allowed")
        require(all(map(is_class, labels)), "a label is missing")

        self.column, self.names = _columns_of(labels), _names_of(labels)
        in_order = list(map(count, columns.values())) == list(self.column.values())
        # Of two labels or more, 1 and True are never the negative one.
        is_negative = n < 2 or labels[0] != 1
        require(in_order and is_negative, "the labels have the wrong columns")
        engine.widen(len(self.names))


def _columns_of(labels: list[Any]) -> dict[Any, int]:
    """Return the columns of labels in order. A single label has column 1 if it is True or 1."""
    first = int(labels == [1])
    return {label: column for column, label in enumerate(labels, first)}


def _names_of(labels: list[Any]) -> list[Any]:
    """Return the labels to predict for each column, at least two."""
    if not labels:
        return [None, None]
    return [*labels, *labels] if len(labels) == 1 else labels


def plain_label(y: Any) -> Any:
    """Return a label without the types of NumPy and pandas, so that equal labels have equal hashes.

    Times become `datetime64` if they have nanoseconds.
    """
    if getattr(y, "nanosecond", 0):
        return y.to_datetime64()
    is_scalar = isinstance(y, np.generic) and not isinstance(y, np.datetime64)
    return y.item() if is_scalar else y


def check_class(label: Any) -> None:
    """Raise ValueError if a value cannot be a label, and say why."""
    if not is_bounded(label):
        raise ValueError(
            f"the label {shown(label)} cannot be stored: it is too large, or nested too deep"
        )
    if not is_class(label):
        raise ValueError(f"the label is {shown(label)}: expected a class")


def is_class(label: Any) -> bool:
    """Return whether a value can be a label: hashable, of bounded size, and no missing value inside."""
    try:
        if not is_bounded(label):
            return False
        hash(label)
        parts = label if isinstance(label, tuple | frozenset) else ()
        return label is not None and bool(label == label) and all(map(is_class, parts))
    except (TypeError, ValueError, decimal.InvalidOperation):
        return False


def weights_of(w: Any, n: int) -> Floats:
    """Return the weights of n rows (n,): of a series, a sequence, or one number for all."""
    values = np.full(n, w, object) if isinstance(w, numbers.Number) else np.asarray(w, object)
    fits = values.shape == (n,) and not np.ma.is_masked(w)
    require(fits, f"w must be a weight, or one for each of the {n} rows")
    return np.array(by_row(weight_of, values), np.float64)


def class_weights_of(class_weight: ClassWeight | None) -> dict[Any, float]:
    """Return the weights of the labels that have one. Raises ValueError if one is refused."""
    if isinstance(class_weight, Mapping):
        for label, weight in class_weight.items():
            check_class_weight(f"class_weight: the weight of {shown(label)}", weight)
        return {label: float(weight) for label, weight in class_weight.items()}
    is_known = isinstance(class_weight, str | None) and class_weight in (None, "balanced")
    expected = "a dict of weights or 'balanced'"
    require(is_known, f"class_weight must be {expected}, got {shown(class_weight)}")
    return {}
