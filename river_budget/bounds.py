"""What the papers' theorems promise."""

from __future__ import annotations

import math

from river_budget.checks import check_count

__all__ = ["forgetron_norm"]


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
