from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._checks import check_positive
from river_budget._state import State, floats, require
from river_budget.base import BudgetPerceptron
from river_budget.kernels import RBF, Features, Kernel, RationalQuadratic
from river_budget.perceptrons import _compiled
from river_budget.perceptrons._validation import SupportVectors
from river_budget.support import Query

__all__ = ["TightestPerceptron"]

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
LARGEST_COUNT = 1e12


class TightestPerceptron(BudgetPerceptron):
    """The Tightest Perceptron.

    Every support vector counts the positive and negative labels of the examples that were nearest
    to it, `c+` and `c-`. Its own label is taken to be positive with probability
    `w+ = P(Beta(c+ + prior, c- + prior) > 1/2)`. Once the budget is full, a misclassified example
    is added, and the support vector whose removal gives the smallest expected hinge loss on all
    support vectors is removed. It may be the incoming example.

    The support vectors thus serve as a validation set that is robust to noisy labels, and no
    further example is stored. It is the most accurate of the perceptrons on a small budget.

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
        more labels it takes to move `w+` away from 1/2.

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

    def __init__(self, kernel: Kernel | None = None, budget: int = 100, prior: float = 1.0) -> None:
        check_positive("prior", prior)
        super().__init__(kernel, budget)
        self.prior = prior
        # Import it now, not in the middle of a stream.
        _betainc()
        self._validation = SupportVectors()
        # c+ and c- of each support vector, and the weight w+ computed from them, by slots. A weight
        # that has to be computed anew is NaN.
        self._counts: Floats = np.zeros((0, 2))
        self._weights: Floats = np.zeros(0)
        # Whether a larger kernel value always means a smaller Euclidean distance.
        self._ranks_by_distance = isinstance(self._store.kernel, RBF | RationalQuadratic)

    @property
    def memory_bytes(self) -> int:
        cached = self._validation.nbytes + self._counts.nbytes + self._weights.nbytes
        return super().memory_bytes + cached

    def posterior_one(self, x: Features) -> float:
        """Return the weight w+ of the support vector nearest to x.

        It is the posterior probability that positive labels are the majority around that support
        vector; 0.5 if there is no support vector.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.

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
            self._counts = padded(self._counts, max(8, 2 * n))
            self._weights = padded(self._weights, max(8, 2 * n))
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
        """Return the slot of the support vector nearest to an example."""
        nearest = _compiled.unique_largest(query.row) if self._ranks_by_distance else -1
        if nearest < 0:
            nearest = self._store.oldest_largest(-self._store.distances(query))
        return nearest

    def _nearest_to_removed(self, r: int, query: Query) -> int:
        """Return the slot nearest to slot r; `n_support` for the incoming example."""
        row = self._validation.table[r, : self._store.n + 1].copy()
        row[r] = -math.inf
        nearest = _compiled.unique_largest(row) if self._ranks_by_distance else -1
        if nearest < 0:
            distances = np.append(self._store.distances_of(r), self._store.distances(query)[r])
            distances[r] = math.inf
            nearest = self._store.oldest_largest(-distances)
        return nearest

    def _update_summary(self, slot: int, counts: Floats, kernel_value: float) -> None:
        self._counts[slot] += counts * max(0.0, kernel_value)
        self._weights[slot] = math.nan

    def _removal_losses(self, alphas: Floats) -> Floats:
        """Return Eq. 2 times the number of vectors for each removal (n_support + 1,)."""
        weights = self._weights[: len(alphas)]
        stale = np.isnan(weights)
        weights[stale] = self._posteriors(self._counts[: len(alphas)][stale])
        validation = self._validation
        return _compiled.removal_losses(validation.table, validation.values, weights, alphas)

    def _posteriors(self, counts: Floats) -> Floats:
        """Return w+ for rows of counts."""
        parameters = _bounded(counts + self.prior)
        return _betainc()(parameters[..., 1], parameters[..., 0], 0.5)


def _betainc() -> Any:
    """Return the regularized incomplete Beta function."""
    from scipy.special import betainc  # slow to import

    return betainc


def _bounded(counts: Floats) -> Floats:
    """Return rows of counts, scaled down where one is above `LARGEST_COUNT`."""
    return counts / np.maximum(1.0, counts.max(axis=-1, keepdims=True) / LARGEST_COUNT)
