"""The interface of a store of vectors."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, Ints, padded
from river_budget._state import State, count, integers, require
from river_budget.kernels import Features, Kernel
from river_budget.kernels._compiled import TILE
from river_budget.support import _compiled
from river_budget.support.rule import AlgorithmState, Rule
from river_budget.support.sums import Sums

if TYPE_CHECKING:
    from river_budget.support.expansion import Expansion


# The matrix of a hypothesis for two labels.
NO_MATRIX = np.zeros((0, 0))


class Coefficients:
    """The coefficients of a hypothesis over a store, and their common factor.

    With two labels they are `alphas` (blocks, TILE), with more a `matrix` (slots, labels), 0 in
    free slots; the other one is empty.
    """

    __slots__ = ("alphas", "matrix", "scale")

    def __init__(self, alphas: Floats, matrix: Floats = NO_MATRIX) -> None:
        self.alphas = alphas
        self.matrix = matrix
        self.scale = 1.0


# The weights of f = 0.
NO_COEFFICIENTS = Coefficients(np.zeros((0, TILE)))


@dataclasses.dataclass(slots=True, eq=False)
class Query:
    """An example x, its kernel row over a store, and the value of a hypothesis f at x as the answer.

    A store keeps its last query, the only cache of the package. It is reused for an x with the same
    names in the same order and bitwise equal values under the same hypothesis, until either
    changes. Threads that predict may replace it, but each continues with its own; only `answer` is
    mutable.

    `given` is x if all of its values are plain numbers, `snapshot` a copy; both are None for a row
    of a block. The `layout` has names and feature rows. The `workspace` starts with the kernel row
    (slots,), in a `NumericStore` followed by the values of x. `n` is the number of vectors at that
    time.
    """

    given: Any
    snapshot: Any
    f: Any
    layout: Any
    workspace: Floats
    n: int
    answer: Any

    @property
    def row(self) -> Floats:
        """k(x, s) for each stored vector s (n,), by slots."""
        return self.workspace[: self.n]


class VectorStore(abc.ABC):
    """Vectors in slots 0 to n - 1, in any order, with their insertion order and their kernel rows.

    A store is independent of hypotheses: a method that evaluates one takes its weights (see
    `Expansion`). Missing parameters of the kernel are set when the first example is stored.
    """

    __slots__ = ("_inserted", "_last", "_n_inserted", "kernel", "n", "n_slots")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.n = 0
        self.n_slots = 0
        self._inserted: Ints = np.zeros(0, np.int64)
        self._n_inserted = 0
        self._last: Query | None = None

    @abc.abstractmethod
    def query(self, x: Features, f: Coefficients = NO_COEFFICIENTS) -> Query:
        """Return x with its kernel row, and f(x) as the answer. Raises ValueError if x is invalid."""

    @abc.abstractmethod
    def entry(self, x: Features) -> Query:
        """Return a valid example as a query without a kernel row, for `add` and `replace`."""

    @abc.abstractmethod
    def stored_entry(self, x: Features) -> Query:
        """Return a valid example whose features are scaled already, to be stored; see `entry`."""

    @abc.abstractmethod
    def features(self, query: Query) -> Features:
        """Return the example of a query as a dict."""

    def observe(self, query: Query, sums: Sums) -> None:
        """Add the example of a query by `query` to the sums of its features."""
        x = self.features(query)
        sums.observe(x, list(x), self.names)

    def observe_rows(self, block: Any, start: int, stop: int, sums: Sums) -> None:
        """Add rows of a block to the sums of their features."""
        for x in block[start:stop]:
            self.observe(self.entry(x), sums)

    @abc.abstractmethod
    def self_value(self, query: Query) -> float:
        """Return k(x, x) for the example x of a query."""

    @abc.abstractmethod
    def vector(self, slot: int) -> Features:
        """Return the vector in a slot as a dict."""

    @abc.abstractmethod
    def self_value_of(self, slot: int) -> float:
        """Return k(s, s) for the vector s in a slot."""

    @abc.abstractmethod
    def evaluate_slot(self, slot: int, f: Coefficients) -> tuple[float, Floats]:
        """Return f at the vector in a slot, and its kernel row (n,)."""

    @abc.abstractmethod
    def distances(self, query: Query) -> Floats:
        """Return the squared distance in input space of x to each vector, up to a constant (n,)."""

    @abc.abstractmethod
    def distances_of(self, slot: int) -> Floats:
        """Return the same as `distances` for the vector in a slot."""

    @abc.abstractmethod
    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> Any:
        """Return the rows of a frame as a block. Raises ValueError that names an invalid row."""

    @abc.abstractmethod
    def query_row(self, block: Any, row: int) -> Query:
        """Return the query of a row of a block, with its kernel row and without an answer."""

    @abc.abstractmethod
    def scan(
        self, block: Any, columns: Ints, start: int, stop: int, threshold: float, f: Expansion
    ) -> tuple[int, Query | None]:
        """Return the next row with a margin of at most `threshold` and its query; None before `stop`.

        The answer of the query is f(x) with two labels, and an array of scores with more (labels,).
        """

    @abc.abstractmethod
    def score_block(self, block: Any, f: Expansion) -> Floats:
        """Return the scores of all labels at each row of a block (rows, labels)."""

    @abc.abstractmethod
    def update(
        self, rule: Rule, own: AlgorithmState, query: Query, label: int, weight: float, f: Expansion
    ) -> int:
        """Update a model on an example, and return `_rule_compiled.DONE`.

        If the compiled code cannot store the example, only its slot is returned, where n is a new
        one.
        """

    @abc.abstractmethod
    def learn(
        self, rule: Rule, own: AlgorithmState, block: Any, columns: Ints, weights: Floats, start: int,
        stop: int, threshold: float, counts: Ints, f: Expansion,
    ) -> tuple[int, Query]:  # fmt: skip
        """Learn the rows of a block, up to one whose example the compiled code cannot store.

        Returned are its slot or `DONE`, as in `update`, and the query of the last row evaluated.
        """

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """Memory of the store in bytes: arrays, feature index, names and the last query."""

    @property
    def names(self) -> Collection[Any]:
        """The names that some vector has."""
        return {name for slot in range(self.n) for name in self.vector(slot)}

    @property
    def resolved_kernel(self) -> Kernel:
        """The kernel of examples in the units of the user, with all parameters set."""
        return self.kernel

    def rescale(
        self,
        kernel: Any,
        factors: Mapping[Any, float],
        pooled: float,
        vectors: Sequence[Features] | None = None,
    ) -> None:
        """Change the kernel, and the factors of features by name and of all others.

        Given are also the vectors by slots, if features are to be stored that were not read before.
        """
        raise ValueError(f"{self.kernel} reads features of any type, which have no scale")

    def empty_like(self) -> VectorStore:
        """Return an empty store with the same kernel and scales."""
        return type(self)(self.kernel)

    def row(self, slot: int) -> Floats:
        """Return the kernel row of the vector in a slot (n,)."""
        return self.evaluate_slot(slot, NO_COEFFICIENTS)[1]

    @property
    def self_values(self) -> Floats:
        """k(s, s) for each stored vector s (n,), by slots."""
        if self.kernel.has_unit_norm:
            return np.ones(self.n)
        return np.array([self.self_value_of(slot) for slot in range(self.n)])

    def rows(self, examples: Sequence[Features]) -> Floats:
        """Return the kernel rows of examples (examples, n)."""
        rows = [self.query(x).row for x in examples]
        return np.array(rows, np.float64).reshape(len(examples), self.n)

    def gram(self) -> Floats:
        """Return the Gram matrix of the vectors (n, n), by slots."""
        rows = [self.row(slot) for slot in range(self.n)]
        return np.array(rows, np.float64).reshape(self.n, self.n)

    @property
    def inserted(self) -> Ints:
        """Insertion order of the vectors, increasing with time (n,)."""
        return self._inserted[: self.n]

    @property
    def oldest(self) -> int:
        """Slot of the oldest vector."""
        return int(_compiled.oldest(self._inserted, self.n))

    @property
    def by_age(self) -> NDArray[np.intp]:
        """Slots of the vectors, oldest first (n,)."""
        return np.argsort(self.inserted)

    def oldest_largest(self, scores: Floats) -> int:
        """Return the slot with the largest score, the oldest among ties; a new example may be last."""
        return int(_compiled.oldest_largest(scores, self.inserted))

    def add(self, query: Query) -> None:
        """Store the example of a query in the next slot."""
        if self._n_inserted == 0:
            self._resolve(query)
        self._append(query)
        self._inserted[self.n - 1] = self._n_inserted
        self._n_inserted += 1

    def replace(self, slot: int, query: Query) -> None:
        """Replace the vector in a slot with the example of a query."""
        self._overwrite(query, slot)
        self._inserted[slot] = self._n_inserted
        self._n_inserted += 1
        self._last = None

    def remove(self, slots: Sequence[int]) -> NDArray[np.intp]:
        """Remove the vectors in the given slots, and return the previous slots of the others (n,)."""
        unused = set(slots) - set(range(self.n))
        if unused:
            raise IndexError(f"slots {sorted(unused)} are not in use: there are {self.n}")
        kept = np.setdiff1d(np.arange(self.n), slots)
        vectors = [self.vector(slot) for slot in kept]
        self._clear()
        self.n = 0
        self._last = None
        for vector in vectors:
            self._append(self.entry(vector))
        self._inserted[: self.n] = self._inserted[kept]
        return kept

    def forget_query(self) -> None:
        """Drop the last query, because a hypothesis over the store has changed."""
        self._last = None

    def state(self) -> State:
        """Return the kernel, the vectors and their insertion order."""
        return {
            "kernel": self.kernel,
            **self.vectors_state(),
            "inserted": self.inserted.copy(),
            "n_inserted": self._n_inserted,
        }

    def restore(self, state: State) -> None:
        """Restore an empty store, which has its factors, from its state."""
        is_resolved = self._restore_kernel(state["kernel"])
        vectors = self.restored_vectors(state)
        inserted = integers(state["inserted"], (len(vectors),))
        n_inserted = count(state["n_inserted"])
        require(not n_inserted or is_resolved, "the kernel of a store in use lacks parameters")
        require(
            len(set(inserted.tolist())) == len(vectors)
            and ((inserted >= 0) & (inserted < n_inserted)).all(),
            "the insertion order is invalid",
        )
        # An empty store checks a vector without a kernel value for each one before it.
        empty = self.empty_like()
        for x in vectors:
            empty.query(x)
            self._append(self.stored_entry(x))
        self._inserted[: self.n] = inserted
        self._n_inserted = n_inserted

    def _restore_kernel(self, kernel: Any) -> bool:
        """Restore the kernel from the state, and return whether all of its parameters are set."""
        fits = may_resolve_to(self.kernel, kernel)
        require(fits, f"expected the kernel {self.kernel!r}, got {kernel!r}")
        self._set_kernel(kernel)
        return kernel.is_resolved

    @abc.abstractmethod
    def vectors_state(self) -> State:
        """Return the vectors as a part of the state, with scaled features."""

    @abc.abstractmethod
    def restored_vectors(self, state: State) -> list[Features]:
        """Return the vectors of a state by slots, with scaled features."""

    @abc.abstractmethod
    def _resolve(self, query: Query) -> None:
        """Set the missing parameters of the kernel from the first example."""

    def _set_kernel(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @abc.abstractmethod
    def _insert(self, query: Query, slot: int) -> None:
        """Store the example of a query in an empty slot."""

    @abc.abstractmethod
    def _overwrite(self, query: Query, slot: int) -> None:
        """Overwrite the vector in a slot with the example of a query."""

    @abc.abstractmethod
    def _clear(self) -> None:
        """Empty all slots."""

    def _append(self, query: Query) -> None:
        if self.n == self.n_slots:
            self._extend(max(1, 2 * self.n_slots // TILE))
        self._insert(query, self.n)
        self.n += 1
        self._last = None

    def _extend(self, n_blocks: int) -> None:
        self.n_slots = n_blocks * TILE
        self._inserted = padded(self._inserted, self.n_slots)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return None, {**state[1], "_last": None}


def may_resolve_to(given: Any, resolved: Any) -> bool:
    """Tell whether a kernel, or a part of it, can be another one with what was left open set."""
    if given is None or given == resolved:
        return True
    return (
        isinstance(given, Kernel)
        and type(given) is type(resolved)
        and all(
            may_resolve_to(getattr(given, field.name), getattr(resolved, field.name))
            for field in dataclasses.fields(given)  # type: ignore[arg-type]
        )
    )
