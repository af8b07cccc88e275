"""The values of stored vectors, by feature."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, Ints, padded
from river_budget.kernels._compiled import COLUMN, COUNT, ENTRIES, TILE
from river_budget.kernels.spec import Spec
from river_budget.support import _values_compiled as _compiled
from river_budget.support.features import Rows

# A feature is in a column if at least one in this many vectors has a value of it other than 0.
COLUMN_SHARE = 6

# Unused memory is released if it is more than this number of tiles, and this fraction of all.
FEWEST_FREE = 256
LARGEST_FREE_SHARE = 0.75

# Number of columns of `features`.
N_COLUMNS = 4

NO_ROWS: Rows = np.zeros(0, np.uint32)


class FeatureValues:
    """The values of stored vectors in columns and lists; see `kernels._compiled`.

    A feature that few vectors have is in a list, so that memory follows the number of values. Which
    features these are depends on the vectors alone: a model that was loaded computes the same bits.
    """

    __slots__ = ("features", "heap", "tiles")

    def __init__(self, n_blocks: int) -> None:
        self.features: NDArray[np.uint32] = np.zeros((1, N_COLUMNS), np.uint32)
        self.tiles: Floats = np.zeros((n_blocks, TILE))
        self.heap = _new_heap(n_blocks)

    def store(self, workspace: Floats, rows: Rows, slot: int, start: int = 0) -> None:
        """Store the example of a workspace in an empty slot; see `_values_compiled.store`."""
        while True:
            start = _compiled.store(workspace, rows, slot, start, *self._arrays)
            if start == len(rows):
                return
            self.extend()

    def overwrite(
        self, workspace: Floats, rows: Rows, slot: int, spec: Spec, statistics: Floats
    ) -> None:
        """Replace the example in a slot by one with the same feature rows; see `exchange`."""
        while not _compiled.overwrite(workspace, rows, slot, spec, *self._arrays, statistics):
            self.extend()

    def exchange(
        self, workspace: Floats, rows: Rows, old: Rows, slot: int, spec: Spec, statistics: Floats
    ) -> int:
        """Replace the example in a slot, given the old feature rows, and set its statistic.

        Returned is the number of features that no vector has any more; -1 if some feature row is 0.
        """
        n_unused, n_stored, n_settled = _compiled.exchange(
            workspace, rows, old, slot, spec, statistics, *self._arrays
        )
        if n_unused >= 0 and (n_stored < len(rows) or n_settled < len(old)):
            self.store(workspace, rows, slot, n_stored)
            self._settle(old, n_settled)
        return int(n_unused)

    def set_threshold(self, n: int) -> None:
        """Set the smallest number of values of a feature in a column, for n vectors."""
        threshold = -(-n // COLUMN_SHARE)
        if threshold > self.features[0, _compiled.THRESHOLD]:
            self.features[0, _compiled.THRESHOLD] = threshold
            self._settle(np.arange(len(self.features), dtype=np.uint32))

    def load(self, rows: Rows, slot: int, row_size: int = 0) -> Floats:
        """Return the values of a stored example, after room for a kernel row (row_size + m,)."""
        workspace = np.empty(row_size + len(rows))
        _compiled.load(workspace, rows, slot, self.features, self.tiles)
        return workspace

    def rescale(self, rows: Rows, before: Floats, after: Floats) -> bool:
        return bool(_compiled.rescale(rows, before, after, *self._arrays))

    def renew_statistics(self, rows: Sequence[Rows], spec: Spec, statistics: Floats) -> None:
        """Set the statistics of all stored examples, given the feature rows of each of them."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        _compiled.renew_statistics(
            np.concatenate([*rows, NO_ROWS]), lengths.cumsum(), np.empty(lengths.max(initial=0)),
            spec, self.features, self.tiles, statistics,
        )  # fmt: skip

    def unused(self, rows: Rows) -> Rows:
        return rows[self.features[rows, COUNT] == 0]

    def extend_rows(self, n_rows: int) -> None:
        if n_rows > len(self.features):
            self.features = padded(self.features, n_rows)

    def extend_blocks(self, n_blocks: int) -> None:
        heap = _new_heap(n_blocks)
        n_columns = 1 + np.count_nonzero(self.features[:, COLUMN])
        tiles = np.zeros((n_columns * n_blocks + int(self.heap[_compiled.END]), TILE))
        _compiled.relocate(*self._arrays, tiles, heap)
        self.tiles, self.heap = tiles[: heap[_compiled.END]].copy(), heap

    def extend(self) -> None:
        """Make room to store at least one more value, and to move its feature."""
        longest = 2 * int(self.features[0, _compiled.THRESHOLD])
        n_needed = max(int(self.heap[_compiled.N_BLOCKS]), 1 + longest // ENTRIES)
        self.tiles = padded(self.tiles, len(self.tiles) + max(n_needed, len(self.tiles) // 4))

    @property
    def is_sparse(self) -> bool:
        """Whether most of the memory is unused, so that all vectors should be stored anew."""
        heap, n_tiles = self.heap, len(self.tiles)
        n_free = n_tiles - heap[_compiled.END] + heap[_compiled.N_FREE] // ENTRIES
        return bool(n_free > max(FEWEST_FREE, LARGEST_FREE_SHARE * n_tiles))

    @property
    def nbytes(self) -> int:
        return sum(map(sys.getsizeof, self._arrays))

    def _settle(self, rows: Rows, start: int = 0) -> None:
        """Move those of some features to lists that are too rare."""
        while True:
            start = _compiled.settle(rows, start, *self._arrays)
            if start == len(rows):
                return
            self.extend()

    @property
    def _arrays(self) -> tuple[NDArray[np.uint32], Floats, Ints]:
        return self.features, self.tiles, self.heap


def _new_heap(n_blocks: int) -> Ints:
    """Return the heap of tiles with nothing but the column of zeros."""
    heap = np.zeros(_compiled.N_HEAP, np.int64)
    heap[_compiled.END] = heap[_compiled.N_BLOCKS] = n_blocks
    return heap
