from __future__ import annotations

import math

from river_budget.base import BudgetPerceptron, Example, Expansion, Number, with_example
from river_budget.perceptrons._templates import ProvenPerceptron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="81.60%", budget=100)
class Forgetron(ProvenPerceptron, BudgetPerceptron):
    """The self-tuned Forgetron.

    Use it for drift, with a mistake bound. Once the budget is full, every mistake shrinks all
    coefficients and removes the oldest support vector, whose coefficient is small by then. The
    shrink factor is the largest one that the mistake bound allows.

    With a budget `B >= 83` and `k(x, x) <= 1`, it makes at most `2 ||g||^2 + 4 L(g)` mistakes
    against any comparator `g` with cumulative hinge loss `L(g)` and
    `||g|| <= sqrt((B + 1) / ln(B + 1)) / 4` (Theorem 2). Smaller budgets are accepted, without this
    bound.

    References
    ----------
    [^1]: [Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget), Figure 1
    """

    # 15/32 M - Q. Unlike M and Q, it stays small, so it keeps its digits on an endless stream.
    _slack = Number(least=0.0)
    last_shrink_factor = Number(least=0.0, most=1.0, start=1.0, doc="The last shrink factor phi.")
    shrinking_loss = Number(least=0.0, doc="s, the sum of (1 - phi) / (1 + phi) over all removals.")

    @property
    def removal_damage(self) -> float:
        """Q, by which removals have raised the mistake bound; at most 15/32 of the M mistakes."""
        return 15 / 32 * self.n_mistakes - self._slack

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return bounds.forgetron(norm, loss, self.budget), bounds.forgetron_run(norm, loss, self)

    def _update(self, f: Expansion, y: Example) -> None:
        self._slack += 15 / 32
        if f.n < self.budget:
            f.add(y)
            return
        r, slack = f.oldest, self._slack
        sigma, mu = f.step_of(r), f.margin_of(r) + y.weight * f.overlap(r) * f.row_at(r)
        phi = _largest_phi(sigma, mu, slack)
        self._slack = max(0.0, slack - _psi(sigma, phi, mu))
        self.shrinking_loss += (1 - phi) / (1 + phi)
        self.last_shrink_factor = phi
        f.replace(r, y)
        f.shrink(phi)


def _psi(sigma: float, phi: float, mu: float) -> float:
    """Return the damage of removing a vector with weight sigma and margin mu after shrinking."""
    return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)


def _largest_phi(sigma: float, mu: float, slack: float) -> float:
    """Return the largest phi in (0, 1] with psi(sigma, phi, mu) <= slack."""
    # psi is a quadratic a phi^2 + b phi with b > 0. If it exceeds the slack at phi = 1, it crosses it
    # exactly once between 0 and 1, at its smallest positive root, whatever the sign of a.
    if _psi(sigma, 1.0, mu) <= slack:
        return 1.0
    a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
    return min(1.0, 2 * slack / (b + math.sqrt(max(0.0, b**2 + 4 * a * slack))))
