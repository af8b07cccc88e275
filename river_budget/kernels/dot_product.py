"""Kernels that are functions of the dot product."""

from __future__ import annotations

import dataclasses
import math

from river_budget._checks import check_count, check_not_negative, check_positive
from river_budget.kernels.base import Features, VectorKernel, aligned
from river_budget.kernels.spec import Function, Spec, Statistic

# A kernel value takes time in proportion to the degree.
LARGEST_DEGREE = 1000


@dataclasses.dataclass(frozen=True)
class Polynomial(VectorKernel):
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
    inner_statistic = Statistic.DOT_PRODUCT
    kernel_function = Function.POWER

    def __post_init__(self) -> None:
        check_count("degree", self.degree, LARGEST_DEGREE)
        check_positive("gamma", self.gamma)
        check_not_negative("coef0", self.coef0)

    @property
    def spec(self) -> Spec:
        return super().spec._replace(gamma=self.gamma, coef0=self.coef0, degree=self.degree)

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

    inner_statistic = Statistic.DOT_PRODUCT
    kernel_function = Function.IDENTITY

    def __call__(self, x: Features, z: Features) -> float:
        return _dot(x, z)


def _dot(x: Features, z: Features) -> float:
    return math.fsum(v * w for v, w in aligned(x, z))
