from __future__ import annotations

import math

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_positive, one_of
from river_budget._core.maintenance import best_merging
from river_budget.base import BudgetPerceptron, Count, Example, Expansion, parameter, with_example
from river_budget.kernels import RBF, Features
from river_budget.perceptrons.budgeted_ogd import LOSSES, slope_of

# Merged vectors would collect names without bound. So a value that only one of the two has is dropped if
# it is at most this fraction of the largest value.
NEGLIGIBLE = 1e-2

# The smallest of these values are dropped, too, while there are more names than this many times those of
# the longest example.
MOST_NAMES = 2

# Values that differ by less than this, relative to the largest one, count as ties.
ROUNDING = 1e-12


@with_example(accuracy="88.53%", budget=100)
class BudgetedSGD(BudgetPerceptron):
    """Budgeted stochastic gradient descent (BSGD), with merging or removal.

    Use it on a long stream without drift: it approaches a support vector machine trained on all
    examples. This is Pegasos: round t multiplies all coefficients by `1 - 1 / t`, and an example
    with a loss becomes a support vector with the coefficient `1 / (t lambda)` times the slope of
    the loss. Once the budget is exceeded, the support vector with the smallest coefficient and
    another one are merged into `z = h x + (1 - h) x'`, whose coefficient is that of the projection of
    both terms onto it. The other one and h are chosen so that the hypothesis changes least.

    As in the authors' code (BudgetedSVM), a golden section search finds h to 0.0001, and the incoming
    example itself may be merged or removed. Unlike there, h is from 0 to 1, and the larger vector takes
    over the other one's term where that is better, as it is with opposite labels. With more than two
    labels, h maximizes the norm of the merged term (the code uses a ratio of sums). The first
    coefficient is `1 / lambda` (1 in the code).

    To bound memory, merging drops features that only one of the two vectors has: those below a
    hundredth of the largest value, and then the smallest ones, until there are at most twice as many
    features as in the longest example that became a support vector.

    Parameters
    ----------
    loss
        `"hinge"` or `"logistic"`. With the logistic loss, every example becomes a support vector.
    regularization
        Weight lambda of half the squared norm, positive.
    maintenance
        `"merging"`, which needs the kernel `RBF` and is its default; or `"removal"` of the smallest
        support vector, the default with other kernels.

    References
    ----------
    [^1]: [Wang, Crammer & Vucetic 2012](https://jmlr.org/papers/v13/wang12b.html)
    """

    # The largest number of features of an example that became a support vector.
    _longest = Count(key="longest_example")

    # Every example decays the hypothesis.
    _threshold = math.inf

    loss: str = parameter(default="hinge", check=one_of(*LOSSES))
    regularization: float = parameter(default=1e-3, check=check_positive)
    maintenance: str | None = parameter(default=None, check=one_of("merging", "removal"))

    def __post_init__(self) -> None:
        super().__post_init__()
        is_rbf = isinstance(self._f.store.kernels[0], RBF)
        if self.maintenance == "merging" and not is_rbf:
            raise ValueError(f"maintenance must be 'removal' with the kernel {self.kernel!r}")
        self._merges = is_rbf and self.maintenance != "removal"

    def _update(self, f: Expansion, y: Example) -> None:
        t = f.n_rounds
        f.shrink(1 - 1 / t)
        step = slope_of(self.loss, y.margin) / (self.regularization * t)
        # A step that underflows makes no vector.
        if step * y.weight * y.self_value == 0.0:
            return
        if self._merges:
            self._longest = max(self._longest, len(f.store.example()))
        if f.n < self.budget:
            f.add(y, step)
            return

        # The coefficients and squared norms of all vectors, and of the incoming one last.
        incoming = np.zeros((1, f.n_labels))
        incoming[0, y.label], incoming[0, y.rival] = step * y.weight, -step * y.weight
        matrix = np.concatenate((f.matrix, incoming))
        squares = 1.0 if self._merges else np.append(f.store.self_values(), y.self_value)
        sizes = (matrix**2).sum(axis=1) * squares
        smallest = f.cheapest(sizes, 1e-9 * float(sizes.min()))

        if self._merges:
            self._merge(f, y, step, matrix, smallest)
        elif smallest < f.n:
            f.replace(smallest, y, step)

    def _merge(self, f: Expansion, y: Example, step: float, matrix: Floats, first: int) -> None:
        """Add the example, and merge the vector `first` with another one.

        `matrix` has the coefficients of all vectors, and of the example last (n + 1, labels).
        """
        store, n, row = f.store, f.n, f.row
        if first < n:
            row = np.append(store.row_of(first), row[first])
        places, losses = best_merging(matrix, first, row)
        second = f.cheapest(losses, ROUNDING * float((matrix**2).sum(axis=1).max()))

        h, k = float(places[second]), row[second]
        merged = matrix[first] * k ** ((1 - h) ** 2) + matrix[second] * k ** (h * h)
        x = store.example()
        one, other = (store.vector(i) if i < n else x for i in (first, second))
        between = _between(h, one, other, MOST_NAMES * self._longest)

        # The merged vector takes the first slot, and the example the second, if both are in use.
        slots = [slot for slot in (first, second) if slot < n]
        store.evaluate(between)
        f.replace(slots[0], y, 0.0)
        store.evaluate(x)
        change = np.zeros((n, f.n_labels))
        change[slots[0]] = merged
        f.change(change)
        if len(slots) == 2:
            f.replace(slots[1], y, step)


def _between(h: float, x: Features, z: Features, most_names: int) -> Features:
    """Return `h x + (1 - h) z`. Small values of features that only one of the two has are dropped."""
    if h == 0:
        return z
    merged = {name: h * x.get(name, 0.0) + (1 - h) * z.get(name, 0.0) for name in {**x, **z}}
    sizes = {
        name: float(np.abs(value).max()) if isinstance(value, np.ndarray) else abs(value)
        for name, value in merged.items()
    }
    shared = x.keys() & z.keys()
    of_one = sorted((sizes[name] for name in merged.keys() - shared), reverse=True)

    limit = NEGLIGIBLE * max(sizes.values(), default=0.0)
    n_kept = max(0, most_names - len(shared))
    if len(of_one) > n_kept:
        # Equal values are dropped together, so that the order of names does not matter.
        limit = max(limit, of_one[n_kept])
    return {name: value for name, value in merged.items() if name in shared or sizes[name] > limit}
