"""The support set: the support vectors and coefficients of one hypothesis.

A support set knows features, slots, ages and kernel rows. It knows no algorithm. Slots 0 to n - 1
are taken, in no order; `oldest` and `by_age` tell their ages.

"""

from __future__ import annotations

import abc
import copy
import functools
import itertools
import math
import struct
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget import loops
from river_budget.kernels import IDENTITY, SQUARED_DISTANCE, Features, Kernel

__all__ = ["Floats", "SupportSet", "lengthened", "support_set"]

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]

# In the place of an example that is not there to be compared with.
UNLIKE_ANY = object()

# Below this, a common factor of the coefficients is multiplied into them.
SMALLEST_SCALE = 1e-100


def support_set(kernel: Kernel) -> SupportSet:
    """Return an empty support set of the kind that the kernel needs."""
    return ObjectSupportSet(kernel) if kernel.program is None else VectorSupportSet(kernel)


class SupportSet(abc.ABC):
    """A hypothesis f(x) = sum_i alpha_i k(x, s_i).

    Parameters
    ----------
    kernel
        The kernel. One that takes a parameter from the first example is resolved when that example
        is stored.

    """

    __slots__ = ("_alphas", "_born", "_clock", "_example", "_scale", "kernel", "n")

    # The example that was looked at last, as a tuple of x, f(x), what its kind of support set needs
    # to store it, and an array that starts with its kernel row, or None once one was stored. It makes
    # one kernel row serve a prediction and the learning that follows, and belongs to no saved state.
    # It is replaced as a whole, so that threads that predict may exchange it under each other's eyes.
    _example: Any

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.n = 0
        self._alphas: Floats = np.zeros((0, loops.TILE))
        self._scale = 1.0
        self._born: NDArray[np.int64] = np.zeros(0, np.int64)
        self._clock = 0
        self._example = None

    @abc.abstractmethod
    def look(self, x: Features) -> Any:
        """Make x the current example, with f(x) and its kernel row, and return it.

        What is asked of the example that is returned is true of x, whatever another thread looks at
        meanwhile.

        Raises
        ------
        ValueError
            If a value of x is not fit for the kernel. The support set stays as it was.

        """

    def decide(self, x: Features) -> float:
        """Return f(x), and make x the current example; see `look`."""
        return self.look(x)[1]

    def row_of(self, example: Any) -> Floats:
        """Return k(x, s) for an example x and each support vector s (n,), by slots."""
        return example[3][: self.n]

    @property
    def kernel_row(self) -> Floats:
        """k(x, s) for the current example x and each support vector s (n,), by slots."""
        return self.row_of(self._example)

    @property
    @abc.abstractmethod
    def self_value(self) -> float:
        """k(x, x) for the current example x."""

    @property
    @abc.abstractmethod
    def current(self) -> Features:
        """The current example as a dict."""

    @abc.abstractmethod
    def nearness_to(self, example: Any) -> Floats:
        """Return what is the larger, the nearer a support vector is to an example (n,)."""

    @abc.abstractmethod
    def nearness_of(self, slot: int) -> Floats:
        """Return what is the larger, the nearer a support vector is to this one (n,)."""

    @abc.abstractmethod
    def decide_slot(self, slot: int) -> tuple[float, Floats]:
        """Return f at a support vector, and its kernel row (n,), by slots."""

    @abc.abstractmethod
    def self_value_of(self, slot: int) -> float:
        """Return k(s, s) for a support vector s."""

    @abc.abstractmethod
    def block(self, columns: Sequence[Any], lines: NDArray[Any]) -> Any:
        """Return a frame's lines in the form that `scan` and `decide_block` read.

        Raises
        ------
        ValueError
            If a value of any line is not fit for the kernel.

        """

    @abc.abstractmethod
    def scan(self, block: Any, signs: Floats, start: int, threshold: float) -> tuple[int, float]:
        """Find the next line with y f(x) <= threshold and make it the current example.

        Returns
        -------
        The line and f(x) there, or the number of lines if there is none.

        """

    @abc.abstractmethod
    def decide_block(self, block: Any) -> Floats:
        """Return f at each line of the block (lines,)."""

    @abc.abstractmethod
    def vector(self, slot: int) -> Features:
        """Return the support vector in a slot as a dict."""

    @property
    def coefficients(self) -> Floats:
        """Signed coefficients (n,), by slots."""
        return self._scale * self._alphas.reshape(-1)[: self.n]

    def coefficient_of(self, slot: int) -> float:
        """Return the signed coefficient of a support vector."""
        return self._scale * float(self._alphas[slot // loops.TILE, slot % loops.TILE])

    @property
    def example(self) -> Any:
        """The current example: the same object as long as it is current and f has not changed."""
        return self._example

    @property
    def born(self) -> NDArray[np.int64]:
        """When each slot was filled, by slots (n,)."""
        return self._born[: self.n]

    @property
    def oldest(self) -> int:
        """Slot of the oldest support vector."""
        return int(loops.oldest(self._born, self.n))

    def oldest_largest(self, scores: Floats) -> int:
        """Return the slot with the largest score, the oldest of several.

        The scores are those of the support vectors by slots, and may go on with a newcomer's
        (n,) or (n + 1,).

        """
        return int(loops.oldest_largest(scores, self.born))

    @property
    def by_age(self) -> NDArray[np.intp]:
        """Slots of the support vectors, oldest first (n,)."""
        return np.argsort(self._born[: self.n])

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, from all pairs of support vectors."""
        values = [self.decide_slot(slot)[0] for slot in range(self.n)]
        return math.sqrt(max(0.0, math.fsum(self.coefficients * values)))

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """Bytes that the support set holds: arrays, feature index, names and caches."""

    def add(self, coefficient: float) -> None:
        """Store the current example as one more support vector."""
        if self.n == self._alphas.size:
            self._extend(max(1, 2 * len(self._alphas)))
        if self._clock == 0:
            self._resolve()
        self._insert(self.n)
        self.n += 1
        self._stamp(self.n - 1, coefficient)

    def replace(self, slot: int, coefficient: float) -> None:
        """Store the current example in the slot of a support vector, which goes."""
        self._exchange(slot)
        self._stamp(slot, coefficient)

    def shrink(self, factor: float) -> None:
        """Multiply all coefficients by a factor of at most 1, without touching them as a rule.

        The current example can still be stored, but f is to be looked up anew.

        """
        self._scale *= factor
        if self._scale < SMALLEST_SCALE:
            self._alphas *= self._scale
            self._scale = 1.0
        if self._example is not None:
            self._example = UNLIKE_ANY, *self._example[1:]

    def shift(self, change: Floats) -> None:
        """Add to the coefficients (n,), by slots."""
        self._alphas.reshape(-1)[: self.n] += change / self._scale
        self._example = None

    @abc.abstractmethod
    def _resolve(self) -> None:
        """Settle what the kernel takes from the first example."""

    @abc.abstractmethod
    def _insert(self, slot: int) -> None:
        """Put the current example in an empty slot."""

    @abc.abstractmethod
    def _exchange(self, slot: int) -> None:
        """Put the current example in the place of another."""

    def _extend(self, n_blocks: int) -> None:
        self._alphas = lengthened(self._alphas, n_blocks)
        self._born = lengthened(self._born, n_blocks * loops.TILE)

    def _stamp(self, slot: int, coefficient: float) -> None:
        self._alphas[slot // loops.TILE, slot % loops.TILE] = coefficient / self._scale
        self._born[slot] = self._clock
        self._clock += 1
        self._example = None

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return None, {**state[1], "_example": None}


# What a sequence of names comes to: the names, their feature rows (0 where there is none), the size
# of a sheet (see `loops.decide`), and the function that packs values. It is a plain tuple because
# a sparse stream makes one a round.
Layout = tuple[list[Any], Rows, int, Any]


class Block(NamedTuple):
    """Lines of a frame: their names and values."""

    names: list[Any]
    lines: Floats


# What packing values as doubles may raise, the last one where x is no dict at all.
NOT_NUMBERS = (struct.error, TypeError, ValueError, OverflowError, AttributeError)


@functools.lru_cache
def packer(n_values: int) -> struct.Struct:
    """Return what packs so many numbers as doubles."""
    return struct.Struct(f"{n_values}d")


# A program that gives squared Euclidean distances, whatever the kernel is.
EUCLIDEAN = np.array([SQUARED_DISTANCE, IDENTITY, 1.0, 0.0, 1.0, False])

# A name that no example has.
_NO_NAME = object()

NO_ROW = itertools.repeat(0)

# No list of names equals None.
NO_LAYOUT: Any = (None, np.zeros(0, np.uint32), 0, None)


class VectorSupportSet(SupportSet):
    """A support set of vectors, feature by feature in tiles (see `loops`).

    A name has a feature row as long as some support vector holds it, and a tile only where it
    does, so that sparse examples cost what they hold and vanished names cost nothing.

    """

    __slots__ = (
        "_free",
        "_free_rows",
        "_index",
        "_is_selective",
        "_layout",
        "_names",
        "_pairings",
        "_program",
        "_row_uses",
        "_slot_rows",
        "_table",
        "_tile_uses",
        "_tiles",
    )

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._program: Any = kernel.program
        self._is_selective = _is_selective(kernel)
        self._pairings: Floats = np.zeros((0, loops.TILE))
        self._tiles: Floats = np.zeros((1, loops.TILE))
        self._tile_uses = np.zeros(1, np.uint8)
        self._free = np.zeros(1, np.uint32)
        self._table: NDArray[np.uint32] = np.zeros((1, 0), np.uint32)
        self._row_uses = np.zeros(1, np.int64)
        self._index: dict[Any, int] = {}
        self._names: list[Any] = [None]
        self._free_rows: list[int] = []
        self._slot_rows: list[Rows] = []
        self._layout = NO_LAYOUT

    def look(self, x: Features) -> Any:
        example = self._example
        if example is not None and x == example[0]:
            return example
        try:
            if self._is_selective:
                x = self._visible(x)
            _, rows, sheet_size, pack_into = layout = self._layout_of(list(x))
            sheet = np.empty(sheet_size)
            pack_into(sheet, self._alphas.nbytes, *x.values())
        except NOT_NUMBERS:
            raise self._unfit(x) from None
        f = loops.decide(
            sheet, self._program, rows, len(self._index),
            self._table, self._tiles, self._pairings, self._alphas, self._scale, self.n,
        )  # fmt: skip
        if f != f:
            raise self._unfit(x)
        self._example = example = x.copy(), f, layout, sheet
        return example

    @property
    def self_value(self) -> float:
        _, values = self._names_and_values
        return loops.self_value(self._program, loops.self_pairing(self._program, values))

    @property
    def current(self) -> Features:
        names, values = self._names_and_values
        return dict(zip(names, values.tolist(), strict=True))

    def nearness_to(self, example: Any) -> Floats:
        _, _, (_, rows, *_), sheet = example
        return self._nearness(sheet, rows)

    def nearness_of(self, slot: int) -> Floats:
        sheet, _ = self._sheet_of(slot)
        return self._nearness(sheet, self._slot_rows[slot])

    @property
    def _names_and_values(self) -> tuple[list[Any], Floats]:
        """The names of the current example, and the values that its sheet ends in."""
        _, _, (names, *_), sheet = self._example
        return names, sheet[len(sheet) - len(names) :]

    def decide_slot(self, slot: int) -> tuple[float, Floats]:
        sheet, f = self._sheet_of(slot)
        return f, sheet[: self.n]

    def _sheet_of(self, slot: int) -> tuple[Floats, float]:
        """Return a sheet with the values and the kernel row of a support vector, and f there."""
        rows = self._slot_rows[slot]
        sheet = np.empty(self._alphas.size + len(rows))
        loops.load(sheet, rows, slot, self._table, self._tiles)
        f = loops.decide(sheet, self._program, rows, *self._hypothesis)
        return sheet, f

    def _nearness(self, sheet: Floats, rows: Rows) -> Floats:
        if self._program[0] == SQUARED_DISTANCE:
            return sheet[: self.n]
        sheet, (n_rows, table, tiles, _, alphas, scale, n) = sheet.copy(), self._hypothesis
        squares = loops.squared_norms(tiles, table, self._row_uses, len(alphas))
        loops.decide(sheet, EUCLIDEAN, rows, n_rows, table, tiles, squares, alphas, scale, n)
        return -sheet[:n]

    def self_value_of(self, slot: int) -> float:
        pairing = self._pairings[slot // loops.TILE, slot % loops.TILE]
        return loops.self_value(self._program, pairing)

    def block(self, columns: Sequence[Any], lines: NDArray[Any]) -> Block:
        if lines.dtype.kind in "biuf":
            values = np.array(lines, np.float64, order="C")
        else:
            values = self._packed_lines(columns, lines)
        unfit = loops.check_block(self._program, values)
        if unfit < len(values):
            raise self._unfit(dict(zip(columns, values[unfit].tolist(), strict=True)))
        visible = self.kernel.visible(columns)
        if visible is not None:
            columns = list(itertools.compress(columns, visible))
            values = np.ascontiguousarray(values[:, visible])
        return Block(list(columns), values)

    def scan(self, block: Block, signs: Floats, start: int, threshold: float) -> tuple[int, float]:
        _, rows, sheet_size, _ = layout = self._layout_of(block.names)
        sheet = np.empty(sheet_size)
        line, f = loops.scan(
            block.lines, signs, start, threshold, sheet, self._program, rows, *self._hypothesis
        )
        self._example = UNLIKE_ANY, f, layout, sheet
        return line, f

    def decide_block(self, block: Block) -> Floats:
        _, rows, sheet_size, _ = self._layout_of(block.names)
        sheet = np.empty(sheet_size)
        return loops.decide_block(block.lines, sheet, self._program, rows, *self._hypothesis)

    def vector(self, slot: int) -> Features:
        rows = self._slot_rows[slot]
        values = np.empty(len(rows))
        loops.load(values, rows, slot, self._table, self._tiles)
        return dict(zip([self._names[row] for row in rows], values.tolist(), strict=True))

    @property
    def nbytes(self) -> int:
        arrays = [
            self._alphas, self._born, self._pairings, self._tiles, self._tile_uses, self._free,
            self._table, self._row_uses, *{id(rows): rows for rows in self._slot_rows}.values(),
        ]  # fmt: skip
        containers = [self._index, self._names, self._free_rows, self._slot_rows, *self._index]
        # One example is counted, whether it is there just now or not.
        names, rows, sheet_size, _ = self._layout
        example = [names, rows, dict.fromkeys(names or ())]
        return sum(map(sys.getsizeof, [*arrays, *containers, *example])) + 8 * sheet_size

    @property
    def _hypothesis(self) -> tuple[Any, ...]:
        return (
            len(self._index), self._table, self._tiles, self._pairings, self._alphas, self._scale,
            self.n,
        )  # fmt: skip

    def _layout_of(self, names: list[Any]) -> Layout:
        layout: Layout = self._layout
        if names is layout[0] or names == layout[0]:
            return layout
        n_names = len(names)
        rows = np.fromiter(map(self._index.get, names, NO_ROW), np.uint32, n_names)
        layout = names, rows, self._alphas.size + n_names, packer(n_names).pack_into
        self._layout = layout
        return layout

    def _renew_layout(self) -> None:
        names, *_ = self._layout
        self._layout = NO_LAYOUT
        self._layout_of(names)

    def _resolve(self) -> None:
        names, _ = self._names_and_values
        self.kernel = self.kernel.resolve(names)
        self._program = self.kernel.program
        self._is_selective = _is_selective(self.kernel)

    def _insert(self, slot: int) -> None:
        self._slot_rows.append(self._store(slot))

    def _exchange(self, slot: int) -> None:
        _, _, (_, rows, *_), sheet = self._example
        old = self._slot_rows[slot]
        if old is rows:
            loops.overwrite(
                sheet, rows, slot, self._program, self._pairings, self._table, self._tiles
            )
            return
        n_unused = loops.erase(
            old, slot, self._table, self._tiles, self._tile_uses, self._row_uses, self._free
        )
        self._slot_rows[slot] = self._store(slot)
        if n_unused:
            self._forget(old[self._row_uses[old] == 0].tolist())

    def _store(self, slot: int) -> Rows:
        """Store the current example in an empty slot and return its feature rows."""
        _, _, (names, rows, *_), sheet = self._example
        if self._free[0] < len(rows):
            self._extend_tiles(len(rows))
        while not loops.store(
            sheet, rows, slot, self._program, self._pairings,
            self._table, self._tiles, self._tile_uses, self._row_uses, self._free,
        ):  # fmt: skip
            rows = self._name_rows(names)
        return rows

    def _name_rows(self, names: list[Any]) -> Rows:
        """Return the feature rows of the names, with new ones for those that have none."""
        for name in names:
            if name not in self._index:
                if not self._free_rows:
                    self._extend_rows()
                row = self._free_rows.pop()
                self._index[name] = row
                self._names[row] = name
        self._renew_layout()
        return self._layout_of(names)[1]

    def _forget(self, dead_rows: list[int]) -> None:
        for row in dead_rows:
            del self._index[self._names[row]]
            self._names[row] = None
            self._free_rows.append(row)
        self._renew_layout()

    def _extend(self, n_blocks: int) -> None:
        super()._extend(n_blocks)
        self._pairings = lengthened(self._pairings, n_blocks)
        self._table = np.pad(self._table, ((0, 0), (0, n_blocks - self._table.shape[1])))
        self._renew_layout()

    def _extend_rows(self) -> None:
        n_rows = len(self._names)
        n_new = max(8, n_rows // 2)
        self._table = lengthened(self._table, n_rows + n_new)
        self._row_uses = lengthened(self._row_uses, n_rows + n_new)
        self._names += [None] * n_new
        self._free_rows += reversed(range(n_rows, n_rows + n_new))

    def _extend_tiles(self, n_needed: int) -> None:
        n_tiles = len(self._tiles)
        n_free = int(self._free[0])
        n_new = max(n_needed, n_tiles // 2)
        self._tiles = lengthened(self._tiles, n_tiles + n_new)
        self._tile_uses = lengthened(self._tile_uses, n_tiles + n_new)
        self._free = lengthened(self._free, n_tiles + n_new)
        self._free[n_free + 1 : n_free + n_new + 1] = range(n_tiles, n_tiles + n_new)
        self._free[0] = n_free + n_new

    def _visible(self, x: Features) -> Features:
        """Return what the kernel looks at in x, all of which has to be fit."""
        if not isinstance(x, dict):
            raise self._unfit(x)
        visible = self.kernel.visible(list(x))
        if visible is None:
            return x
        hidden = {
            name: value for (name, value), seen in zip(x.items(), visible, strict=True) if not seen
        }
        for value in hidden.values():
            if isinstance(value, (str, bytes)) or not _is_finite(value):
                raise self._unfit(hidden)
        return {name: value for name, value in x.items() if name not in hidden}

    def _unfit(self, x: Features) -> ValueError:
        """Return the error that names what is wrong with x."""
        if not isinstance(x, dict):
            return ValueError(f"x must be a dict of features, got {x!r}")
        for name, value in x.items():
            if isinstance(value, (str, bytes)):
                return ValueError(
                    f"feature {name!r} has the value {value!r}, which is not a number: "
                    "encode it first, for instance with preprocessing.OneHotEncoder"
                )
            if not _is_finite(value):
                return ValueError(
                    f"feature {name!r} has the value {value!r}: expected a finite number"
                )
        name, value = max(x.items(), key=lambda item: abs(item[1]))
        return ValueError(
            f"feature {name!r} has the value {value!r}, which is too large: "
            f"k(x, x) or the norm of x passes {loops.LARGEST:g} under {self.kernel}"
        )

    def _packed_lines(self, columns: Sequence[Any], lines: NDArray[Any]) -> Floats:
        packed = []
        for line in lines:
            try:
                packed.append(packer(len(line)).pack(*line))
            except NOT_NUMBERS:
                raise self._unfit(dict(zip(columns, line, strict=True))) from None
        return np.frombuffer(b"".join(packed)).reshape(lines.shape)

    def __getstate__(self) -> Any:
        _, slots = super().__getstate__()
        del slots["_layout"]
        return None, slots

    def __setstate__(self, state: Any) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self._layout = NO_LAYOUT


class ObjectSupportSet(SupportSet):
    """A support set of dicts with values of any type, for kernels that are only called."""

    __slots__ = ("_vectors",)

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._vectors: list[Features] = []

    def look(self, x: Features) -> Any:
        example = self._example
        if example is not None and _are_equal(x, example[0]):
            return example
        x = copy.deepcopy(x)
        f, kernel_row = self._look_at(x)
        self._example = example = x, f, x, kernel_row
        return example

    @property
    def self_value(self) -> float:
        _, _, x, _ = self._example
        return self.kernel(x, x)

    @property
    def current(self) -> Features:
        _, _, x, _ = self._example
        return x

    def nearness_to(self, example: Any) -> Floats:
        return self._nearness(self.row_of(example))

    def nearness_of(self, slot: int) -> Floats:
        _, kernel_row = self.decide_slot(slot)
        return self._nearness(kernel_row)

    def decide_slot(self, slot: int) -> tuple[float, Floats]:
        return self._look_at(self._vectors[slot])

    def self_value_of(self, slot: int) -> float:
        return self.kernel(self._vectors[slot], self._vectors[slot])

    def block(self, columns: Sequence[Any], lines: NDArray[Any]) -> list[Features]:
        return [dict(zip(columns, line, strict=True)) for line in lines]

    def scan(
        self, block: list[Features], signs: Floats, start: int, threshold: float
    ) -> tuple[int, float]:
        for line in range(start, len(block)):
            f = self.decide(block[line])
            if signs[line] * f <= threshold:
                return line, f
        return len(block), 0.0

    def decide_block(self, block: list[Features]) -> Floats:
        return np.array([self._look_at(x)[0] for x in block], dtype=np.float64)

    def vector(self, slot: int) -> Features:
        return copy.deepcopy(self._vectors[slot])

    @property
    def nbytes(self) -> int:
        containers = [self._alphas, self._born, self._vectors, *self._vectors]
        values = [value for x in self._vectors for value in x.values()]
        return sum(map(sys.getsizeof, [*containers, *values]))

    def _nearness(self, kernel_row: Floats) -> Floats:
        """Return the kernel's own squared distances, negative, less the norm that all share."""
        return 2 * kernel_row - np.array([self.kernel(s, s) for s in self._vectors])

    def _look_at(self, x: Features) -> tuple[float, Floats]:
        kernel_row = np.array([self.kernel(x, s) for s in self._vectors], dtype=np.float64)
        if not np.isfinite(kernel_row).all():
            raise ValueError(f"{self.kernel} gives no finite value for {x!r}")
        return float(np.dot(self.coefficients, kernel_row)), kernel_row

    def _resolve(self) -> None:
        self.kernel = self.kernel.resolve(self._example[2])

    def _insert(self, slot: int) -> None:
        self._vectors.append(self._example[2])

    def _exchange(self, slot: int) -> None:
        self._vectors[slot] = self._example[2]


def _is_selective(kernel: Kernel) -> bool:
    return kernel.visible([_NO_NAME]) is not None


def lengthened(array: Any, length: int) -> Any:
    """Return a copy of the array whose first axis has this length, filled up with zeros."""
    copied = np.zeros((length, *array.shape[1:]), array.dtype)
    copied[: len(array)] = array
    return copied


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def _are_equal(x: Features, z: Features) -> bool:
    try:
        return x == z
    except ValueError:  # arrays as values do not compare to one truth value
        return False
