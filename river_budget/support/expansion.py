"""Hypotheses: coefficients over the vectors of a store."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._state import ROUNDING, State, finite, floats, require
from river_budget.kernels import Features, Kernel
from river_budget.kernels._compiled import TILE
from river_budget.support import _compiled, _rule_compiled
from river_budget.support._rule_compiled import DONE
from river_budget.support.numeric import NumericStore
from river_budget.support.objects import ObjectStore
from river_budget.support.rule import SCALE, SMALLEST_SCALE, AlgorithmState, Rule
from river_budget.support.store import Coefficients, Query, VectorStore
from river_budget.support.target import Target, Terms, of_both_labels

NO_SCORES: Floats = np.zeros(0)


def vector_store(kernel: Kernel) -> VectorStore:
    """Return an empty store for a kernel."""
    return ObjectStore(kernel) if kernel.spec is None else NumericStore(kernel)  # type: ignore[arg-type]


class Expansion(Coefficients):
    """A kernel expansion f(x) = sum_i alpha_i k(s_i, x) over the vectors s_i of a store.

    It is the hypothesis for two labels, whose scores are -f and f.
    """

    __slots__ = ("store",)

    def __init__(self, store: VectorStore) -> None:
        super().__init__(np.zeros((0, TILE)))
        self.store = store

    @property
    def n_labels(self) -> int:
        return 2

    def query(self, x: Features) -> Query:
        """Return x with its kernel row, and f(x) as the answer; see `VectorStore.query`."""
        return self.store.query(x, self)

    def scores(self, query: Query) -> list[float]:
        """Return the score of each label (labels,)."""
        return [-query.answer, query.answer]

    def best(self, query: Query) -> int:
        """Return the column of the largest score, the first among ties."""
        return query.answer > 0

    def margin(self, query: Query, label: int) -> float:
        """Return the margin of an example with a label."""
        return query.answer if label else -query.answer

    def target(self, query: Query, label: int, weight: float = 1.0) -> Target:
        """Return the direction of an update on an example with a label, and its weight."""
        return Target(label, 1 - label, query.answer if label else -query.answer, weight)

    def values(self) -> Floats:
        """Return the scores at each stored vector (n, labels), by slots."""
        f = np.array([self.store.evaluate_slot(slot, self)[0] for slot in range(self.store.n)])
        return of_both_labels(f)

    def outputs(self, query: Query) -> tuple[float, Floats]:
        """Return f(x), and the scores of all labels at x, none of them with two labels (labels,)."""
        return query.answer, NO_SCORES

    def update(
        self, rule: Rule, own: AlgorithmState, query: Query, label: int, weight: float
    ) -> None:
        """Update the hypothesis on an example by the rule of an algorithm."""
        slot = self.store.update(rule, own, query, label, weight, self)
        if slot != DONE:
            self.finish(rule, own, slot, query, label, weight)

    def finish(
        self, rule: Rule, own: AlgorithmState, slot: int, query: Query, label: int, weight: float
    ) -> None:
        """Update the hypothesis on an example whose slot has been chosen; the slot n is a new one."""
        store, n = self.store, self.store.n
        # A kernel that raises leaves the hypothesis as it was.
        self_value = store.self_value(query)
        removed = store.row(slot) if rule.reads_row and slot < n else query.row[:0]
        if slot < n:
            store.replace(slot, query)
        else:
            store.add(query)
            self._reserve()
            if own.table.shape[1] and len(own.table) < store.n_slots:
                own.table = padded(own.table, store.n_slots)
        own.numbers[SCALE] = self.scale
        try:
            _rule_compiled.finish(
                rule.addresses[1], slot, removed, label, weight, *self.outputs(query),
                self_value, query.row, n, self.alphas, self.matrix, store.inserted,
                own.numbers, own.table,
            )  # fmt: skip
        finally:
            self.scale = own.numbers.item(SCALE)

    def terms(self, y: Target, step: float = 1.0) -> Terms:
        """Return the terms of f by slots, followed by that of an incoming example."""
        step *= y.weight
        return Terms(*_compiled.terms(self.alphas, self.scale, self.store.n, y.label, step))

    @property
    def coefficients(self) -> Floats:
        """Coefficients by slots: signed (n,) with two labels, and (n, labels) with more."""
        return self.scale * self._table[: self.store.n]

    @property
    def rows(self) -> Floats:
        """Coefficients of all labels by slots (n, labels)."""
        return of_both_labels(self.coefficients)

    @property
    def norm(self) -> float:
        """Norm of f, computed from all pairs of vectors: `||f||^2 = sum_c ||g_c||^2 / 2`."""
        products = self.rows * self.values()
        return math.sqrt(max(0.0, 0.5 * math.fsum(products.flat)))

    def add(self, query: Query, y: Target, step: float = 1.0) -> None:
        """Add the example of a query as a vector, with a step size that its weight multiplies."""
        self.store.add(query)
        self._reserve()
        self._assign(self.store.n - 1, y, step)

    def replace(self, slot: int, query: Query, y: Target, step: float = 1.0) -> None:
        """Replace the vector in a slot with the example of a query."""
        self.store.replace(slot, query)
        self._assign(slot, y, step)

    def remove(self, slots: Sequence[int]) -> None:
        """Remove the vectors in the given slots and their coefficients."""
        table, kept = self._table, self.store.remove(slots)
        table[: len(kept)] = table[kept]
        table[len(kept) :] = 0.0

    def merge(self, slot: int, others: Sequence[int], weights: Floats) -> None:
        """Replace a vector by a linear combination of others; its coefficients become 0."""
        table = self._table
        table[others] += np.multiply.outer(weights, table[slot])
        table[slot] = 0.0
        self.store.forget_query()

    def shrink(self, factor: float) -> None:
        """Multiply all coefficients by a factor of at most 1, in constant time as a rule."""
        self.scale *= factor
        if self.scale < SMALLEST_SCALE:
            table = self._table
            table *= self.scale
            self.scale = 1.0
        self.store.forget_query()

    def shift(self, y: Target, change: Floats) -> None:
        """Add a change (n,), times the weight, to the coefficients of y, less for the rival."""
        self._table[: self.store.n] += change * ((y.label - y.rival) * y.weight / self.scale)
        self.store.forget_query()

    def with_labels(self, n_labels: int) -> Expansion:
        """Return the same hypothesis over the same store, with zero columns for new labels."""
        alphas = self._table
        matrix = np.zeros((len(alphas), n_labels))
        matrix[:, 0], matrix[:, 1] = -alphas, alphas
        return MulticlassExpansion(self.store, matrix, self.scale)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self.store.nbytes

    def state(self) -> State:
        alphas = self._table[: self.store.n].copy()
        return {"store": self.store.state(), "alphas": alphas, "scale": self.scale}

    def restore(self, state: State) -> None:
        self.store.restore(state["store"])
        self.scale = finite(state["scale"], SMALLEST_SCALE, 1.0)
        n = self.store.n
        alphas = floats(state["alphas"], (n, *self._table.shape[1:]))
        # After the check of the shape, so that the memory follows from the size of the state.
        self._reserve()
        self._table[:n] = alphas

    @property
    def _table(self) -> Floats:
        """The coefficients of all slots, without their common factor."""
        return self.alphas.reshape(-1)

    def _assign(self, slot: int, y: Target, step: float) -> None:
        self.alphas[slot // TILE, slot % TILE] = (y.label - y.rival) * step * y.weight / self.scale

    def _reserve(self) -> None:
        if self.alphas.size < self.store.n_slots:
            self.alphas = padded(self.alphas, self.store.n_slots // TILE)


class MulticlassExpansion(Expansion):
    """Kernel expansions g_c(x) = sum_i A_ic k(s_i, x), one for each label c, over one store.

    The rows of A (slots, labels) sum to 0. See `Target` for the reduction to a binary hypothesis.
    """

    __slots__ = ()

    def __init__(self, store: VectorStore, matrix: Floats, scale: float) -> None:
        super().__init__(store)
        self.matrix = matrix
        self.scale = scale

    @property
    def n_labels(self) -> int:
        return int(self.matrix.shape[1])

    def scores_of(self, row: Floats) -> Floats:
        """Return the scores of all labels for a kernel row (labels,)."""
        scores = np.empty(self.matrix.shape[1])
        _compiled.score(self.matrix, self.scale, row, scores)
        return scores

    def scores(self, query: Query) -> list[float]:
        return self._answer(query).tolist()

    def best(self, query: Query) -> int:
        return int(self._answer(query).argmax())

    def margin(self, query: Query, label: int) -> float:
        return _compiled.margin_and_rival(self._answer(query), label)[0]

    def target(self, query: Query, label: int, weight: float = 1.0) -> Target:
        margin, rival = _compiled.margin_and_rival(self._answer(query), label)
        return Target(label, rival, margin, weight)

    def outputs(self, query: Query) -> tuple[float, Floats]:
        return 0.0, self._answer(query)

    def values(self) -> Floats:
        scores = [self.scores_of(self.store.row(slot)) for slot in range(self.store.n)]
        return np.array(scores).reshape(self.store.n, self.n_labels)

    def terms(self, y: Target, step: float = 1.0) -> Terms:
        used = self.matrix[: self.store.n]
        return Terms(
            np.append(self.scale * used.max(axis=1), step * y.weight),
            np.append(used.argmax(axis=1), y.label),
            np.append(used.argmin(axis=1), y.rival),
        )

    @property
    def rows(self) -> Floats:
        return self.coefficients

    def shift(self, y: Target, change: Floats) -> None:
        scaled = change * y.weight / self.scale
        self.matrix[: len(change), y.label] += scaled
        self.matrix[: len(change), y.rival] -= scaled
        self.store.forget_query()

    def with_labels(self, n_labels: int) -> Expansion:
        new = np.zeros((len(self.matrix), n_labels - self.n_labels))
        return MulticlassExpansion(self.store, np.hstack((self.matrix, new)), self.scale)

    def restore(self, state: State) -> None:
        super().restore(state)
        largest, sums = abs(self.matrix).max(initial=0.0), self.matrix.sum(axis=1)
        require(
            (abs(sums) <= ROUNDING * largest).all(), "the coefficients of a vector must sum to 0"
        )

    @property
    def _table(self) -> Floats:
        return self.matrix

    def _answer(self, query: Query) -> Floats:
        """Return the scores of all labels, cached as the answer of the query (labels,)."""
        if type(query.answer) is float:
            query.answer = self.scores_of(query.row)
        return query.answer

    def _assign(self, slot: int, y: Target, step: float) -> None:
        row = self.matrix[slot]
        row[:] = 0.0
        row[y.label] = step * y.weight / self.scale
        row[y.rival] = -row[y.label]

    def _reserve(self) -> None:
        if len(self.matrix) < self.store.n_slots:
            self.matrix = padded(self.matrix, self.store.n_slots)
