"""A store of dicts with values of any type, for kernels without a spec."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats
from river_budget._state import State
from river_budget.kernels import Features, Kernel
from river_budget.support.features import invalid_example
from river_budget.support.plain import PlainStore
from river_budget.support.store import NO_COEFFICIENTS, Coefficients, Query


class ObjectStore(PlainStore):
    """A store of deep copies of examples. A kernel row calls the kernel once for each of them."""

    __slots__ = ("_vectors",)

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._vectors: list[Features] = []

    def query(self, x: Features, f: Coefficients = NO_COEFFICIENTS) -> Query:
        if not isinstance(x, Mapping):
            raise invalid_example(x)
        last = self._last
        if last is not None and last.f is f and _are_equal(x, last.snapshot):
            return last
        snapshot = copy.deepcopy(dict(x))
        value, row = self._evaluate(snapshot, f)
        self._last = query = Query(x, snapshot, f, None, row, self.n, value)
        return query

    def entry(self, x: Features) -> Query:
        return Query(x, copy.deepcopy(x), None, None, np.zeros(0), 0, None)

    def stored_entry(self, x: Features) -> Query:
        return self.entry(x)

    def features(self, query: Query) -> Features:
        return copy.deepcopy(query.snapshot)

    def self_value(self, query: Query) -> float:
        return float(self.kernel(query.snapshot, query.snapshot))

    def vector(self, slot: int) -> Features:
        return copy.deepcopy(self._vectors[slot])

    def self_value_of(self, slot: int) -> float:
        return float(self.kernel(self._vectors[slot], self._vectors[slot]))

    def evaluate_slot(self, slot: int, f: Coefficients) -> tuple[float, Floats]:
        return self._evaluate(self._vectors[slot], f)

    def distances(self, query: Query) -> Floats:
        return self._distances(query.row)

    def distances_of(self, slot: int) -> Floats:
        return self._distances(self.row(slot))

    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> list[Features]:
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @property
    def nbytes(self) -> int:
        containers = [self._inserted, self._vectors, *self._vectors]
        values = [value for x in self._vectors for value in x.values()]
        return sum(map(sys.getsizeof, [*containers, *values]))

    def _distances(self, row: Floats) -> Floats:
        """Return squared distances in feature space, less the common term k(x, x)."""
        return np.array([self.kernel(s, s) for s in self._vectors]) - 2 * row

    def _evaluate(self, x: Features, f: Coefficients) -> tuple[float, Floats]:
        row = np.array([self.kernel(x, s) for s in self._vectors], dtype=np.float64)
        if not np.isfinite(row).all():
            raise ValueError(f"{self.kernel} returned a value that is not finite for {x!r}")
        alphas = f.alphas.reshape(-1)[: self.n]
        return f.scale * float(np.dot(alphas, row[: len(alphas)])), row

    def vectors_state(self) -> State:
        raise ValueError(f"{self.kernel} cannot be stored: its function is code")

    def restored_vectors(self, state: State) -> list[Features]:
        raise ValueError(f"{self.kernel} cannot be stored: its function is code")

    def _resolve(self, query: Query) -> None:
        self._set_kernel(self.kernel.resolve(query.snapshot))

    def _insert(self, query: Query, slot: int) -> None:
        self._vectors.append(query.snapshot)

    def _overwrite(self, query: Query, slot: int) -> None:
        self._vectors[slot] = query.snapshot

    def _clear(self) -> None:
        self._vectors.clear()


def _are_equal(x: Any, z: Features) -> bool:
    """Return whether two examples have equal values of equal types, and the same order of names."""
    try:
        # The texts tell 0.0 from -0.0, and types and orders inside of values from others.
        return bool(dict(x) == z) and repr(dict(x)) == repr(z)
    except (TypeError, ValueError):  # the comparison of arrays is not a single boolean
        return False
