from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count, check_positive
from river_budget._state import State, floats
from river_budget.base import BlockPerceptron, ClassWeight, documented
from river_budget.kernels import RBF, Features, Kernel, RationalQuadratic
from river_budget.perceptrons import _compiled, _posterior
from river_budget.perceptrons._counted_vectors import CountedVectors
from river_budget.perceptrons._tightest_compiled import (
    ANSWER,
    ANSWERED,
    ASK,
    ASKED,
    BETAINC,
    NOTHING,
    PRIOR,
    RANKS_BY_DISTANCE,
    REMOVED,
    RULE,
    WEIGHTS,
)
from river_budget.support import Query, Target
from river_budget.support._rule_compiled import DONE
from river_budget.support.rule import BUDGET

__all__ = ["TightestPerceptron"]

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

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.TightestPerceptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88.62%

    References
    ----------
    [^1]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), Figure 1 and Eq. 2

    """

    # Correctly classified examples update the counts of their nearest support vector.
    _threshold = math.inf
    _rule = RULE
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
        numbers[BUDGET], numbers[PRIOR] = budget, prior
        numbers[RANKS_BY_DISTANCE] = isinstance(self._store.kernel, RBF | RationalQuadratic)

    def posteriors_one(self, x: Features) -> dict[Any, float]:
        """Return the weight w_c of each label c at the support vector nearest to x.

        It is the posterior probability that the label is the most frequent one around that support
        vector. All weights are equal if there is no support vector.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.

        """
        return self._by_label(self._posteriors(x))

    def posterior_one(self, x: Features) -> float:
        """Return the weight w+ of the support vector nearest to x; see `posteriors_one`.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If there are more than two labels, or a value is not a finite number or is too large for
            the kernel.

        """
        self._labels.require_two("posteriors_one")
        return self._posteriors(x)[1]

    def numerical_errors(self) -> dict[str, float]:
        return self._own.errors(self._hypothesis)

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
        n = self.n_support
        before = self._own.tables.gram[:n, :n].copy()
        self._own.renew(self._hypothesis)
        similarity = _similarity(before, self._own.tables.gram[:n, :n])
        if self._n_rounds > N_ROUGH and similarity < LEAST_SIMILARITY:
            self._own.start_again(np.zeros((n, self._hypothesis.n_labels)))

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._own.widen(n_labels)

    def _learn_rows(
        self, block: Any, columns: Ints, weights: Floats | None, start: int, stop: int
    ) -> None:
        if start < stop:
            self._own.numbers.view(np.int64)[BETAINC] = _posterior.betainc()
            super()._learn_rows(block, columns, weights, start, stop)

    def _update(self, query: Query, y: Target) -> None:
        rule, own, f = self._rule, self._own, self._hypothesis
        own.numbers.view(np.int64)[BETAINC] = _posterior.betainc()
        try:
            slot = self._store.update(rule, own, query, y.label, y.weight, f)
            while slot == ASK:
                self._answer(query)
                slot = self._store.update(rule, own, query, y.label, y.weight, f)
        finally:
            own.numbers[ANSWERED] = NOTHING
        if slot != DONE:
            own.reserve(self._store.n + 1)
            f.finish(rule, own, slot, query, y.label, y.weight)

    def _answer(self, query: Query) -> None:
        """Compute what the compiled rule has asked for."""
        n, numbers, tables = self._store.n, self._own.numbers, self._own.tables
        asked = numbers[ANSWERED] = numbers[ASKED]
        if asked == WEIGHTS:
            _posterior.renew(tables.weights, tables.counts, n + 1, self.prior)
        else:
            r = int(numbers[REMOVED])
            numbers[ANSWER] = self._nearest_to_removed(r, query) if r < n else self._nearest(query)

    def _posteriors(self, x: Features) -> list[float]:
        query = self._store.query(x, self._hypothesis)
        counts = np.zeros((1, self._hypothesis.n_labels))
        if self._store.n:
            counts[0] = self._own.tables.counts[self._nearest(query)]
        return _posterior.largest(counts + self.prior)[0].tolist()

    def _nearest(self, query: Query) -> int:
        """Return the slot of the support vector nearest to an example."""
        ranks = self._own.numbers[RANKS_BY_DISTANCE]
        nearest = _compiled.unique_largest(query.row) if ranks else -1
        if nearest < 0:
            nearest = self._store.oldest_largest(-self._store.distances(query))
        return nearest

    def _nearest_to_removed(self, r: int, query: Query) -> int:
        """Return the slot nearest to slot r by distance; `n_support` for the incoming example."""
        distances = np.append(self._store.distances_of(r), self._store.distances(query)[r])
        distances[r] = math.inf
        return self._store.oldest_largest(-distances)


def _similarity(before: Floats, after: Floats) -> float:
    """Return how similar two Gram matrices of a radial kernel are, without their diagonals.

    It is the sum of the smaller values over that of the larger ones, 1 if there are none.

    """
    n = len(before)
    larger = np.maximum(before, after).sum() - n
    return float((np.minimum(before, after).sum() - n) / larger) if larger > 0 else 1.0
