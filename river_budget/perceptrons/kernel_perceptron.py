from __future__ import annotations

from river_budget.base import Example, Expansion, GrowingPerceptron, with_example
from river_budget.perceptrons._templates import ProvenPerceptron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="85.90%")
class KernelPerceptron(ProvenPerceptron, GrowingPerceptron):
    """The kernel perceptron, without a budget.

    Use it as the unbounded baseline for the algorithms on a budget, and not on endless streams. Every
    misclassified example becomes a support vector, with the sign of its label as coefficient.

    With `k(x, x) <= 1`, it makes at most `||g||^2 + 2 L(g)` mistakes against any comparator `g`
    with cumulative hinge loss `L(g)` (Theorem 1 of [^2]).

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), Algorithm 1
    [^2]: [Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    """

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        return (bounds.perceptron(norm, loss),)

    def _update(self, f: Expansion, y: Example) -> None:
        self._add(f, y)
