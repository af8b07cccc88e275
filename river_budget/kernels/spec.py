"""Kernel specs, the description of a kernel that compiled code reads: an array with named slots.

A vector kernel is a *kernel function* of an *inner statistic* of two vectors. The Gaussian kernel
is an exponential of a squared distance, the polynomial kernel a power of a dot product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Spec = NDArray[np.float64]

# The slots.
INNER_STATISTIC, KERNEL_FUNCTION, GAMMA, COEF0, DEGREE, N_NAMES, NORMALIZED = range(7)

# Inner statistics.
DOT_PRODUCT, SQUARED_DISTANCE, MANHATTAN_DISTANCE, SUM_OF_RATIONALS = range(4)

# Kernel functions.
IDENTITY, POWER, EXPONENTIAL, RATIONAL, MEAN = range(5)

# Bound on squares and kernel values, so that sums over a support set cannot overflow.
LARGEST = 1e150


def kernel_spec(
    inner_statistic: int,
    kernel_function: int,
    gamma: float = 1.0,
    coef0: float = 0.0,
    degree: int = 1,
    n_names: int = 0,
) -> Spec:
    """Return the spec of a kernel that is not normalized (slots,).

    Gamma is the factor of the inner statistic, or of each squared difference in a sum of rationals.
    """
    spec = [inner_statistic, kernel_function, gamma, coef0, degree, n_names, False]
    return np.array(spec, np.float64)
