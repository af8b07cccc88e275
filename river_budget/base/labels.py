"""The two labels of a binary problem, and their signs."""

from __future__ import annotations

import copy
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, require

__all__ = ["Labels"]

NEGATIVE, POSITIVE = -1.0, 1.0
USUAL_SIGNS: dict[Any, float] = {False: NEGATIVE, -1: NEGATIVE, True: POSITIVE}


class Labels:
    """The two labels of a binary problem, and their signs.

    If the first label is False, 0 or -1 it is negative, and if it is True or 1 it is positive. Any
    other first label is negative. The second label has the other sign.

    Attributes
    ----------
    negative, positive
        The labels to predict. As long as only one label is known, and the other one does not
        follow from it, both are that one.

    """

    __slots__ = ("_signs", "negative", "positive")

    def __init__(self) -> None:
        self._signs: dict[Any, float] = {}
        self.negative: Any = False
        self.positive: Any = True

    def sign(self, y: Any) -> float:
        """Return -1 or +1 for a label, which becomes known.

        Raises
        ------
        ValueError
            If it is a third label, or none at all.

        """
        try:
            return self._signs[y]
        except (KeyError, TypeError):
            return self._add(y)

    def signs(self, y: Sequence[Any]) -> Floats:
        """Return the signs of many labels, which all become known unless one is refused."""
        before = self._signs, self.negative, self.positive
        try:
            signs = [self._sign_of_row(row, label) for row, label in enumerate(y)]
        except ValueError:
            self._signs, self.negative, self.positive = before
            raise
        return np.array(signs, dtype=np.float64)

    def check(self, y: Any) -> None:
        """Raise ValueError where `sign` would, and change nothing."""
        copy.copy(self).sign(y)

    def state(self) -> State:
        """Return the labels with their signs, in the order in which they were seen."""
        return {"signs": dict(self._signs)}

    def restore(self, state: State) -> None:
        """Take what `state` returned."""
        for label, sign in state["signs"].items():
            require(self.sign(label) == sign, f"the label {label!r} has another sign")

    def _sign_of_row(self, row: int, y: Any) -> float:
        try:
            return self._signs[y]
        except (KeyError, TypeError):
            pass
        try:
            return self._add(y)
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None

    def _add(self, y: Any) -> float:
        label = y.item() if isinstance(y, np.generic) else y
        if not _is_hashable(label) or _is_missing(label):
            raise ValueError(f"the label is {y!r}: expected one of two classes")
        if len(self._signs) == 2:
            raise ValueError(
                f"the label {y!r} is a third class beside {self.negative!r} and "
                f"{self.positive!r}: use multiclass.OneVsRestClassifier"
            )
        taken = next(iter(self._signs.values()), POSITIVE)
        sign = -taken if self._signs else USUAL_SIGNS.get(label, NEGATIVE)
        other = next(iter(self._signs), _implied(label))
        self.negative, self.positive = (label, other) if sign == NEGATIVE else (other, label)
        self._signs = {**self._signs, label: sign}
        return sign


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None, or like NaN and NA does not compare as values do."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError, decimal.InvalidOperation):
        return True


def _implied(label: Any) -> Any:
    """Return the other label of a problem of which this one is known."""
    if isinstance(label, bool):
        return not label
    return type(label)(1) if label in (0, -1) else label
