"""Kernel specs, the description of a kernel that compiled code reads.

A vector kernel is a *kernel function* of an *inner statistic* of two vectors. The Gaussian kernel
is an exponential of a squared distance, the polynomial kernel a power of a dot product.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

# Compiled code knows the numbers.
Statistic = enum.IntEnum(
    "Statistic", "DOT_PRODUCT SQUARED_DISTANCE MANHATTAN_DISTANCE SUM_OF_RATIONALS", start=0
)
Function = enum.IntEnum("Function", "IDENTITY POWER EXPONENTIAL RATIONAL MEAN", start=0)

# Bound on squares and kernel values, so that sums over a support set cannot overflow.
LARGEST = 1e150


class Spec(NamedTuple):
    """The spec of a kernel, whose order compiled code knows.

    Gamma is the factor of the inner statistic, or of each squared difference in a sum of rationals.
    """

    inner_statistic: int
    kernel_function: int
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    n_names: int = 0
    is_normalized: bool = False
