"""Kernels as immutable values.

Radial kernels are functions of a distance. Leave out their gamma unless you know it: then a model learns
a scale for each feature, and gamma as 1 over the sum of the variances of the scaled features. With a
given gamma, nothing is scaled. `Linear` and `Polynomial` are functions of a dot product, and `Cosine` is
the usual similarity of embeddings.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import math
from collections.abc import Callable, Collection
from typing import Any, ClassVar, NamedTuple

import numpy as np
from river import base

from river_budget import _checks
from river_budget._checks import check_count, check_not_negative, check_positive, parameter, shown
from river_budget._state import require

__all__ = [
    "RBF", "AdditiveRationalQuadratic", "Cosine", "Features", "FunctionKernel", "Kernel", "Laplacian",
    "Linear", "Normalized", "Polynomial", "RationalQuadratic", "Scaled", "check_kernel",
]  # fmt: skip

# The names are hashable. `Hashable` would refuse a `dict[str, float]`, as dicts are invariant.
Features = dict[Any, Any]

# The native code knows these functions by their numbers.
Statistic = enum.IntEnum(
    "Statistic", "DOT_PRODUCT SQUARED_DISTANCE MANHATTAN_DISTANCE SUM_OF_RATIONALS", start=0
)
Function = enum.IntEnum("Function", "IDENTITY POWER EXPONENTIAL RATIONAL MEAN", start=0)

_check_function = _checks.custom_check("a function of two dicts", callable)
_check_bool = _checks.one_of(True, False)
_check_names = _checks.custom_check(
    "a tuple of different names", lambda v: isinstance(v, tuple) and len(set(v)) == len(v)
)

# The largest square and kernel value, so that sums over a support set cannot overflow.
LARGEST = 1e150


class Spec(NamedTuple):
    """How the native code computes a kernel: a function of a statistic of two vectors."""

    statistic: int
    function: int
    gamma: float = 1.0  # The factor of the statistic, or of each square in a sum of rationals.
    coef0: float = 0.0  # The constant of a power.
    degree: int = 1  # The exponent of a power.
    n_names: int = 0  # The number of features in a sum of rationals.
    normalized: bool = False  # Whether the value is divided by the norms of both vectors.


class Category(tuple[Any, str]):
    """A text as a feature: the pair of its name and itself, which has the value 1."""

    __slots__ = ()

    @classmethod
    def of(cls, name: Any, text: str) -> Category:
        # A plain `str`, because a checkpoint would not restore a subclass of it.
        return cls((name, str.__str__(text)))


class Kernel(base.Base, abc.ABC):
    """A positive semi-definite function of two examples.

    Kernels are immutable, and equal if their parameters are. An invalid parameter raises ValueError.

    Attributes
    ----------
    has_unit_norm
        Whether k(x, x) = 1 for every x.
    is_radial
        Whether the kernel is a function of a distance.
    learns_scales
        Whether a model learns the width of the kernel and scales of the features.
    has_relevances
        Whether a model also learns how relevant each feature is.
    spec
        How the native code computes the kernel; None if it has to call it.
    known
        The names of the features that the kernel reads; None for all.
    """

    has_unit_norm = False
    is_radial = False
    learns_scales = False
    has_relevances = False
    spec: Spec | None = None
    known: Collection[Any] | None = None

    def __post_init__(self) -> None:
        _checks.check_parameters(self)

    @abc.abstractmethod
    def __call__(self, x: Features, z: Features) -> float:
        """Return k(x, z) for two examples, given as dicts of features."""

    def __str__(self) -> str:
        return repr(self)

    def resolve(self, names: Collection[Any], gamma: float | None = None) -> Kernel:
        """Return the kernel with a value for each parameter that the user has left open.

        Parameters
        ----------
        names
            The names of the features, for kernels that have to know them.
        gamma
            The learned gamma; by default 1 over the number of names.
        """
        return self


def check_kernel(name: str, kernel: Any) -> None:
    """Raise ValueError unless a parameter is a kernel, and say what to write instead.

    Parameters
    ----------
    name
        The name of the parameter, for the message.
    kernel
        Its value.
    """
    wrapped = "wrap a function of two dicts in FunctionKernel"
    advice = f"write budget={kernel}" if isinstance(kernel, int) else wrapped
    require(isinstance(kernel, Kernel), f"{name} must be a kernel, got {kernel!r}: {advice}")


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
        return math.fsum(v * w for v, w in _aligned(x, z))


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

    # The degree is limited because a kernel value takes time in proportion to it.
    degree: int = parameter(default=3, check=functools.partial(check_count, most=1000))
    gamma: float = parameter(default=1.0, check=check_positive)
    coef0: float = parameter(default=1.0, check=check_not_negative)

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        return Spec(Statistic.DOT_PRODUCT, Function.POWER, self.gamma, self.coef0, self.degree)

    def __call__(self, x: Features, z: Features) -> float:
        return float((self.gamma * Linear()(x, z) + self.coef0) ** self.degree)


@dataclasses.dataclass(frozen=True)
class RadialKernel(Kernel):
    """A function of the distance of two examples, whose width a model learns by default."""

    gamma: float | None = parameter(default=None, check=check_positive)
    has_unit_norm = True
    is_radial = True
    _form = Spec(Statistic.SQUARED_DISTANCE, Function.EXPONENTIAL)
    gamma_factor: ClassVar[float] = 1.0

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        # NaN stands for a gamma that is not known yet: no kernel value is computed before it is.
        return self._form._replace(gamma=float(self.gamma or math.nan))

    @property
    def learns_scales(self) -> bool:  # type: ignore[override]
        return self.gamma is None

    def resolve(self, names: Collection[Any], gamma: float | None = None) -> Kernel:
        if gamma is None and self.gamma is not None:
            return self
        learned = gamma or 1 / max(len(names), 1)
        return dataclasses.replace(self, gamma=self.gamma_factor * learned)

    def __call__(self, x: Features, z: Features) -> float:
        gamma = self.gamma
        if gamma is None or self.resolve(()) != self:
            raise ValueError(f"a model sets what {self} leaves open: set it to evaluate the kernel")
        return self._value(gamma, [v - w for v, w in _aligned(x, z, self.known)])

    def _value(self, gamma: float, gaps: list[float]) -> float:
        """Return the kernel value, given the differences of all features."""
        is_squared = self._form.statistic == Statistic.SQUARED_DISTANCE
        distance = gamma * math.fsum(gap * gap if is_squared else abs(gap) for gap in gaps)
        is_exponential = self._form.function == Function.EXPONENTIAL
        return math.exp(-distance) if is_exponential else 1 / (1 + distance)


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

    _form = Spec(Statistic.MANHATTAN_DISTANCE, Function.EXPONENTIAL)


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
    has_relevances
        Whether a model also learns how relevant each feature is, and multiplies the scaled features by
        that. Only `Mnemotron` does, and only if it learns the width.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.RationalQuadratic(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.5
    """

    gamma_factor: float = parameter(default=1.0, check=check_positive)  # type: ignore[misc]
    has_relevances: bool = parameter(default=False, check=_check_bool)
    _form = Spec(Statistic.SQUARED_DISTANCE, Function.RATIONAL)


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
        learns; in `Mnemotron`, to those of the support vectors whenever the width changes. Each element
        of an array counts as a feature. A model reads the arrays that some support vector had when names
        and width were last set, so that kernel values stay as they are while arrays come and go.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernel = kernels.AdditiveRationalQuadratic(gamma=0.5, names=("a", "b"))
    >>> kernel({"a": 1.0}, {"a": 2.0, "c": 1.0})
    0.75
    """

    names: tuple[Any, ...] | None = parameter(default=None, check=_check_names)
    _form = Spec(Statistic.SUM_OF_RATIONALS, Function.MEAN)

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        spec, n_names = super().spec, len(self.names or ())
        return spec._replace(gamma=spec.gamma * n_names, n_names=n_names)

    def resolve(self, names: Collection[Any], gamma: float | None = None) -> Kernel:
        own = tuple(names) if self.names is None else self.names
        return dataclasses.replace(super().resolve(own, gamma), names=own)  # type: ignore[type-var]

    @functools.cached_property
    def known(self) -> Collection[Any] | None:  # type: ignore[override]
        return None if self.names is None else frozenset(self.names)

    def _value(self, gamma: float, gaps: list[float]) -> float:
        n = len(gaps)
        return math.fsum(1 / (1 + gamma * n * gap * gap) for gap in gaps) / n if n else 1.0


@dataclasses.dataclass(frozen=True)
class Normalized(Kernel):
    """The cosine of two examples in feature space, `k(x, z) / sqrt(k(x, x) k(z, z))`.

    Examples have norm 1, as mistake bounds assume; one with `k(x, x) = 0` is orthogonal to all.

    Parameters
    ----------
    kernel
        The kernel to normalize.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernels.Normalized(kernels.Linear())({"a": 1.0}, {"a": 1.0, "b": 1.0})
    0.707106...
    """

    kernel: Kernel = parameter(default=Linear(), check=check_kernel)
    has_unit_norm = True

    def __call__(self, x: Features, z: Features) -> float:
        norms = math.prod(math.sqrt(max(0.0, self.kernel(v, v))) for v in (x, z))
        return self.kernel(x, z) / norms if norms > 0 else 0.0

    @property
    def spec(self) -> Spec | None:  # type: ignore[override]
        spec = self.kernel.spec
        return None if spec is None else spec._replace(normalized=True)

    def resolve(self, names: Collection[Any], gamma: float | None = None) -> Kernel:
        resolved = self.kernel.resolve(names, gamma)
        return self if resolved == self.kernel else Normalized(resolved)

    @property
    def known(self) -> Collection[Any] | None:  # type: ignore[override]
        return self.kernel.known


@dataclasses.dataclass(frozen=True)
class Cosine(Normalized):
    """The cosine of the angle between two examples, the usual similarity of embeddings.

    It is the normalized linear kernel. An example of zeros is orthogonal to all, itself included.

    Examples
    --------
    >>> import numpy as np
    >>> from river_budget import kernels
    >>> x, z = {"embedding": np.array([3.0, 4.0])}, {"embedding": np.array([1.0, 0.0])}
    >>> kernels.Cosine()(x, z)
    0.6
    """

    kernel: Kernel = dataclasses.field(default=Linear(), init=False, repr=False)


@dataclasses.dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel of features divided by scales, the `resolved_kernel` of a learned width.

    Parameters
    ----------
    kernel
        The kernel of the scaled features.
    scales
        Pairs of a feature's name and its scale, from 1e-30 to 1e30.
    other
        The scale of all other features.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernel = kernels.Scaled(kernels.RBF(gamma=0.5), scales=(("a", 2.0),), other=1.0)
    >>> kernel({"a": 2.0}, {"a": 4.0, "b": 1.0})
    0.367879...
    """

    kernel: Kernel = parameter(check=check_kernel)
    scales: tuple[tuple[Any, float], ...] = parameter(default=(), check=_checks.check_scales)
    other: float = parameter(default=1.0, check=_checks.check_scale)

    @property
    def has_unit_norm(self) -> bool:  # type: ignore[override]
        return self.kernel.has_unit_norm

    def __call__(self, x: Features, z: Features) -> float:
        x, z, scales = _with_categories(x), _with_categories(z), dict(self.scales)
        if self.kernel.is_radial:
            # Only the difference matters. It is scaled itself, because scaling two large values first
            # would round them.
            names = x.keys() | z.keys()
            x, z = {n: np.float64(x.get(n, 0)) - np.float64(z.get(n, 0)) for n in names}, {}

        def scaled(features: Features) -> Features:
            return {name: value / scales.get(name, self.other) for name, value in features.items()}

        return self.kernel(scaled(x), scaled(z))


