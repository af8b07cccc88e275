"""One store of vectors for several kernels, whose kernel rows are computed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats
from river_budget._state import State, count, integers, require
from river_budget.kernels import Features, Kernel, RationalQuadratic
from river_budget.kernels._compiled import TILE
from river_budget.kernels.spec import (
    DOT_PRODUCT,
    FACTORS,
    GAMMA,
    INNER_STATISTIC,
    NORMALIZED,
    SUM_OF_RATIONALS,
)
from river_budget.mnemotron import _round, _rows
from river_budget.support import Query
from river_budget.support.features import (
    NOT_NUMBERS,
    FeatureIndex,
    Layout,
    check_types,
    invalid_example,
    pack_rows,
)
from river_budget.support.numeric import UNKNOWN_NAME, Block, NumericStore, doubles, is_exact
from river_budget.support.store import may_resolve_to

__all__ = ["SharedLayout", "SharedStore"]

# The kernel of the store itself: it reads all features, and its statistics are squared norms.
CARRIER = RationalQuadratic(gamma=1.0)


class SharedLayout(Layout):
    """A layout for several kernels.

    Attributes
    ----------
    reads
        The factor of each feature, and whether each kernel reads it (1 + kernels, features).

    """

    __slots__ = ("reads",)

    def __init__(self, names: list[Any], index: FeatureIndex, n_values: int, reads: Floats) -> None:
        spec = np.concatenate((CARRIER.spec, reads[0]))
        super().__init__(names, None, index, n_values, spec)
        self.reads = reads


class SharedStore(NumericStore):
    """A store of numeric vectors for several kernels.

    Kernel rows come together, as an array (kernels, slots).

    Parameters
    ----------
    kernels
        The kernels, each with a spec.

    Attributes
    ----------
    kernels
        The kernels. Missing parameters are set when the first example is stored, and changed by
        `rescale_all`.

    """

    __slots__ = ("_specs", "_statistics_of", "kernels")

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._statistics_of: Floats = np.zeros((len(kernels), 0, TILE))
        self._set_kernels(kernels)
        super().__init__(CARRIER)

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels of examples in the units of the user, with all parameters set."""
        return tuple(map(self._in_units_of_user, self.kernels))

    def query(self, x: Features, f: Any = None) -> Query:
        """Return x with its kernel rows, and the outputs of `f` at x as the answer.

        Raises
        ------
        ValueError
            If x is invalid under one of the kernels. The store does not change.

        """
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
            layout: Any = self._layout
            if names != layout.names:
                layout = self._layout = self._layout_of(names)
            workspace = np.empty(layout.size)
            layout.pack_into(workspace, layout.start, *x.values())
            answer = None if f is None else f.new_outputs()
            if f is None:
                valid = _round.compute_rows(workspace, *self.arguments(layout))
            else:
                valid = _round.predict(workspace, *self.arguments(layout), *f.arguments, answer)
            if not valid:
                raise ValueError
            try:
                # The fastest check that all values are plain numbers.
                plain = type(sum(x.values(), 0.0)) is float
            except TypeError:
                plain = False
            if not plain:
                check_types(x.values())
        except NOT_NUMBERS:
            raise invalid_example(x, self._largest_under) from None
        # Values that can change in place are compared by their doubles.
        given, snapshot = (x, dict(x)) if plain else (None, doubles(x))
        self._last = query = Query(given, snapshot, f, layout, workspace, self.n, answer)
        return query

    def arguments(self, layout: Any) -> tuple[Any, ...]:
        """Return the arguments of the compiled code that describe the store; see `_round`."""
        values, n_rows = self._values, len(self._index.by_name)
        return (
            self._specs, layout.reads, layout.rows, self.n, n_rows, values.features, values.tiles,
            self._statistics_of,
        )  # fmt: skip

    def storing(self, layout: Any) -> tuple[Any, ...]:
        """Return the arguments of the compiled code that are needed to overwrite a vector."""
        return (
            self._values.heap, self._statistics, self._layouts, layout.number, self._inserted,
            self._n_inserted,
        )  # fmt: skip

    def on_overwritten(self, n_overwritten: int) -> None:
        """Note that compiled code has overwritten vectors."""
        self._n_inserted += n_overwritten
        self._last = None

    def rows_of_query(self, query: Query) -> Floats:
        """Return the kernel rows of a query (kernels, slots)."""
        return query.workspace[: self._statistics_of.size].reshape(len(self.kernels), -1)

    def rows_of_slots(self, slots: Iterable[int]) -> Iterator[Floats]:
        """Yield the kernel rows of the vectors in slots (kernels, n)."""
        rows: Any = None
        for slot in slots:
            if self._slot_rows[slot] is not rows:
                rows = self._slot_rows[slot]
                layout = self._layout_of(self._index.names(rows))
                specs, reads, _, *vectors = self.arguments(layout)
            values, out = np.empty(len(rows)), np.empty_like(self._statistics_of)
            self._values.load(values, rows, slot)
            _rows.kernel_rows(specs, reads, values, rows, *vectors, out)
            yield out.reshape(len(self.kernels), -1)[:, : self.n]

    def query_row(self, block: Block, row: int) -> Query:
        layout = self.block_layout(block)
        workspace = np.empty(layout.size)
        workspace[self._statistics_of.size :] = block.values[row]
        _round.compute_rows(workspace, *self.arguments(layout))
        return Query(None, None, None, layout, workspace, self.n, None)

    def block_layout(self, block: Block) -> SharedLayout:
        """Return the layout of a block."""
        layout: Any = self._block_layout(block)
        return layout

    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> Block:
        values, layout = pack_rows(columns, rows), self._layout_of(list(columns))
        invalid = _rows.check_examples(self._specs, layout.reads, values)
        if invalid < len(values):
            x = dict(zip(columns, values[invalid].tolist(), strict=True))
            raise ValueError(f"row {invalid}: {invalid_example(x, self._largest_under)}")
        return Block(layout.names, values)

    def rescale_all(
        self, kernels: Sequence[Kernel], factors: Mapping[Any, float], pooled: float
    ) -> None:
        """Change the kernels, and the factors by which features are multiplied before them."""
        self._set_kernels(kernels)
        self.rescale(CARRIER, factors, pooled)

    def state(self) -> State:
        state = super().state()
        return {**state, "kernel": self.kernels}

    def restore(self, state: State) -> None:
        kernels, expected = state["kernel"], self.kernels
        require(
            type(kernels) is tuple
            and len(kernels) == len(expected)
            and all(map(may_resolve_to, expected, kernels)),
            f"expected the kernels {expected!r}, got {kernels!r}",
        )
        self._set_kernels(kernels)
        self._derive()
        vectors = self.restored_vectors(state)
        inserted, n_inserted = (
            integers(state["inserted"], (len(vectors),)),
            count(state["n_inserted"]),
        )
        require(
            not n_inserted or all(kernel.is_resolved for kernel in kernels),
            "the kernel of a store in use lacks parameters",
        )
        require(
            len(set(inserted.tolist())) == len(vectors)
            and ((inserted >= 0) & (inserted < n_inserted)).all(),
            "the insertion order is invalid",
        )
        # An empty store checks a vector without a kernel value for each one before it.
        empty = SharedStore(kernels)
        for x in vectors:
            empty.query(x)
            self._append(self.stored_entry(x))
        self._inserted[: self.n] = inserted
        self._n_inserted = n_inserted

    @property
    def nbytes(self) -> int:
        layout: Any = self._layout
        own = [self._statistics_of, self._specs, layout.reads]
        # The kernel row of the query is counted once.
        others = 8 * self.n_slots * (len(self.kernels) - 1)
        return super().nbytes + others + sum(array.nbytes for array in own)

    @property
    def _largest_under(self) -> Kernel:
        """The kernel under which a value is too large first, for error messages."""
        return next((k for k in self.kernels if not k.is_radial), self.kernels[0])

    def _set_kernels(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)
        specs = np.zeros((2, len(kernels), _rows.N_SLOTS))
        own, inner = specs[_rows.KERNELS], specs[_rows.INNER]
        for z, kernel in enumerate(kernels):
            own[z, :FACTORS] = inner[z, :FACTORS] = kernel.spec
        statistic, gamma = own[:, INNER_STATISTIC], own[:, GAMMA]
        everything = [kernel.active([UNKNOWN_NAME]) is None for kernel in kernels]
        for z in range(len(kernels)):
            alike = [z]
            if statistic[z] != SUM_OF_RATIONALS and everything[z]:
                alike = np.flatnonzero((statistic == statistic[z]) & everything).tolist()
            inner[z, GAMMA], inner[z, _rows.LEADER] = gamma[alike].max(), alike[0]
        keeps_norm = (own[:, NORMALIZED] != 0.0) & (statistic == DOT_PRODUCT)
        own[:, _rows.KEEPS_NORM] = keeps_norm
        own[keeps_norm, NORMALIZED] = 0.0
        self._specs = specs

    def _layout_of(self, names: list[Any]) -> SharedLayout:
        layout = SharedLayout(names, self._index, self._row_size, self._reads_of(names))
        return self._numbered(layout)

    def _reads_of(self, names: list[Any]) -> Floats:
        """Return the factors of features, and whether each kernel reads them (1 + kernels, names)."""
        reads = np.ones((1 + len(self.kernels), len(names)))
        if self._is_scaled:
            reads[0] = self._factors_of(names)
        for z, kernel in enumerate(self.kernels):
            active = kernel.active(names)
            if active is not None:
                reads[1 + z] = 0.0
                reads[1 + z, active] = 1.0
        return reads

    @property
    def _row_size(self) -> int:
        return len(self.kernels) * self.n_slots

    def _resolve(self, query: Query) -> None:
        self._layout = layout = query.layout
        self._set_kernels([kernel.resolve(layout.stored) for kernel in self.kernels])
        layout.reads = self._reads_of(layout.names)

    def _clear(self) -> None:
        super()._clear()
        self._statistics_of[:] = 0.0

    def _insert(self, query: Query, slot: int) -> None:
        super()._insert(query, slot)
        self._set_kernel_statistics(query, slot)

    def _overwrite(self, query: Query, slot: int) -> None:
        super()._overwrite(query, slot)
        self._set_kernel_statistics(query, slot)

    def _set_kernel_statistics(self, query: Query, slot: int) -> None:
        """Set what is kept of a vector for each kernel."""
        rows, reads = query.layout.rows, query.layout.reads
        values = query.workspace[len(query.workspace) - len(rows) :]
        _rows.set_statistics(self._specs, reads, values, rows, slot, self._statistics_of)

    def _renew_statistics(self) -> None:
        super()._renew_statistics()
        for slot, rows in enumerate(self._slot_rows):
            names, values = self._stored(slot)
            reads = self._reads_of(names)
            _rows.set_statistics(self._specs, reads, values, rows, slot, self._statistics_of)

    def _extend(self, n_blocks: int) -> None:
        n_new = n_blocks - self._statistics_of.shape[1]
        self._statistics_of = np.pad(self._statistics_of, ((0, 0), (0, n_new), (0, 0)))
        super()._extend(n_blocks)
