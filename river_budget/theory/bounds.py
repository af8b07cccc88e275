"""The mistake bounds of the papers, one function per theorem.

Each theorem bounds the mistakes of an algorithm by the norm ||g|| and the cumulative hinge loss L(g) of
a comparator g, which is any hypothesis chosen in hindsight. All theorems assume `k(x, x) <= 1`.

They hold for any number of labels. With a score g_c(x) for each label c, and the label y of example t,
`||g|| = sqrt(1/2 sum_c ||g_c||^2)` and `L(g) = sum_t max(0, 1 - m_t)`, where the margin is
`m_t = (g_y(x_t) - max_{r != y} g_r(x_t)) / 2`. With two labels and `g = g_+ = -g_-`, norm and loss are
those of the papers.

In the formulas, B is the budget, U the norm bound and p the learning rate of the algorithm. S is the path
length of a comparator that moves, the sum of `||g_t - g_(t-1)||`; its norm is the largest one on its way.
A theorem about a known run takes the model after that run. The page on theory has our derivations.

References
----------
[^1]: [Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
[^2]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247)
[^3]: [Sutskever 2009](https://doi.org/10.1145/1553374.1553501)
[^4]: [Liao, Li, Liao, Hu & Dang 2024](https://doi.org/10.1609/aaai.v38i12.29284)
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from river_budget._checks import check_count, check_not_negative, check_positive
from river_budget._state import require
from river_budget.base.documented import describing

__all__ = [
    "Guarantee", "LargestNorm", "ahpatron", "ahpatron_run", "budget_passive_aggressive_run",
    "forgetron", "forgetron_norm", "forgetron_run", "modified_randomized_budget",
    "modified_randomized_budget_norm", "perceptron", "projected_gradient_run", "projectron",
    "projectron_norm_bound", "projectron_plus_plus", "projectron_worst_case",
    "simplified_forgetron", "simplified_forgetron_norm", "smallest_budget",
]  # fmt: skip

OF_RUN = "(our derivation, for a known run)"

# All integers up to this are exact as doubles.
LARGEST_BUDGET = 2**53

# What the arguments of the theorems are.
PARAMETERS = {
    "norm": "Norm of the comparator.",
    "loss": "Cumulative hinge loss of the comparator.",
    "model": "The model after the run.",
    "budget": "The budget B, at least 1.",
    "eta": "The threshold of the Projectron on a distance.",
    "epsilon": "Margins below 1 - epsilon update the hypothesis.",
    "learning_rate": "The learning rate p.",
    "norm_bound": "The norm bound U of the algorithm.",
    "bound_improvement": "The attribute of the model after the run.",
    "path_length": "The path length S of the comparator.",
}

RAISES = "ValueError\n    If norm, loss, eta or path length is negative, or a budget below 1."

_theorem = describing(PARAMETERS, RAISES)


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """The mistake bound of one theorem against one comparator.

    Attributes
    ----------
    theorem
        The name of the paper and the theorem.
    norm
        Norm of the comparator.
    loss
        Cumulative hinge loss of the comparator.
    formula
        The value of the bound, whether or not its assumptions hold.
    assumptions
        The assumptions of the theorem, and whether each of them holds.
    mistakes
        The bound on the number of mistakes; infinite if an assumption does not hold.
    failed
        The assumptions that do not hold.
    """

    theorem: str
    norm: float
    loss: float
    formula: float
    assumptions: Mapping[str, bool] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        check_not_negative("norm", self.norm)
        check_not_negative("loss", self.loss)

    @property
    def mistakes(self) -> float:
        return self.formula if not self.failed else math.inf

    @property
    def failed(self) -> list[str]:
        return [name for name, holds in self.assumptions.items() if not holds]


@dataclasses.dataclass(frozen=True)
class LargestNorm:
    """The largest norm of a comparator that a theorem admits, as a function of the budget."""

    formula: Callable[[int], float]
    least_budget: int = 1  # The smallest budget for which the theorem holds.

    def __call__(self, budget: int) -> float:
        check_count("budget", budget)
        return self.formula(budget)

    @_theorem
    def limits(self, norm: float, budget: int) -> dict[str, bool]:
        """Return the theorem's assumptions on norm and budget, and whether each holds."""
        least = self.least_budget
        holds = {f"a budget of at least {least}": budget >= least} if least > 1 else {}
        return holds | _norm_at_most(norm, self(budget))


forgetron_norm = LargestNorm(lambda budget: math.sqrt((budget + 1) / math.log(budget + 1)) / 4, 83)
"""That of the Forgetron (Theorem 2 of [^1]). A Projectron with this norm bound has the same bound."""

modified_randomized_budget_norm = LargestNorm(lambda budget: math.sqrt(budget) / 8)
"""That of the modified randomized budget perceptron (Theorem 1 of [^3])."""

simplified_forgetron_norm = LargestNorm(
    lambda budget: math.sqrt(budget / (32 * math.log2(8 * budget))) / 2, 500
)
"""That of the simplified Forgetron, `U / 2` (Theorem 2 of [^3])."""


