from __future__ import annotations

import numpy as np

from river_budget import kernels
from river_budget.base import BudgetPerceptron
from river_budget.support import Floats

__all__ = ["FixedBudgetPerceptron"]


class FixedBudgetPerceptron(BudgetPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Once the budget is full, a mistake is added, and then the support vector goes that would be
    classified with the largest margin without itself: the one that is needed least. It does well
    where labels are clean. Where they are noisy it keeps the noise, and the newcomer itself may be
    the one that goes.

    The margins of the support vectors are kept up to date, so that a mistake costs two kernel rows.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.FixedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 62.38%

    References
    ----------
    [^1]: [Crammer, K., Kandola, J. and Singer, Y., 2004. Online classification on a budget. NIPS 16.](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, section II.A.1.](https://doi.org/10.1109/IJCNN.2009.5178870)

    """

    def __init__(self, kernel: kernels.Kernel | None = None, budget: int = 100) -> None:
        super().__init__(kernel, budget)
        # f and k(s, s) at each support vector s, by slots.
        self._values = np.zeros(0)
        self._self_values = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._values.nbytes + self._self_values.nbytes

    def _update(self, y: float, f: float) -> None:
        if self._support.n < self.budget:
            self._values, self._self_values = self._with_newcomer(y, f)
        super()._update(y, f)

    def _update_full(self, y: float, f: float) -> None:
        values, self_values = self._with_newcomer(y, f)
        alphas = np.append(self._support.coefficients, y)
        margins = np.sign(alphas) * (values - alphas * self_values)
        r = self._support.oldest_largest(margins)
        if r == self.budget:
            return
        _, row = self._support.decide_slot(r)
        values -= alphas[r] * np.append(row, self._support.kernel_row[r])
        values[r], self_values[r] = values[-1], self_values[-1]
        self._values, self._self_values = values[:-1], self_values[:-1]
        self._support.replace(r, y)

    def _with_newcomer(self, y: float, f: float) -> tuple[Floats, Floats]:
        """Return the kept values after the current example was added, its own at the end."""
        row, k = self._support.kernel_row, self._support.self_value
        return np.append(self._values + y * row, f + y * k), np.append(self._self_values, k)
