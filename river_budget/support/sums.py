"""Running sums of the values of features, for their scales."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints, padded
from river_budget._compile import compiled
from river_budget._state import State, count, floats, require
from river_budget.kernels import Features

__all__ = ["Measures", "Sums"]

# The columns of the sums, one row a feature:
# - the number of examples that were observed before the first one with the feature;
# - the first value, from which differences are taken, so that no digits cancel in the variance of
#   values that are far from 0;
# - the number of examples that have the feature, and that of those with a value other than 0;
# - the sum of the differences, and that of their squares.
SINCE, REFERENCE, N_PRESENT, N_NONZERO, TOTAL, SQUARES, N_COLUMNS = range(7)

# Names that are no longer in use are dropped if there are more than this many of them.
MAX_UNUSED = 64


class Measures(NamedTuple):
    """What the sums tell about the features.

    Attributes
    ----------
    sizes
        Number of examples since the first one with the feature (features,).
    variances
        The variance over these examples (features,).
    scales
        The scale, 0 if there is none (features,).

    """

    sizes: Floats
    variances: Floats
    scales: Floats


class Sums:
    """Running sums of the values of each feature, which is 0 in examples that lack it.

    Attributes
    ----------
    rows
        The row of each feature, by name.
    n_observed
        Number of examples.

    """

    __slots__ = ("_table", "n_observed", "rows")

    def __init__(self) -> None:
        self.rows: dict[Any, int] = {}
        self.n_observed = 0
        self._table: Floats = np.zeros((0, N_COLUMNS))

    def observe(self, x: Features, names: Collection[Any]) -> None:
        """Add an example. Names that are new must be among `names`, or they are left out."""
        rows = [self.rows.get(name, -1) for name in x]
        if -1 in rows:
            for name in x:
                if name in names:
                    self.rows.setdefault(name, len(self.rows))
            rows = [self.rows.get(name, -1) for name in x]
            if len(self.rows) > len(self._table):
                self._table = padded(self._table, 2 * len(self.rows))
        values = np.fromiter(x.values(), np.float64, len(rows))
        _add(self._table, np.array(rows, np.int64), values, self.n_observed)
        self.n_observed += 1
        if len(self.rows) > 2 * len(names) + MAX_UNUSED:
            self._keep([name for name in self.rows if name in names])

    def measures(self) -> Measures:
        """Return variances and scales, in the order of the rows.

        A scale is the standard deviation or, of a feature that is 0 in more than half of the
        examples, the root mean square of the values other than 0: a rare word is not blown up. A
        constant has none.

        """
        return Measures(*_measure(self._used, self.n_observed))

    def clear(self) -> None:
        """Drop all sums."""
        self._keep([])

    @property
    def nbytes(self) -> int:
        """Memory of the sums in bytes."""
        return sys.getsizeof(self.rows) + sys.getsizeof(self._table)

    def state(self) -> State:
        """Return names and sums."""
        return {
            "n_observed": self.n_observed,
            "names": tuple(self.rows),
            "sums": self._used.copy(),
        }

    def restore(self, state: State) -> None:
        """Restore names and sums from their state."""
        self.n_observed = count(state["n_observed"])
        names, sums = state["names"], floats(state["sums"], (None, N_COLUMNS))
        require(type(names) is tuple and len(names) == len(sums), "sums lack names")
        since, _, present, nonzero, _, squares = sums.T
        require(
            (since >= 0).all()
            and (nonzero >= 0).all()
            and (nonzero <= present).all()
            and (present >= 1).all()
            and (present + since <= self.n_observed).all()
            and (squares >= 0).all(),
            "the sums of a feature are wrong",
        )
        self.rows = {name: row for row, name in enumerate(names)}
        require(len(self.rows) == len(names), "a feature has two sums")
        self._table = sums

    @property
    def _used(self) -> Floats:
        return self._table[: len(self.rows)]

    def _keep(self, names: list[Any]) -> None:
        self._table = self._table[[self.rows[name] for name in names]]
        self.rows = {name: row for row, name in enumerate(names)}


@compiled()
def _add(sums: Floats, rows: Ints, values: Floats, n_observed: int) -> None:
    """Add the values of an example; those in row -1 are left out."""
    for row, value in zip(rows, values):  # noqa: B905 (numba knows no strict)
        if row < 0:
            continue
        feature = sums[row]
        if feature[N_PRESENT] == 0.0:
            feature[SINCE], feature[REFERENCE] = n_observed, value
        difference = value - feature[REFERENCE]
        feature[N_PRESENT] += 1.0
        feature[N_NONZERO] += value != 0.0
        feature[TOTAL] += difference
        feature[SQUARES] += difference * difference


@compiled()
def _measure(sums: Floats, n_observed: int) -> tuple[Floats, Floats, Floats]:
    """Return sizes, variances and scales; see `Measures`."""
    n_features = len(sums)
    sizes, variances, scales = np.empty(n_features), np.empty(n_features), np.zeros(n_features)
    for i in range(n_features):
        since, reference, n_present, n_nonzero, total, squares = sums[i]
        n = n_observed - since
        n_missing = n - n_present
        mean = (total - n_missing * reference) / n
        sizes[i] = n
        variances[i] = max(0.0, (squares + n_missing * reference * reference) / n - mean * mean)
        if 2.0 * n_nonzero >= n:
            scales[i] = np.sqrt(variances[i])
        elif n_nonzero > 0.0:
            nonzero = squares + reference * (2.0 * total + n_present * reference)
            scales[i] = np.sqrt(max(0.0, nonzero) / n_nonzero)
    return sizes, variances, scales
