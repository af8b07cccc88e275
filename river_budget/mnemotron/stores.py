"""The support vectors of a Mnemotron, in a store for each group of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from river_budget._arrays import Floats, widened
from river_budget._state import State, require
from river_budget.base import rows_of
from river_budget.kernels import Features, Kernel
from river_budget.mnemotron.triangles import with_lanes
from river_budget.mnemotron.vectors import SharedStore
from river_budget.support import ArrayStore, Query, Scales, VectorStore, vector_store
from river_budget.support.objects import ObjectStore


class Group(NamedTuple):
    """Kernels that share a store, by their positions among all kernels."""

    store: VectorStore
    positions: list[int]


class KernelStores:
    """The kernels, as they were given, and stores with the same vectors in the same slots.

    The kernels that read scaled features share a store, and so do the others. A kernel that is a
    function has its own, and so has each kernel of examples with arrays.
    """

    def __init__(self, kernels: Sequence[Kernel], learns_scales: bool) -> None:
        self._given = tuple(kernels)
        self._learns_scales = learns_scales
        self._set_groups(self._grouped())

    def _grouped(self) -> list[Group]:
        """Return the kernels by stores of numbers."""
        shared: dict[bool, list[int]] = {}
        groups = []
        for z, kernel in enumerate(self._given):
            if kernel.spec is None:
                groups.append(Group(vector_store(kernel), [z]))
            else:
                shared.setdefault(self._is_scaled(kernel), []).append(z)
        for positions in shared.values():
            groups.append(Group(SharedStore([self._given[z] for z in positions]), positions))
        return groups

    def _is_scaled(self, kernel: Kernel) -> bool:
        """Return whether a kernel reads features that are scaled."""
        return self._learns_scales and (kernel.learns_scales or not kernel.is_radial)

    def _set_groups(self, groups: list[Group]) -> None:
        self._groups = groups
        self._stores = [group.store for group in groups]
        # The store of all kernels, if there is one: compiled code does a whole round over it.
        only = self._stores[0] if len(groups) == 1 else None
        self.shared = only if isinstance(only, SharedStore) else None

    @property
    def takes_arrays(self) -> bool:
        """Whether the values of an example may be arrays."""
        return all(isinstance(store, ArrayStore | ObjectStore) for store in self._stores)

    def take_arrays(self, dtype: str) -> None:
        """Give each kernel an empty store of its own, one that takes arrays of a type."""
        stores: list[VectorStore] = [
            ObjectStore(kernel) if kernel.spec is None else ArrayStore(kernel, dtype)
            for kernel in self._given
        ]
        self._set_groups([Group(store, [z]) for z, store in enumerate(stores)])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels as they are now."""
        return self._in_order(map(_kernels_of, self._stores))

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels of examples in the units of the user, with all parameters set."""
        return self._in_order(
            store.resolved_kernels if isinstance(store, SharedStore) else [store.resolved_kernel]
            for store in self._stores
        )

    def _in_order(self, parts: Iterable[Any]) -> tuple[Any, ...]:
        """Return what belongs to each kernel, given by groups, in the order of the kernels."""
        by_position: dict[int, Any] = {}
        for group, part in zip(self._groups, parts, strict=True):
            by_position.update(zip(group.positions, part, strict=True))
        return tuple(by_position[z] for z in range(len(by_position)))

    @property
    def n(self) -> int:
        return self.first.n

    @property
    def vectors(self) -> list[Features]:
        """The vectors by slots, in the units of the user."""
        return [self.first.vector(slot) for slot in range(self.n)]

    @property
    def first(self) -> VectorStore:
        return self._stores[0]

    @property
    def nbytes(self) -> int:
        return sum(store.nbytes for store in self._stores)

    def queries(self, x: Features) -> list[Query]:
        """Return an example in each store."""
        return [store.query(x) for store in self._stores]

    def forget_queries(self) -> None:
        for store in self._stores:
            store.forget_query()

    def rows(self, queries: Iterable[Query]) -> Floats:
        """Return the kernel rows of queries, filled up to whole lanes (kernels, any)."""
        rows = self._in_order(map(_rows_of_query, self._stores, queries))
        return widened(np.array(rows), with_lanes(self.n))

    def rows_of_slot(self, slot: int) -> Floats:
        """Return the kernel rows of the vector in a slot (kernels, n)."""
        return np.array(self._in_order(_rows_of_slots(store, [slot])[0] for store in self._stores))

    def grams(self) -> Floats:
        """Return the Gram matrices of all kernels (kernels, n, n)."""
        slots = range(self.n)
        grams = (_rows_of_slots(store, slots).swapaxes(0, 1) for store in self._stores)
        return np.array(self._in_order(grams))

    def put(self, queries: Iterable[Query], slot: int) -> None:
        """Store the example of queries in a slot, used or the next one."""
        for store, query in zip(self._stores, queries, strict=True):
            if slot == store.n:
                store.add(query)
            else:
                store.replace(slot, query)

    def block(self, frame: Any) -> list[Any]:
        """Return the rows of a frame as a block for each store."""
        rows = rows_of(frame)
        return [store.block(frame.columns, rows) for store in self._stores]

    def queries_of_row(self, block: list[Any], row: int) -> list[Query]:
        """Return a row of a block in each store."""
        parts = zip(self._stores, block, strict=True)
        return [store.query_row(part, row) for store, part in parts]

    def rescale(self, scales: Scales) -> None:
        """Change the scales of the features, and the widths that are learned."""
        names = sorted(self.first.names, key=repr)
        # Kernels may read features from now on that they did not read before.
        vectors = None if self.shared else self.vectors
        for store, positions in self._groups:
            if not self._has_scales(store, positions):
                continue
            kernels = list(_kernels_of(store))
            for i, z in enumerate(positions):
                given = self._given[z]
                if scales.gamma and given.learns_scales:
                    kernels[i] = given.with_width(scales.gamma, names)
            _rescale(store, kernels, scales, vectors)

    def _has_scales(self, store: VectorStore, positions: Sequence[int]) -> bool:
        is_numeric = isinstance(store, SharedStore | ArrayStore)
        return is_numeric and self._is_scaled(self._given[positions[0]])

    def state(self) -> State:
        return {str(i): store.state() for i, store in enumerate(self._stores)}

    def state_by_kernels(self) -> State:
        """Return the state of stores that take arrays, with the same vectors."""
        states = {}
        for store, positions in self._groups:
            state = store.state()
            for z, kernel in zip(positions, _kernels_of(store), strict=True):
                states[str(z)] = {**state, "kernel": kernel}
        return states

    def restore(self, state: Mapping[str, Any], scales: Scales | None) -> None:
        """Restore the vectors from their state, with the scales of their features, if there are."""
        for i, (store, positions) in enumerate(self._groups):
            if scales is not None and self._has_scales(store, positions):
                _rescale(store, _kernels_of(store), scales)
            store.restore(state[str(i)])
        require(
            all(store.n == self.n for store in self._stores),
            "the kernels have different numbers of support vectors",
        )


def _kernels_of(store: VectorStore) -> Sequence[Kernel]:
    return store.kernels if isinstance(store, SharedStore) else (store.kernel,)


def _rescale(
    store: VectorStore,
    kernels: Sequence[Kernel],
    scales: Scales,
    vectors: Sequence[Features] | None = None,
) -> None:
    """Change the kernels and the scales of a store; see `VectorStore.rescale`."""
    if isinstance(store, SharedStore):
        store.rescale_all(kernels, scales.factors, scales.pooled)
    else:
        store.rescale(kernels[0], scales.factors, scales.pooled, vectors)


def _rows_of_slots(store: VectorStore, slots: Sequence[int]) -> Floats:
    """Return the kernel rows of the vectors in slots (slots, kernels of the store, n)."""
    if isinstance(store, SharedStore):
        rows = list(store.rows_of_slots(slots))
        return np.array(rows).reshape(len(slots), len(store.kernels), store.n)
    return np.array([store.row(slot)[None] for slot in slots]).reshape(len(slots), 1, store.n)


def _rows_of_query(store: VectorStore, query: Query) -> Floats:
    """Return the kernel rows of a query (kernels of the store, n)."""
    if isinstance(store, SharedStore):
        return store.rows_of_query(query)[:, : query.n]
    return query.row[None]
