"""Kernels of vectors: functions of a dot product, and radial ones, with k(x, x) = 1.

Without a gamma, a model learns a scale for each feature, and gamma as 1 over the sum of the
variances of the scaled features. With a gamma, nothing is scaled.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection
from typing import Any

from river_budget._checks import check_count, check_not_negative, check_positive

from .base import Features, Function, Kernel, Spec, Statistic, aligned

# A kernel value takes time in proportion to the degree.
LARGEST_DEGREE = 1000


@dataclasses.dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel, `<x, z>`.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.Linear()({"a": 1.0}, {"a": 2.0, "b": 1.0})
    2.0
    """

    spec = Spec(Statistic.DOT_PRODUCT, Function.IDENTITY)

    def __call__(self, x: Features, z: Features) -> float:
        return math.fsum(v * w for v, w in aligned(x, z))


@dataclasses.dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel, `(gamma <x, z> + coef0)^degree`.

    Parameters
    ----------
    degree
        Degree, an integer from 1 to 1,000.
    gamma
        Factor of the dot product, positive.
    coef0
        Constant term, at least 0. With 0 the polynomial is homogeneous.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.Polynomial(degree=2)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    9.0
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_count("degree", self.degree, LARGEST_DEGREE)
        check_positive("gamma", self.gamma)
        check_not_negative("coef0", self.coef0)

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        return Spec(Statistic.DOT_PRODUCT, Function.POWER, self.gamma, self.coef0, self.degree)

    def __call__(self, x: Features, z: Features) -> float:
        return float((self.gamma * Linear()(x, z) + self.coef0) ** self.degree)


@dataclasses.dataclass(frozen=True)
class RadialKernel(Kernel):
    """A kernel of a distance, whose width a model learns by default."""

    gamma: float | None = None
    has_unit_norm = True
    is_radial = True
    inner_statistic = Statistic.SQUARED_DISTANCE
    kernel_function = Function.EXPONENTIAL

    def __post_init__(self) -> None:
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        # The kernel is not evaluated before gamma is set.
        gamma = math.nan if self.gamma is None else float(self.gamma)
        return Spec(self.inner_statistic, self.kernel_function, gamma)

    @property
    def learns_scales(self) -> bool:  # type: ignore[override]
        return self.gamma is None

    def with_width(self, gamma: float, names: Collection[Any]) -> Kernel:
        return dataclasses.replace(self, gamma=gamma)

    def resolve(self, names: Collection[Any]) -> Kernel:
        return self.with_width(1 / max(len(names), 1), names) if self.gamma is None else self

    def __call__(self, x: Features, z: Features) -> float:
        gaps = (abs(v - w) for v, w in aligned(x, z))
        if self.inner_statistic == Statistic.SQUARED_DISTANCE:
            gaps = (gap * gap for gap in gaps)
        distance = self._scaled(math.fsum(gaps))
        is_rational = self.kernel_function == Function.RATIONAL
        return 1 / (1 + distance) if is_rational else math.exp(-distance)

    def _scaled(self, distance: float) -> float:
        """Return gamma times a distance."""
        if self.gamma is None:
            raise ValueError(f"a model learns the gamma of {self}: set gamma to evaluate it")
        return self.gamma * distance


class RBF(RadialKernel):
    """The Gaussian kernel, `exp(-gamma ||x - z||^2)`.

    Parameters
    ----------
    gamma
        `1 / (2 sigma^2)`, positive. By default, a model learns it, and scales of the features.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.RBF(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.367879...
    """


class Laplacian(RadialKernel):
    """The Laplacian kernel, `exp(-gamma ||x - z||_1)`.

    Parameters
    ----------
    gamma
        Inverse width, positive. By default, a model learns it, and scales of the features.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.Laplacian(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.367879...
    """

    inner_statistic = Statistic.MANHATTAN_DISTANCE


@dataclasses.dataclass(frozen=True)
class RationalQuadratic(RadialKernel):
    """The rational quadratic kernel, `1 / (1 + gamma ||x - z||^2)`.

    It is a scale mixture of Gaussian kernels of all widths, with heavier tails than each of them.

    Parameters
    ----------
    gamma
        Inverse squared width, positive. By default, a model learns it, and scales of the features.
    gamma_factor
        Factor of a learned gamma, positive. It does not change a given gamma.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.RationalQuadratic(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.5
    """

    gamma_factor: float = 1.0
    kernel_function = Function.RATIONAL

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("gamma_factor", self.gamma_factor)

    def __repr__(self) -> str:
        factor = "" if self.gamma_factor == 1.0 else f", gamma_factor={self.gamma_factor}"
        return f"RationalQuadratic(gamma={self.gamma}{factor})"

    def with_width(self, gamma: float, names: Collection[Any]) -> Kernel:
        return dataclasses.replace(self, gamma=self.gamma_factor * gamma)


@dataclasses.dataclass(frozen=True)
class AdditiveRationalQuadratic(RadialKernel):
    """The mean of rational quadratic kernels of single features.

    `(1 / M) sum_j 1 / (1 + gamma M (x_j - z_j)^2)`, over M named features; others are ignored. Its
    hypotheses are sums of functions of one feature each, without interactions.

    Parameters
    ----------
    gamma
        Inverse squared width, positive. By default, a model learns it, and scales of the features.
    names
        Names of the features, as a tuple. Defaults to those of the first example that a model
        learns; in `Mnemotron`, to those of the support vectors whenever the width changes.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernel = kernels.AdditiveRationalQuadratic(gamma=0.5, names=("a", "b"))
    >>> kernel({"a": 1.0}, {"a": 2.0, "c": 1.0})
    0.75
    """

    names: tuple[Any, ...] | None = None
    inner_statistic = Statistic.SUM_OF_RATIONALS
    kernel_function = Function.MEAN

    def __post_init__(self) -> None:
        super().__post_init__()
        names = () if self.names is None else self.names
        if not isinstance(names, tuple) or len(set(names)) < len(names):
            raise ValueError(f"names must be a tuple of different names, got {names!r}")

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        spec, n_names = super().spec, len(self.names or ())
        return spec._replace(gamma=spec.gamma * n_names, n_names=n_names)

    def with_width(self, gamma: float, names: Collection[Any]) -> Kernel:
        own = tuple(names) if self.names is None else self.names
        return dataclasses.replace(self, gamma=gamma, names=own)

    def resolve(self, names: Collection[Any]) -> Kernel:
        n_names = len(names if self.names is None else self.names)
        return self.with_width(1 / max(n_names, 1) if self.gamma is None else self.gamma, names)

    @functools.cached_property
    def known(self) -> Collection[Any] | None:  # type: ignore[override]
        return None if self.names is None else frozenset(self.names)

    def __call__(self, x: Features, z: Features) -> float:
        if self.names is None:
            raise ValueError(f"a model sets the names of {self}: set names to evaluate it")
        gaps = [v - w for v, w in aligned(x, z, self.names)]
        gamma = self._scaled(len(gaps))
        return math.fsum(1 / (1 + gamma * gap * gap) for gap in gaps) / len(gaps) if gaps else 1.0
