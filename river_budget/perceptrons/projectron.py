from __future__ import annotations

import math

from river_budget._arrays import Floats
from river_budget._checks import check_budget, check_not_negative, check_positive
from river_budget._core.gram import appended, backward, forward_of
from river_budget._state import require
from river_budget.base import Example, Expansion, GrowingPerceptron, parameter, with_example
from river_budget.perceptrons._span import Basis, SpanPerceptron
from river_budget.perceptrons._templates import ProvenPerceptron
from river_budget.theory import Guarantee, bounds

# Up to this fraction of the squared norm, a squared distance from the span is a rounding error.
ROUNDING = 1e-12


@with_example(accuracy="85.79%", eta=0.3)
class Projectron(ProvenPerceptron, GrowingPerceptron, SpanPerceptron):
    """The Projectron.

    Use it for a support set that stays small by itself, and a mistake bound. A misclassified
    example within distance `eta` of the span of the support vectors is projected onto the span; any
    other one becomes a support vector. Their number stays finite on any bounded domain.

    Let `k(x, x) <= 1`, and let `g` be any comparator with cumulative hinge loss `L(g)`. If
    `eta ||g|| < 1/2`, it makes at most `(||g||^2 + 2 L(g)) / (1 - 2 eta ||g||)` mistakes (Theorem
    2). With `norm_bound=U` the threshold adapts in every round (Eq. 13), and it makes at most
    `2 ||g||^2 + 4 L(g)` mistakes if `||g|| <= U` (Corollary 1). Neither holds with a full budget.

    Parameters
    ----------
    eta
        Threshold on the distance (not on its square), at least 0; 0.1 by default without
        `norm_bound`. With 0, the hypothesis is that of the kernel perceptron.
    norm_bound
        Largest norm U of a comparator, in the place of `eta`; `bounds.forgetron_norm(budget)` is
        that of a Forgetron.
    budget
        Maximum number of support vectors, if any. Once it is reached, every mistake is projected.

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), Algorithm 2
    """

    _apart = ROUNDING

    eta: float | None = parameter(default=None, check=check_not_negative)
    norm_bound: float | None = parameter(default=None, check=check_positive)
    budget: int | None = parameter(default=None, check=check_budget)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(None in (self.eta, self.norm_bound), "give eta or norm_bound, not both")
        self._eta = 0.1 if self.eta is None else self.eta

    def _assumptions(self, path_length: float) -> dict[str, bool]:
        is_below = self.budget is None or self.n_support < self.budget
        return {**super()._assumptions(path_length), "a support set below its budget": is_below}

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        if self.norm_bound is not None:
            return (bounds.projectron_norm_bound(norm, loss, self.norm_bound),)
        eta = self._eta
        return bounds.projectron(norm, loss, eta), bounds.projectron_worst_case(norm, loss, eta)

    def _update(self, f: Expansion, y: Example) -> None:
        z, projected, delta = self._project()
        eta = self._eta
        if self.norm_bound is not None:
            eta = (2 * (1 - y.margin) - projected - 0.5) / (2 * self.norm_bound)  # Eq. 13
        if delta == 0 or f.n == self.budget or (f.n > 0 and delta <= eta):
            self._shift(f, y, backward(self._factor, z))
        else:
            self._factor = appended(self._factor, z, delta)
            self._add(f, y)

    def _merge(self, basis: Basis) -> None:
        self._moments = basis.merged(self._moments)
        basis.project(self._f)
        # This comes only now, so that a second call after an interrupt changes nothing.
        self._moments = self._moments[basis.kept]
        self._f.remove(basis.others)

    def _project(self) -> tuple[Floats, float, float]:
        """Return the projection P k of the example in the basis of the Gram factor (n_support,).

        Also its squared norm, and the distance ||delta|| (Eq. 9), 0 if it is numerically in the span.
        """
        z, norm = forward_of(self._factor, self._f), self._f.store.self_value()
        projected = float(z @ z)
        square = norm - projected
        return z, projected, math.sqrt(square) if square > ROUNDING * norm else 0.0
