from __future__ import annotations

from river_budget.base import GrowingPerceptron
from river_budget.support import Query
from river_budget.theory import bounds
from river_budget.theory.bounds import Guarantee, bounded_norm, fixed_comparator

__all__ = ["KernelPerceptron"]


class KernelPerceptron(GrowingPerceptron):
    """The kernel perceptron, without a budget.

    Every mistake becomes a support vector with its label's sign as its coefficient. The support set
    grows for as long as mistakes are made: this is the yardstick for the algorithms on a budget,
    not an algorithm for a stream without end.

    Where `k(x, x) <= 1`, it makes at most `||g||^2 + 2 L(g)` mistakes against any hypothesis `g`
    with a cumulative hinge loss of `L(g)` (Theorem 1 of [^2]).

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.KernelPerceptron(rb.RBF(gamma=1.0))
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 85.91%

    >>> model["KernelPerceptron"].n_support
    751

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, Algorithm 1.](https://doi.org/10.1145/1390156.1390247)
    [^2]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """

    def guarantees(
        self, norm: float, loss: float, path_length: float = 0.0
    ) -> tuple[Guarantee, ...]:
        """Return what the theorems about this model promise against a comparator.

        They assume that `k(x, x) <= 1`, which is checked on every example that changed the model.

        Parameters
        ----------
        norm
            Norm of the comparator, the largest one if it moves.
        loss
            Its cumulative hinge loss.
        path_length
            How far it moves, the sum of `||g_t - g_(t-1)||`.

        Raises
        ------
        ValueError
            If an argument is negative.

        """
        theorem = bounds.perceptron(norm, loss)
        return bounded_norm(self._largest_self_value, *fixed_comparator(path_length, theorem))

    def _update(self, query: Query, y: float) -> None:
        self._add(query, y)
