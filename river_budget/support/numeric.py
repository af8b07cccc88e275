"""A store of numeric vectors in columns and lists."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, Ints, padded
from river_budget._state import State, floats, integers, require
from river_budget.kernels import Features, Kernel, VectorKernel
from river_budget.kernels._compiled import TILE
from river_budget.kernels.spec import (
    DOT_PRODUCT,
    FACTORS,
    IDENTITY,
    INNER_STATISTIC,
    SQUARED_DISTANCE,
    kernel_spec,
)
from river_budget.support import _compiled, _rule_compiled, _values_compiled
from river_budget.support.features import (
    NOT_NUMBERS,
    FeatureIndex,
    Layout,
    Rows,
    check_types,
    invalid_example,
    pack_rows,
    packer,
)
from river_budget.support.rule import N_INSERTED, SCALE, AlgorithmState, Rule
from river_budget.support.scaled import ScaledStore
from river_budget.support.store import NO_COEFFICIENTS, Coefficients, Query
from river_budget.support.sums import Sums
from river_budget.support.values import FeatureValues

if TYPE_CHECKING:
    from river_budget.support.expansion import Expansion

# A kernel whose values are squared Euclidean distances.
EUCLIDEAN = kernel_spec(SQUARED_DISTANCE, IDENTITY)

# A name that no example has, to test whether a kernel reads all names.
UNKNOWN_NAME = object()

# Inner statistics for which `self_statistic` is the squared norm.
WITH_SQUARED_NORMS = (DOT_PRODUCT, SQUARED_DISTANCE)


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """The rows of a frame: the names of the active features and their values (rows, names)."""

    names: list[Any]
    values: Floats

    def __len__(self) -> int:
        return len(self.values)


class NumericStore(ScaledStore):
    """A store of numeric vectors, by feature (see `FeatureValues`), for names that some vector has."""

    __slots__ = (
        "_index", "_is_selective", "_keeps_squares", "_layout", "_layouts", "_n_layouts", "_newest",
        "_slot_rows", "_squares", "_values",
    )  # fmt: skip

    _derived = "_layout"

    def __init__(self, kernel: VectorKernel) -> None:
        super().__init__(kernel)
        # Squared norms, under kernels whose statistics are none.
        self._squares: Floats = np.zeros((0, TILE))
        self._layout: Layout
        # The number of the layout of each stored vector; see `Layout`.
        self._layouts: Ints = np.zeros(0, np.int64)
        self._n_layouts = 0
        self._index = FeatureIndex()
        # The feature rows of the last vector that was stored, and the number of its layout.
        self._newest = b"", 0
        self._set_kernel(kernel)
        self._clear()

    def query(self, x: Features, f: Any = NO_COEFFICIENTS) -> Query:
        last = self._last
        try:
            if (
                last is not None
                and last.f is f
                and (x is last.given or x == last.snapshot)
                and is_exact(x, last)
            ):
                return last
            names = list(x)
            layout = self._layout
            if names != layout.names:
                layout = self._layout = self._layout_of(names)
            workspace = np.empty(layout.size)
            if layout.active is None:
                layout.pack_into(workspace, layout.start, *x.values())  # type: ignore[arg-type]
            else:
                values = np.frombuffer(packer(len(x)).pack(*x.values()))
                if not np.isfinite(values).all():
                    raise ValueError
                workspace[len(workspace) - len(layout.stored) :] = values[layout.active]
            answer = self._answer(workspace, layout, f)
            try:
                # The fastest check that all values are plain numbers.
                plain = type(sum(x.values(), 0.0)) is float
            except TypeError:
                plain = False
            if not plain:
                check_types(x.values())
        except NOT_NUMBERS:
            raise invalid_example(x, self._limiting_kernel) from None
        # Values that can change in place are compared by their doubles.
        given, snapshot = (x, dict(x)) if plain else (None, doubles(x))
        self._last = query = Query(given, snapshot, f, layout, workspace, self.n, answer)
        return query

    def _answer(self, workspace: Floats, layout: Any, f: Any) -> Any:
        """Compute the kernel row of a workspace, and return f(x). Raises ValueError if x is invalid."""
        values = self._values
        value = _compiled.evaluate(
            workspace, f.alphas, f.scale, layout.spec, layout.rows, self.n,
            len(self._index.by_name), values.features, values.tiles, self._statistics,
        )  # fmt: skip
        if value != value:
            raise ValueError
        return value

    def entry(self, x: Features) -> Query:
        entry = self.stored_entry(x)
        entry.workspace *= self._factors_of(entry.layout.stored)
        return entry

    def stored_entry(self, x: Features) -> Query:
        layout = self._layout_of(list(x))
        values = np.array([x[name] for name in layout.stored], np.float64)
        return Query(x, x, None, layout, values, 0, None)

    def features(self, query: Query) -> Features:
        names = query.layout.stored
        values = query.workspace[len(query.workspace) - len(names) :]
        factors = query.layout.spec[FACTORS:]
        unscaled = values / factors if len(factors) else values
        return dict(zip(names, unscaled.tolist(), strict=True))

    def observe(self, query: Query, sums: Sums) -> None:
        layout, x = query.layout, query.snapshot
        if layout.active is not None:
            x = {name: x[name] for name in layout.stored}
        sums.observe(x, layout.stored, self.names)

    def observe_rows(self, block: Block, start: int, stop: int, sums: Sums) -> None:
        sums.observe_rows(block.names, block.values[start:stop], self.names)

    def self_value(self, query: Query) -> float:
        return _compiled.self_value_of(self._spec, query.workspace, len(query.layout.stored))

    def vector(self, slot: int) -> Features:
        names, values = self._stored(slot)
        return dict(zip(names, (values / self._factors_of(names)).tolist(), strict=True))

    def evaluate_slot(self, slot: int, f: Coefficients) -> tuple[float, Floats]:
        rows, workspace = self._slot_rows[slot], self._workspace_of(slot)
        value = _compiled.evaluate(workspace, f.alphas, f.scale, self._spec, rows, *self._vectors)
        return value, workspace[: self.n]

    def distances(self, query: Query) -> Floats:
        return self._distances(query.workspace.copy(), query.layout.rows)

    def distances_of(self, slot: int) -> Floats:
        return self._distances(self._workspace_of(slot), self._slot_rows[slot])

    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> Block:
        values, names = pack_rows(columns, rows), list(columns)
        active = self.kernel.active(names)
        stored = values if active is None else np.ascontiguousarray(values[:, active])
        invalid = self._first_invalid(names, stored)
        if active is not None:
            hidden = np.flatnonzero(~np.isfinite(values).all(axis=1))
            invalid = min([invalid, *hidden.tolist()])
        if invalid < len(values):
            x = dict(zip(names, values[invalid].tolist(), strict=True))
            raise ValueError(f"row {invalid}: {invalid_example(x, self._limiting_kernel)}")
        return Block(names if active is None else [names[i] for i in active], stored)

    def _first_invalid(self, names: list[Any], values: Floats) -> int:
        """Return the index of the first row that is invalid under the kernel, or their number."""
        return _compiled.check_block(self._spec, values)

    def query_row(self, block: Block, row: int) -> Query:
        layout = self.block_layout(block)
        workspace = np.empty(layout.size)
        workspace[self.n_slots :] = block.values[row]
        _compiled.evaluate(
            workspace, NO_COEFFICIENTS.alphas, 1.0, layout.spec, layout.rows, *self._vectors
        )
        return Query(None, None, None, layout, workspace, self.n, None)

    def scan(
        self, block: Block, columns: Ints, start: int, stop: int, threshold: float, f: Expansion
    ) -> tuple[int, Query | None]:
        layout = self.block_layout(block)
        workspace, scores = np.empty(layout.size), np.empty(f.matrix.shape[1])
        row, value = _compiled.scan(
            block.values, columns, start, stop, threshold, f.matrix, scores,
            workspace, f.alphas, f.scale, layout.spec, layout.rows, *self._vectors,
        )  # fmt: skip
        if row == stop:
            return row, None
        answer = scores if len(scores) else value
        return row, Query(None, None, f, layout, workspace, self.n, answer)

    def score_block(self, block: Block, f: Expansion) -> Floats:
        layout = self.block_layout(block)
        return _compiled.score_block(
            block.values, f.matrix, np.empty(layout.size), f.alphas, f.scale, layout.spec,
            layout.rows, *self._vectors,
        )  # fmt: skip

    def update(
        self, rule: Rule, own: AlgorithmState, query: Query, label: int, weight: float, f: Expansion
    ) -> int:
        layout, numbers = query.layout, own.numbers
        value = query.answer if f.matrix.shape[1] == 0 else 0.0
        numbers[SCALE], numbers[N_INSERTED] = f.scale, self._n_inserted
        try:
            slot = _rule_compiled.update(
                *rule.addresses, rule.reads_row, label, weight, value,
                f.alphas, f.matrix, self._inserted, numbers, own.table, query.workspace,
                layout.rows, layout.spec, layout.number, self._layouts, self._values.heap,
                *self._vectors,
            )  # fmt: skip
        finally:
            self._take_over(numbers, f)
        return slot

    def learn(
        self, rule: Rule, own: AlgorithmState, block: Block, columns: Ints, weights: Floats, start: int,
        stop: int, threshold: float, counts: Ints, f: Expansion,
    ) -> tuple[int, Query]:  # fmt: skip
        layout = self.block_layout(block)
        workspace, numbers = np.empty(layout.size), own.numbers
        numbers[SCALE], numbers[N_INSERTED] = f.scale, self._n_inserted
        try:
            slot, value = _rule_compiled.learn(
                *rule.addresses, rule.reads_row, block.values, columns, weights, start, stop,
                threshold, counts, f.alphas, f.matrix, self._inserted, numbers, own.table,
                workspace, layout.rows, layout.spec, layout.number, self._layouts, self._values.heap,
                *self._vectors,
            )  # fmt: skip
        finally:
            self._take_over(numbers, f)
        return slot, Query(None, None, f, layout, workspace, self.n, value)

    @property
    def names(self) -> Collection[Any]:
        return self._index.by_name.keys()

    def rescale(
        self,
        kernel: Any,
        factors: Mapping[Any, float],
        pooled: float,
        vectors: Sequence[Features] | None = None,
    ) -> None:
        before = self._factors_of(self.names)
        self._factors, self._pooled = factors, pooled
        self._set_kernel(kernel)
        if vectors is None and self._rescale_values(before):
            # A value has become 0, and takes no place any more.
            vectors = self._vectors_by_slot
        if vectors is None:
            self._renew_statistics()
        else:
            self._refill(vectors)

    def empty_like(self) -> NumericStore:
        store = NumericStore(self.kernel)  # type: ignore[arg-type]
        store.rescale(self.kernel, self._factors, self._pooled)
        return store

    @property
    def nbytes(self) -> int:
        arrays = [
            self._inserted, self._layouts, self._statistics, self._squares,
            *{id(rows): rows for rows in self._slot_rows}.values(),
        ]  # fmt: skip
        # One query is always counted, so that the figure does not depend on the last call.
        layout = self._layout
        query = [layout.names, layout.rows, dict.fromkeys(layout.names)]
        counted = [*arrays, *self._index.containers, self._slot_rows, *query]
        workspace = 8 * (self.n_slots + len(layout.names))
        return sum(map(sys.getsizeof, counted)) + self._values.nbytes + workspace

    @property
    def _limiting_kernel(self) -> Kernel:
        """The kernel under which a value is too large first, for error messages."""
        return self.kernel

    @property
    def _vectors(self) -> tuple[Any, ...]:
        """The arguments of the compiled code that describe the vectors."""
        values, n_rows = self._values, len(self._index.by_name)
        return self.n, n_rows, values.features, values.tiles, self._statistics

    def _take_over(self, numbers: Floats, f: Expansion) -> None:
        """Take over what the compiled rounds have changed, even if they were interrupted."""
        f.scale = numbers.item(SCALE)
        self._n_inserted = int(numbers.item(N_INSERTED))
        self._last = None

    def _derive(self) -> None:
        self._layout = self._layout_of([])

    def _layout_of(self, names: list[Any]) -> Layout:
        active = self.kernel.active(names) if self._is_selective else None
        spec = self._spec
        if self._is_scaled:
            stored = names if active is None else [names[i] for i in active]
            spec = np.concatenate((spec, self._factors_of(stored)))
        return self._numbered(Layout(names, active, self._index, self._row_size, spec))

    def _numbered(self, layout: Any) -> Any:
        """Return a layout with its number, if it is that of the last vector that was stored."""
        rows, number = self._newest
        if layout.rows.tobytes() == rows:
            layout.number = number
        return layout

    @property
    def _row_size(self) -> int:
        """Length of what is computed of an example, in front of its values in a workspace."""
        return self.n_slots

    def block_layout(self, block: Block) -> Any:
        """Return the layout of a block, which has active features only."""
        layout = self._layout
        if block.names is not layout.names and block.names != layout.names:
            layout = self._layout = self._layout_of(block.names)
        return layout

    def _workspace_of(self, slot: int) -> Floats:
        """Return a workspace with the values of a stored vector, without its kernel row."""
        return self._values.load(self._slot_rows[slot], slot, self.n_slots)

    def _distances(self, workspace: Floats, rows: Rows) -> Floats:
        *values, statistics = self._vectors
        squares = self._squares if self._keeps_squares else statistics
        _compiled.evaluate(
            workspace, NO_COEFFICIENTS.alphas, 1.0, EUCLIDEAN, rows, *values, squares
        )
        return workspace[: self.n]

    def _resolve(self, query: Query) -> None:
        self._set_kernel(self.kernel.resolve(query.layout.stored))

    def _set_kernel(self, kernel: Any) -> None:
        self.kernel = kernel
        self._spec = kernel.spec
        self._keeps_squares = self._spec[INNER_STATISTIC] not in WITH_SQUARED_NORMS
        self._is_selective = kernel.active([UNKNOWN_NAME]) is not None
        self._derive()

    def _clear(self) -> None:
        self._values = FeatureValues(self.n_slots // TILE)
        self._index = FeatureIndex()
        self._slot_rows: list[Rows] = []
        self._newest = b"", 0
        self._derive()
        self._statistics[:] = 0.0
        self._squares[:] = 0.0

    def _insert(self, query: Query, slot: int) -> None:
        self._assign_rows(query.layout)
        rows = query.layout.rows
        self._values.set_threshold(slot + 1)
        self._values.store(query.workspace, rows, slot)
        self._slot_rows.append(rows)
        _values_compiled.set_statistic(
            query.workspace, len(rows), slot, self._spec, self._statistics
        )
        if self._keeps_squares:
            self._set_square(query.workspace, len(rows), slot)
        self._number(query.layout, slot)

    def _overwrite(self, query: Query, slot: int) -> None:
        layout, old = query.layout, self._slot_rows[slot]
        if self._keeps_squares:
            self._set_square(query.workspace, len(layout.rows), slot)
        if old is layout.rows:
            self._values.overwrite(query.workspace, old, slot, self._spec, self._statistics)
            return
        n_unused = self._exchange(query, slot)
        if n_unused < 0:
            self._assign_rows(layout)
            n_unused = self._exchange(query, slot)
        self._slot_rows[slot] = layout.rows
        self._number(layout, slot)
        if n_unused:
            self._release(layout, old)

    def _exchange(self, query: Query, slot: int) -> int:
        return self._values.exchange(
            query.workspace, query.layout.rows, self._slot_rows[slot], slot, self._spec,
            self._statistics,
        )  # fmt: skip

    def _assign_rows(self, layout: Layout) -> None:
        unknown = np.flatnonzero(layout.rows == 0)
        if len(unknown):
            rows = layout.rows.copy()
            rows[unknown] = self._index.assign([layout.stored[i] for i in unknown])
            self._values.extend_rows(self._index.n_rows)
            layout.rows = rows
            if layout is not self._layout:
                self._derive()

    def _number(self, layout: Layout, slot: int) -> None:
        if layout.number == 0:
            self._n_layouts += 1
            layout.number = self._n_layouts
        self._newest = layout.rows.tobytes(), layout.number
        # The compiled rounds do not keep squares.
        self._layouts[slot] = -1 if self._keeps_squares else layout.number

    def _release(self, layout: Layout, old: Rows) -> None:
        """Free those rows of the last example in a slot that no vector has any more."""
        self._index.release(self._values.unused(old).tolist())
        if layout is not self._layout:
            self._derive()
        if self._values.is_sparse:
            self._refill(self._vectors_by_slot)

    def _stored(self, slot: int) -> tuple[list[Any], Floats]:
        """Return the names of a stored vector, and its values as they are stored."""
        rows = self._slot_rows[slot]
        return self._index.names(rows), self._values.load(rows, slot)

    def _set_square(self, workspace: Floats, n_values: int, slot: int) -> None:
        square = _compiled.squared_norm_of(workspace, n_values)
        self._squares[slot // TILE, slot % TILE] = square

    @property
    def _vectors_by_slot(self) -> list[Features]:
        return [self.vector(slot) for slot in range(len(self._slot_rows))]

    def _rescale_values(self, before: Floats) -> bool:
        rows = np.fromiter(self._index.by_name.values(), np.uint32, len(before))
        return self._values.rescale(rows, before, self._factors_of(self.names))

    def _renew_statistics(self) -> None:
        self._values.renew_statistics(self._slot_rows, self._spec, self._statistics)
        if self._keeps_squares:
            for slot, rows in enumerate(self._slot_rows):
                self._set_square(self._workspace_of(slot), len(rows), slot)
        self._last = None

    def _refill(self, vectors: Sequence[Features]) -> None:
        """Store vectors in empty arrays and an empty index, when most memory is unused."""
        self._clear()
        for slot, vector in enumerate(vectors):
            self._insert(self.entry(vector), slot)
        self._last = None

    def _extend(self, n_blocks: int) -> None:
        super()._extend(n_blocks)
        self._squares = padded(self._squares, n_blocks)
        self._layouts = padded(self._layouts, self.n_slots)
        self._values.extend_blocks(n_blocks)
        self._layout.resize(self._row_size)

    def vectors_state(self) -> State:
        vectors = [self._stored(slot) for slot in range(self.n)]
        names = list(dict.fromkeys(name for own, _ in vectors for name in own))
        places = {name: i for i, name in enumerate(names)}
        return {
            "names": tuple(names),
            "sizes": np.array([len(own) for own, _ in vectors], np.int64),
            "places": np.array([places[name] for own, _ in vectors for name in own], np.int64),
            "values": np.concatenate([np.zeros(0), *(values for _, values in vectors)]),
        }

    def restored_vectors(self, state: State) -> list[Features]:
        names = state["names"]
        sizes, places = integers(state["sizes"], (None,)), integers(state["places"], (None,))
        values = floats(state["values"], (len(places),))
        require(type(names) is tuple, "the names are not a tuple")
        possible = ((sizes >= 0) & (sizes <= len(places))).all()
        require(possible and sizes.sum() == len(places), "the sizes of the vectors are invalid")
        require(((places >= 0) & (places < len(names))).all(), "a vector has an unknown name")
        pairs = zip([names[i] for i in places], values.tolist(), strict=True)
        vectors = [dict(itertools.islice(pairs, size)) for size in sizes.tolist()]
        require(list(map(len, vectors)) == sizes.tolist(), "a vector has a name twice")
        return vectors


def doubles(x: Features) -> Features:
    """Return a copy of x with doubles as values."""
    doubles = np.frombuffer(packer(len(x)).pack(*x.values())) if x else np.zeros(0)
    return dict(zip(x, doubles.tolist(), strict=True))


def is_exact(x: Features, last: Query) -> bool:
    """Return whether x, equal to the last example or the same object, is bitwise as it was."""
    layout = last.layout
    if list(x) != layout.names:
        return False
    if x is not last.given:
        check_types(x.values())
    return layout.pack(*x.values()) == layout.pack(*last.snapshot.values())
