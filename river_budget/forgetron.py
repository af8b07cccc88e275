from __future__ import annotations

import math

from river_budget import bounds, kernels
from river_budget.base import BudgetPerceptron
from river_budget.bounds import Guarantee, standing_still

__all__ = ["Forgetron"]


class Forgetron(BudgetPerceptron):
    """The self-tuned Forgetron.

    Once the budget is full, every mistake shrinks the whole hypothesis and gives up its oldest
    support vector, whose weight has become small by then. Each time the hypothesis shrinks as little
    as the mistake bound allows.

    With a budget `B` of at least 83, `k(x, x) <= 1` and any hypothesis `g` with a norm of at most
    `sqrt((B + 1) / ln(B + 1)) / 4` and a cumulative hinge loss of `L(g)`, it makes at most
    `2 ||g||^2 + 4 L(g)` mistakes (Theorem 2). It runs with smaller budgets, without that bound.

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
    ...     rb.Forgetron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 81.60%

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, Figure 1.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """

    def __init__(self, kernel: kernels.Kernel | None = None, budget: int = 100) -> None:
        super().__init__(kernel, budget)
        # 15/32 M - Q, which stays small and so stays exact where M and Q grow without end.
        self._leeway = 0.0
        self._shrinkage = 1.0
        self._shrinking = 0.0

    @property
    def shrinkage(self) -> float:
        """The last factor phi by which the hypothesis was shrunk; 1 before the first time."""
        return self._shrinkage

    @property
    def deviation(self) -> float:
        """Q, the damage that all removals have done to the mistake bound, at most 15/32 M."""
        return 15 / 32 * self._n_mistakes - self._leeway

    @property
    def shrinking(self) -> float:
        """The sum of (1 - phi) / (1 + phi), what all shrinking has done to the mistake bound."""
        return self._shrinking

    def guarantees(self, norm: float, loss: float, shift: float = 0.0) -> tuple[Guarantee, ...]:
        """Return Theorem 2, and Lemma 1 for the rounds so far; see `KernelPerceptron.guarantees`."""
        run = bounds.forgetron_run(norm, loss, self.deviation, self.shrinking)
        return standing_still(shift, bounds.forgetron(norm, loss, self.budget), run)

    def _update(self, y: float, f: float) -> None:
        self._leeway += 15 / 32
        super()._update(y, f)

    def _update_full(self, y: float, f: float) -> None:
        r = self._support.oldest
        alpha = self._support.coefficient_of(r)
        sigma, y_r = abs(alpha), math.copysign(1.0, alpha)
        f_r, _ = self._support.decide_slot(r)
        mu = y_r * (f_r + y * self._support.kernel_row[r])
        phi = _largest_phi(sigma, mu, self._leeway)
        self._leeway = max(0.0, self._leeway - _psi(sigma, phi, mu))
        self._shrinkage = phi
        self._shrinking += (1 - phi) / (1 + phi)
        self._support.replace(r, y)
        self._support.shrink(phi)


def _psi(sigma: float, phi: float, mu: float) -> float:
    """Return the damage of removing a vector of weight sigma and margin mu after shrinking."""
    return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)


def _largest_phi(sigma: float, mu: float, leeway: float) -> float:
    """Return the largest phi in (0, 1] with psi(sigma, phi, mu) <= leeway.

    psi is a quadratic a phi^2 + b phi with b > 0. Where phi = 1 is too much, it passes the leeway
    once on the way from 0 to 1, at the smaller positive root, however it opens.

    """
    if _psi(sigma, 1.0, mu) <= leeway:
        return 1.0
    a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
    return 2 * leeway / (b + math.sqrt(max(0.0, b**2 + 4 * a * leeway)))
