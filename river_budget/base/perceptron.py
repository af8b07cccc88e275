"""The templates of the perceptrons. Their hypotheses are kernel expansions over the support vectors."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints, padded, widened
from river_budget._checks import check_budget, check_seed, parameter, random_of
from river_budget._core.engine import SCALES
from river_budget._core.expansion import Example, Expansion
from river_budget._core.maintenance import uniform
from river_budget._core.store import Store
from river_budget._state import Array, Count, Field, require
from river_budget.base.documented import documented
from river_budget.base.machine import Machine
from river_budget.base.scales import Scales
from river_budget.kernels import RBF, Features, Kernel, check_kernel


@documented
class Perceptron(Machine):
    """The template of the kernel perceptrons: predict each example, and update on a mistake.

    A subclass implements `_update`. If that raises anything, the expansion and all attributes return to
    their former values. Therefore `_update` must replace a declared array instead of changing its
    elements. A subclass with other objects that learn computes these anew in `_derive`.

    Any number of labels is reduced to two. A hypothesis f has a score g_c for each label c. Let y be the
    label of an example and s its rival, the other label with the largest score. The margin is
    `(g_y(x) - g_s(x)) / 2 = <f, z>` at `z = k(x, .) (x) (e_y - e_s) / sqrt(2)`, and `||z||^2 = k(x, x)`.
    So an algorithm for two labels runs on these z, and keeps its mistake bound. With two labels,
    `g_+ = -g_- = f`.
    """

    _f = Field[Expansion](key="hypothesis")

    kernel: Kernel | None = parameter(default=None, check=check_kernel)
    gamma: float | None = parameter(default=None, kw_only=True)

    def _new_engine(self) -> Expansion:
        require(self.kernel is None or self.gamma is None, "give kernel or gamma, not both")
        given = RBF(self.gamma) if self.kernel is None else self.kernel
        require(not given.has_relevances, f"only Mnemotron learns the relevances of {given}")
        store = Store([given], self.dtype, [given.learns_scales])
        return Expansion(store, getattr(self, "budget", None))

    @property
    def resolved_kernel(self) -> Kernel:
        """The kernel, with the width and the scales of the features that were learned."""
        (kernel,) = self._f.store.kernels
        scales = self._feature_scales
        return kernel if scales is None else scales.in_units_of_user(kernel)

    @property
    def coefficients(self) -> Floats:
        return self._f.coefficients[self._f.store.by_age]

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, computed anew from n_support kernel rows.

        With more than two labels, its square is half the sum of the squared norms of all g_c.
        """
        return self._f.norm

    def _check_restored(self) -> None:
        super()._check_restored()
        most = getattr(self, "budget", None) or self.n_support
        require(self.n_support <= most, "there are more support vectors than the budget allows")

    def _novelty(self, x: Features) -> float:
        self._f.best(x)  # Computes the kernel row of x.
        square = self._f.store.self_value()
        return max(0.0, 1.0 - self._projected() / square) if square > 0.0 else 0.0

    def _contributions(self, x: Features) -> Floats:
        f = self._f
        f.best(x)  # Computes the kernel row of x.
        return (f.row[:, None] * f.matrix)[f.store.by_age]

    def _owners(self) -> Ints:
        # Labels are not stored. The coefficient of a new vector is largest for its own label.
        return self._f.matrix[self._f.store.by_age].argmax(axis=1)

    def _projected(self) -> float:
        """Return the largest squared norm of the example's projections onto single support vectors."""
        return self._f.largest_projection

    def _rescale(self, scales: Scales) -> None:
        store = self._f.store
        (kernel,) = store.kernels
        if scales.gamma:
            kernel = kernel.resolve(store.names, scales.gamma)
        self._set_scales([kernel], scales)
        self._on_rescaled()

    def _on_rescaled(self) -> None:
        """Compute anew what depends on the kernel, which has changed. A second call changes nothing."""
        self._derive()

    def _follow(self, due: int) -> None:
        if due != SCALES:  # An update is due, with scales or without.
            f, before = self._f, self.__dict__.copy()
            try:
                self._update(f, f.y)
                f.commit()
            except BaseException:
                if f.roll_back():
                    self.__dict__.update(before)
                    self._derive()
                raise
        if due >= SCALES:
            self._learn_scales()

    @abc.abstractmethod
    def _update(self, f: Expansion, y: Example) -> None:
        """Update the hypothesis f on the example y of a round.

        It is called for examples with a margin of at most `_threshold`; by default for mistakes.
        """


@documented
class BudgetPerceptron(Perceptron):
    """A perceptron with at most `budget` support vectors."""

    budget: int = parameter(default=100, check=check_budget)


class RandomPerceptron(BudgetPerceptron):
    """A perceptron that draws at random, at most once in each round."""

    _key = Count()  # The draw of a round follows from this and the number of the round.

    seed: int | None = parameter(default=None, check=check_seed, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._key = random_of(self.seed).getrandbits(62)

    def _random(self) -> float:
        """Return the random number of this round, at least 0 and below 1."""
        return uniform(self._key, self._f.n_rounds)


@documented
class GrowingPerceptron(Perceptron):
    """A perceptron that never removes a support vector, and so can average its hypotheses.

    A subclass changes the hypothesis only by `_add` and `_shift`.
    """

    # For each slot and label, the sum of (round x change of the coefficient) over all updates. The
    # hypotheses after rounds 1 to T have the sum (T + 1) x the last one - the expansion with these.
    _moments = Array("n_support", "_f.n_labels", start=(0, 2))

    def averaged_scores_one(self, x: Features) -> dict[Any, float]:
        """Return the mean score of each label under all hypotheses so far, after rounds 1 to T.

        On i.i.d. examples, this average generalizes better than the last hypothesis [^1]. Raises
        ValueError if a value of x is refused.

        References
        ----------
        [^1]: [Cesa-Bianchi, Conconi & Gentile 2004](https://doi.org/10.1109/TIT.2004.833339)
        """
        f = self._f
        f.claim()
        try:
            scores = np.array(f.scores(x))
            moments = widened(self._moments[: f.n], f.n_labels)
            sums = (f.n_rounds + 1) * scores - f.row @ moments
            return self._by_label((sums / max(1, f.n_rounds)).tolist())
        finally:
            f.release()

    def _add(self, f: Expansion, y: Example, step: float = 1.0) -> None:
        """Add the example as `Expansion.add` does, and note when."""
        n, moment = f.n, f.n_rounds * step * y.weight
        if n == len(self._moments) or f.n_labels > self._moments.shape[1]:
            self._moments = padded(self._moments, max(8, 2 * n, len(self._moments)), f.n_labels)
        # If the update is taken back, slot n is not in use, and its values do not matter.
        self._moments[n, y.label], self._moments[n, y.rival] = moment, -moment
        f.add(y, step)

    def _shift(self, f: Expansion, y: Example, change: Floats) -> None:
        """Change coefficients as `Expansion.shift` does, and note when."""
        moments, changed = f.n_rounds * change * y.weight, widened(self._moments, f.n_labels)
        changed[: len(change), y.label] += moments
        changed[: len(change), y.rival] -= moments
        self._moments = changed
        f.shift(y, change)
