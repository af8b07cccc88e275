"""What a store does whose kernel rows are computed by Python code, one example at a time."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget.kernels import Features
from river_budget.support import _rule_compiled
from river_budget.support.rule import SCALE, AlgorithmState, Rule
from river_budget.support.store import Coefficients, Query, VectorStore

if TYPE_CHECKING:
    from river_budget.support.expansion import Expansion


class PlainStore(VectorStore):
    """A store that evaluates one example at a time. A block is a list of examples."""

    __slots__ = ()

    @abc.abstractmethod
    def _evaluate(self, x: Features, f: Coefficients) -> tuple[float, Floats]:
        """Return f(x) and the kernel row of x (n,)."""

    def query_row(self, block: list[Features], row: int) -> Query:
        return self.query(block[row])

    def scan(
        self, block: list[Features], columns: Ints, start: int, stop: int, threshold: float,
        f: Expansion,
    ) -> tuple[int, Query | None]:  # fmt: skip
        for row in range(start, stop):
            query = self.query(block[row], f)
            if f.margin(query, columns[row]) <= threshold:
                return row, query
        return stop, None

    def score_block(self, block: list[Features], f: Expansion) -> Floats:
        values = (self._evaluate(x, f) for x in block)
        queries = (Query(None, None, f, None, row, self.n, value) for value, row in values)
        scores = [f.scores(query) for query in queries]
        return np.array(scores, np.float64).reshape(len(block), f.n_labels)

    def update(
        self, rule: Rule, own: AlgorithmState, query: Query, label: int, weight: float, f: Expansion
    ) -> int:
        value, scores = f.outputs(query)
        own.numbers[SCALE] = f.scale
        return _rule_compiled.choose(
            rule.addresses[0], label, weight, value, scores, self.self_value(query), query.row,
            self.n, f.alphas, f.matrix, self._inserted, own.numbers, own.table,
        )  # fmt: skip

    def learn(
        self, rule: Rule, own: AlgorithmState, block: list[Features], columns: Ints, weights: Floats,
        start: int, stop: int, threshold: float, counts: Ints, f: Expansion,
    ) -> tuple[int, Query]:  # fmt: skip
        for row in range(start, stop):
            query = self.query(block[row], f)
            label, weight = int(columns[row]), weights.item(row)
            margin = f.margin(query, label)
            if margin <= threshold:
                slot = self.update(rule, own, query, label, weight, f)
                if slot != _rule_compiled.DONE:
                    return slot, query
                counts[_rule_compiled.N_MISTAKES] += margin <= 0.0
                counts[_rule_compiled.N_WEIGHTED] += weight != 1.0
            counts[_rule_compiled.N_ROUNDS] += 1
        return _rule_compiled.DONE, query
