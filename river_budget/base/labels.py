"""The labels of a binary problem and their signs."""

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
CONVENTIONAL_SIGNS: dict[Any, float] = {False: NEGATIVE, -1: NEGATIVE, True: POSITIVE}


class Labels:
    """The labels of a binary problem and their signs.

    The first label is positive if it is True or 1, and negative otherwise. The second label has the
    other sign.

    Attributes
    ----------
    negative, positive
        The labels to predict. After a first label of False, True, 0 or -1, the other one is
        inferred. After any other first label, both are that label until the second one is seen.

    """

    __slots__ = ("_signs", "negative", "positive")

    def __init__(self) -> None:
        self._signs: dict[Any, float] = {}
        self.negative: Any = False
        self.positive: Any = True

    def sign(self, y: Any) -> float:
        """Return -1 or +1 for a label, and register the label.

        Raises
        ------
        ValueError
            If it is a third label, missing or unhashable.

        """
        try:
            return self._signs[y]
        except (KeyError, TypeError):
            return self._add(y)

    def signs(self, y: Sequence[Any]) -> Floats:
        """Return the signs of many labels, and register all of them, or none if one is refused."""
        before = self._signs, self.negative, self.positive
        try:
            signs = [self._sign_of_row(row, label) for row, label in enumerate(y)]
        except ValueError:
            self._signs, self.negative, self.positive = before
            raise
        return np.array(signs, dtype=np.float64)

    def check(self, y: Any) -> None:
        """Raise ValueError if `sign` would, without registering the label."""
        copy.copy(self).sign(y)

    def state(self) -> State:
        """Return the labels with their signs, in the order of their first occurrence."""
        return {"signs": dict(self._signs)}

    def restore(self, state: State) -> None:
        """Restore the labels from their state."""
        for label, sign in state["signs"].items():
            require(self.sign(label) == sign, f"the label {label!r} has the wrong sign")

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
        first_sign = next(iter(self._signs.values()), POSITIVE)
        sign = -first_sign if self._signs else CONVENTIONAL_SIGNS.get(label, NEGATIVE)
        other = next(iter(self._signs), _inferred_label(label))
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
    """Return whether a label is missing: None, NaN or NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError, decimal.InvalidOperation):
        return True


def _inferred_label(label: Any) -> Any:
    """Return the other label if one label determines it, and the same label otherwise."""
    if isinstance(label, bool):
        return not label
    return type(label)(1) if label in (0, -1) else label
