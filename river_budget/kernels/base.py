"""The base classes of kernels, and what compiled code reads of them."""

from __future__ import annotations

import abc
import enum
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from river import base

Features = dict[base.typing.FeatureName, Any]

# Compiled code knows the numbers.
Statistic = enum.IntEnum(
    "Statistic", "DOT_PRODUCT SQUARED_DISTANCE MANHATTAN_DISTANCE SUM_OF_RATIONALS", start=0
)
Function = enum.IntEnum("Function", "IDENTITY POWER EXPONENTIAL RATIONAL MEAN", start=0)

# Bound on squares and kernel values, so that sums over a support set cannot overflow.
LARGEST = 1e150


class Spec(NamedTuple):
    """A vector kernel as a function of an inner statistic, by the names that compiled code knows.

    Gamma is the factor of the statistic, or of each squared difference in a sum of rationals.
    """

    statistic: int
    function: int
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    n_names: int = 0
    normalized: bool = False


class Category(tuple[Any, str]):
    """A text as a feature: the pair of its name and itself, which has the value 1."""

    __slots__ = ()

    @classmethod
    def of(cls, name: Any, text: str) -> Category:
        # A text of a subclass would be another object in a checkpoint.
        return cls((name, str.__str__(text)))


class Kernel(base.Base, abc.ABC):
    """A positive semi-definite function of two examples.

    Kernels are immutable values, equal if their parameters are. A wrong parameter raises ValueError.

    Attributes
    ----------
    has_unit_norm, is_radial
        Whether k(x, x) = 1 for every x; whether it is a function of a distance, with a width.
    learns_scales
        Whether a model learns the scales of features and the width of the kernel.
    spec
        What compiled code reads of the kernel; None if it can only be called.
    known
        The names of the features that the kernel reads; None for all.
    """

    has_unit_norm = False
    is_radial = False
    learns_scales = False
    spec: Spec | None = None
    known: Collection[Any] | None = None

    @abc.abstractmethod
    def __call__(self, x: Features, z: Features) -> float:
        """Return k(x, z)."""

    def __str__(self) -> str:
        return repr(self)

    def with_width(self, gamma: float, names: Collection[Any]) -> Kernel:
        """Return a kernel that learns scales with its gamma, given the names of support vectors."""
        return self

    def resolve(self, names: Collection[Any]) -> Kernel:
        """Return the kernel with the missing parameters set from the names of the first example."""
        return self


def check_kernel(kernel: Any) -> None:
    """Raise ValueError unless `kernel` is a kernel."""
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"kernel must be a kernel such as RBF(), got {kernel!r}; "
            "wrap a function of two dicts in FunctionKernel"
        )


def with_categories(x: Features) -> Features:
    """Return an example with a feature of the value 1 for each text."""
    texts = {name: value for name, value in x.items() if isinstance(value, str)}
    categories = {Category.of(name, text): 1.0 for name, text in texts.items()}
    return {name: value for name, value in x.items() if name not in texts} | categories


def aligned(
    x: Features, z: Features, names: Collection[Any] | None = None
) -> list[tuple[float, float]]:
    """Return the pairs of values of two examples, array elements too, over their names or others."""
    x, z = with_categories(x), with_categories(z)
    found: list[tuple[float, float]] = []
    for name in x.keys() | z.keys() if names is None else names:
        v, w = np.broadcast_arrays(np.float64(x.get(name, 0.0)), np.float64(z.get(name, 0.0)))
        found += zip(v.ravel().tolist(), w.ravel().tolist(), strict=True)
    return found
