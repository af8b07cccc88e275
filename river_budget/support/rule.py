"""The update of a budgeted algorithm as two compiled functions on plain arrays.

A *choice* names the slot in which a misclassified example is stored, and a *step* changes what the
algorithm keeps. The compiled code of the stores calls them by address, so it is compiled once.
"""

from __future__ import annotations

import functools
import math
import random
from typing import Any, NamedTuple

import numpy as np
from numba import types

from river_budget._arrays import Floats, Ints
from river_budget._compile import UNCOUNTED, address_of, compiled, function_at
from river_budget._state import integers
from river_budget.kernels._compiled import TILE
from river_budget.support import _compiled
from river_budget.support._compiled import margin_and_rival_of

# The numbers of a model. Those that an algorithm adds follow from `OWN` on.
SCALE, N_INSERTED, BUDGET, LARGEST_SELF_VALUE, OWN = range(5)

# The choice not to store an example.
SKIP = -1

# A smaller common factor is multiplied into the coefficients, so that it cannot underflow.
SMALLEST_SCALE = 1e-100


class HypothesisArrays(NamedTuple):
    """The coefficients of an expansion of n vectors, and what an algorithm keeps beside them.

    Coefficients are without their common factor: with two labels `alphas` (blocks, TILE), with more
    a `matrix` (slots, labels); the other one is empty. See `AlgorithmState` for `numbers` and
    `table`.
    """

    n: int
    alphas: Floats
    matrix: Floats
    inserted: Ints
    numbers: Floats
    table: Floats


class Example(NamedTuple):
    """A misclassified example, with the scores of all labels (labels,); see `Target`."""

    label: int
    rival: int
    margin: float
    weight: float
    self_value: float
    scores: Floats
    row: Floats


_FLOATS, _TABLE = types.float64[::1], types.float64[:, ::1]
_HYPOTHESIS = types.NamedTuple(
    (types.int64, _TABLE, _TABLE, types.int64[::1], _FLOATS, _TABLE), HypothesisArrays
)
_EXAMPLE = types.NamedTuple(
    (types.int64, types.int64, *[types.float64] * 3, _FLOATS, _FLOATS), Example
)
_CHOICE = types.int64(_HYPOTHESIS, _EXAMPLE)
_STEP = types.void(_HYPOTHESIS, _EXAMPLE, types.int64, _FLOATS)
_VECTORS = (types.int64, types.int64, types.uint32[:, ::1], _TABLE, _TABLE)
_EVALUATE = types.float64(_FLOATS, _TABLE, types.float64, _FLOATS, types.uint32[::1], *_VECTORS)


class Rule:
    """The update of an algorithm, as two functions.

    The choice of an example (f, y) is the slot of the vector to replace, n for a new one, or
    `SKIP`. The step updates the hypothesis (f, y, r, row) before the example is stored in slot r.
    If it replaces a vector and the step `reads_row`, its kernel row is given.
    """

    def __init__(self, choice: Any, step: Any, reads_row: bool = False) -> None:
        self.choice = choice
        self.step = step
        self.reads_row = reads_row

    @functools.cached_property
    def addresses(self) -> tuple[int, int, int]:
        """The addresses of choice, step and `_compiled.evaluate`, which compiled code takes."""
        return (
            address_of(self.choice, _CHOICE),
            address_of(self.step, _STEP),
            address_of(_compiled.evaluate, _EVALUATE),
        )


class AlgorithmState:
    """What an algorithm keeps beside its hypothesis.

    Its numbers follow from `OWN` on; the table has some for each slot and label (slots, labels).
    """

    __slots__ = ("numbers", "table")

    def __init__(self, n_numbers: int) -> None:
        self.numbers: Floats = np.zeros(OWN + n_numbers)
        self.table: Floats = np.zeros((0, 0))

    def seed(self, place: int, seed: Any) -> None:
        """Seed the random number generator whose 64 bits are the number in a place; see `draw`."""
        self.numbers.view(np.uint64)[place] = random.Random(seed).getrandbits(64)

    def random_state(self, place: int) -> Ints:
        return self.numbers.view(np.int64)[[place]]

    def restore_random(self, place: int, state: Any) -> None:
        self.numbers.view(np.int64)[[place]] = integers(state, (1,))

    def snapshot(self) -> AlgorithmState:
        """Return a copy with numbers of its own, which shares the table."""
        copy = AlgorithmState(0)
        copy.numbers, copy.table = self.numbers.copy(), self.table
        return copy

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.table.nbytes