def smallest_budget(largest_norm: LargestNorm, norm: float) -> int:
    """Return the smallest budget for which a theorem admits a norm.

    Parameters
    ----------
    largest_norm
        `forgetron_norm`, `modified_randomized_budget_norm` or `simplified_forgetron_norm`.
    norm
        Norm of the comparator, positive.

    Raises
    ------
    ValueError
        If the norm is not positive, or larger than any budget admits.

    Examples
    --------
    >>> from river_budget.theory import bounds
    >>> bounds.smallest_budget(bounds.forgetron_norm, 3.58)
    1499
    """
    check_positive("norm", norm)
    most = largest_norm(LARGEST_BUDGET)
    require(norm <= most, f"norm must be at most {most:.4g}, got {norm!r}")
    budgets = range(largest_norm.least_budget, LARGEST_BUDGET)
    return budgets.start + bisect.bisect_left(budgets, norm, key=largest_norm)


@_theorem
def perceptron(norm: float, loss: float) -> Guarantee:
    """Perceptron: `||g||^2 + 2 L(g)` (Theorem 1 of [^1]).

    Examples
    --------
    >>> from river_budget.theory import bounds
    >>> bounds.perceptron(norm=3.0, loss=10.0).mistakes
    29.0
    """
    return Guarantee("Forgetron paper, Theorem 1", norm, loss, norm**2 + 2 * loss)


@_theorem
def forgetron(norm: float, loss: float, budget: int) -> Guarantee:
    """Self-tuned Forgetron: `2 ||g||^2 + 4 L(g)` for `B >= 83` and `||g|| <= forgetron_norm(B)`
    (Theorem 2 of [^1]).

    Examples
    --------
    >>> from river_budget.theory import bounds
    >>> bounds.forgetron(norm=2.0, loss=10.0, budget=50).failed
    ['a budget of at least 83', 'a norm of at most 0.9004']
    """
    limits = forgetron_norm.limits(norm, budget)
    return Guarantee("Forgetron paper, Theorem 2", norm, loss, 2 * norm**2 + 4 * loss, limits)


@_theorem
def forgetron_run(norm: float, loss: float, model: Any) -> Guarantee:
    """Forgetron with any budget, after a run: `(1 + s) ||g||^2 + 2 L(g) + Q`, with the removal
    damage Q and the shrinking loss s of the run (our derivation, along the proof of Lemma 1 of [^1]).
    """
    formula = (1 + model.shrinking_loss) * norm**2 + 2 * loss + model.removal_damage
    return Guarantee(f"after Forgetron paper, Lemma 1 {OF_RUN}", norm, loss, formula)


@_theorem
def projectron(
    norm: float, loss: float, eta: float, bound_improvement: float | None = None
) -> Guarantee:
    """Projectron with a fixed eta: `(||g||^2 + 2 L(g)) / (1 - 2 eta ||g||)` for `eta ||g|| < 1/2`
    (Theorem 2 of [^2]). For the Projectron++, the bound improvement is subtracted from the numerator
    (our derivation); it is None for the Projectron.
    """
    check_not_negative("eta", eta)
    name, numerator = "Projectron paper, Theorem 2", norm**2 + 2 * loss
    if bound_improvement is not None:
        name, numerator = f"after {name} (our derivation)", numerator - bound_improvement
    progress = 1 - 2 * eta * norm
    holds = {"eta ||g|| < 1/2": progress > 0}
    return Guarantee(name, norm, loss, _ratio(numerator, progress), holds)


@_theorem
def projectron_worst_case(norm: float, loss: float, eta: float) -> Guarantee:
    """Projectron with a fixed eta: `((||g|| + sqrt(||g||^2 + 4 L(g))) / (2 (1 - eta ||g||)))^2` for
    `eta ||g|| < 1` (Theorem 3 of [^2]).
    """
    check_not_negative("loss", loss)
    check_not_negative("eta", eta)
    progress = 1 - eta * norm
    formula = _ratio((norm + math.sqrt(norm**2 + 4 * loss)) / 2, progress) ** 2
    holds = {"eta ||g|| < 1": progress > 0}
    return Guarantee("Projectron paper, Theorem 3", norm, loss, formula, holds)


@_theorem
def projectron_norm_bound(norm: float, loss: float, norm_bound: float) -> Guarantee:
    """Projectron with a norm bound: `2 ||g||^2 + 4 L(g)` for `||g|| <= U` (Corollary 1 of [^2])."""
    formula, limits = 2 * norm**2 + 4 * loss, _norm_at_most(norm, norm_bound)
    return Guarantee("Projectron paper, Corollary 1", norm, loss, formula, limits)


@_theorem
def projectron_plus_plus(
    norm: float, loss: float, norm_bound: float, bound_improvement: float
) -> Guarantee:
    """Projectron++ with a norm bound: `2 ||g||^2 + 4 L(g) - 2 sum_t beta_t` for `||g|| <= U`, where
    the sum of all beta_t is the bound improvement (Eq. 15 of [^2]).
    """
    formula = 2 * norm**2 + 4 * loss - 2 * bound_improvement
    return Guarantee(
        "Projectron paper, Eq. 15", norm, loss, formula, _norm_at_most(norm, norm_bound)
    )


