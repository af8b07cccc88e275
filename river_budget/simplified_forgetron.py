from __future__ import annotations

from river_budget import bounds, kernels
from river_budget.ball import BallPerceptron
from river_budget.bounds import Guarantee

__all__ = ["SimplifiedForgetron"]


class SimplifiedForgetron(BallPerceptron):
    """The simplified Forgetron of the unified analysis.

    It is gradient descent on the regularized hinge loss, on mistakes only: every mistake decays the
    hypothesis by one factor, and once the budget is full the support vector with the smallest
    coefficient goes first.

    With a budget `B` of at least 500, `U^2 = B / (32 log_2(8 B))`, `k(x, x) <= 1` and any hypotheses
    `g_1, g_2, ...` with norms of at most `U / 2`, a shift `S = sum ||g_t - g_(t-1)||` and a
    cumulative hinge loss of `L(g)`, it makes fewer than `2 L(g) + 32 U^2 + 96 U S` mistakes
    (Theorem 2, for the default learning rate). With a smaller budget it competes with norms so small
    that this says nothing; with fewer than six vectors a round forgets all that came before it.

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
        self._radius = bounds.simplified_forgetron_norm(budget)
        self._decay = max(0.0, 1 - learning_rate / (2 * self._radius) ** 2)

    def guarantees(self, norm: float, loss: float, shift: float = 0.0) -> tuple[Guarantee, ...]:
        """Return Theorem 2 of the unified analysis; see `KernelPerceptron.guarantees`."""
        theorem = bounds.simplified_forgetron(norm, loss, self.budget, shift)
        return (theorem.assuming("a learning rate of 1/32", self.learning_rate == 1 / 32),)

    def _update(self, y: float, f: float) -> None:
        full = self._support.n == self.budget
        smallest = self._support.oldest_largest(-abs(self._support.coefficients)) if full else None
        self._descend(y, f, removed=smallest, decay=self._decay)
