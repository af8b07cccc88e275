"""One store of vectors for several kernels, whose kernel rows are computed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, require
from river_budget.kernels import Kernel, RationalQuadratic
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
from river_budget.support.features import FeatureIndex, Layout
from river_budget.support.numeric import UNKNOWN_NAME, Block, NumericStore
from river_budget.support.store import NO_COEFFICIENTS, may_resolve_to

# The kernel of the store itself: it reads all features, and its statistics are squared norms.
CARRIER = RationalQuadratic(gamma=1.0)


class SharedLayout(Layout):
    """A layout with the factors, and whether each kernel reads (1 + kernels, features)."""

    __slots__ = ("reads",)

    def __init__(self, names: list[Any], index: FeatureIndex, n_values: int, reads: Floats) -> None:
        spec = np.concatenate((CARRIER.spec, reads[0]))
        super().__init__(names, None, index, n_values, spec)
        self.reads = reads


class SharedStore(NumericStore):
    """A store of numeric vectors for several kernels, whose kernel rows come as (kernels, slots)."""

    __slots__ = ("_specs", "_statistics_of", "kernels")

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._statistics_of: Floats = np.zeros((len(kernels), 0, TILE))
        self._set_kernels(kernels)
        super().__init__(CARRIER)

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels of examples in the units of the user, with all parameters set."""
        return tuple(map(self._in_units_of_user, self.kernels))

    def _answer(self, workspace: Floats, layout: Any, f: Any) -> Any:
        """Compute the kernel rows of a workspace, and return the outputs of `f`, if it is given."""
        answer = None
        if f is NO_COEFFICIENTS:
            is_valid = _round.compute_rows(workspace, *self.arguments(layout))
        else:
            answer = f.new_outputs()
            is_valid = _round.predict(workspace, *self.arguments(layout), *f.arguments, answer)
        if not is_valid:
            raise ValueError
        return answer

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
            values, out = self._values.load(rows, slot), np.empty_like(self._statistics_of)
            _rows.kernel_rows(specs, reads, values, rows, *vectors, out)
            yield out.reshape(len(self.kernels), -1)[:, : self.n]

    def query_row(self, block: Block, row: int) -> Query:
        layout = self.block_layout(block)
        workspace = np.empty(layout.size)
        workspace[self._statistics_of.size :] = block.values[row]
        _round.compute_rows(workspace, *self.arguments(layout))
        return Query(None, None, None, layout, workspace, self.n, None)

    def _first_invalid(self, names: list[Any], values: Floats) -> int:
        return _rows.check_examples(self._specs, self._reads_of(names), values)

    def rescale_all(
        self, kernels: Sequence[Kernel], factors: Mapping[Any, float], pooled: float
    ) -> None:
        """Change the kernels, and the factors by which features are multiplied before them."""
        self._set_kernels(kernels)
        self.rescale(CARRIER, factors, pooled)

    def state(self) -> State:
        state = super().state()
        return {**state, "kernel": self.kernels}

    def _restore_kernel(self, kernel: Any) -> bool:
        expected = self.kernels
        require(
            type(kernel) is tuple
            and len(kernel) == len(expected)
            and all(map(may_resolve_to, expected, kernel)),
            f"expected the kernels {expected!r}, got {kernel!r}",
        )
        self._set_kernels(kernel)
        self._derive()
        return all(own.is_resolved for own in kernel)

    def empty_like(self) -> SharedStore:
        return SharedStore(self.kernels)

    @property
    def nbytes(self) -> int:
        layout: Any = self._layout
        own = [self._statistics_of, self._specs, layout.reads]
        # The kernel row of the query is counted once.
        others = 8 * self.n_slots * (len(self.kernels) - 1)
        return super().nbytes + others + sum(array.nbytes for array in own)

    @property
    def _limiting_kernel(self) -> Kernel:
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
