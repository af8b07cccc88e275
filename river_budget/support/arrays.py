"""A store of examples that hold arrays beside numbers."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, padded
from river_budget._state import State, integers, require
from river_budget.kernels import Features, Kernel, VectorKernel
from river_budget.kernels._compiled import LARGEST, TILE, self_value
from river_budget.kernels.spec import (
    GAMMA,
    IDENTITY,
    INNER_STATISTIC,
    MANHATTAN_DISTANCE,
    N_NAMES,
    SQUARED_DISTANCE,
    SUM_OF_RATIONALS,
    Spec,
    kernel_spec,
)
from river_budget.support import _arrays_compiled
from river_budget.support.features import check_array, check_shape, invalid_example, is_array
from river_budget.support.numeric import UNKNOWN_NAME, NumericStore
from river_budget.support.plain import PlainStore
from river_budget.support.scaled import ScaledStore
from river_budget.support.store import NO_COEFFICIENTS, Coefficients, Query

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Statistic(VectorKernel):
    """The inner statistic of a kernel on numbers, with a factor of squares and a number of names."""

    kernel: Kernel
    gamma: float
    n_names: int

    @property
    def spec(self) -> Spec:
        given: Any = self.kernel.spec
        return kernel_spec(int(given[INNER_STATISTIC]), IDENTITY, self.gamma, n_names=self.n_names)

    def active(self, names: Sequence[Any]) -> list[int] | None:
        return self.kernel.active(names)

    def __call__(self, x: Features, z: Features) -> float:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(self.kernel)


class Parts(NamedTuple):
    """An example in the units of the kernel: numbers, arrays that it reads, and self statistic."""

    numbers: Query
    arrays: dict[Any, Array]
    statistic: float


class Matrix:
    """The arrays of one name by slots, zeros where there is none (slots, elements)."""

    __slots__ = ("is_present", "values")

    def __init__(self, n_slots: int, n_elements: int, dtype: Any) -> None:
        self.values: Array = np.zeros((n_slots, n_elements), dtype)
        self.is_present = np.zeros(n_slots, np.bool_)

    def extend(self, n_slots: int) -> None:
        self.values = padded(self.values, n_slots)
        self.is_present = padded(self.is_present, n_slots)

    def put(self, slot: int, array: Array | None) -> None:
        self.values[slot] = 0 if array is None else array
        self.is_present[slot] = array is not None

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.is_present.nbytes


class ArrayStore(PlainStore, ScaledStore):
    """A store of examples with one-dimensional arrays as values, beside numbers.

    The elements of an array are features like others to a kernel. The arrays of one name are the
    rows of one matrix, and share a scale. Numbers are in a `NumericStore` whose kernel is the inner
    statistic. An example without an array is zero there. Sums have double precision.
    """

    __slots__ = (
        "_dtype", "_is_selective", "_matrices", "_no_numbers", "_numbers", "_statistic",
    )  # fmt: skip

    _derived = "_no_numbers"

    def __init__(self, kernel: Kernel, dtype: Any) -> None:
        super().__init__(kernel)
        self._dtype = np.dtype(dtype)
        self._matrices: dict[Any, Matrix] = {}
        self._numbers = NumericStore(Statistic(kernel, 1.0, 0))
        self._set_kernel(kernel)

    def query(self, x: Features, f: Coefficients = NO_COEFFICIENTS) -> Query:
        numbers, arrays = self._split(x)
        own, last = self._query_of(numbers), self._last
        snapshot = {name: (array.dtype.str, array.tobytes()) for name, array in arrays.items()}
        if (
            last is not None
            and last.f is f
            and last.layout.numbers is own
            and last.snapshot == snapshot
        ):
            return last
        parts = self._parts(own, arrays)
        value, workspace = self._evaluate_parts(own.row, parts.arrays, parts.statistic, f)
        if value != value:
            raise ValueError(f"the values of the example are too large under {self.kernel}")
        self._last = query = Query(None, snapshot, f, parts, workspace, self.n, value)
        return query

    def entry(self, x: Features) -> Query:
        numbers, arrays = self._split(x)
        parts = self._parts(self._numbers.entry(numbers), arrays)
        return Query(None, None, None, parts, np.zeros(0), 0, None)

    def stored_entry(self, x: Features) -> Query:
        numbers, arrays = self._split(x)
        parts = self._joined(self._numbers.stored_entry(numbers), arrays)
        return Query(None, None, None, parts, np.zeros(0), 0, None)

    def features(self, query: Query) -> Features:
        parts = query.layout
        return {**self._numbers.features(parts.numbers), **self._unscaled(parts.arrays)}

    def self_value(self, query: Query) -> float:
        return self_value(self._spec, query.layout.statistic)

    def vector(self, slot: int) -> Features:
        return {**self._numbers.vector(slot), **self._unscaled(self._arrays_of(slot))}

    def evaluate_slot(self, slot: int, f: Coefficients) -> tuple[float, Floats]:
        statistic = self._statistics.item(slot)
        value, workspace = self._evaluate_parts(
            self._numbers.row(slot), self._arrays_of(slot), statistic, f
        )
        return value, workspace[: self.n]

    def distances(self, query: Query) -> Floats:
        parts = query.layout
        own, is_empty = parts.numbers, parts.numbers is self._no_numbers
        distances = np.zeros(self.n) if is_empty else self._numbers.distances(own)
        return self._distances(distances, parts.arrays)

    def distances_of(self, slot: int) -> Floats:
        return self._distances(self._numbers.distances_of(slot), self._arrays_of(slot))

    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> list[Features]:
        block = [dict(zip(columns, row, strict=True)) for row in rows]
        empty, lengths = self.empty_like(), dict[Any, int]()
        for i, x in enumerate(block):
            try:
                for name, array in self._split(x)[1].items():
                    if len(array) != lengths.setdefault(name, len(array)):
                        raise _another_length(name, array, lengths[name])
                empty.query(x)
            except ValueError as error:
                raise ValueError(f"row {i}: {error}") from None
        return block

    @property
    def names(self) -> Collection[Any]:
        return self._numbers.names | self._matrices.keys()

    @property
    def nbytes(self) -> int:
        matrices = self._matrices.values()
        # One query is always counted, so that the figure does not depend on the last call.
        query = 8 * self.n_slots + sum(2 * matrix.values[:1].nbytes for matrix in matrices)
        counted = [self._inserted, self._statistics, self._matrices]
        return (
            self._numbers.nbytes
            + sum(map(sys.getsizeof, counted))
            + sum(matrix.nbytes for matrix in matrices)
            + query
        )

    def rescale(
        self,
        kernel: Any,
        factors: Mapping[Any, float],
        pooled: float,
        vectors: Sequence[Features] | None = None,
    ) -> None:
        kept = [self.vector(slot) for slot in range(self.n)] if vectors is None else vectors
        self._clear()
        self._factors, self._pooled = factors, pooled
        self._set_kernel(kernel)
        for slot, vector in enumerate(kept):
            self._insert(self.entry(vector), slot)
        self._last = None

    def empty_like(self) -> ArrayStore:
        store = ArrayStore(self.kernel, self._dtype)
        store.rescale(self.kernel, self._factors, self._pooled)
        return store

    def _evaluate(self, x: Features, f: Coefficients) -> tuple[float, Floats]:
        query = self.query(x, f)
        return query.answer, query.row

    def _split(self, x: Any) -> tuple[Features, dict[Any, Array]]:
        """Return the features that are numbers, and those that are arrays."""
        if not isinstance(x, Mapping):
            raise invalid_example(x)
        numbers, arrays = {}, {}
        for name, value in x.items():
            if is_array(value):
                arrays[name] = value
            elif name in self._matrices:
                raise ValueError(f"feature {name!r} is {value!r}, but an array in support vectors")
            else:
                numbers[name] = value
        return numbers, arrays

    def _derive(self) -> None:
        self._no_numbers = self._numbers.entry({})

    def _query_of(self, numbers: Features) -> Query:
        if numbers or self._numbers.names or self._is_mean:
            return self._numbers.query(numbers)
        return self._no_numbers

    def _parts(self, numbers: Query, arrays: Mapping[Any, Array]) -> Parts:
        """Return an example. Raises ValueError if an array is invalid."""
        scaled = {name: self._scaled(name, value) for name, value in arrays.items()}
        if self._is_selective:
            names = list(scaled)
            active = self.kernel.active(names)
            scaled = scaled if active is None else {names[i]: scaled[names[i]] for i in active}
        return self._joined(numbers, scaled)

    def _joined(self, numbers: Query, arrays: dict[Any, Array]) -> Parts:
        """Return an example of numbers and of arrays in the units of the kernel."""
        own = self._numbers.self_value(numbers)
        return Parts(numbers, arrays, own + self._statistic_of(arrays))

    def _scaled(self, name: Any, value: Array) -> Array:
        check_shape(name, value)
        matrix = self._matrices.get(name)
        if matrix is None and name in self._numbers.names:
            raise ValueError(f"feature {name!r} is an array, but a number in support vectors")
        if matrix is not None and len(value) != matrix.values.shape[1]:
            raise _another_length(name, value, matrix.values.shape[1])
        factor = self._factor(name)
        if factor == 1.0 and value.dtype == self._dtype:
            array = value.copy()
        else:
            # What is too large for the type becomes infinite.
            with np.errstate(over="ignore"):
                array = value.astype(self._dtype, copy=False) * self._dtype.type(factor)
        if not _arrays_compiled.squared_norm(array) <= LARGEST:
            check_array(name, value)
            raise ValueError(f"feature {name!r} is an array with too large a value")
        return array

    def _unscaled(self, arrays: Mapping[Any, Array]) -> Features:
        return {
            name: array / self._dtype.type(self._factor(name)) for name, array in arrays.items()
        }

    def _statistic_of(self, arrays: Mapping[Any, Array]) -> float:
        """Return the self statistic of the arrays of an example."""
        statistics = [_arrays_compiled.self_statistic(self._spec, a) for a in arrays.values()]
        if self._is_mean:
            # The elements of a missing array are 0, and count 1 each.
            missing = self._matrices.keys() - arrays.keys()
            statistics += [self._matrices[name].values.shape[1] for name in missing]
        return math.fsum(statistics)

    def _arrays_of(self, slot: int) -> dict[Any, Array]:
        return {
            name: matrix.values[slot]
            for name, matrix in self._matrices.items()
            if matrix.is_present[slot]
        }

    def _evaluate_parts(
        self, row: Floats, arrays: Mapping[Any, Array], statistic: float, f: Coefficients
    ) -> tuple[float, Floats]:
        """Return f(x), NaN if x is invalid, and its row (slots,), given the statistics of its numbers."""
        workspace = np.zeros(self.n_slots)
        workspace[: len(row)] = row
        self._add_statistics(self._statistic, arrays, workspace)
        value = _arrays_compiled.finish(
            self._spec, statistic, self._statistics, f.alphas, f.scale, self.n,
            workspace.reshape(-1, TILE),
        )  # fmt: skip
        return value, workspace

    def _distances(self, distances: Floats, arrays: Mapping[Any, Array]) -> Floats:
        """Add the squared distances of arrays to those of numbers (n,)."""
        workspace = np.zeros(self.n_slots)
        workspace[: self.n] = distances
        self._add_statistics(SQUARED_DISTANCE, arrays, workspace)
        return workspace[: self.n]

    def _add_statistics(self, statistic: int, arrays: Mapping[Any, Array], row: Floats) -> None:
        """Add the inner statistics of arrays and those of the stored vectors to a row (slots,)."""
        for name, matrix in self._matrices.items():
            array = arrays.get(name)
            if array is None:
                array = np.zeros(matrix.values.shape[1], self._dtype)
            _arrays_compiled.add_statistics(
                statistic, self._spec[GAMMA], array, matrix.values, self.n, row
            )
        # All vectors are 0 in other arrays.
        for name in arrays.keys() - self._matrices.keys():
            if statistic == SQUARED_DISTANCE:
                row += np.square(arrays[name], dtype=np.float64).sum()
            elif statistic == MANHATTAN_DISTANCE:
                row += np.abs(arrays[name], dtype=np.float64).sum()

    def _resolve(self, query: Query) -> None:
        numbers, arrays, _ = query.layout
        names = [*numbers.layout.stored, *arrays]
        n_features = len(numbers.layout.stored) + sum(map(len, arrays.values()))
        kernel = self.kernel
        if kernel.learns_scales:
            kernel = kernel.with_width(1 / max(n_features, 1), names)
        self._set_kernel(kernel.resolve(names))

    def _set_kernel(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._is_selective = kernel.active([UNKNOWN_NAME]) is not None
        self._set_spec()

    def _set_spec(self) -> None:
        """Set the spec of the kernel. In a sum of rationals, each element counts."""
        spec: Any = self.kernel.spec
        n_names = int(spec[N_NAMES])
        n_numbers = max(0, n_names - len(self._matrices))
        if n_names:
            sizes = [matrix.values.shape[1] for matrix in self._matrices.values()]
            spec[N_NAMES] = n_numbers + sum(sizes)
            spec[GAMMA] *= spec[N_NAMES] / n_names
        self._spec, self._statistic = spec, int(spec[INNER_STATISTIC])
        of_numbers = Statistic(self.kernel, float(spec[GAMMA]), n_numbers)
        self._numbers.rescale(of_numbers, self._factors, self._pooled)
        self._derive()

    @property
    def _is_mean(self) -> bool:
        return self._statistic == SUM_OF_RATIONALS

    def _insert(self, query: Query, slot: int) -> None:
        parts = query.layout
        self._numbers.add(parts.numbers)
        self._put(parts, slot)

    def _overwrite(self, query: Query, slot: int) -> None:
        parts = query.layout
        self._numbers.replace(slot, parts.numbers)
        self._put(parts, slot)

    def _put(self, parts: Parts, slot: int) -> None:
        """Set the arrays of a slot, and its statistic."""
        names = list(self._matrices)
        for name in parts.arrays.keys() - self._matrices.keys():
            n_elements = len(parts.arrays[name])
            self._matrices[name] = Matrix(self.n_slots, n_elements, self._dtype)
        for name, matrix in list(self._matrices.items()):
            array = parts.arrays.get(name)
            matrix.put(slot, array)
            if array is None and not matrix.is_present.any():
                del self._matrices[name]
        self._statistics[slot // TILE, slot % TILE] = parts.statistic
        if self._is_mean:
            # The parameters depend on the number of elements.
            if list(self._matrices) != names:
                self._set_spec()
            for changed in range(self._numbers.n) if list(self._matrices) != names else [slot]:
                statistic = self._statistic_of(self._arrays_of(changed))
                statistic += self._numbers.self_value_of(changed)
                self._statistics[changed // TILE, changed % TILE] = statistic

    def _clear(self) -> None:
        self._numbers = self._numbers.empty_like()
        self._derive()
        self._matrices = {}
        self._statistics[:] = 0.0

    def _extend(self, n_blocks: int) -> None:
        super()._extend(n_blocks)
        for matrix in self._matrices.values():
            matrix.extend(self.n_slots)

    def vectors_state(self) -> State:
        arrays: State = {"names": tuple(self._matrices)}
        for i, matrix in enumerate(self._matrices.values()):
            used = matrix.values[: self.n].copy()
            present = matrix.is_present[: self.n].astype(np.int64)
            arrays[str(i)] = {"values": used, "is_present": present}
        return {**self._numbers.vectors_state(), "arrays": arrays}

    def restored_vectors(self, state: State) -> list[Features]:
        vectors = self._numbers.restored_vectors(state)
        arrays = state.get("arrays", {"names": ()})
        for i, name in enumerate(arrays["names"]):
            values = arrays[str(i)]["values"]
            present = integers(arrays[str(i)]["is_present"], (len(vectors),))
            is_valid = isinstance(values, np.ndarray) and values.dtype.kind == "f"
            require(is_valid and len(values) == len(vectors), "arrays are missing")
            for slot in np.flatnonzero(present).tolist():
                require(name not in vectors[slot], "a vector has a name twice")
                vectors[slot][name] = values[slot]
        return vectors


def _another_length(name: Any, array: Array, length: int) -> ValueError:
    return ValueError(
        f"feature {name!r} is an array of {len(array)} elements, but others have {length}"
    )
