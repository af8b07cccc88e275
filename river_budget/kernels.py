"""Kernels, as small immutable values.

A kernel knows its parameters and how to evaluate itself on two dicts. The kernels on vectors also
know their *program*: the few numbers by which the compiled loops evaluate them on a whole support
set at once.

"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from river_budget.checks import check_count, check_not_negative, check_positive

__all__ = [
    "RBF",
    "FunctionKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalized",
    "Polynomial",
    "VectorKernel",
    "check_kernel",
]

Features = dict[base.typing.FeatureName, Any]

DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS = range(4)
IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN = range(5)


class Kernel(base.Base, abc.ABC):
    """A positive semi-definite function of two examples.

    Kernels are values: they are frozen, and two kernels with the same parameters are equal, hash
    alike and can stand in for each other.

    """

    @abc.abstractmethod
    def __call__(self, x: Features, z: Features) -> float:
        """Return k(x, z)."""

    def __str__(self) -> str:
        return repr(self)

    @property
    def program(self) -> NDArray[np.float64] | None:
        """The kernel as the compiled loops read it, or None where only calling it will do."""
        return None

    @property
    def has_unit_norm(self) -> bool:
        """Whether k(x, x) = 1 for every x."""
        return False

    def resolve(self, names: Collection[Any]) -> Kernel:
        """Return the kernel with every parameter set that was left to the first example.

        Parameters
        ----------
        names
            Names of the features of the first example.

        """
        return self

    def visible(self, names: Sequence[Any]) -> list[bool] | None:
        """Tell which of the names the kernel looks at, or None if it looks at all of them."""
        return None


class VectorKernel(Kernel):
    """A kernel on vectors: a profile of a dot product or of a distance."""

    pairing: int
    profile: int

    gamma: float | None = None
    coef0: float = 0.0
    degree: int = 1

    @property
    def program(self) -> NDArray[np.float64]:
        gamma = math.nan if self.gamma is None else self.gamma
        values = [self.pairing, self.profile, gamma, self.coef0, self.degree, False]
        return np.array(values, np.float64)


class _Radial(VectorKernel):
    """A kernel that takes its width from the first example unless it is given one."""

    profile = EXPONENTIAL

    def __post_init__(self) -> None:
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    @property
    def has_unit_norm(self) -> bool:
        return True

    def resolve(self, names: Collection[Any]) -> Kernel:
        if self.gamma is not None:
            return self
        return dataclasses.replace(self, gamma=1 / max(len(names), 1))  # type: ignore[type-var]

    @property
    def _width(self) -> float:
        if self.gamma is None:
            raise ValueError(
                f"{self} takes its gamma from the first example that a model learns: "
                "give it a gamma to evaluate it by itself"
            )
        return self.gamma


@dataclasses.dataclass(frozen=True)
class RBF(_Radial):
    """The Gaussian kernel, `exp(-gamma ||x - z||^2)`.

    Parameters
    ----------
    gamma
        Inverse squared width, positive. A paper's `sigma^2` is `1 / (2 gamma)`. By default it is 1
        over the number of features of the first example that a model learns.

    Raises
    ------
    ValueError
        If `gamma` is not positive.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.RBF(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.367879...

    """

    gamma: float | None = None
    pairing = SQUARED_DISTANCE

    def __call__(self, x: Features, z: Features) -> float:
        return math.exp(-self._width * _squared_distance(x, z))


@dataclasses.dataclass(frozen=True)
class Laplacian(_Radial):
    """The Laplacian kernel, `exp(-gamma ||x - z||_1)`.

    Parameters
    ----------
    gamma
        Inverse width, positive. By default it is 1 over the number of features of the first
        example that a model learns.

    Raises
    ------
    ValueError
        If `gamma` is not positive.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.Laplacian(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.367879...

    """

    gamma: float | None = None
    pairing = MANHATTAN_DISTANCE

    def __call__(self, x: Features, z: Features) -> float:
        return math.exp(-self._width * math.fsum(abs(v - w) for v, w in _aligned(x, z)))


@dataclasses.dataclass(frozen=True)
class RationalQuadratic(_Radial):
    """The rational quadratic kernel, `1 / (1 + gamma ||x - z||^2)`.

    Its tails are heavier than the Gaussian's: it is a mixture of Gaussians of all widths.

    Parameters
    ----------
    gamma
        Inverse squared width, positive. By default it is 1 over the number of features of the first
        example that a model learns.

    Raises
    ------
    ValueError
        If `gamma` is not positive.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.RationalQuadratic(gamma=0.5)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    0.5

    """

    gamma: float | None = None
    pairing = SQUARED_DISTANCE
    profile = RATIONAL

    def __call__(self, x: Features, z: Features) -> float:
        return 1 / (1 + self._width * _squared_distance(x, z))


@dataclasses.dataclass(frozen=True)
class AdditiveRationalQuadratic(_Radial):
    """The mean over features of rational quadratic kernels, each on one feature.

    `(1 / M) sum_j 1 / (1 + gamma M (x_j - z_j)^2)`, over M names. It learns what features contribute
    each by itself, and looks at no others than these names.

    Parameters
    ----------
    gamma
        Inverse squared width, positive. By default it is 1 over the number of features of the first
        example that a model learns.
    names
        The names of the features, as a tuple. By default they are those of the first example that a
        model learns.

    Raises
    ------
    ValueError
        If `gamma` is not positive.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernel = kernels.AdditiveRationalQuadratic(gamma=0.5, names=("a", "b"))
    >>> kernel({"a": 1.0}, {"a": 2.0, "c": 1.0})
    0.75

    """

    gamma: float | None = None
    names: tuple[Any, ...] | None = None
    pairing = SUM_OF_RATIONALS
    profile = MEAN

    @property
    def program(self) -> NDArray[np.float64]:
        program = super().program
        n_names = len(self.names or ())
        program[2] = float(program[2]) * n_names
        program[4] = n_names
        return program

    def resolve(self, names: Collection[Any]) -> Kernel:
        named = self if self.names is not None else dataclasses.replace(self, names=tuple(names))
        return super(AdditiveRationalQuadratic, named).resolve(named.names or ())

    def visible(self, names: Sequence[Any]) -> list[bool] | None:
        if self.names is None or set(names) <= set(self.names):
            return None
        return [name in self.names for name in names]

    def __call__(self, x: Features, z: Features) -> float:
        if self.names is None:
            raise ValueError(f"{self} takes its names from the first example that a model learns")
        gaps = [x.get(name, 0.0) - z.get(name, 0.0) for name in self.names]
        width = self._width * len(gaps)
        return math.fsum(1 / (1 + width * gap * gap) for gap in gaps) / len(gaps) if gaps else 1.0


@dataclasses.dataclass(frozen=True)
class Polynomial(VectorKernel):
    """The polynomial kernel, `(gamma <x, z> + coef0)^degree`.

    Parameters
    ----------
    degree
        Degree, a whole number of at least 1.
    gamma
        Factor of the dot product, positive.
    coef0
        Constant term, at least 0. With 0 the polynomial is homogeneous.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.Polynomial(degree=2)({"a": 1.0}, {"a": 2.0, "b": 1.0})
    9.0

    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    pairing = DOT_PRODUCT
    profile = POWER

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        check_positive("gamma", self.gamma)
        check_not_negative("coef0", self.coef0)

    def __call__(self, x: Features, z: Features) -> float:
        return float((self.gamma * _dot(x, z) + self.coef0) ** self.degree)


@dataclasses.dataclass(frozen=True)
class Linear(VectorKernel):
    """The linear kernel, `<x, z>`.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.Linear()({"a": 1.0}, {"a": 2.0, "b": 1.0})
    2.0

    """

    pairing = DOT_PRODUCT
    profile = IDENTITY

    def __call__(self, x: Features, z: Features) -> float:
        return _dot(x, z)


@dataclasses.dataclass(frozen=True)
class Normalized(Kernel):
    """A kernel's cosine in feature space, `k(x, z) / sqrt(k(x, x) k(z, z))`.

    Every example gets norm 1, as the mistake bounds assume. An example without a direction,
    `k(x, x) = 0`, is orthogonal to all examples, itself included.

    Parameters
    ----------
    kernel
        The kernel to normalize.

    Raises
    ------
    ValueError
        If `kernel` is not a kernel.

    Examples
    --------

    >>> from river_budget import kernels

    >>> kernels.Normalized(kernels.Linear())({"a": 1.0}, {"a": 1.0, "b": 1.0})
    0.707106...

    """

    kernel: Kernel = Linear()

    def __post_init__(self) -> None:
        check_kernel(self.kernel)

    def __call__(self, x: Features, z: Features) -> float:
        norms = math.prod(math.sqrt(max(0.0, self.kernel(v, v))) for v in (x, z))
        return self.kernel(x, z) / norms if norms > 0 else 0.0

    @property
    def program(self) -> NDArray[np.float64] | None:
        program = self.kernel.program
        if program is not None:
            program[-1] = True
        return program

    @property
    def has_unit_norm(self) -> bool:
        return True

    def resolve(self, names: Collection[Any]) -> Kernel:
        return Normalized(self.kernel.resolve(names))

    def visible(self, names: Sequence[Any]) -> list[bool] | None:
        return self.kernel.visible(names)


@dataclasses.dataclass(frozen=True)
class FunctionKernel(Kernel):
    """Any kernel function of two dicts, whose values may then be of any type.

    The support set calls the function once for each support vector, and keeps deep copies of the
    examples.

    Parameters
    ----------
    f
        A symmetric, positive semi-definite function `f(x: dict, z: dict) -> float`.

    Raises
    ------
    ValueError
        If `f` is not callable.

    Examples
    --------

    >>> from river_budget import kernels

    >>> def jaccard(x, z):
    ...     return len(x["words"] & z["words"]) / len(x["words"] | z["words"])

    >>> kernels.FunctionKernel(jaccard)({"words": {"a", "b"}}, {"words": {"b"}})
    0.5

    """

    f: Callable[[Features, Features], float]

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ValueError(f"f must be a function of two dicts, got {self.f!r}")

    def __call__(self, x: Features, z: Features) -> float:
        return self.f(x, z)

    def __repr__(self) -> str:
        return f"FunctionKernel(f={getattr(self.f, '__qualname__', self.f)})"


def check_kernel(kernel: Any) -> None:
    """Raise ValueError unless `kernel` is a kernel."""
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"kernel must be a kernel such as RBF(gamma=1.0), got {kernel!r}; "
            "wrap a function of two dicts in FunctionKernel"
        )


def _aligned(x: Features, z: Features) -> list[tuple[float, float]]:
    return [(x.get(name, 0.0), z.get(name, 0.0)) for name in x.keys() | z.keys()]


def _squared_distance(x: Features, z: Features) -> float:
    return math.fsum((v - w) * (v - w) for v, w in _aligned(x, z))


def _dot(x: Features, z: Features) -> float:
    return math.fsum(v * w for v, w in _aligned(x, z))
