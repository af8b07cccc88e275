from __future__ import annotations

import math

from river_budget import kernels
from river_budget.ball import BallPerceptron

__all__ = ["SimplifiedForgetron"]


class SimplifiedForgetron(BallPerceptron):
    """The simplified Forgetron of the unified analysis.

    It is gradient descent on the regularized hinge loss, on mistakes only: every mistake decays the
    hypothesis by one factor, and once the budget is full the support vector with the smallest
    coefficient goes first.

    With a budget `B` of at least 500, `U^2 = B / (32 log_2(8 B))`, `k(x, x) <= 1` and any hypotheses
    `g_1, g_2, ...` with norms of at most `U / 2`, a shift `S = sum ||g_t - g_(t-1)||` and a
    cumulative hinge loss of `L(g)`, it makes fewer than `2 L(g) + 32 U^2 + 96 U S` mistakes
    (Theorem 2, for the default learning rate). With a smaller budget `U` falls below 1 and the
    theorem is lost; with fewer than six vectors a round forgets all that came before it.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors. The weight decay `1 / U^2` and the ball, of radius `U / 2`,
        follow from it.
    learning_rate
        Coefficient of a newcomer.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.SimplifiedForgetron(rb.RBF(gamma=1.0), budget=500)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 80.36%

    References
    ----------
    [^1]: [Sutskever, I., 2009. A simpler unified analysis of budget Perceptrons. ICML 2009, Algorithm 2.](https://doi.org/10.1145/1553374.1553501)

    """

    def __init__(
        self,
        kernel: kernels.Kernel | None = None,
        budget: int = 500,
        learning_rate: float = 1 / 32,
    ) -> None:
        super().__init__(kernel, budget, learning_rate)
        u_squared = budget / (32 * math.log2(8 * budget))
        self._radius = math.sqrt(u_squared) / 2
        self._decay = max(0.0, 1 - learning_rate / u_squared)

    def _update(self, y: float, f: float) -> None:
        full = self._support.n == self.budget
        smallest = self._support.oldest_largest(-abs(self._support.coefficients)) if full else None
        self._descend(y, f, removed=smallest, decay=self._decay)
