from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded, widened
from river_budget._checks import check_positive
from river_budget._compile import UNCOUNTED, compiled
from river_budget._state import State, floats, require
from river_budget.base import BlockPerceptron, BudgetPerceptron, ClassWeight
from river_budget.kernels import RBF, Features, Kernel, RationalQuadratic
from river_budget.perceptrons import _compiled, _posterior
from river_budget.perceptrons._compiled import count_label, unique_largest
from river_budget.perceptrons._validation import SupportVectors, coefficients_of
from river_budget.support import Own, Query, Rule, Target
from river_budget.support.rule import OWN, SKIP, add

__all__ = ["TightestPerceptron"]

# Counts of nearest examples mean little once learned scales have made other vectors near. Without a
# drift, scales of more than this number of examples change the kernel values less than that.
N_ROUGH = 512
LEAST_SIMILARITY = 0.9


# Whether a larger kernel value always means a smaller Euclidean distance.
RANKS_BY_DISTANCE = OWN


@compiled(**UNCOUNTED)
def _count_nearest(f: Any, y: Any) -> Any:
    """Count the label of a correctly classified example at the vector nearest to it.

    A mistake is left, as is an example whose kernel values do not tell the nearest vector.

    """
    nearest = unique_largest(y.row) if y.margin > 0.0 and f.numbers[RANKS_BY_DISTANCE] else -1
    if nearest < 0:
        return f.n
    count_label(f.table, nearest, y.label, y.weight * y.row[nearest])
    return SKIP


class TightestPerceptron(BlockPerceptron, BudgetPerceptron):
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

    If the scales that `RBF()` learns change the kernel values of the support vectors by more than a
    tenth after 512 examples, all counts start again from 0.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default. The nearest support vector is the one at the smallest
        Euclidean distance in input space, or in feature space for a `FunctionKernel`. Its counts
        increase by the kernel value, or by 0 if that is negative.
    budget
        Maximum number of support vectors.
    prior
        Both parameters of the Beta prior of each support vector, positive. The larger they are, the
        more labels it takes to move `w+` away from 1/2. With more than two labels, all parameters
        of the Dirichlet prior.
    gamma
        Short for the kernel `RBF(gamma)`.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far.
    max_classes
        Maximum number of labels.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
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
    _rule = Rule(_count_nearest, add)

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        prior: float = 1.0,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
    ) -> None:
        check_positive("prior", prior)
        super().__init__(kernel, budget, gamma, class_weight, max_classes)
        self.prior = prior
        _posterior.load()
        self._validation = SupportVectors(budget)
        self._own = Own(1)
        self._own.numbers[RANKS_BY_DISTANCE] = isinstance(
            self._store.kernel, RBF | RationalQuadratic
        )
        self._start_counts(np.zeros((0, 2)))

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._validation.nbytes + self._own.nbytes

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
        return self._validation.errors(self._hypothesis)

    def state(self) -> State:
        return {
            **super().state(),
            "validation": self._validation.state(self.n_support),
            "counts": self._counts[: self.n_support].copy(),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._validation.restore(state["validation"], self._store)
        counts = floats(state["counts"], (self.n_support, self._hypothesis.n_labels))
        require((counts >= 0).all(), "a count is negative")
        self._start_counts(counts)

    def _on_rescaled(self) -> None:
        n = self.n_support
        before = self._validation.table[:n, :n].copy()
        self._validation.rescale(self._hypothesis, self._feature_scales)
        similarity = _similarity(before, self._validation.table[:n, :n])
        if self._n_rounds > N_ROUGH and similarity < LEAST_SIMILARITY:
            self._start_counts(np.zeros_like(self._counts))

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._validation.widen(n_labels)
        if n_labels > self._counts.shape[1]:
            self._start_counts(widened(self._counts, n_labels))

    @property
    def _ranks_by_distance(self) -> bool:
        return bool(self._own.numbers[RANKS_BY_DISTANCE])

    @property
    def _counts(self) -> Floats:
        """The counts c of each support vector, by slots and labels (n or more, labels)."""
        return self._own.table[: len(self._own.table) // 2]

    @property
    def _weights(self) -> Floats:
        """The weights w computed from them; NaN where they have to be computed anew."""
        return self._own.table[len(self._own.table) // 2 :]

    def _start_counts(self, counts: Floats) -> None:
        self._own.table = np.concatenate((counts, np.full_like(counts, math.nan)))

    def _update(self, query: Query, y: Target) -> None:
        if y.margin > 0:
            nearest = self._nearest(query)
            change = y.weight * max(0.0, float(query.row[nearest]))
            _compiled.count_label(self._own.table, nearest, y.label, change)
            return
        self._validation.set_incoming(self._hypothesis, query, y)
        self._set_counts(self._store.n, y)
        if self._store.n < self.budget:
            self._validation.add(self._hypothesis, query, y)
        super()._update(query, y)

    def _set_counts(self, slot: int, y: Target) -> None:
        """Set the counts of an incoming example."""
        if slot == len(self._counts):
            self._start_counts(padded(self._counts, len(self._validation.table)))
        counts = self._counts[slot]
        counts[:], counts[y.label] = 0.0, y.weight
        self._weights[slot] = math.nan

    def _update_full(self, query: Query, y: Target) -> None:
        incoming = self._store.n
        r = self._least_loss(y)
        k = self._nearest(query) if r == incoming else self._nearest_to_removed(r, query)
        _compiled.move_counts(self._validation.table, self._counts, self._weights, r, k, incoming)
        self._validation.replace(r, self._hypothesis, query, y)
        if r < incoming:
            self._hypothesis.replace(r, query, y)

    def _least_loss(self, y: Target) -> int:
        """Return the slot whose removal gives the least loss (Eq. 2); `n_support` for the incoming."""
        _posterior.renew(self._weights, self._counts, self._store.n + 1, self.prior)
        return _compiled.least_loss(
            self._validation.table, self._validation.scores, self._weights,
            *coefficients_of(self._hypothesis), self._store.inserted, y.weight, y.label, y.rival,
        )  # fmt: skip

    def _posteriors(self, x: Features) -> list[float]:
        query = self._store.query(x, self._hypothesis)
        counts = np.zeros((1, self._hypothesis.n_labels))
        if self._store.n:
            counts[0] = self._counts[self._nearest(query)]
        return _posterior.largest(counts + self.prior)[0].tolist()

    def _nearest(self, query: Query) -> int:
        """Return the slot of the support vector nearest to an example."""
        nearest = _compiled.unique_largest(query.row) if self._ranks_by_distance else -1
        if nearest < 0:
            nearest = self._store.oldest_largest(-self._store.distances(query))
        return nearest

    def _nearest_to_removed(self, r: int, query: Query) -> int:
        """Return the slot nearest to slot r; `n_support` for the incoming example."""
        n, nearest = self._store.n, -1
        if self._ranks_by_distance:
            nearest = _compiled.nearest_to(self._validation.table, r, n + 1)
        if nearest < 0:
            distances = np.append(self._store.distances_of(r), self._store.distances(query)[r])
            distances[r] = math.inf
            nearest = self._store.oldest_largest(-distances)
        return nearest


def _similarity(before: Floats, after: Floats) -> float:
    """Return how similar two Gram matrices of a radial kernel are, without their diagonals.

    It is the sum of the smaller values over that of the larger ones, 1 if there are none.

    """
    n = len(before)
    larger = np.maximum(before, after).sum() - n
    return float((np.minimum(before, after).sum() - n) / larger) if larger > 0 else 1.0
