from __future__ import annotations

from river_budget._checks import check_positive, number_check
from river_budget._state import LARGEST_NUMBER
from river_budget.base import Example, Expansion, GrowingPerceptron, parameter, with_example


@with_example(accuracy="88.38%")
class KernelPAClassifier(GrowingPerceptron):
    """The kernel passive-aggressive classifier, without a budget.

    Use it as the unbounded baseline for updates on margin errors: of the perceptrons, it makes the
    fewest mistakes and stores the most support vectors. Every example with a margin below 1 becomes a
    support vector, with the smallest coefficient that gives it a margin of 1, within the limit that
    `C` sets.

    Parameters
    ----------
    C
        Aggressiveness in modes 1 and 2, positive.
    mode
        As in River's `linear_model.PAClassifier`: 0 for PA, with coefficients `loss / k(x, x)`; 1 for
        PA-I, which limits them to `C`; 2 for PA-II, with coefficients
        `loss / (k(x, x) + 1 / (2 C))`.

    References
    ----------
    [^1]: [Crammer et al. 2006](https://jmlr.csail.mit.edu/papers/v7/crammer06a.html)
    """

    _threshold = 1.0

    C: float = parameter(default=1.0, check=check_positive)
    mode: int = parameter(default=1, check=number_check("0, 1 or 2", lambda v: v in (0, 1, 2)))

    def _update(self, f: Expansion, y: Example) -> None:
        loss, square = 1 - y.margin, y.self_value
        if square == 0:
            return
        step = loss / (square + (1 / (2 * self.C) if self.mode == 2 else 0))
        if self.mode == 1:
            step = min(self.C, step)
        # The coefficient of a vector with a norm close to 0 would overflow.
        if 0 < step * y.weight <= LARGEST_NUMBER:
            self._add(f, y, step)