@dataclasses.dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function of two dicts, with values of any type, as a kernel.

    The function is called once for each kernel value. The model stores deep copies of the examples.

    Parameters
    ----------
    f
        A symmetric, positive semi-definite function `f(x: dict, z: dict) -> float`.
    has_unit_norm
        Whether `f(x, x) = 1` for every x, as `Mnemotron` needs. An x for which this turns out
        to be wrong is refused.

    Examples
    --------
    >>> from river_budget import kernels

    >>> def jaccard(x, z):
    ...     return len(x["words"] & z["words"]) / len(x["words"] | z["words"])

    >>> kernels.FunctionKernel(jaccard)({"words": {"a", "b"}}, {"words": {"b"}})
    0.5
    """

    f: Callable[[Features, Features], float] = parameter(check=_check_function)
    has_unit_norm: bool = parameter(default=False, check=_check_bool)

    def __call__(self, x: Features, z: Features) -> float:
        value = self.f(x, z)
        if self.has_unit_norm and x is z and not math.isclose(value, 1.0, rel_tol=1e-6):
            what = f"{self} of {shown(x)} and itself is {value}, not 1"
            raise ValueError(f"{what}: leave out has_unit_norm")
        return value

    def __repr__(self) -> str:
        norm = ", has_unit_norm=True" if self.has_unit_norm else ""
        return f"FunctionKernel(f={getattr(self.f, '__qualname__', self.f)}{norm})"


def _with_categories(x: Features) -> Features:
    """Return an example in which each text has become a feature with the value 1."""
    return dict(
        (Category.of(name, value), 1.0) if isinstance(value, str) else (name, value)
        for name, value in x.items()
    )


def _aligned(x: Features, z: Features, names: Any = None) -> list[tuple[float, float]]:
    """Return the pairs of values of two examples for some names, or for all names of either.

    A missing name has the value 0. An array has a pair for each of its elements.
    """
    x, z = _with_categories(x), _with_categories(z)
    pairs: list[tuple[float, float]] = []
    for name in x.keys() | z.keys() if names is None else names:
        v, w = np.broadcast_arrays(np.float64(x.get(name, 0.0)), np.float64(z.get(name, 0.0)))
        pairs += zip(v.ravel().tolist(), w.ravel().tolist(), strict=True)
    return pairs
