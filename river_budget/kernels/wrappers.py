"""Kernels that wrap other kernels or functions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from .base import Features, Kernel, Spec, check_kernel, with_categories
from .vector import Linear


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

    kernel: Kernel = dataclasses.field(default_factory=Linear)
    has_unit_norm = True

    def __post_init__(self) -> None:
        check_kernel(self.kernel)

    def __call__(self, x: Features, z: Features) -> float:
        norms = math.prod(math.sqrt(max(0.0, self.kernel(v, v))) for v in (x, z))
        return self.kernel(x, z) / norms if norms > 0 else 0.0

    @property
    def spec(self) -> Spec | None:  # type: ignore[override]
        spec = self.kernel.spec
        return None if spec is None else spec._replace(normalized=True)

    def resolve(self, names: Collection[Any]) -> Kernel:
        return Normalized(self.kernel.resolve(names))

    @property
    def known(self) -> Collection[Any] | None:  # type: ignore[override]
        return self.kernel.known


@dataclasses.dataclass(frozen=True)
class Cosine(Kernel):
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

    has_unit_norm = True
    spec = Linear.spec._replace(normalized=True)

    def __call__(self, x: Features, z: Features) -> float:
        return Normalized(Linear())(x, z)


@dataclasses.dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel of features divided by scales, the `resolved_kernel` of a learned width.

    Parameters
    ----------
    kernel
        The kernel.
    scales, other
        Pairs of a name and the scale of that feature, and the scale of all other features.

    Examples
    --------
    >>> from river_budget import kernels
    >>> kernel = kernels.Scaled(kernels.RBF(gamma=0.5), scales=(("a", 2.0),), other=1.0)
    >>> kernel({"a": 2.0}, {"a": 4.0, "b": 1.0})
    0.367879...
    """

    kernel: Kernel
    scales: tuple[tuple[Any, float], ...] = ()
    other: float = 1.0

    @property
    def has_unit_norm(self) -> bool:  # type: ignore[override]
        return self.kernel.has_unit_norm

    def __call__(self, x: Features, z: Features) -> float:
        x, z = with_categories(x), with_categories(z)
        if self.kernel.is_radial:
            # The difference of large values is scaled, instead of the values, which would be rounded.
            names = x.keys() | z.keys()
            gaps = {n: np.float64(x.get(n, 0.0)) - np.float64(z.get(n, 0.0)) for n in names}
            x, z = gaps, {}
        of = dict(self.scales)
        x, z = ({n: v / of.get(n, self.other) for n, v in given.items()} for given in (x, z))
        return self.kernel(x, z)


@dataclasses.dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function of two dicts, with values of any type, as a kernel.

    Each kernel value calls it once. The support set stores deep copies of the examples.

    Parameters
    ----------
    f
        A symmetric, positive semi-definite function `f(x: dict, z: dict) -> float`.

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
