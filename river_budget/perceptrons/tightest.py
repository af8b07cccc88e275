from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats, lengthened
from river_budget._checks import check_positive
from river_budget._state import State, floats, require
from river_budget.base import BudgetPerceptron
from river_budget.kernels import RBF, Features, Kernel, RationalQuadratic
from river_budget.perceptrons import _compiled
from river_budget.perceptrons._validation import SupportVectors
from river_budget.support import Query

__all__ = ["TightestPerceptron"]

# Counts of more than any stream has rounds come from kernel values far above 1, which multiply them
# whenever a vector goes, and would overflow. From about 1e15 on, SciPy's Beta distribution is NaN.
LARGEST_COUNT = 1e12


class TightestPerceptron(BudgetPerceptron):
    """The Tightest Perceptron.

    Every support vector counts the labels that were seen in its neighbourhood. Once the budget is
    full, a mistake is added, and then the support vector goes without which the expected hinge loss
    on the support vectors is smallest, where the labels are as probable as the counts say. So noise
    that was stored does not vote for itself, and the support vectors serve as a validation set
    without one more example in memory. It is the most accurate of the family on a small budget.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default. Neighbours are those in input space, by Euclidean distance;
        a `FunctionKernel`, which knows no input space, has them by its own distance. Counts grow by
        kernel values, and by nothing where these are negative.
    budget
        Largest number of support vectors.
    prior
        Both parameters of the Beta prior of a support vector's class, positive. The larger, the more
        labels it takes to be sure.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

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
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Figure 1 and Eq. 2.](https://doi.org/10.1109/IJCNN.2009.5178870)

    """

    # A well classified example is counted by its nearest support vector.
    _threshold = math.inf

    def __init__(self, kernel: Kernel | None = None, budget: int = 100, prior: float = 1.0) -> None:
        check_positive("prior", prior)
        super().__init__(kernel, budget)
        self.prior = prior
        # Not in the middle of a stream.
        _betainc()
        self._validation = SupportVectors()
        # c+ and c- of each support vector, and the weight w+ that follows from them, by slots; a
        # weight is NaN until it is asked for.
        self._counts: Floats = np.zeros((0, 2))
        self._weights: Floats = np.zeros(0)
        # Whether the larger of two kernel values belongs to the smaller Euclidean distance.
        self._ranks_by_distance = isinstance(self._store.kernel, RBF | RationalQuadratic)

    @property
    def memory_bytes(self) -> int:
        kept = self._validation.nbytes + self._counts.nbytes + self._weights.nbytes
        return super().memory_bytes + kept

    def posterior_one(self, x: Features) -> float:
        """Return the weight w+ of the support vector that is nearest to x.

        It is the probability that the positive class prevails there, going by the labels that were
        seen around that support vector; 0.5 before there is one.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernel can take.

        """
        query = self._store.query(x, self._hypothesis)
        if not self._store.n:
            return 0.5
        return float(self._posteriors(self._counts[self._nearest(query)]))

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors(self._hypothesis)

    def state(self) -> State:
        return {
            **super().state(),
            "validation": self._validation.state(),
            "counts": self._counts[: self.n_support].copy(),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._validation.restore(state["validation"], self.n_support, self.resolved_kernel)
        self._counts = floats(state["counts"], (self.n_support, 2))
        self._weights = np.full(self.n_support, math.nan)
        require((self._counts >= 0).all(), "a count is negative")

    def _update(self, query: Query, y: float) -> None:
        own = np.array([y > 0, y < 0], dtype=np.float64)
        if y * query.answer > 0:
            nearest = self._nearest(query)
            self._update_summary(nearest, own, query.row[nearest])
            return
        self._validation.on_add(self._store, query, y)
        n = self._store.n
        if n == len(self._weights):
            self._counts = lengthened(self._counts, max(8, 2 * n))
            self._weights = lengthened(self._weights, max(8, 2 * n))
        self._counts[n] = own
        self._weights[n] = math.nan
        super()._update(query, y)

    def _update_full(self, query: Query, y: float) -> None:
        incoming = self._store.n
        alphas = np.append(self._hypothesis.coefficients, y)
        gram = self._validation.table
        r = self._store.oldest_largest(-self._removal_losses(alphas))
        k = self._nearest(query) if r == incoming else self._nearest_to_removed(r, query)
        self._update_summary(k, _bounded(self._counts[r]), gram[k, r])
        self._validation.on_remove(r, alphas)
        if r < incoming:
            self._counts[r] = self._counts[incoming]
            self._weights[r] = self._weights[incoming]
            self._hypothesis.replace(r, query, y)

    def _nearest(self, query: Query) -> int:
        """Return the slot of the support vector that is nearest to an example."""
        nearest = _compiled.only_largest(query.row) if self._ranks_by_distance else -1
        if nearest < 0:
            nearest = self._store.oldest_largest(-self._store.distances(query))
        return nearest

    def _nearest_to_removed(self, r: int, query: Query) -> int:
        """Return which of the other vectors, the incoming one after them, is nearest to one."""
        row = self._validation.table[r, : self._store.n + 1].copy()
        row[r] = -math.inf
        nearest = _compiled.only_largest(row) if self._ranks_by_distance else -1
        if nearest < 0:
            distances = np.append(self._store.distances_of(r), self._store.distances(query)[r])
            distances[r] = math.inf
            nearest = self._store.oldest_largest(-distances)
        return nearest

    def _update_summary(self, slot: int, counts: Floats, kernel_value: float) -> None:
        self._counts[slot] += counts * max(0.0, kernel_value)
        self._weights[slot] = math.nan

    def _removal_losses(self, alphas: Floats) -> Floats:
        """Return Eq. 2, times the number of vectors, for the removal of each (n_support + 1,)."""
        weights = self._weights[: len(alphas)]
        stale = np.isnan(weights)
        weights[stale] = self._posteriors(self._counts[: len(alphas)][stale])
        validation = self._validation
        return _compiled.removal_losses(validation.table, validation.values, weights, alphas)

    def _posteriors(self, counts: Floats) -> Floats:
        """Return P(Beta(c+ + a, c- + a) > 1/2) for rows of counts."""
        parameters = _bounded(counts + self.prior)
        return _betainc()(parameters[..., 1], parameters[..., 0], 0.5)


def _betainc() -> Any:
    """Return the regularized incomplete Beta function; SciPy's special functions import slowly."""
    from scipy.special import betainc

    return betainc


def _bounded(counts: Floats) -> Floats:
    """Return rows of counts with the same ratios, and none above `LARGEST_COUNT`."""
    return counts / np.maximum(1.0, counts.max(axis=-1, keepdims=True) / LARGEST_COUNT)
