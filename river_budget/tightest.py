from __future__ import annotations

import math

import numpy as np

from river_budget import kernels, loops
from river_budget.base import BudgetPerceptron
from river_budget.checks import check_positive
from river_budget.support import Floats, lengthened
from river_budget.validation import SupportVectors

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

    def __init__(
        self, kernel: kernels.Kernel | None = None, budget: int = 100, prior: float = 1.0
    ) -> None:
        check_positive("prior", prior)
        super().__init__(kernel, budget)
        self.prior = prior
        self._validation = SupportVectors()
        # c+ and c- of each support vector, and the weight w+ that follows from them, by slots; a
        # weight is NaN until it is asked for.
        self._counts: Floats = np.zeros((0, 2))
        self._weights: Floats = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        kept = self._validation.nbytes + self._counts.nbytes + self._weights.nbytes
        return super().memory_bytes + kept

    def posterior_one(self, x: kernels.Features) -> float:
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
        example = self._support.look(x)
        if not self._support.n:
            return 0.5
        nearest = self._support.oldest_largest(self._support.nearness_to(example))
        return float(self._posteriors(self._counts[nearest]))

    def _update(self, y: float, f: float) -> None:
        own = np.array([y > 0, y < 0], dtype=np.float64)
        if y * f > 0:
            nearness = self._support.nearness_to(self._support.example)
            nearest = self._support.oldest_largest(nearness)
            self._update_summary(nearest, own, self._support.kernel_row[nearest])
            return
        self._validation.admit(self._support, y, f)
        n = self._support.n
        if n == len(self._weights):
            self._counts = lengthened(self._counts, max(8, 2 * n))
            self._weights = lengthened(self._weights, max(8, 2 * n))
        self._counts[n] = own
        self._weights[n] = math.nan
        super()._update(y, f)

    def _update_full(self, y: float, f: float) -> None:
        newcomer, support = self._support.n, self._support
        alphas = np.append(support.coefficients, y)
        gram = self._validation.table
        r = support.oldest_largest(-self._removal_losses(alphas))
        nearness = support.nearness_to(support.example)
        if r < newcomer:
            nearness = np.append(support.nearness_of(r), nearness[r])
            nearness[r] = -math.inf
        k = support.oldest_largest(nearness)
        self._update_summary(k, _bounded(self._counts[r]), gram[k, r])
        self._validation.dismiss(r, alphas)
        if r < newcomer:
            self._counts[r] = self._counts[newcomer]
            self._weights[r] = self._weights[newcomer]
            support.replace(r, y)

    def _update_summary(self, slot: int, counts: Floats, kernel_value: float) -> None:
        self._counts[slot] += counts * max(0.0, kernel_value)
        self._weights[slot] = math.nan

    def _removal_losses(self, alphas: Floats) -> Floats:
        """Return Eq. 2, times the number of vectors, for the removal of each (n_support + 1,)."""
        weights = self._weights[: len(alphas)]
        stale = np.isnan(weights)
        weights[stale] = self._posteriors(self._counts[: len(alphas)][stale])
        return loops.removal_losses(
            self._validation.table, self._validation.values, weights, alphas
        )

    def _posteriors(self, counts: Floats) -> Floats:
        """Return P(Beta(c+ + a, c- + a) > 1/2) for rows of counts."""
        from scipy.special import betainc  # slow to import, and only needed on a full budget

        parameters = _bounded(counts + self.prior)
        return betainc(parameters[..., 1], parameters[..., 0], 0.5)


def _bounded(counts: Floats) -> Floats:
    """Return rows of counts with the same ratios, and none above `LARGEST_COUNT`."""
    return counts / np.maximum(1.0, counts.max(axis=-1, keepdims=True) / LARGEST_COUNT)
