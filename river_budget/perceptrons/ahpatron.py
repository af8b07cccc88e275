from __future__ import annotations

import math

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_positive
from river_budget._state import require
from river_budget.base import Example, Expansion, Number, parameter, with_example
from river_budget.perceptrons._span import basis_of
from river_budget.perceptrons._templates import NormedPerceptron
from river_budget.theory import Guarantee, bounds

# A vector counts as one in the span of others if its squared distance is at most this fraction of its
# squared norm, because smaller distances would lead to large coefficients that cancel. In the same way, a
# norm counts as 0 beside another one.
APART = 1e-8


@with_example(accuracy="88.68%", budget=100)
class Ahpatron(NormedPerceptron):
    """The Ahpatron, a perceptron that also updates on small positive margins.

    Use it for updates about as cheap as a prediction, and a bound for norms that may grow with the
    root of the budget. An example with a margin below `1 - epsilon` becomes a support vector, and the hypothesis is
    projected onto a ball. Once the budget is full, the half of the support vectors with the smaller
    coefficients is removed: their terms are projected onto the span of the others, and the result
    is scaled to its previous norm.

    Let `k(x, x) <= 1`, `p = learning_rate` and `U = norm_bound`. With
    `B >= 8 U (||g|| + p) / (2 p epsilon - p^2)`, it makes at most
    `(||g||^2 + 2 p L(g)) / (2 p - p^2 - 8 U (||g|| + p) / B)` mistakes against any comparator `g`
    with `||g|| <= U` and cumulative hinge loss `L(g)`. This bound, and a sharper one after a run,
    are our derivations; the constants of the paper's theorems differ.

    As in the authors' code, the example is added after the removal, whatever its margin is by then,
    and the older of equal coefficients are kept. Unlike there, a vector that is numerically in the
    span of larger ones is removed, too. With more than two labels, sizes are Euclidean norms.

    Parameters
    ----------
    epsilon
        Margins below `1 - epsilon` update the hypothesis; positive and below 1.
    norm_bound
        Radius U of the ball, positive; `sqrt(budget) / 2` by default.

    References
    ----------
    [^1]: [Liao, Li, Liao, Hu & Dang 2024](https://doi.org/10.1609/aaai.v38i12.29284)
    """

    removal_displacement = Number(
        least=0.0,
        doc="D, the sum of the distances in Hilbert space by which removals have moved f.",
    )
    bound_improvement = Number(
        doc="What updates have improved the bound beyond what each mistake has to. An update with the "
        "margin m, after a removal, adds `2 p (1 - m) - p^2 k(x, x)` with the learning rate p, less "
        "`2 p - p^2` if the round is a mistake."
    )

    epsilon: float = parameter(default=0.5, check=check_positive)
    learning_rate: float = parameter(default=0.25, check=check_positive)
    norm_bound: float | None = parameter(default=None, check=check_positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.epsilon < 1, f"epsilon must be below 1, got {self.epsilon!r}")
        self._threshold = 1 - self.epsilon
        self._radius = math.sqrt(self.budget) / 2 if self.norm_bound is None else self.norm_bound

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        p, largest = self.learning_rate, self._radius
        theorem = bounds.ahpatron(norm, loss, self.budget, self.epsilon, p, largest)
        return theorem, bounds.ahpatron_run(norm, loss, largest, self)

    def _update(self, f: Expansion, y: Example) -> None:
        margin = y.margin
        if margin >= self._threshold:
            return
        p = self.learning_rate
        if margin <= 0:
            self.bound_improvement -= p * (2 - p)
        if f.n == self.budget:
            margin = self._halve(f, y)
        self.bound_improvement += p * (2 * (1 - margin) - p * y.self_value)
        eta = p * y.weight
        self._square += eta * (2 * margin + eta * y.self_value)
        f.add(y, p)
        self._limit_norm()

    def _halve(self, f: Expansion, y: Example) -> float:
        """Remove half of the support vectors, and return the margin of the example after that.

        The hypothesis keeps its norm, unless almost nothing is left of it.
        """
        gram, before = f.store.gram(), f.matrix
        basis = basis_of(gram, self._larger_half(f), APART)
        projected = basis.merged(before)

        square, left = _square(before, gram), _square(projected, gram)
        growth = math.sqrt(square / left) if left > APART * square else 1.0
        after = growth * projected
        self._square = growth**2 * left
        self.removal_displacement += math.sqrt(_square(after - before, gram))

        scores = f.row @ after
        f.change(after - before)
        f.remove(basis.others)
        return 0.5 * float(scores[y.label] - scores[y.rival])

    def _larger_half(self, f: Expansion) -> list[int]:
        """Return the half of the support vectors with the larger coefficients, largest first."""
        matrix, oldest_first = f.matrix, f.store.by_age
        shares = matrix[oldest_first] / abs(matrix).max()
        # `np.linalg.norm` with an axis would turn an interrupt into a TypeError.
        sizes = np.sqrt((shares * shares).sum(axis=1))
        # Sizes that differ only by rounding errors are ties, which the stable sort leaves to age.
        ranks = np.round(sizes / sizes.max(), 9)
        largest_first = oldest_first[np.argsort(-ranks, kind="stable")]
        return largest_first[: self.budget // 2].tolist()


def _square(rows: Floats, gram: Floats) -> float:
    """Return the squared norm of a hypothesis with some coefficients (vectors, labels)."""
    return max(0.0, 0.5 * float((rows * (gram @ rows)).sum()))
