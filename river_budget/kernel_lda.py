from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from river_budget._checks import check_count, check_seed, number_check, out_of_memory
from river_budget._core.discriminant import BUFFER, Discriminant
from river_budget._core.store import Store
from river_budget._features import is_array
from river_budget._state import Field, Number, State, require
from river_budget.base import OnlineClassifier, documented, parameter
from river_budget.base.scales import next_update
from river_budget.kernels import RBF, Features, Scaled

__all__ = ["KernelLDA"]

# The learned gamma is that of the perceptrons times one of these, for examples with and without arrays.
SHARE_OF_NUMBERS, SHARE_OF_ARRAYS = 0.5, 0.2

MOST_FEATURES = 10_000

# With other factors, rounding errors would grow faster than examples correct them.
check_forgetting = number_check(
    "1, or a number from 0.9 to 0.99999", lambda value: value == 1 or 0.9 <= value <= 0.99999
)


def check_n_features(name: str, n_features: Any) -> None:
    """Raise ValueError unless a parameter is a number of random features: even, and at most 10,000."""
    check_count(name, n_features, MOST_FEATURES)
    require(n_features % 2 == 0, f"{name} must be even, got {n_features}")


@documented
class KernelLDA(OnlineClassifier):
    """Linear discriminant analysis on random features, which forgets nothing.

    Use it for classes that arrive one after the other, and for embeddings. Without forgetting, and once
    the scales are learned, the order of the examples does not matter, so a new task takes nothing from
    an old one. There is no support set, and no mistake bound.

    Cosines and sines of random projections approximate the kernel [^1]. Recursive least squares
    regress the labels on them. The discriminant, with a covariance that all labels share [^2], follows
    from the coefficients and residuals by rank-one updates. A temperature, learned online, turns
    discriminants into probabilities.

    For D random features, d features and C labels, a round takes O(D (d + D + C) + C^2). The model
    takes about `2 D^2 + 4 D C + 8 C^2` bytes, and `2 D` for the projection of each name of the last
    example. Projections follow from names and seed, so checkpoints leave them out. Arrays, such as
    embeddings, are projected by Hadamard transforms.

    If D >= 500 and nothing is forgotten, `learn_many` learns 128 rows in one pass through the largest
    matrix, by the Woodbury identity, in about a quarter of the time. The model is the same up to
    rounding errors, its temperature included; the last digits depend on the machine's library for linear
    algebra. The first 256 rows of a model that learns its scales, and all rows of a model with balanced
    weights, are learned one by one.

    The weight of an example is multiplied by that of its label. Rounding errors limit the product: it
    counts as at least 1e-8 and at most 1,000. With forgetting, a share s = 1 - `forgetting` of all sums
    fades in each round, and the product counts as at most the least of 100, 100,000 s and 5,000 / (s D).
    With `dtype="float64"`, the upper limits are 10,000 times as large.

    All models of a process share two caches: the projections of at most 1,000 names, with
    `1000 (2 D + 2500)` bytes at most, and the signs for at most 16 arrays, with 5 MB at most. Names of
    more than 100 characters and very long arrays are not cached, but computed anew for each example.

    Parameters
    ----------
    n_features
        Number of random features D, even, at most 10,000; for embeddings, use 500 or more. Twice as many
        take about four times the memory.
    forgetting
        Factor that multiplies all sums in each round: 1, which forgets nothing, or from 0.9 to 0.99999.
        0.999 follows drift, and a round then takes about 1.4 times as long.
    kernel
        An `RBF`. Without a gamma, the model learns scales and width after 2, 4, 8, ..., 256 examples,
        each time learning the examples so far again. After 256 examples, scales and width are fixed. To
        use the scales and the width of another model, give its `resolved_kernel`.
    seed
        Seed of the random features, a whole number.
    dtype
        Type of the elements of the largest matrices, as a string: `"float32"` or `"float64"`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> import river_budget as rb

    >>> model = rb.KernelLDA(n_features=300)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 94.15%

    References
    ----------
    [^1]: [Rahimi & Recht 2007](https://papers.nips.cc/paper/3182-random-features-for-large-scale-kernel-machines)
    [^2]: [Momeni, Mazumder & Liu 2024](https://arxiv.org/abs/2412.15571)
    [^3]: [McDonnell et al. 2023](https://arxiv.org/abs/2307.02251), for its largest score
    """

    _instead: ClassVar = {
        "gamma": "give kernel=RBF(gamma)",
        "budget": "it has random features, and no support vectors: give n_features",
    }

    _f = Field[Discriminant](key="hypothesis")

    _gamma = Number(least=0.0)
    _last_update = BUFFER

    n_features: int = parameter(default=300, check=check_n_features)
    forgetting: float = parameter(default=1.0, check=check_forgetting)
    kernel: RBF | Scaled | None = None
    seed: int = parameter(default=0, check=check_seed)

    @classmethod
    def _check_arrays(cls, parameters: State, state: State) -> None:
        n = parameters["n_features"]
        check_n_features("n_features", n)
        is_complete = np.size(state["hypothesis"]["inverse"]) == n * (n + 1) // 2
        require(is_complete, f"an inverse is not that of {n} features")

    def _new_engine(self) -> Discriminant:
        rbf, scales = _rbf_and_scales(self.kernel)
        store = Store([rbf], self.dtype, [rbf.learns_scales])
        n, seed = self.n_features, int(self.seed)
        try:
            return Discriminant(store, n, self.forgetting, seed, scales)
        except MemoryError:
            n_bytes = n * n * np.dtype(self.dtype).itemsize // 2
            raise out_of_memory("n_features", n, n_bytes) from None

    @property
    def resolved_kernel(self) -> Any:
        """The kernel, with the width and the scales of the features that were learned."""
        scales, kernel = self._feature_scales, self.kernel
        return kernel if scales is None else scales.in_units_of_user(RBF(self._gamma or None))

    def novelty_one(self, x: Features) -> float:
        """Return how unlike everything learned x is, from 0 to 1.

        It is `1 - max(s) / (1 + 10 v)`. The regression of one-hot labels gives s, the means of the labels
        at x [^3], near 1 for the label of a known example, and v, the variance of x, `phi' P phi`, which
        is large where nothing was learned. Computing the novelty takes another O(D^2).

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is refused.
        """
        return self._f.novelty(x)

    def _check_restored(self) -> None:
        super()._check_restored()
        scales = self._feature_scales
        if scales is not None:
            self._f.set_scales(scales.factors, scales.pooled, self._gamma)

    def _recover(self) -> None:
        super()._recover()
        # An interrupt may have prevented an update of scales, or cut it short.
        self._learn_scales()

    def _learn_scales(self) -> None:
        """Learn scales and width if they are due; a second time changes nothing."""
        f, scales = self._f, self._feature_scales
        if scales is not None and f.n and f.n_rounds == next_update(f.n_rounds - 1):
            scales.update(f.store.names)
            has_arrays = any(map(is_array, f.store.vector(0).values()))
            self._gamma = scales.gamma * (SHARE_OF_ARRAYS if has_arrays else SHARE_OF_NUMBERS)
            f.relearn(scales.factors, scales.pooled, self._gamma)
            if f.n_rounds == BUFFER:
                scales.sums.clear()
        self._schedule()


def _rbf_and_scales(kernel: Any) -> tuple[RBF, Any]:
    """Return the RBF of a kernel, and its inverse scales by names, that of all other names, and gamma.

    Raises ValueError if the kernel is of another kind.
    """
    if isinstance(kernel, Scaled):
        rbf = kernel.kernel
        if not isinstance(rbf, RBF) or rbf.gamma is None:
            raise ValueError(f"kernel must have an RBF with a gamma inside, got {kernel!r}")
        factors = {name: 1 / scale for name, scale in kernel.scales}
        return rbf, (factors, 1 / kernel.other, rbf.gamma)
    rbf = RBF() if kernel is None else kernel
    is_rbf = isinstance(rbf, RBF)
    require(is_rbf, f"kernel must be an RBF, or a `resolved_kernel` of KernelLDA, got {kernel!r}")
    return rbf, ({}, 1.0, rbf.gamma or 0.0)