choice_at, step_at, evaluate_at = map(function_at, (_CHOICE, _STEP, _EVALUATE))


# Inlined as source code, since a function without reference counts must not take arrays from one that
# returns them.
@compiled(inline="always")
def example(label, weight, value, scores, both, self_value, row):
    """Return a misclassified example; with two labels, their scores are written to `both` (2,)."""
    margin, rival = margin_and_rival_of(label, value, scores)
    if len(scores) == 0:
        scores = both
        scores[0], scores[1] = -value, value
    return Example(label, rival, margin, weight, self_value, scores, row)


@compiled(forceinline=True, **UNCOUNTED)
def columns_of(f, slot):
    """Return the columns of the label and the rival of the vector in a slot."""
    if f.matrix.shape[1] == 0:
        label = 1 if f.alphas[slot // TILE, slot % TILE] > 0.0 else 0
        return label, 1 - label
    label, rival = 0, 0
    for c in range(1, f.matrix.shape[1]):
        label = c if f.matrix[slot, c] > f.matrix[slot, label] else label
        rival = c if f.matrix[slot, c] < f.matrix[slot, rival] else rival
    return label, rival


@compiled(**UNCOUNTED)
def step_of(f, slot):
    """Return the step size of the vector in a slot, the coefficient of its label."""
    if f.matrix.shape[1] == 0:
        return f.numbers[SCALE] * abs(f.alphas[slot // TILE, slot % TILE])
    label, _ = columns_of(f, slot)
    return f.numbers[SCALE] * f.matrix[slot, label]


@compiled()
def margin_of(f, slot, row):
    """Return the margin of the vector in a slot, with its label and its rival as stored."""
    label, rival = columns_of(f, slot)
    total = 0.0
    if f.matrix.shape[1] == 0:
        sums, n_full = np.zeros(TILE), f.n // TILE
        for block in range(n_full):
            part = row[block * TILE :]
            for i in range(TILE):
                sums[i] += f.alphas[block, i] * part[i]
        rest = row[n_full * TILE :]
        for i in range(len(rest)):
            sums[i] += f.alphas[n_full, i] * rest[i]
        for i in range(TILE):
            total += sums[i]
        total = total if label else -total
    else:
        for i in range(f.n):
            total += 0.5 * (f.matrix[i, label] - f.matrix[i, rival]) * row[i]
    return f.numbers[SCALE] * total


@compiled(**UNCOUNTED)
def overlap(f, slot, y):
    """Return the cosine of an example and the vector in a slot, in label space."""
    label, rival = columns_of(f, slot)
    same = (y.label == label) + (y.rival == rival)
    return 0.5 * (same - (y.label == rival) - (y.rival == label))


@compiled(**UNCOUNTED)
def assign(f, slot, y, step):
    """Set the coefficients of a slot to those of an example; its weight multiplies the step."""
    alpha = step * y.weight / f.numbers[SCALE]
    if f.matrix.shape[1] == 0:
        f.alphas[slot // TILE, slot % TILE] = alpha if y.label else -alpha
    else:
        f.matrix[slot, :] = 0.0
        f.matrix[slot, y.label], f.matrix[slot, y.rival] = alpha, -alpha


@compiled(**UNCOUNTED)
def shrink(f, factor):
    """Multiply all coefficients by a factor of at most 1, in constant time as a rule."""
    f.numbers[SCALE] *= factor
    scale = f.numbers[SCALE]
    if scale < SMALLEST_SCALE:
        f.numbers[SCALE] = 1.0
        for coefficients in (f.alphas, f.matrix):
            for i in range(coefficients.shape[0]):
                for j in range(coefficients.shape[1]):
                    coefficients[i, j] *= scale


@compiled(**UNCOUNTED)
def add(f, y, r, row):
    """Add the example with a coefficient of 1, in place of the vector r if there is one."""
    assign(f, r, y, 1.0)


@compiled(**UNCOUNTED)
def draw(numbers, place, n):
    """Return a random integer below n by SplitMix64, whose 64 bits are one of the numbers."""
    bits = numbers.view(np.uint64)
    bits[place] += np.uint64(0x9E3779B97F4A7C15)
    z = bits[place]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(np.float64(z >> np.uint64(11)) * math.ldexp(n, -53))


@compiled(**UNCOUNTED)
def oldest(f, y):
    """Choose the slot of the oldest vector, or a new one while the budget is not full."""
    return _compiled.oldest(f.inserted, f.n) if f.n >= f.numbers[BUDGET] else f.n
