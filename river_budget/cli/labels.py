"""Targets that are numbers to predict, which a classifier cannot learn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from river_budget.cli import formats
from river_budget.cli.app import notes

# So many different numbers are named in the log, and more than so many are refused.
MANY, MOST = 100, 1000

# More labels than this are not kept.
N_KEPT = 2 * MOST

ADVICE = (
    "the target has many different numbers: river_budget classifies; for a number see "
    "river.linear_model"
)


class NumbersAmongLabels:
    """Counts the different numbers among labels, also those that are texts, such as 01 or 1.50.

    Parameters
    ----------
    known
        The labels of earlier runs.
    """

    def __init__(self, known: Iterable[Any] = ()) -> None:
        self._labels = set(known)
        self._n = sum(map(_is_number, self._labels))

    def see(self, label: Any) -> None:
        """Count a label. Raises ValueError if there are more different numbers than a model can learn."""
        if label in self._labels:
            return
        is_number = _is_number(label)
        if is_number and self._n == MOST:
            raise ValueError(ADVICE)
        self._n += is_number
        if len(self._labels) < N_KEPT:
            self._labels.add(label)
        if is_number and self._n == MANY:
            notes.warning(ADVICE)


def _is_number(label: Any) -> bool:
    value = formats.parsed(label) if isinstance(label, str) else label
    return isinstance(value, int | float) and not isinstance(value, bool)
