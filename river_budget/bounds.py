"""What the papers' theorems promise.

Each theorem is a function of a competitor's norm ||g|| and of its cumulative hinge loss L(g), the sum
of max(0, 1 - y g(x)) over the stream. All need examples with k(x, x) <= 1.

"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Callable, Mapping

from river_budget.checks import check_count, check_not_negative, check_positive

__all__ = [
    "Guarantee",
    "forgetron",
    "forgetron_norm",
    "forgetron_run",
    "modified_randomized_budget",
    "modified_randomized_budget_norm",
    "perceptron",
    "projectron",
    "projectron_norm_bound",
    "projectron_plus_plus",
    "projectron_worst_case",
    "simplified_forgetron",
    "simplified_forgetron_norm",
    "smallest_budget",
    "standing_still",
]

SMALLEST_FORGETRON_BUDGET = 83
SMALLEST_SIMPLIFIED_BUDGET = 500


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """What one theorem promises against one competitor.

    Attributes
    ----------
    theorem
        Which one it is.
    norm, loss
        The competitor's norm and cumulative hinge loss.
    formula
        What the theorem's formula gives.
    assumptions
        What it assumes, and whether that holds.

    """

    theorem: str
    norm: float
    loss: float
    formula: float
    assumptions: Mapping[str, bool]

    @property
    def mistakes(self) -> float:
        """The largest number of mistakes; infinite if an assumption does not hold."""
        return self.formula if not self.failed else math.inf

    @property
    def failed(self) -> list[str]:
        """The assumptions that do not hold."""
        return [name for name, holds in self.assumptions.items() if not holds]

    def assuming(self, name: str, holds: bool) -> Guarantee:
        """Return the guarantee with one more assumption."""
        return dataclasses.replace(self, assumptions={**self.assumptions, name: holds})


def perceptron(norm: float, loss: float) -> Guarantee:
    """Return the Perceptron's bound, `||g||^2 + 2 L(g)` (Theorem 1 of [^1]).

    Parameters
    ----------
    norm
        Norm of the competitor.
    loss
        Its cumulative hinge loss.

    Raises
    ------
    ValueError
        If an argument is negative.

    Examples
    --------

    >>> from river_budget import bounds

    >>> bounds.perceptron(norm=3.0, loss=10.0).mistakes
    29.0

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """
    _check(norm, loss)
    return Guarantee("Forgetron paper, Theorem 1", norm, loss, norm**2 + 2 * loss, {})


def forgetron(norm: float, loss: float, budget: int) -> Guarantee:
    """Return the self-tuned Forgetron's bound, `2 ||g||^2 + 4 L(g)` (Theorem 2 of [^1]).

    Parameters
    ----------
    norm
        Norm of the competitor, at most `forgetron_norm(budget)`.
    loss
        Its cumulative hinge loss.
    budget
        The Forgetron's budget, at least 83.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------

    >>> from river_budget import bounds

    >>> bounds.forgetron(norm=1.0, loss=10.0, budget=100).mistakes
    42.0
    >>> bounds.forgetron(norm=2.0, loss=10.0, budget=50).failed
    ['a budget of at least 83', 'a norm of at most 0.9004']

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """
    _check(norm, loss)
    return Guarantee(
        "Forgetron paper, Theorem 2",
        norm,
        loss,
        2 * norm**2 + 4 * loss,
        {
            f"a budget of at least {SMALLEST_FORGETRON_BUDGET}": budget
            >= SMALLEST_FORGETRON_BUDGET,
            **_norm_within(norm, forgetron_norm(budget)),
        },
    )


def forgetron_run(norm: float, loss: float, deviation: float, shrinking: float) -> Guarantee:
    """Return the bound of a Forgetron whose run is known, with any budget (Lemma 1 of [^1]).

    It is the Perceptron's bound and what the run added to it, `(1 + s) ||g||^2 + 2 L(g) + Q`: the
    damage Q of all removals, and `s ||g||^2` for all shrinking steps, where s is the sum of
    `(1 - phi_t) / (1 + phi_t)`. That is what the proof of the lemma gives before it bounds each of these
    by a logarithm. (As printed, the lemma tells its cases apart by the norm after the removal, and can
    then fail; it takes the norm before it.)

    Parameters
    ----------
    norm
        Norm of the competitor.
    loss
        Its cumulative hinge loss.
    deviation
        Q, as `Forgetron.deviation` tells it.
    shrinking
        s, as `Forgetron.shrinking` tells it.

    Raises
    ------
    ValueError
        If the norm, the loss or the shrinking is negative.

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """
    check_not_negative("shrinking", shrinking)
    formula = perceptron(norm, loss).formula + deviation + norm**2 * shrinking
    return Guarantee("Forgetron paper, Lemma 1 (after the run)", norm, loss, formula, {})


def projectron(norm: float, loss: float, eta: float, gain: float = 0.0) -> Guarantee:
    """Return the Projectron's bound, `(||g||^2 + 2 L(g)) / (1 - 2 eta ||g||)` (Theorem 2 of [^1]).

    It is a Projectron++'s too, whose margin errors only take away from the numerator.

    Parameters
    ----------
    norm
        Norm of the competitor, below `1 / (2 eta)`.
    loss
        Its cumulative hinge loss.
    eta
        The Projectron's threshold.
    gain
        What margin errors have taken away, as `ProjectronPlusPlus.gain` tells it.

    Raises
    ------
    ValueError
        If an argument is negative.

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008.](https://doi.org/10.1145/1390156.1390247)

    """
    _check(norm, loss)
    check_not_negative("eta", eta)
    check_not_negative("gain", gain)
    progress = 1 - 2 * eta * norm
    return Guarantee(
        "Projectron paper, Theorem 2",
        norm,
        loss,
        (perceptron(norm, loss).formula - gain) / progress if progress > 0 else math.inf,
        {"eta ||g|| < 1/2": progress > 0},
    )


def projectron_worst_case(norm: float, loss: float, eta: float) -> Guarantee:
    """Return the Projectron's other bound (Theorem 3 of [^1]).

    It is `((||g|| + sqrt(||g||^2 + 4 L(g))) / (2 (1 - eta ||g||)))^2`.

    Parameters
    ----------
    norm
        Norm of the competitor, below `1 / eta`.
    loss
        Its cumulative hinge loss.
    eta
        The Projectron's threshold.

    Raises
    ------
    ValueError
        If an argument is negative.

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008.](https://doi.org/10.1145/1390156.1390247)

    """
    _check(norm, loss)
    check_not_negative("eta", eta)
    progress = 1 - eta * norm
    root = (norm + math.sqrt(norm**2 + 4 * loss)) / 2
    return Guarantee(
        "Projectron paper, Theorem 3",
        norm,
        loss,
        (root / progress) ** 2 if progress > 0 else math.inf,
        {"eta ||g|| < 1": progress > 0},
    )


def projectron_norm_bound(norm: float, loss: float, norm_bound: float) -> Guarantee:
    """Return the bound of a Projectron with `norm_bound`, `2 ||g||^2 + 4 L(g)` (Corollary 1 of [^1]).

    Parameters
    ----------
    norm
        Norm of the competitor, at most `norm_bound`.
    loss
        Its cumulative hinge loss.
    norm_bound
        The Projectron's U.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008.](https://doi.org/10.1145/1390156.1390247)

    """
    _check(norm, loss)
    check_positive("norm_bound", norm_bound)
    return Guarantee(
        "Projectron paper, Corollary 1",
        norm,
        loss,
        2 * norm**2 + 4 * loss,
        _norm_within(norm, norm_bound),
    )


def projectron_plus_plus(norm: float, loss: float, norm_bound: float, gain: float) -> Guarantee:
    """Return the bound of a Projectron++ with `norm_bound`, that of `projectron_norm_bound` less twice
    what margin errors have gained (Eq. 15 of [^1]).

    Parameters
    ----------
    norm
        Norm of the competitor, at most `norm_bound`.
    loss
        Its cumulative hinge loss.
    norm_bound
        The Projectron++'s U.
    gain
        Sum of all beta_t, as `ProjectronPlusPlus.gain` tells it.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008.](https://doi.org/10.1145/1390156.1390247)

    """
    check_not_negative("gain", gain)
    plain = projectron_norm_bound(norm, loss, norm_bound)
    return dataclasses.replace(
        plain, theorem="Projectron paper, Eq. 15", formula=plain.formula - 2 * gain
    )


def modified_randomized_budget(
    norm: float, loss: float, budget: int, shift: float = 0.0
) -> Guarantee:
    """Return the bound of the modified randomized budget perceptron's mean number of mistakes.

    It is `4/3 (L + B / 2 + 6 S sqrt(B))` (Theorem 1 of [^1]), for the learning rate 1/16, and over the
    algorithm's own random choices.

    Parameters
    ----------
    norm
        Largest norm of the moving competitor, at most `modified_randomized_budget_norm(budget)`.
    loss
        Its cumulative hinge loss.
    budget
        The algorithm's budget B.
    shift
        How far the competitor moves, S, the sum of `||g_t - g_{t-1}||`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    [^1]: [Sutskever, I., 2009. A simpler unified analysis of budget perceptrons. ICML 2009.](https://doi.org/10.1145/1553374.1553501)

    """
    _check(norm, loss)
    check_not_negative("shift", shift)
    return Guarantee(
        "unified analysis, Theorem 1 (mean)",
        norm,
        loss,
        4 / 3 * (loss + budget / 2 + 6 * shift * math.sqrt(budget)),
        _norm_within(norm, modified_randomized_budget_norm(budget)),
    )


def simplified_forgetron(norm: float, loss: float, budget: int, shift: float = 0.0) -> Guarantee:
    """Return the simplified Forgetron's bound, `2 (L + 16 U^2 + 48 U S)` (Theorem 2 of [^1]).

    Here `U^2 = B / (32 log_2(8 B))`, and the learning rate is 1/32.

    Parameters
    ----------
    norm
        Largest norm of the moving competitor, at most `simplified_forgetron_norm(budget)`.
    loss
        Its cumulative hinge loss.
    budget
        The algorithm's budget B, at least 500.
    shift
        How far the competitor moves, S, the sum of `||g_t - g_{t-1}||`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    [^1]: [Sutskever, I., 2009. A simpler unified analysis of budget perceptrons. ICML 2009.](https://doi.org/10.1145/1553374.1553501)

    """
    _check(norm, loss)
    check_not_negative("shift", shift)
    radius = simplified_forgetron_norm(budget)
    return Guarantee(
        "unified analysis, Theorem 2",
        norm,
        loss,
        2 * (loss + 64 * radius**2 + 96 * radius * shift),
        {
            f"a budget of at least {SMALLEST_SIMPLIFIED_BUDGET}": budget
            >= SMALLEST_SIMPLIFIED_BUDGET,
            **_norm_within(norm, radius),
        },
    )


def forgetron_norm(budget: int) -> float:
    """Return the largest norm U of a hypothesis that a Forgetron competes with.

    `U = sqrt((B + 1) / ln(B + 1)) / 4`, for a budget of at least 83 (Theorem 2 of [^1]). A Projectron
    with this `norm_bound` has the same mistake bound (Corollary 1 of [^2]).

    Parameters
    ----------
    budget
        The Forgetron's budget B.

    Raises
    ------
    ValueError
        If `budget` is not a whole number of at least 1.

    Examples
    --------

    >>> from river_budget import bounds

    >>> bounds.forgetron_norm(1500)
    3.581...

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    [^2]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008.](https://doi.org/10.1145/1390156.1390247)

    """
    check_count("budget", budget)
    return math.sqrt((budget + 1) / math.log(budget + 1)) / 4


def modified_randomized_budget_norm(budget: int) -> float:
    """Return the largest norm that a modified randomized budget perceptron competes with,
    `sqrt(B) / 8` (Theorem 1 of the unified analysis).

    Raises
    ------
    ValueError
        If `budget` is not a whole number of at least 1.

    """
    check_count("budget", budget)
    return math.sqrt(budget) / 8


def simplified_forgetron_norm(budget: int) -> float:
    """Return the largest norm that a simplified Forgetron competes with, `U / 2` with
    `U^2 = B / (32 log_2(8 B))` (Theorem 2 of the unified analysis).

    Raises
    ------
    ValueError
        If `budget` is not a whole number of at least 1.

    """
    check_count("budget", budget)
    return math.sqrt(budget / (32 * math.log2(8 * budget))) / 2


def smallest_budget(largest_norm: Callable[[int], float], norm: float) -> int:
    """Return the smallest budget that competes with hypotheses of a norm.

    Parameters
    ----------
    largest_norm
        One of the functions of this module that tell a budget's largest norm.
    norm
        The norm.

    Raises
    ------
    ValueError
        If `norm` is not a positive number.

    Examples
    --------

    >>> from river_budget import bounds

    >>> bounds.smallest_budget(bounds.forgetron_norm, 3.58)
    1499

    """
    check_positive("norm", norm)
    smallest: dict[Callable[[int], float], int] = {
        forgetron_norm: SMALLEST_FORGETRON_BUDGET,
        simplified_forgetron_norm: SMALLEST_SIMPLIFIED_BUDGET,
    }
    least = smallest.get(largest_norm, 1)
    return least + bisect.bisect_left(range(least, 2**53), norm, key=largest_norm)


def standing_still(shift: float, *guarantees: Guarantee) -> tuple[Guarantee, ...]:
    """Return guarantees that are against one hypothesis, not against a moving one.

    Raises
    ------
    ValueError
        If the shift is negative.

    """
    check_not_negative("shift", shift)
    return tuple(
        guarantee.assuming("a competitor that does not move", shift == 0)
        for guarantee in guarantees
    )


def _check(norm: float, loss: float) -> None:
    check_not_negative("norm", norm)
    check_not_negative("loss", loss)


def _norm_within(norm: float, largest: float) -> dict[str, bool]:
    return {f"a norm of at most {largest:.4g}": norm <= largest}
