from __future__ import annotations

import math

from river_budget._core.gram import backward
from river_budget.base import Example, Expansion, Number, with_example
from river_budget.perceptrons.projectron import Projectron
from river_budget.theory import Guarantee, bounds


@with_example(accuracy="87.66%", eta=0.3)
class ProjectronPlusPlus(Projectron):
    """The Projectron++.

    Use it for speed under drift. It is a Projectron that also updates on margin errors: a correctly
    classified example with a margin below 1 is projected with the weight `tau` if this improves the
    mistake bound.

    Let `loss` be 1 minus the margin, `P k` the projection of `k(x, .)` onto the span, and `delta` what
    is left of it. With `norm_bound=U`, a margin error updates if `beta >= 0`, where
    `beta = tau (2 loss - tau ||P k||^2 - 2 U ||delta||)` and `tau = min(loss / ||P k||^2, 1)` (Eq.
    16 and 17). The bound is `2 ||g||^2 + 4 L(g) - 2 sum beta` (Eq. 15). With a fixed `eta`, a
    margin error updates if `loss > ||delta|| / eta`, with
    `tau = min(loss / ||P k||^2, 2 (loss - ||delta|| / eta) / ||P k||^2, 1)`. This is the test that
    the paper proves; its tables seem to use one in which `tau` does not multiply `2 U ||delta||`.

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), section 4.1
    """

    _threshold = 1.0
    bound_improvement = Number(
        doc="The sum of all beta, the improvement of the mistake bound by margin errors. With a fixed "
        "`eta`, beta is `tau (2 (loss - ||delta|| / eta) - tau ||P k||^2)`, a lower bound on it for "
        "a norm of at most `1 / eta`. Weights above 1 can make it negative."
    )

    def _theorems(self, norm: float, loss: float, path_length: float) -> tuple[Guarantee, ...]:
        improvement = max(0.0, self.bound_improvement)
        if self.norm_bound is not None:
            return (bounds.projectron_plus_plus(norm, loss, self.norm_bound, improvement),)
        return (bounds.projectron(norm, loss, self._eta, improvement),)

    def _update(self, f: Expansion, y: Example) -> None:
        if y.margin <= 0:
            super()._update(f, y)
            return
        z, projected, delta = self._project()
        tau, beta = self._step(1 - y.margin, projected, delta)
        if tau > 0:
            # beta is a quadratic function of the step size, here of the weight times tau.
            excess = (y.weight - 1) * tau**2 * projected
            self.bound_improvement += y.weight * (beta - excess)
            self._shift(f, y, tau * backward(self._factor, z))

    def _step(self, loss: float, projected: float, delta: float) -> tuple[float, float]:
        """Return tau and beta of a margin error; both are 0 if it makes no update."""
        if self.norm_bound is not None:
            tau = _clipped_ratio(loss, projected)
            beta = tau * (2 * loss - tau * projected - 2 * self.norm_bound * delta)
            return (tau, beta) if beta >= 0 else (0.0, 0.0)
        cost_at_0 = math.inf if delta > 0 else 0.0
        excess = loss - (delta / self._eta if self._eta > 0 else cost_at_0)
        tau = _clipped_ratio(min(loss, 2 * excess), projected)
        if tau == 0:
            return 0.0, 0.0
        return tau, max(0.0, tau * (2 * excess - tau * projected))


def _clipped_ratio(numerator: float, denominator: float) -> float:
    """Return the ratio, at least 0 and at most 1; 0 unless the numerator is positive."""
    if numerator >= denominator:
        return float(numerator > 0)
    return max(0.0, numerator / denominator) if denominator > 0 else 0.0
