"""Which experts a Mnemotron has: their kernels, and the forgetting factors and noise variances of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from river_budget._state import require
from river_budget.kernels import (
    AdditiveRationalQuadratic,
    FunctionKernel,
    Kernel,
    Normalized,
    Polynomial,
    RationalQuadratic,
    check_kernel,
)

# Pairs of a forgetting factor and a noise variance, one pair for each expert of a kernel.
STEADY, SLOW, MEDIUM, FAST = (1.0, 0.1), (0.9999, 1.0), (0.998, 0.1), (0.98, 0.1)
DEFAULT_PAIRS = STEADY, SLOW, MEDIUM, FAST

# The kernels of the leaf of a region, and the pairs of each.
LEAF_KERNELS = (RationalQuadratic(), AdditiveRationalQuadratic())
LEAF_PAIRS = STEADY, MEDIUM

# The default kernels, with the pairs of each, with and without relevances.
DEFAULTS: dict[Kernel, Any] = {
    RationalQuadratic(): (STEADY, MEDIUM),
    AdditiveRationalQuadratic(): (STEADY, SLOW, MEDIUM),
    RationalQuadratic(gamma_factor=10.0): (STEADY, MEDIUM),
    Normalized(Polynomial(degree=1)): (STEADY, MEDIUM),
    RationalQuadratic(has_relevances=True): (STEADY, SLOW, MEDIUM),
}
WITHOUT_RELEVANCES: dict[Kernel, Any] = {
    RationalQuadratic(): DEFAULT_PAIRS,
    AdditiveRationalQuadratic(): DEFAULT_PAIRS,
    RationalQuadratic(gamma_factor=10.0): (STEADY, MEDIUM),
    Normalized(Polynomial(degree=1)): (STEADY, MEDIUM),
}


def checked(kernels: Any) -> tuple[Kernel, ...]:
    """Return the kernels that a user gave. Raises ValueError if one is invalid."""
    if not isinstance(kernels, Sequence) or isinstance(kernels, str) or not kernels:
        raise ValueError(f"kernels must be a tuple of kernels, got {kernels!r}")
    for kernel in kernels:
        check_kernel("kernel", kernel)
        require(kernel.has_unit_norm, f"kernels must have k(x, x) = 1, {_advice(kernel)}")
    return tuple(kernels)


def _advice(kernel: Kernel) -> str:
    """Return what to give instead of a kernel whose norm is not, or may not be, 1."""
    if isinstance(kernel, FunctionKernel):
        declared = "FunctionKernel(f, has_unit_norm=True)"
        return f"and whether {kernel} does is not known: give {declared} if it does, else Normalized({kernel})"
    return f"but {kernel} does not: use Normalized({kernel})"


def pairs_of(forgetting: Any, kernels: Sequence[Kernel], defaults: dict[Kernel, Any]) -> list[Any]:
    """Return the pairs of each kernel: those that a user gave for all, or the default ones.

    Raises ValueError if they are invalid.
    """
    if forgetting is None:
        return [defaults.get(kernel, DEFAULT_PAIRS) for kernel in kernels]
    try:
        is_valid = isinstance(forgetting, Sequence) and all(
            0 < factor <= 1 and 0 < noise < math.inf for factor, noise in forgetting
        )
    except (TypeError, ValueError):
        is_valid = False
    expected = "pairs of a forgetting factor in (0, 1] and a positive noise variance"
    require(is_valid and forgetting, f"forgetting must be {expected}, got {forgetting!r}")
    return [forgetting] * len(kernels)
