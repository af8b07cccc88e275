"""Running sums of the values of features, for their scales."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, Ints, padded
from river_budget._compile import compiled
from river_budget._state import State, count, floats, require
from river_budget.kernels import Features
from river_budget.support.features import NOT_NUMBERS, packer

Array = NDArray[Any]

# The columns of the sums, one row a feature:
# - the number of examples that were observed before the first one with the feature;
# - the first value, from which differences are taken, so that no digits cancel in the variance of
#   values that are far from 0;
# - the number of examples that have the feature, and that of those with a value other than 0;
# - the sum of the differences, and that of their squares.
SINCE, REFERENCE, N_PRESENT, N_NONZERO, TOTAL, SQUARES, N_COLUMNS = range(7)

# The default of a look-up: no row.
WITHOUT = itertools.repeat(-1)

# Names that are no longer in use are dropped if there are more than this many of them.
MAX_UNUSED = 64

# Examples with the same features wait to be added together, but no more of them than this, and than
# have this many values in all.
MAX_WAITING, MAX_WAITING_VALUES = 16, 64


class Measures(NamedTuple):
    """Numbers of values since the first example with each feature, their variances and their scales.

    Of an array, variances are summed over its elements. A scale is 0 if there is none.
    """

    sizes: Floats
    variances: Floats
    scales: Floats


class ArraySums(NamedTuple):
    """Running sums of the elements of an array feature, which share a scale.

    `counts` are those of a row of `Sums` (columns,); `sums` are the first array, the sum of the
    differences from it and that of their squares (3, elements).
    """

    counts: Floats
    sums: Floats

    @classmethod
    def of(cls, first: Array, n_observed: int) -> ArraySums:
        counts, sums = np.zeros(N_COLUMNS), np.zeros((3, len(first)))
        counts[SINCE], sums[0] = n_observed, first
        return cls(counts, sums)

    def observe(self, values: Array) -> None:
        difference = values - self.sums[0]
        self.counts[N_PRESENT] += 1.0
        self.counts[N_NONZERO] += np.count_nonzero(values)
        self.sums[1] += difference
        self.sums[2] += difference * difference

    def measures(self, n_observed: int) -> tuple[float, float, float]:
        """Return number of values, variance and scale; see `Measures`."""
        n = n_observed - self.counts[SINCE]
        n_missing, n_nonzero = n - self.counts[N_PRESENT], self.counts[N_NONZERO]
        reference, total, squares = self.sums
        mean_square = (squares + n_missing * reference**2) / n
        variances = np.maximum(0.0, mean_square - ((total - n_missing * reference) / n) ** 2)
        n_values = n * len(reference)
        mean_of_squares = variances.mean()
        if 2.0 * n_nonzero < n_values:
            present = squares + reference * (2.0 * total + self.counts[N_PRESENT] * reference)
            mean_of_squares = max(0.0, present.sum()) / n_nonzero if n_nonzero else 0.0
        return n_values, float(variances.sum()), float(np.sqrt(mean_of_squares))


class Sums:
    """Running sums of the values of each feature, 0 in examples that lack it, and of arrays."""

    __slots__ = (
        "_again", "_columns", "_n_added", "_n_waiting", "_rows", "_table", "_waiting", "arrays", "rows"
    )  # fmt: skip

    def __init__(self) -> None:
        self.rows: dict[Any, int] = {}
        self.arrays: dict[Any, ArraySums] = {}
        self._table: Floats = np.zeros((0, N_COLUMNS))
        self._n_added = 0
        # The last names of examples whose features all have a row, and these rows.
        self._columns: list[Any] = []
        self._rows: Ints = np.zeros(0, np.int64)
        # These names if they came again, and the values of the last examples with them, which are not
        # added yet.
        self._again: list[Any] | None = None
        self._waiting: Floats = np.zeros((0, 0))
        self._n_waiting = 0

    @property
    def names(self) -> list[Any]:
        """The names of the features, in the order of their measures."""
        return [*self.rows, *self.arrays]

    @property
    def n_observed(self) -> int:
        return self._n_added + self._n_waiting

    def observe(self, x: Features, columns: list[Any], names: Collection[Any]) -> None:
        """Add an example in the units of the user, where the same list of names again is the fastest.

        Names that no support vector has, which are not among those given, have no sums.
        """
        if columns is self._again:
            n = len(columns)
            packer(n).pack_into(self._waiting, 8 * n * self._n_waiting, *x.values())  # type: ignore[arg-type]
            self._n_waiting += 1
            if self._n_waiting == len(self._waiting):
                self._add_waiting()
            return
        try:
            values = np.frombuffer(packer(len(x)).pack(*x.values()))
        except NOT_NUMBERS:
            arrays = {name: value for name, value in x.items() if isinstance(value, np.ndarray)}
            self._observe_arrays(arrays, names)
            columns = [name for name in columns if name not in arrays]
            values = np.array([x[name] for name in columns], np.float64)
        self.observe_rows(columns, values.reshape(1, -1), names)

    def observe_rows(self, columns: list[Any], values: Floats, names: Collection[Any]) -> None:
        """Add the values of examples with the same features (examples, columns); see `observe`."""
        self._add_waiting()
        rows = self._find_rows(columns, names)
        _add(self._table, rows, values, self._n_added)
        self._n_added += len(values)

    def drop_unused(self, names: Collection[Any]) -> None:
        """Drop sums of names that are not given, if there are many."""
        if len(self.rows) > 2 * len(names) + MAX_UNUSED:
            self._keep([name for name in self.rows if name in names])

    def measures(self) -> Measures:
        """Return variances and scales, in the order of `names`. A constant has no scale.

        A scale is the standard deviation or, of a feature that is 0 in more than half of the
        examples, the root mean square of the values other than 0: a rare word is not blown up.
        """
        self._add_waiting()
        of_numbers = Measures(*_measure(self._used, self.n_observed))
        if not self.arrays:
            return of_numbers
        of_arrays = np.array([sums.measures(self.n_observed) for sums in self.arrays.values()]).T
        return Measures(*np.hstack((of_numbers, of_arrays)))

    def clear(self) -> None:
        self._keep([])
        self.arrays = {}

    @property
    def nbytes(self) -> int:
        of_arrays = sum(sums.counts.nbytes + sums.sums.nbytes for sums in self.arrays.values())
        # The last names, rows and values are always counted, so that the figure does not depend on
        # them.
        n = len(self.rows)
        last = 16 * n + 8 * max(n, MAX_WAITING_VALUES) if n else 0
        return sys.getsizeof(self.rows) + sys.getsizeof(self._table) + of_arrays + last

    def state(self) -> State:
        self._add_waiting()
        arrays: State = {"names": tuple(self.arrays)}
        for i, own in enumerate(self.arrays.values()):
            arrays[str(i)] = {"counts": own.counts.copy(), "sums": own.sums.copy()}
        return {
            "n_observed": self.n_observed,
            "names": tuple(self.rows),
            "sums": self._used.copy(),
            "arrays": arrays,
        }

    def restore(self, state: State) -> None:
        self._n_added = count(state["n_observed"])
        names, sums = state["names"], floats(state["sums"], (None, N_COLUMNS))
        require(type(names) is tuple and len(names) == len(sums), "sums lack names")
        self._check(sums, 1)
        self.rows = {name: row for row, name in enumerate(names)}
        self._columns = []
        require(len(self.rows) == len(names), "a feature has two sums")
        self._table = sums
        for i, name in enumerate(state["arrays"]["names"]):
            own = state["arrays"][str(i)]
            of_array = ArraySums(
                floats(own["counts"], (N_COLUMNS,)), floats(own["sums"], (3, None))
            )
            self._check(of_array.counts[np.newaxis], of_array.sums.shape[1])
            require((of_array.sums[2] >= 0).all(), "the sums of an array are wrong")
            self.arrays[name] = of_array

    def __getstate__(self) -> Any:
        self._add_waiting()
        state: Any = super().__getstate__()
        return None, {**state[1], "_waiting": np.zeros_like(self._waiting)}

    def _check(self, sums: Floats, n_elements: int) -> None:
        """Raise ValueError unless the sums of features with a number of elements are possible."""
        since, _, present, nonzero, _, squares = sums.T
        require(
            (since >= 0).all()
            and (nonzero >= 0).all()
            and (nonzero <= n_elements * present).all()
            and (present >= 1).all()
            and (present + since <= self.n_observed).all()
            and (squares >= 0).all(),
            "the sums of a feature are wrong",
        )

    @property
    def _used(self) -> Floats:
        return self._table[: len(self.rows)]

    def _observe_arrays(self, arrays: Features, names: Collection[Any]) -> None:
        for name, values in arrays.items():
            if name in names and name not in self.arrays:
                self.arrays[name] = ArraySums.of(values, self.n_observed)
            if name in self.arrays:
                self.arrays[name].observe(values)
        for name in [name for name in self.arrays if name not in names]:
            del self.arrays[name]

    def _find_rows(self, columns: list[Any], names: Collection[Any]) -> Ints:
        """Return the rows of features, -1 for those without, and give rows to new ones."""
        if columns == self._columns:
            # Make room for examples with the same list of names to wait.
            n_waiting = min(MAX_WAITING, MAX_WAITING_VALUES // max(1, len(columns)))
            self._columns = self._again = columns
            self._waiting = np.zeros((max(1, n_waiting), len(columns)))
            return self._rows
        rows = list(map(self.rows.get, columns, WITHOUT))
        if -1 in rows:
            self.drop_unused(names)
            for name in columns:
                if name in names:
                    self.rows.setdefault(name, len(self.rows))
            rows = list(map(self.rows.get, columns, WITHOUT))
            if len(self.rows) > len(self._table):
                self._table = padded(self._table, 2 * len(self.rows))
        found = np.array(rows, np.int64)
        if -1 not in rows:
            self._columns, self._rows, self._again = columns, found, None
        return found

    def _add_waiting(self) -> None:
        """Add the examples that wait. All of their features have a row."""
        n_waiting = self._n_waiting
        if n_waiting:
            _add(self._table, self._rows, self._waiting[:n_waiting], self._n_added)
            self._n_added += n_waiting
            self._n_waiting = 0

    def _keep(self, names: list[Any]) -> None:
        self._add_waiting()
        self._columns, self._rows, self._again = [], np.zeros(0, np.int64), None
        self._table = self._table[[self.rows[name] for name in names]]
        self.rows = {name: row for row, name in enumerate(names)}


@compiled()
def _add(sums: Floats, rows: Ints, examples: Floats, n_observed: int) -> None:
    """Add the values of examples; those in row -1 are left out."""
    for i in range(len(examples)):
        for row, value in zip(rows, examples[i]):  # noqa: B905 (numba knows no strict)
            if row < 0:
                continue
            feature = sums[row]
            if feature[N_PRESENT] == 0.0:
                feature[SINCE], feature[REFERENCE] = n_observed + i, value
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