@_theorem
def ahpatron(
    norm: float, loss: float, budget: int, epsilon: float, learning_rate: float, norm_bound: float
) -> Guarantee:
    """Ahpatron: `(||g||^2 + 2 p L(g)) / (2 p - p^2 - 8 U (||g|| + p) / B)` for `||g|| <= U` and
    `B >= 8 U (||g|| + p) / (2 p epsilon - p^2)` (our derivation, along the argument of [^4]).
    """
    check_count("budget", budget)
    p, damage = learning_rate, 8 * norm_bound * (norm + learning_rate) / budget
    holds = _norm_at_most(norm, norm_bound)
    holds["B >= 8 U (||g|| + p) / (2 p epsilon - p^2)"] = damage <= p * (2 * epsilon - p)
    formula = _ratio(norm**2 + 2 * p * loss, p * (2 - p) - damage)
    return Guarantee("after Ahpatron paper (our derivation)", norm, loss, formula, holds)


@_theorem
def ahpatron_run(norm: float, loss: float, norm_bound: float, model: Any) -> Guarantee:
    """Ahpatron with any budget, after a run: `(||g||^2 + 2 p L(g) + 2 ||g|| D - I) / (2 p - p^2)` for
    `||g|| <= U`, with the removal displacement D and the bound improvement I (our derivation).
    """
    p, damage = model.learning_rate, 2 * norm * model.removal_displacement
    formula = _ratio(norm**2 + 2 * p * loss + damage - model.bound_improvement, p * (2 - p))
    holds = _norm_at_most(norm, norm_bound) | {"a learning rate below 2": p < 2}
    return Guarantee(f"after Ahpatron paper {OF_RUN}", norm, loss, formula, holds)


@_theorem
def budget_passive_aggressive_run(norm: float, loss: float, model: Any) -> Guarantee:
    """BPA with any budget, after a run: `(||g|| (||f|| + D) + C L(g) - E) / min(1, C)` with the norm
    of the last hypothesis f, the removal displacement D and the excess step E (our derivation).
    """
    moved, C = model.norm + model.removal_displacement, model.C
    formula = (norm * moved + C * loss - model.excess_step) / min(1.0, C)
    name = f"after the proof of the Perceptron's bound {OF_RUN}"
    return Guarantee(name, norm, loss, formula)


@_theorem
def projected_gradient_run(norm: float, loss: float, model: Any) -> Guarantee:
    """Projected gradient descent, after a run: `L(g) + 3 U sqrt(3 + G) + ||g|| R - E` for `||g|| <= U`,
    with the sum G of all squared gradients, the sum R of their distances from the span and the excess
    loss E (our derivation).
    """
    regret = 3 * model.norm_bound * math.sqrt(3 + model.gradients)
    formula = loss + regret + norm * model.residuals - model.excess_loss
    limits = _norm_at_most(norm, model.norm_bound)
    return Guarantee(f"adaptive gradient descent {OF_RUN}", norm, loss, formula, limits)


@_theorem
def modified_randomized_budget(
    norm: float, loss: float, budget: int, path_length: float = 0.0
) -> Guarantee:
    """Modified randomized budget perceptron, in expectation: `4/3 (L(g) + B / 2 + 6 S sqrt(B))` for
    norms of at most `sqrt(B) / 8` and a learning rate of 1/16 (Theorem 1 of [^3]).
    """
    check_not_negative("path_length", path_length)
    limits = modified_randomized_budget_norm.limits(norm, budget)
    formula = 4 / 3 * (loss + budget / 2 + 6 * path_length * math.sqrt(budget))
    return Guarantee("unified analysis, Theorem 1 (mean)", norm, loss, formula, limits)


@_theorem
def simplified_forgetron(
    norm: float, loss: float, budget: int, path_length: float = 0.0
) -> Guarantee:
    """Simplified Forgetron: `2 (L(g) + 16 U^2 + 48 U S)` with `U^2 = B / (32 log_2(8 B))` for
    `B >= 500`, norms of at most `U / 2` and a learning rate of 1/32 (Theorem 2 of [^3]).
    """
    check_not_negative("path_length", path_length)
    largest = simplified_forgetron_norm(budget)
    limits = simplified_forgetron_norm.limits(norm, budget)
    formula = 2 * (loss + 64 * largest**2 + 96 * largest * path_length)
    return Guarantee("unified analysis, Theorem 2", norm, loss, formula, limits)


def _ratio(numerator: float, progress: float) -> float:
    """Return numerator / progress; infinite if a mistake need not bring any progress."""
    return numerator / progress if progress > 0 else math.inf


def _norm_at_most(norm: float, largest: float) -> dict[str, bool]:
    """Return the assumption on the norm of a comparator, and whether it holds."""
    return {f"a norm of at most {largest:.4g}": norm <= largest}
