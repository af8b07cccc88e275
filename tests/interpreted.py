"""Rules as Python runs them, so that a test can replace a part of one."""

from __future__ import annotations

import numpy as np

from river_budget._arrays import padded
from river_budget.support import Expansion
from river_budget.support.rule import N_INSERTED, SCALE, SKIP, Example, HypothesisArrays


def interpret(monkeypatch):
    """Let all models run the Python functions of their rules, not the compiled ones."""
    monkeypatch.setattr(Expansion, "update", update)


def update(self, rule, own, query, label, weight):
    store, y = self.store, self.target(query, label, weight)
    own.numbers[SCALE], own.numbers[N_INSERTED] = self.scale, store._n_inserted
    example = Example(
        y.label, y.rival, y.margin, weight, float(store.self_value(query)),
        np.array(self.scores(query)), query.row,
    )  # fmt: skip
    slot = rule.choice.py_func(hypothesis(self, own, store.n), example)
    if slot == SKIP:
        return
    n, row = store.n, store.row(slot) if slot < store.n else query.row[:0]
    if slot < n:
        store.replace(slot, query)
    else:
        store.add(query)
        self._reserve()
        own.table = padded(own.table, store.n_slots)
    rule.step.py_func(hypothesis(self, own, n), example, slot, row)
    self.scale = own.numbers.item(SCALE)


def hypothesis(f, own, n):
    return HypothesisArrays(n, f.alphas, f.matrix, f.store._inserted, own.numbers, own.table)
