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
    """The labels of a model, by column: negative, positive, and any others.

    The first label is positive if it is True or 1. The second one takes the other side; others
    follow in order of appearance. `names` are the labels to predict for each column, at least two:
    both are the first label until the second one is seen, and None before the first.
    """

    __slots__ = ("_limit", "column", "names")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.column: dict[Any, int] = {}
        self.names: list[Any] = [None, None]

    def require_two(self, instead: str) -> None:
        """Raise ValueError if there are more than two labels."""
        if len(self.names) > 2:
            raise ValueError(f"there are {len(self.names)} labels, not two: use {instead}")

    def add(self, y: Any) -> int:
        """Return the column of a label, and register it. Raises ValueError if it is refused."""
        label = plain_label(y)
        check_class(label)
        if label in self.column:
            return self.column[label]
        n = len(self.column)
        excess = f"the label {shown(y)} is one class too many, at most {n} are allowed"
        require(n < self._limit, f"{excess}: raise max_classes, unless they are ids by mistake")
        names = [*self.column, label]
        if n == 1 and names[0] == 1:
            names.reverse()
        columns = {name: column for column, name in enumerate(names, int(n == 0 and label == 1))}
        # No interrupt comes between the two.
        self.names, self.column = names if n else [label, label], columns
        return columns[label]

    def check(self, y: Any) -> None:
        """Raise ValueError if `add` would, without registering the label."""
        copy.copy(self).add(y)

    def columns(self, y: Sequence[Any], weights: Floats | None = None) -> Ints:
        """Return the columns of labels, and register those with a weight, or none on an error."""
        with contextlib.suppress(KeyError, TypeError):  # some are new, or refused
            return np.fromiter(map(self.column.__getitem__, y), np.int64, len(y))

        learned = copy.copy(self)
        weights = np.ones(len(y)) if weights is None else weights
        columns = by_row(lambda y, w: (learned if w else copy.copy(learned)).add(y), y, weights)
        self.names, self.column = learned.names, learned.column
        return np.array(columns, np.int64)

    def weights(self, columns: Ints, given: Mapping[Any, float]) -> Floats:
        """Return the weights of columns, 1 where none is given."""
        by_column = np.array([given.get(name, 1.0) for name in self.names])
        # A label whose examples have no weight is not registered.
        return by_column.take(columns, mode="clip")

    def state(self) -> State:
        return {"columns": dict(self.column)}

    def restore(self, state: State, engine: Engine) -> None:
        """Restore new labels, and give an engine that is restored next room for them."""
        columns = state["columns"]
        require(isinstance(columns, dict), "the labels have no columns")
        labels, n = list(columns), len(columns)
        require(n <= self._limit, f"there are {n} labels, at most {self._limit} are allowed")
        require(all(map(is_class, labels)), "a label is missing")
        self.column = {label: column for column, label in enumerate(labels, int(labels == [1]))}
        # Only of a single label can 1 be the first.
        in_order = list(map(count, columns.values())) == list(self.column.values())
        require(in_order and (n < 2 or labels[0] != 1), "the labels have the wrong columns")
        self.names = 2 * labels if n == 1 else labels or self.names
        engine.widen(len(self.names))


def plain_label(y: Any) -> Any:
    """Return a label as a value of Python or a time, so that equal ones have equal hashes."""
    if getattr(y, "nanosecond", 0):
        return y.to_datetime64()
    return y.item() if isinstance(y, np.generic) and not isinstance(y, np.datetime64) else y


def check_class(label: Any) -> None:
    """Raise ValueError unless a value can be a label."""
    if not is_bounded(label):
        raise ValueError(
            f"the label {shown(label)} cannot be stored: it is too large, or nested too deep"
        )
    if not is_class(label):
        raise ValueError(f"the label is {shown(label)}: expected a class")


def is_class(label: Any) -> bool:
    """Return whether a label is hashable, bounded, and not missing: None, NaN, NA, or a container of such."""
    try:
        if not is_bounded(label):
            return False
        hash(label)
        parts = label if isinstance(label, tuple | frozenset) else ()
        return label is not None and bool(label == label) and all(map(is_class, parts))
    except (TypeError, ValueError, decimal.InvalidOperation):
        return False


def weights_of(w: Any, n: int) -> Floats:
    """Return the weights of n rows (n,), given as a series, a sequence or one number."""
    values = np.full(n, w, object) if isinstance(w, numbers.Number) else np.asarray(w, object)
    fits = values.shape == (n,) and not np.ma.is_masked(w)
    require(fits, f"w must be a weight, or one for each of the {n} rows")
    return np.array(by_row(weight_of, values), np.float64)


def given_weights(class_weight: ClassWeight | None) -> dict[Any, float]:
    """Return the weights of the labels that have one. Raises ValueError if one is refused."""
    if isinstance(class_weight, Mapping):
        for label, weight in class_weight.items():
            check_class_weight(f"class_weight: the weight of {shown(label)}", weight)
        return {label: float(weight) for label, weight in class_weight.items()}
    is_known = isinstance(class_weight, str | None) and class_weight in (None, "balanced")
    expected = "a dict of weights or 'balanced'"
    require(is_known, f"class_weight must be {expected}, got {shown(class_weight)}")
    return {}
