"""The templates of the perceptrons that learn blocks of rows by a compiled rule."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count
from river_budget._state import Field, Number
from river_budget.base.documented import documented
from river_budget.base.perceptron import Perceptron
from river_budget.base.weights import ClassWeight
from river_budget.kernels import Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.support import AlgorithmState, Query, Rule, Target
from river_budget.support._rule_compiled import DONE, N_MISTAKES, N_ROUNDS, N_WEIGHTED
from river_budget.support.rule import BUDGET, LARGEST_SELF_VALUE

# Number of rows of a block that are learned between two checks of a given width.
CHECK_INTERVAL = 256


def _own(model: Any) -> AlgorithmState:
    return model._own  # noqa: SLF001 (declared below)


class Slot(Number):
    """A float from `least` to `most` that a compiled rule keeps, by its place among the numbers."""

    def __init__(
        self,
        place: int,
        start: float = 0.0,
        least: float = -math.inf,
        most: float = math.inf,
        **names: str | None,
    ) -> None:
        super().__init__(start, least, most, **names)
        self.place = place

    def __get__(self, model: Any, kind: Any = None) -> Any:
        return self if model is None else _own(model).numbers.item(self.place)

    def __set__(self, model: Any, value: float) -> None:
        _own(model).numbers[self.place] = value

    def begin(self, model: Any) -> None:
        """Leave it to the constructor, which makes the numbers."""


class RandomBits(Field[None]):
    """The random number generator of a compiled rule, by its place among the numbers."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def dump(self, model: Any) -> Any:
        return _own(model).random_state(self.place)

    def load(self, model: Any, value: Any) -> None:
        _own(model).restore_random(self.place, value)


class BlockPerceptron(Perceptron):
    """A perceptron whose compiled `Rule` learns the rows of a block, except those that it leaves.

    A subclass has a rule and what it keeps. If the rule chooses a new slot, the row is left to
    `_learn_left`.
    """

    _rule: ClassVar[Rule]
    _own: AlgorithmState

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._own.nbytes

    def _learn_rows(
        self, block: Any, columns: Ints, weights: Floats | None, start: int, stop: int
    ) -> None:
        weights = np.ones(len(columns)) if weights is None else weights
        while start < stop:
            end = min(stop, start + self._n_unobserved)
            counts = np.zeros(3, np.int64)
            try:
                slot, query = self._store.learn(
                    self._rule, self._own, block, columns, weights, start, end, self._threshold,
                    counts, self._hypothesis,
                )  # fmt: skip
            finally:
                self._n_rounds += int(counts[N_ROUNDS])
                self._n_mistakes += int(counts[N_MISTAKES])
                self._n_weighted += int(counts[N_WEIGHTED])
                row = start + int(counts[N_ROUNDS])
                self._observe_rows(block, start, row)
            start = row
            if slot != DONE:
                self._n_rounds += 1
                self._learn_left(slot, query, int(columns[row]), weights.item(row))
                start = row + 1
                self._observe_rows(block, row, start)
            if self._n_rounds >= self._checked_at:
                self._check(query)

    def _learn_left(self, slot: int, query: Query, label: int, weight: float) -> None:
        """Learn a row that the compiled code has left, given the slot that it has chosen."""
        self._begin_update(query, label, weight, self._hypothesis.margin(query, label))

    @property
    def _n_unobserved(self) -> int:
        # Where no scales are learned, only the width of the kernel is checked, on fewer rows as long
        # as none was flat.
        n_rows = super()._n_unobserved
        is_sparse = self._feature_scales is None and self._n_flat_rows == 0 and n_rows > 1
        return max(n_rows, CHECK_INTERVAL) if is_sparse else n_rows


@documented
class RulePerceptron(BlockPerceptron):
    """A perceptron with at most `budget` support vectors and a compiled update.

    A subclass names its `Rule`, by which single examples and blocks of rows are learned alike.
    """

    # How many numbers of its own, and of each slot at first, the algorithm keeps; see
    # `AlgorithmState`.
    _n_numbers: ClassVar[int] = 0
    _n_columns: ClassVar[int] = 0

    _largest_self_value = Slot(LARGEST_SELF_VALUE, least=0.0, most=LARGEST)

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        self._own = AlgorithmState(self._n_numbers)
        self._own.table = np.zeros((0, self._n_columns))
        self._own.numbers[BUDGET] = budget
        for field in self._fields:
            if isinstance(field, Slot):
                field.__set__(self, field.start)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget: int = budget

    def _begin_update(self, query: Query, label: int, weight: float, margin: float) -> None:
        self._count_update(weight, margin)
        self._hypothesis.update(self._rule, self._own, query, label, weight)

    def _learn_left(self, slot: int, query: Query, label: int, weight: float) -> None:
        self._count_update(weight, self._hypothesis.margin(query, label))
        self._hypothesis.finish(self._rule, self._own, slot, query, label, weight)

    def _update(self, query: Query, y: Target) -> None:
        self._hypothesis.update(self._rule, self._own, query, y.label, y.weight)
