"""Kernels that wrap other kernels or functions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from river_budget.kernels.base import Features, Kernel, check_kernel
from river_budget.kernels.dot_product import Linear
from river_budget.kernels.spec import NORMALIZED, Spec

__all__ = ["FunctionKernel", "Normalized"]


@dataclasses.dataclass(frozen=True)
class Normalized(Kernel):
    """The cosine of two examples in feature space, `k(x, z) / sqrt(k(x, x) k(z, z))`.

    Every example has norm 1, which satisfies the assumption of the mistake bounds. An example with
    `k(x, x) = 0` is orthogonal to all examples, including itself.

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

    kernel: Kernel = dataclasses.field(default_factory=Linear)

    def __post_init__(self) -> None:
        check_kernel(self.kernel)

    def __call__(self, x: Features, z: Features) -> float:
        norms = math.prod(math.sqrt(max(0.0, self.kernel(v, v))) for v in (x, z))
        return self.kernel(x, z) / norms if norms > 0 else 0.0

    @property
    def spec(self) -> Spec | None:
        spec = self.kernel.spec
        if spec is not None:
            spec[NORMALIZED] = True
        return spec

    @property
    def has_unit_norm(self) -> bool:
        return True

    @property
    def is_resolved(self) -> bool:
        return self.kernel.is_resolved

    def resolve(self, names: Collection[Any]) -> Kernel:
        return Normalized(self.kernel.resolve(names))

    def active(self, names: Sequence[Any]) -> list[int] | None:
        return self.kernel.active(names)


@dataclasses.dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function of two dicts as a kernel. The values of the dicts may be of any type.

    A kernel row calls the function once for each support vector. The support set stores deep copies
    of the examples.

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
