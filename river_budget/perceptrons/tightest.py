from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count, check_positive
from river_budget._state import State, floats, integers, require
from river_budget.base import BlockPerceptron, ClassWeight, documented
from river_budget.kernels import RBF, Features, Kernel, RationalQuadratic
from river_budget.perceptrons import _posterior
from river_budget.perceptrons import _tightest_compiled as compiled_rule
from river_budget.perceptrons._tightest_compiled import Tables
from river_budget.support import AlgorithmState, Query, Target
from river_budget.support._rule_compiled import DONE
from river_budget.support.rule import BUDGET

# Counts of nearest examples mean little once learned scales have made other vectors near. Without a
# drift, scales of more than this number of examples change the kernel values less than that.
N_ROUGH = 512
LEAST_SIMILARITY = 0.93


@documented
class TightestPerceptron(BlockPerceptron):
    """The Tightest Perceptron.

    Every support vector counts the positive and negative labels of the examples that were nearest
    to it, `c+` and `c-`. Its own label is taken to be positive with probability
    `w+ = P(Beta(c+ + prior, c- + prior) > 1/2)`. Once the budget is full, a misclassified example
    is added, and the support vector whose removal gives the smallest expected hinge loss on all
    support vectors is removed. It may be the incoming example.

    With more than two labels, which the paper does not have, every support vector counts each
    label. The weight of a label is the probability that its share is the largest under the
    Dirichlet posterior, and the loss is the hinge loss of half the difference between the score of
    the label and the largest other score. With two labels, this is the algorithm of the paper.

    The support vectors thus serve as a validation set that is robust to noisy labels, and no
    further example is stored. It is the most accurate of the perceptrons on a small budget.

    If the scales that `RBF()` learns change the kernel values of the support vectors by more than 7 %
    after 512 examples, all counts start again from 0.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default. The nearest support vector is the one at the smallest
        Euclidean distance in input space, or in feature space for a `FunctionKernel`. Its counts
        increase by the kernel value, or by 0 if that is negative.
    prior
        Both parameters of the Beta prior of each support vector, positive. The larger they are, the
        more labels it takes to move `w+` away from 1/2. With more than two labels, all parameters
        of the Dirichlet prior.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.TightestPerceptron(rb.RBF(gamma=1.0), budget=100)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88.62%

    References
    ----------
    [^1]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), Figure 1 and Eq. 2
    """

    # Correctly classified examples update the counts of their nearest support vector.
    _threshold = math.inf
    _rule = compiled_rule.RULE
    _own: CountedVectors

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        prior: float = 1.0,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        check_positive("prior", prior)
        self._own = CountedVectors(budget)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget
        self.prior = prior
        _posterior.load()
        numbers = self._own.numbers
        numbers[BUDGET], numbers[compiled_rule.PRIOR] = budget, prior
        ranks_by_distance = isinstance(self._store.kernel, RBF | RationalQuadratic)
        numbers[compiled_rule.RANKS_BY_DISTANCE] = ranks_by_distance

    def posteriors_one(self, x: Features) -> dict[Any, float]:
        """Return the weight w_c of each label c at the support vector nearest to x.

        It is the posterior probability that the label is the most frequent one around that support
        vector. All weights are equal if there is no support vector. Values of x are refused as by
        `scores_one`.
        """
        return self._by_label(self._posteriors(x))

    def posterior_one(self, x: Features) -> float:
        """Return the weight w+ of the support vector nearest to x; see `posteriors_one`.

        Raises
        ------
        ValueError
            If there are more than two labels, or a value of x is refused.
        """
        self._labels.require_two("posteriors_one")
        return self._posteriors(x)[1]

    def numerical_errors(self) -> dict[str, float]:
        n, f, tables = self.n_support, self._hypothesis, self._own.tables
        table = np.abs(tables.gram[:n, :n] - self._store.gram())
        return {
            "validation scores": float(np.abs(tables.scores[:n] - f.values()).max(initial=0.0)),
            "validation table": float(table.max(initial=0.0)),
        }

    def state(self) -> State:
        return {
            **super().state(),
            "validation": self._own.state(self.n_support),
            "counts": self._own.tables.counts[: self.n_support].copy(),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        counts = floats(state["counts"], (self.n_support, self._hypothesis.n_labels))
        self._own.restore(state["validation"], counts)

    def _on_rescaled(self) -> None:
        n, tables, gram = self.n_support, self._own.tables, self._store.gram()
        similarity = _similarity(tables.gram[:n, :n], gram)
        tables.gram[:n, :n], tables.scores[:n] = gram, self._hypothesis.values()
        if self._n_rounds > N_ROUGH and similarity < LEAST_SIMILARITY:
            self._own.start_again(np.zeros((n, self._hypothesis.n_labels)))

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._own.widen(n_labels)

    def _learn_rows(
        self, block: Any, columns: Ints, weights: Floats | None, start: int, stop: int
    ) -> None:
        if start < stop:
            self._own.numbers.view(np.int64)[compiled_rule.BETAINC] = _posterior.betainc()
            super()._learn_rows(block, columns, weights, start, stop)

    def _update(self, query: Query, y: Target) -> None:
        rule, own, f = self._rule, self._own, self._hypothesis
        own.numbers.view(np.int64)[compiled_rule.BETAINC] = _posterior.betainc()
        try:
            slot = self._store.update(rule, own, query, y.label, y.weight, f)
            while slot == compiled_rule.ASK:
                self._answer(query)
                slot = self._store.update(rule, own, query, y.label, y.weight, f)
        finally:
            own.numbers[compiled_rule.ANSWERED] = compiled_rule.NOTHING
        if slot != DONE:
            own.reserve(self._store.n + 1)
            f.finish(rule, own, slot, query, y.label, y.weight)

    def _answer(self, query: Query) -> None:
        n, numbers, tables = self._store.n, self._own.numbers, self._own.tables
        asked = numbers[compiled_rule.ANSWERED] = numbers[compiled_rule.ASKED]
        if asked == compiled_rule.WEIGHTS:
            _posterior.renew(tables.weights, tables.counts, n + 1, self.prior)
        else:
            r = int(numbers[compiled_rule.REMOVED])
            numbers[compiled_rule.ANSWER] = (
                self._nearest_to_removed(r, query) if r < n else self._nearest(query)
            )

    def _posteriors(self, x: Features) -> list[float]:
        query = self._store.query(x, self._hypothesis)
        counts = np.zeros((1, self._hypothesis.n_labels))
        if self._store.n:
            counts[0] = self._own.tables.counts[self._nearest(query)]
        return _posterior.largest(counts + self.prior)[0].tolist()

    def _nearest(self, query: Query) -> int:
        """Return the slot of the support vector nearest to an example."""
        ranks = self._own.numbers[compiled_rule.RANKS_BY_DISTANCE]
        nearest = compiled_rule.unique_largest(query.row, -1) if ranks else -1
        return (
            nearest if nearest >= 0 else self._store.oldest_largest(-self._store.distances(query))
        )

    def _nearest_to_removed(self, r: int, query: Query) -> int:
        """Return the slot nearest to slot r by distance; `n_support` for the incoming example."""
        distances = np.append(self._store.distances_of(r), self._store.distances(query)[r])
        distances[r] = math.inf
        return self._store.oldest_largest(-distances)


class CountedVectors(AlgorithmState):
    """The support vectors as a validation set: tables among the numbers of a model; see `Tables`."""

    __slots__ = ("_limit", "_n_labels")

    def __init__(self, budget: int) -> None:
        super().__init__(compiled_rule.N_NUMBERS)
        self._limit = budget + 1
        self._n_labels = 2

    @property
    def tables(self) -> Tables:
        tables: Tables = compiled_rule.tables_of.py_func(self.numbers, self._n_labels)
        return tables

    def widen(self, n_labels: int) -> None:
        if n_labels > self._n_labels:
            self._resize(len(self.tables.gram), n_labels)

    def reserve(self, n: int) -> None:
        """Allocate room for a number of vectors, and for an incoming example."""
        capacity, needed = len(self.tables.gram), min(n + 1, self._limit)
        if capacity < needed:
            self._resize(max(needed, min(2 * capacity, self._limit)), self._n_labels)

    def start_again(self, counts: Floats) -> None:
        """Set the counts of the first vectors, whose weights have to be computed anew."""
        tables = self.tables
        tables.counts[: len(counts)] = counts
        tables.weights[: len(counts)] = math.nan

    def state(self, n: int) -> State:
        tables = self.tables
        return {
            "table": tables.gram[:n, :n].copy(),
            "scores": tables.scores[:n].copy(),
            "columns": tables.columns[:n].copy(),
        }

    def restore(self, state: State, counts: Floats) -> None:
        n, n_labels = counts.shape
        gram, scores = floats(state["table"], (None, None)), floats(state["scores"], (n, n_labels))
        require(gram.shape == (n, n), "a validation table has too few or too many rows or columns")
        columns = integers(state["columns"], (n,))
        is_valid = ((columns >= 0) & (columns < n_labels)).all()
        require(is_valid, "the labels of a validation set are wrong")
        require((counts >= 0).all(), "a count is negative")
        self._resize(min(n + 1, self._limit), n_labels)
        tables = self.tables
        tables.gram[:n, :n], tables.scores[:n], tables.columns[:n] = gram, scores, columns
        self.start_again(counts)

    def _resize(self, capacity: int, n_labels: int) -> None:
        """Allocate tables for a number of slots and labels. Weights have to be computed anew."""
        before, fixed = self.tables, self.numbers[: compiled_rule.FIRST]
        self.numbers = np.zeros(compiled_rule.FIRST + capacity * (capacity + 3 * n_labels + 1))
        self.numbers[: compiled_rule.FIRST] = fixed
        self.numbers[compiled_rule.CAPACITY], self._n_labels = capacity, n_labels
        n, width, tables = len(before.gram), before.counts.shape[1], self.tables
        tables.gram[:n, :n], tables.columns[:n] = before.gram, before.columns
        tables.scores[:n, :width], tables.counts[:n, :width] = before.scores, before.counts
        tables.weights[:] = math.nan


def _similarity(before: Floats, after: Floats) -> float:
    """Return the sum of the smaller of two Gram matrices' values over that of the larger ones."""
    n = len(before)
    larger = np.maximum(before, after).sum() - n
    return float((np.minimum(before, after).sum() - n) / larger) if larger > 0 else 1.0
