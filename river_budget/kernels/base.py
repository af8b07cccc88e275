"""The base classes of kernels."""

from __future__ import annotations

import abc
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from river import base

from river_budget.kernels.spec import Spec

Features = dict[base.typing.FeatureName, Any]


class Category(tuple[Any, str]):
    """A text as a feature: the pair of its name and itself, which has the value 1."""

    __slots__ = ()

    @classmethod
    def of(cls, name: Any, text: str) -> Category:
        # A text of a subclass would be another object in a checkpoint.
        return cls((name, str.__str__(text)))


class Kernel(base.Base, abc.ABC):
    """A positive semi-definite function of two examples.

    Kernels are immutable values: those with the same parameters are equal and have the same hash. A
    parameter that is out of range raises ValueError.

    Attributes
    ----------
    has_unit_norm
        Whether k(x, x) = 1 for every x.
    is_radial
        Whether the kernel is a function of a distance, with a width.
    """

    has_unit_norm = False
    is_radial = False

    @abc.abstractmethod
    def __call__(self, x: Features, z: Features) -> float:
        """Return k(x, z)."""

    def __str__(self) -> str:
        return repr(self)

    @property
    def spec(self) -> Spec | None:
        """The kernel spec for the compiled code; None if the kernel can only be called."""
        return None

    @property
    def is_resolved(self) -> bool:
        """Whether all parameters are set, so none depends on the first example."""
        return self.resolve(()) == self

    @property
    def learns_scales(self) -> bool:
        """Whether a model learns the scales of features and the width of the kernel."""
        return False

    def with_width(self, gamma: float, names: Collection[Any]) -> Kernel:
        """Return a kernel that learns scales with its gamma, given the names of support vectors."""
        return self

    def resolve(self, names: Collection[Any]) -> Kernel:
        """Return the kernel with the missing parameters set from the names of the first example."""
        return self

    def active(self, names: Sequence[Any]) -> list[int] | None:
        """Return the positions of the active features, those the kernel reads; None for all."""
        return None


class VectorKernel(Kernel):
    """A kernel on vectors of numbers, which compiled code evaluates; see `kernels.spec`."""

    inner_statistic: int
    kernel_function: int

    @property
    def spec(self) -> Spec:
        return Spec(self.inner_statistic, self.kernel_function)


def check_kernel(kernel: Any) -> None:
    """Raise ValueError unless `kernel` is a kernel."""
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"kernel must be a kernel such as RBF(gamma=1.0), got {kernel!r}; "
            "wrap a function of two dicts in FunctionKernel"
        )


def with_categories(x: Features) -> Features:
    """Return an example with a feature of the value 1 for each text."""
    texts = {name: value for name, value in x.items() if isinstance(value, str)}
    categories = {Category.of(name, text): 1.0 for name, text in texts.items()}
    return {name: value for name, value in x.items() if name not in texts} | categories


def aligned(x: Features, z: Features) -> list[tuple[float, float]]:
    """Return the pairs of values of two examples, array elements too, over all of their names."""
    x, z = with_categories(x), with_categories(z)
    return [pair for name in x.keys() | z.keys() for pair in pairs(name, x, z)]


def pairs(name: Any, x: Features, z: Features) -> list[tuple[float, float]]:
    """Return the pairs of values of a feature in two examples, one for each element of an array."""
    v, w = np.float64(x.get(name, 0.0)), np.float64(z.get(name, 0.0))
    if not v.ndim and not w.ndim:
        return [(float(v), float(w))]
    v, w = np.broadcast_arrays(v, w)
    return list(zip(v.ravel().tolist(), w.ravel().tolist(), strict=True))
