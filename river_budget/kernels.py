"""Kernels, as small immutable values.

A kernel knows its parameters and how to evaluate itself on two dicts. The kernels on vectors also
know their *program*: the few numbers by which the compiled loops evaluate them on a whole support
set at once.

"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable
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

DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE = range(3)
IDENTITY, POWER, EXPONENTIAL = range(3)


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

    def resolve(self, n_features: int) -> Kernel:
        """Return the kernel with every parameter set that was left to the first example.

        Parameters
        ----------
        n_features
            Number of features of the first example.

        """
        return self


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
        return np.array([self.pairing, self.profile, gamma, self.coef0, self.degree, False])


class _Radial(VectorKernel):
    """A kernel that takes its width from the first example unless it is given one."""

    profile = EXPONENTIAL

    def __post_init__(self) -> None:
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    def resolve(self, n_features: int) -> Kernel:
        if self.gamma is not None:
            return self
        return dataclasses.replace(self, gamma=1 / max(n_features, 1))  # type: ignore[type-var]

    def _of_distance(self, distance: float) -> float:
        if self.gamma is None:
            raise ValueError(
                f"{self} takes its gamma from the first example that a model learns: "
                "give it a gamma to evaluate it by itself"
            )
        return math.exp(-self.gamma * distance)


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
        return self._of_distance(math.fsum((v - w) * (v - w) for v, w in _aligned(x, z)))


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
        return self._of_distance(math.fsum(abs(v - w) for v, w in _aligned(x, z)))


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
        norms = self.kernel(x, x) * self.kernel(z, z)
        return self.kernel(x, z) / math.sqrt(norms) if norms > 0 else 0.0

    @property
    def program(self) -> NDArray[np.float64] | None:
        program = self.kernel.program
        if program is not None:
            program[-1] = True
        return program

    def resolve(self, n_features: int) -> Kernel:
        return Normalized(self.kernel.resolve(n_features))


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

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"f": Linear()}

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


def _dot(x: Features, z: Features) -> float:
    return math.fsum(v * w for v, w in _aligned(x, z))
