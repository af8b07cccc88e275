"""Mnemotron: Gaussian process experts with different kernels and forgetting factors."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import (
    check_budget,
    check_count,
    check_not_negative,
    one_of,
    out_of_memory,
)
from river_budget._core.experts import Experts
from river_budget._core.regions import Regions
from river_budget._core.slopes import mean_squared_slopes
from river_budget._core.store import Store
from river_budget._experts import (
    DEFAULTS,
    LEAF_KERNELS,
    LEAF_PAIRS,
    WITHOUT_RELEVANCES,
    checked,
    pairs_of,
)
from river_budget._regions import Leaves, Region, regions_of
from river_budget._state import Field, State, is_trusted, probe, require
from river_budget.base import Machine, documented, parameter
from river_budget.base.relevances import Relevances, next_relevances
from river_budget.base.scales import Scales
from river_budget.kernel_lda import KernelLDA, check_n_features
from river_budget.kernels import Features, Kernel

__all__ = ["Mnemotron"]

MOST_REGIONS = 2**16

# The largest error that a restored inverse Gram matrix may have. Rounding errors stay below a thousandth
# of it.
LARGEST_ERROR = 1e-2

check_regions = functools.partial(check_count, most=MOST_REGIONS)


@documented
class Mnemotron(Machine):
    """A mixture of Gaussian process experts on one support set. Try it first.

    You need not choose a kernel or a speed of forgetting: each expert has its own, and the mixture
    weighs the experts by how well they predict. It has no mistake bound.

    An expert is a sparse online Gaussian process [^1] with a kernel and a forgetting factor [^2]. It is
    updated unless its score of the right label exceeds all other scores by a margin of 1 [^3]. All labels
    share the support set and the covariance of each expert; with C > 2 labels, the prior mean is
    -1 + 2 / C. Once the budget is full, the support vector that contributes least is removed, which
    may be the incoming example.

    Three mixtures weigh the experts: a hedge with forgetting (in the spirit of [^4]), which weighs each
    by how probable it made the labels that came; and two mixers, a slow and a fast one, which are online
    logistic regressions on the log probabilities of the experts. A second hedge weighs the three. Its
    mean is `predict_proba_one`, which is close to calibrated. In both hedges, a label with the share s
    of the examples has the weight 1 / sqrt(C s).

    A label is absent if it has not come for 50 rounds, and for 5 times its mean gap. The model keeps two
    exemplars of each label: the last two of its 16th, 64th, 256th, ... examples. While two labels or more
    are absent, and these are at least half of all, each round also updates the three mixtures by an
    exemplar of an absent label. These take turns, and the weight is the share of absent labels. So the
    experts that remember an absent label keep some weight.

    A label is late if other examples were learned since its own was predicted. From the first late
    label on, there is a second set of weights for the three mixtures. It learns half from what the
    experts said when the example was predicted, while the first set learns from what they say when the
    label comes. A switch weighs both forecasts by how probable they made the labels at the time of
    prediction. What was said is kept in the `Answer` of `ask`; after `predict_one` or
    `predict_proba_one`, it is kept in the model.

    One of the default kernels multiplies each feature by its relevance, so that irrelevant features do
    not drown the others. Relevances are learned after 64, 128, ..., 1,024 examples, and then after
    every 1,024 as long as the model learns: the weight of a feature is the mean square of the slopes of
    the hedge's mean along it, over the support vectors and relative to other features, as in recursive
    feature machines [^5].

    The score of a label is twice its probability minus 1. With two labels, f(x) is the score of the
    positive one.

    For E experts, Z kernels, a budget B, d features and C labels, a round takes O(E B^2 + E B C) if it
    updates an expert, and O(B d + E B C) if not; new relevances take O(Z B^2 (d C + B)). The matrices
    take about `4 (E + Z) B (B + 28)` bytes, 870 kB by default. With more than two labels, each label
    takes `8 E (B + 1)` bytes, and all of them `8 C (C + 22)` bytes for counts of repeated labels.

    On long streams, 100 vectors are too few to learn all there is. With `regions`, a tree divides the
    space of the features into at most that many regions. Each has a leaf, a small model of four experts
    that learns the examples of its region alone. The root, which is the model without regions, learns
    all examples, and a mixture weighs root and leaf. After 200 examples, a region is divided on the
    feature and at the threshold that reduce the Gini impurity of its labels most, and both parts begin
    with its leaf. Features are numbers, categories and elements of arrays, of the first 50 of these
    examples; one that is missing is 0. A round takes the time of one round of the root and of one round
    of the leaf. Each leaf takes the memory above with E = 4, Z = 2 and `region_budget` as B, 94 kB by
    default, and another `8 C + 48` bytes. While there are fewer regions than allowed, each also has
    statistics of at most `32 (184 + 64 min(C, 8))` bytes, or of about 100 bytes for each of its first
    1,024 features.

    Parameters
    ----------
    kernels
        A tuple of kernels with `k(x, x) = 1`. For a function, you have to say so:
        `FunctionKernel(f, has_unit_norm=True)`. Defaults to `RationalQuadratic()`,
        `AdditiveRationalQuadratic()`, `RationalQuadratic(gamma_factor=10.0)`,
        `Normalized(Polynomial(degree=1))` and `RationalQuadratic(has_relevances=True)`. If at least one
        has no gamma, the model learns scales, and kernels without a width also read scaled features.
    forgetting
        A tuple of pairs: a forgetting factor in (0, 1], where 1 forgets nothing, and a positive noise
        variance. Each kernel has an expert for each pair. Defaults to (1, 0.1),
        (0.9999, 1), (0.998, 0.1) and (0.98, 0.1); the default kernels have two or three of these,
        also where `kernels` lists them.
    novelty
        Smallest `novelty_one` of an example that becomes a support vector. With C labels, log2(C) times
        the novelty is compared with it, since one label of many tells more.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", which computes
        them from the numbers of examples so far. The noise variance is divided by an example's weight.
    repeats
        Whether to add an expert that predicts from the last label and the length of its run. Turn it
        off to measure what the features alone tell.
    archive
        Number of random features, even, of a `KernelLDA` that is added as an expert. Use it when classes
        come one after the other: that expert forgets no class, and costs its time and memory.
    relevances
        Whether the default kernels include one that has relevances. Turn it off to save a tenth of the
        time if all features matter alike.
    regions
        Maximum number of regions. Use 16 or more on streams of 10,000 examples or more, in particular
        if thresholds on single features tell the classes apart; with many labels, or arrays, a larger
        budget gains more.
    region_budget
        Maximum number of support vectors of the leaf of each region.
    max_pending
        Maximum number of predictions that wait for their labels in the model; a new one replaces the
        oldest. Raise it if you wait for more labels than that at a time. With E experts and C labels,
        each takes `4 C (E + 5) + 88` bytes until its label comes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.Mnemotron(budget=100)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 90.17%

    >>> weights = model.expert_weights
    >>> kernel, forgetting, noise = max(weights, key=weights.get)
    >>> print(kernel, forgetting)
    RationalQuadratic(gamma=0.498..., has_relevances=True) 1.0

    References
    ----------
    [^1]: [Csato & Opper 2002](https://doi.org/10.1162/089976602317250933)
    [^2]: [Van Vaerenbergh, Lazaro-Gredilla & Santamaria 2012](https://doi.org/10.1109/TNNLS.2012.2200500)
    [^3]: [Crammer, Kulesza & Dredze 2009](https://papers.nips.cc/paper/3848-adaptive-regularization-of-weight-vectors)
    [^4]: [Herbster & Warmuth 1998](https://doi.org/10.1023/A:1007424614876)
    [^5]: [Radhakrishnan, Beaglehole, Pandit & Belkin 2024](https://doi.org/10.1126/science.adi5639)
    """

    _instead: ClassVar = {
        "gamma": "it learns the widths of several kernels; for a given one, kernels=(RBF(gamma),)",
        "kernel": "it mixes several; for a single one, kernels=(kernel,)",
    }

    _f = Field[Experts](key="hypothesis")

    # Its labels are the columns of the model's engine, which therefore has to be restored first.
    _archive = Field[KernelLDA | None]()

    _relevances = Field[Relevances](Relevances)

    budget: int = parameter(default=100, check=check_budget)
    kernels: Sequence[Kernel] | None = None
    forgetting: Sequence[Any] | None = None
    novelty: float = parameter(default=0.01, check=check_not_negative)
    repeats: bool = True
    archive: int | None = parameter(default=None, check=check_n_features)
    relevances: bool = parameter(default=True, check=one_of(True, False))
    regions: int = parameter(default=1, check=check_regions)
    region_budget: int = parameter(default=50, check=check_budget)
    max_pending: int = parameter(default=256, check=check_count)

    @classmethod
    def _check_arrays(cls, parameters: State, state: State) -> None:
        archive = parameters["archive"]
        if archive is not None:
            KernelLDA._check_arrays({"n_features": archive}, state["archive"])  # noqa: SLF001

    def _new_engine(self) -> Experts:
        repeats, archive = self.repeats, self.archive
        require(isinstance(repeats, bool), f"repeats must be True or False, got {repeats!r}")
        defaults = DEFAULTS if self.relevances else WITHOUT_RELEVANCES
        self._given = tuple(defaults) if self.kernels is None else checked(self.kernels)
        pairs = pairs_of(self.forgetting, self._given, defaults)
        learns = any(kernel.learns_scales for kernel in self._given)
        with_relevances = [kernel for kernel in self._given if kernel.has_relevances]
        require(
            self.relevances or not with_relevances,
            f"relevances=False, but {with_relevances} have some",
        )
        self._learns_relevances = any(kernel.learns_scales for kernel in with_relevances)
        self._is_scaled = [
            learns and (kernel.learns_scales or not kernel.is_radial) for kernel in self._given
        ]
        store = Store(self._given, self.dtype, self._is_scaled)
        self._archive = None if archive is None else KernelLDA(archive, dtype=self.dtype)
        engine = None if self._archive is None else self._archive._f  # noqa: SLF001
        exemplars, n = store.empty_like(), self.budget
        given = store, exemplars, pairs, n, self.novelty, repeats, engine, self.max_pending
        leaves = None if self.regions == 1 else Leaves([self._new_leaf()])
        try:
            return Experts(*given) if leaves is None else Regions(*given, leaves, self.regions)
        except MemoryError:
            n_matrices = sum(map(len, pairs)) + store.n_kernels
            raise out_of_memory("budget", n, 4 * n_matrices * n * (n + 28)) from None

    def _new_leaf(self) -> _Leaf:
        """Return the model of a region. Raises ValueError if no kernel reads features."""
        reads_features = any(kernel.spec is not None for kernel in self._given)
        require(
            reads_features, "regions need a kernel that is no FunctionKernel: they divide features"
        )
        n = self.region_budget
        try:
            return _Leaf(n, LEAF_KERNELS, LEAF_PAIRS, self.novelty, repeats=False, dtype=self.dtype)
        except MemoryError:
            n_matrices = len(LEAF_KERNELS) * (len(LEAF_PAIRS) + 1)
            raise out_of_memory("region_budget", n, 4 * n_matrices * n * (n + 28)) from None

    @property
    def regions_(self) -> list[Region]:
        """The regions, as named tuples; without `regions`, there are none.

        Each tells its `rule` as text, such as "salary > 75000 and age <= 40", and its `bounds` by
        feature; the number of examples that have come into it since it was made (`n_examples`), by
        label (`labels`), and the share of these that the model predicted correctly (`accuracy`); and
        the number of support vectors of its leaf (`n_support`).
        """
        return regions_of(self._f, self._labels.column) if self._leaves else []

    @property
    def expert_weights(self) -> dict[tuple[Kernel, float, float], float]:
        """Weight of each expert in the hedge, by kernel, forgetting factor and noise variance.

        The forgetting factor with the largest weight shows the current speed of drift.
        """
        kernels = self._f.store.kernels
        experts = zip(self._f.posteriors.experts, self._f.shares, strict=True)
        return {(kernels[z], factor, noise): weight for (z, factor, noise), weight in experts}

    @property
    def mixture_weights(self) -> dict[str, float]:
        """Weights of the hedge, the slow mixer and the fast mixer in the forecast."""
        names = ("hedge", "slow mixer", "fast mixer")
        return dict(zip(names, self._f.mixture.weights[-3:], strict=True))

    @property
    def n_pending(self) -> int:
        """Number of predictions that wait for their labels."""
        return len(self._f.tickets)

    @property
    def late_weight(self) -> float:
        """Weight, in the forecast, of the mixture that learns from what was said at prediction time.

        It is 0 until a label comes late.
        """
        return self._f.switch.late_weight

    @property
    def n_rebuilds(self) -> int:
        """Number of times that an inverse Gram matrix was recomputed because of rounding errors."""
        return self._f.posteriors.n_rebuilds

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels, with the widths and the scales of the features that were learned."""
        scales, kernels = self._feature_scales, self._f.store.kernels
        if scales is None:
            return kernels
        return tuple(
            scales.in_units_of_user(kernel, self._factors_of(kernel)) if is_scaled else kernel
            for kernel, is_scaled in zip(kernels, self._is_scaled, strict=True)
        )

    @property
    def relevances_(self) -> dict[Any, float]:
        """How much each feature counts in the kernel that has relevances, 1 in the mean.

        They are empty before the 64th example, or if no relevances are learned. A text is the pair of
        its name and itself. Features that are not listed count 1.
        """
        return dict(self._relevances.weights)

    @property
    def coefficients(self) -> Floats:
        """Mean of the experts' coefficients under the hedge, oldest support vector first.

        With two labels, those of the positive one (n_support,), else (n_support, n_classes).
        """
        f = self._f
        mean = f.posteriors.mean(f.shares, f.n)[:, f.store.by_age]
        return mean[0] if len(mean) == 1 else mean.T

    @property
    def norm(self) -> float:
        """Norm of the hedge's mean hypothesis, in the direct sum of the kernels' Hilbert spaces.

        With more than two labels, its square is half the sum of the squared norms of all means.
        """
        f, square = self._f, 0.0
        for z in range(f.store.n_kernels):
            mean = self._mean_of(z)
            square += float(np.sum(mean @ f.store.gram(z) * mean))
        return math.sqrt(max(0.0, square if len(mean) == 1 else 0.5 * square))

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        known, probabilities = self._labels.column, self._f.predict_probabilities(x)
        if len(known) < 2:
            return dict.fromkeys(known, 1.0)
        return dict(zip(known, probabilities, strict=True))

    def numerical_errors(self) -> dict[str, float]:
        posteriors, n = self._f.posteriors, self._f.n
        residuals = posteriors.inverses.matrices_of(n) @ posteriors.grams() - np.eye(n)
        errors = [leaf.numerical_errors()["inverses"] for leaf in self._leaves]
        return {"inverses": max([float(np.abs(residuals).max(initial=0.0)), *errors])}

    def _check_restored(self) -> None:
        super()._check_restored()
        if not is_trusted():
            self._check_inverses()

    def _check_inverses(self) -> None:
        """Raise ValueError unless the inverses that were restored are those of the kernel values."""
        posteriors, v = self._f.posteriors, probe(self._f.n)
        products = posteriors.inverses.matrices_of(self._f.n) @ (posteriors.grams() @ v)[:, :, None]
        error = np.abs(products[:, :, 0] - v).max(initial=0.0)
        require(error <= LARGEST_ERROR, "an inverse is not that of the kernel values")

    def _learn_scales(self) -> None:
        super()._learn_scales()
        scales, is_due = self._feature_scales, self._next_relevances() <= self._f.n_rounds
        if scales is not None and self._learns_relevances and is_due:
            self._learn_relevances(scales)
        self._follow_archive()
        self._follow_regions()

    def _schedule(self) -> None:
        super()._schedule()
        if self._learns_relevances:
            self._f.scales_due_at = min(self._f.scales_due_at, self._next_relevances())

    def _next_relevances(self) -> int:
        """Return after which example relevances are learned."""
        return next_relevances(self._relevances.learned_at)

    def _learn_relevances(self, scales: Scales) -> None:
        before = self._relevances
        try:
            self._relevances = self._updated_relevances()
            self._rescale(scales)
        except BaseException:
            # Also completes what an interrupt cut short.
            if self._relevances is before:
                self._relevances = self._updated_relevances()
            self._rescale(scales)
            raise
        self._schedule()

    def _updated_relevances(self) -> Relevances:
        squares = mean_squared_slopes(self._f.posteriors, self._f.shares)
        return self._relevances.learned(squares, self._f.n_rounds)

    def _factors_of(self, kernel: Kernel) -> dict[Any, float]:
        """Return what a kernel multiplies scaled features by, if it is not 1."""
        return self._relevances.factors if kernel.has_relevances else {}

    def _set_scales(self, kernels: Sequence[Kernel], scales: Scales) -> None:
        self._f.store.rescale(kernels, scales.factors, scales.pooled, self._relevances.factors)

    def _recover(self) -> None:
        super()._recover()
        self._follow_archive()
        self._follow_regions()

    def _follow_archive(self) -> None:
        """Update the scales and the width of the archive if that is due, also after an interrupt."""
        if self._archive is not None:
            self._archive._recover()  # noqa: SLF001

    @property
    def _leaves(self) -> Sequence[_Leaf]:
        return self._f.leaves.models if isinstance(self._f, Regions) else ()

    def _follow_regions(self) -> None:
        """Update the scales of the last leaf and divide its region if due, also after an interrupt."""
        f = self._f
        if isinstance(f, Regions) and f.region >= 0:
            self._leaves[f.region].follow()
            f.grow()

    def _rescale(self, scales: Scales) -> None:
        """Rescale the store, and give each expert the prior that the changed kernels imply.

        What the data say about f at the support vectors is kept. With the precision L that the data
        add, an expert has `C = -(K + L^-1)^-1` and `a = -C (L^-1 h)`, where L and h do not depend on
        the Gram matrix K. So if K changes by D, then with `M = I - C D` the new C and a are `M^-1 C`
        and `M^-1 a`.
        """
        posteriors, store = self._f.posteriors, self._f.store
        # If an interrupt cuts this short, the next call still knows the matrices before the change.
        if posteriors.before is None:
            posteriors.before = posteriors.grams()

        if self._learns_relevances:
            self._relevances.observe(scales.sums)
        self._set_scales(self._rescaled_kernels(scales), scales)

        after, n = posteriors.grams(), store.n
        changes = after - posteriors.before
        kernels = [z for z, change in enumerate(changes) if change.any()]
        experts = [e for e, z in enumerate(posteriors.kernels) if z in kernels]
        covariances, means = posteriors.moments(n, experts)
        for i, e in enumerate(experts):
            system = np.eye(n) - covariances[i] @ changes[posteriors.kernels[e]]
            solution = np.linalg.solve(system, np.hstack((covariances[i], means[i].T)))
            covariances[i], means[i] = solution[:, :n], solution[:, n:].T
        posteriors.replace(kernels, np.linalg.inv(after[kernels]), experts, covariances, means)

    def _rescaled_kernels(self, scales: Scales) -> list[Kernel]:
        """Return the kernels with the widths that follow from the scales, and from the relevances."""
        store = self._f.store
        # Sorted, because their order in the store depends on the past.
        names = sorted(store.names, key=repr)
        gamma, own_gamma = scales.gamma, self._relevances.gamma(scales)
        return [
            given.resolve(names, own_gamma if given.has_relevances else gamma)
            if gamma and given.learns_scales
            else kernel
            for given, kernel in zip(self._given, store.kernels, strict=True)
        ]

    def _novelty(self, x: Features) -> float:
        f, store = self._f, self._f.store
        f.scores(x)
        rows = np.array([store.row(z) for z in range(store.n_kernels)])
        inverses = f.posteriors.inverses.matrices_of(f.n)
        projections = np.einsum("zi,zij,zj->z", rows, inverses, rows)
        return max(0.0, 1.0 - float(np.bincount(f.posteriors.kernels, f.shares) @ projections))

    def _contributions(self, x: Features) -> Floats:
        f, store = self._f, self._f.store
        f.scores(x)
        of_kernels = [self._mean_of(z) * store.row(z) for z in range(store.n_kernels)]
        columns = np.sum(of_kernels, axis=0).T[store.by_age]
        return columns if columns.shape[1] > 1 else np.hstack((-columns, columns))

    def _owners(self) -> Ints:
        store = self._f.store
        return self._f.rehearsal.state(store.n)["owners"][store.by_age]

    def _mean_of(self, kernel: int) -> Floats:
        """Return the part of the hedge's mean that the experts of a kernel have (columns, n)."""
        f = self._f
        is_of_kernel = np.equal(f.posteriors.kernels, kernel)
        return f.posteriors.mean(np.where(is_of_kernel, f.shares, 0.0), f.n)

    def _probabilities(self, scores: Floats) -> Floats:
        return 0.5 + 0.5 * scores if scores.shape[1] > 1 else np.ones_like(scores)


class _Leaf(Mnemotron):
    """The model of a region, whose engine learns within the rounds of another one."""

    def follow(self) -> None:
        """Update scales if that is due."""
        if self._f.n_rounds >= self._f.scales_due_at:
            self._learn_scales()

    def _check_width(self) -> None:
        """Leave it to the root to warn of widths that tell nothing."""
