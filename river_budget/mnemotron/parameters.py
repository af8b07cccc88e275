"""The default kernels and forgetting factors of Mnemotron, and the checks of those given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from river_budget._checks import check_positive
from river_budget.kernels import (
    AdditiveRationalQuadratic,
    Kernel,
    Normalized,
    Polynomial,
    RationalQuadratic,
    check_kernel,
)

Pairs = tuple[tuple[float, float], ...]

# Forgetting factors and noise variances.
DEFAULT_PAIRS: Pairs = ((1.0, 0.1), (0.9999, 1.0), (0.998, 0.1), (0.98, 0.1))
FEW_PAIRS: Pairs = ((1.0, 0.1), (0.998, 0.1))

DEFAULTS: dict[Kernel, Pairs] = {
    RationalQuadratic(): DEFAULT_PAIRS,
    AdditiveRationalQuadratic(): DEFAULT_PAIRS,
    RationalQuadratic(gamma_factor=10.0): FEW_PAIRS,
    Normalized(Polynomial(degree=1)): FEW_PAIRS,
}


def kernels_of(kernels: Any) -> tuple[Kernel, ...]:
    """Return the kernels that a user has given, the default ones for None. Raises ValueError."""
    if kernels is None:
        return tuple(DEFAULTS)
    if not isinstance(kernels, Sequence) or not kernels:
        raise ValueError(f"kernels must be a tuple of kernels, got {kernels!r}")
    for kernel in kernels:
        check_kernel(kernel)
        if not kernel.has_unit_norm:
            raise ValueError(
                f"kernels must have k(x, x) = 1, but {kernel} does not: use Normalized({kernel})"
            )
    return tuple(kernels)


def pairs_of_kernels(forgetting: Any, kernels: Any, n_kernels: int) -> Sequence[Pairs]:
    """Return the pairs of forgetting factor and noise variance of each kernel. Raises ValueError."""
    if forgetting is None:
        return list(DEFAULTS.values()) if kernels is None else [DEFAULT_PAIRS] * n_kernels
    if not _is_nested(forgetting):
        _check_pairs(forgetting)
        return [forgetting] * n_kernels
    if len(forgetting) != n_kernels:
        raise ValueError(
            f"forgetting has pairs for {len(forgetting)} kernels, but there are {n_kernels}"
        )
    for pairs in forgetting:
        _check_pairs(pairs)
    return list(forgetting)


def _is_nested(forgetting: Any) -> bool:
    """Return whether there is a tuple of pairs for each kernel."""
    try:
        return isinstance(forgetting[0][0], Sequence)
    except (TypeError, LookupError):
        return False


def _check_pairs(pairs: Any) -> None:
    expected = "forgetting must be pairs of a forgetting factor and a noise variance"
    if not isinstance(pairs, Sequence) or not pairs:
        raise ValueError(f"{expected}, got {pairs!r}")
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"{expected}, got {pair!r}")
        factor, variance = pair
        check_positive("forgetting: a forgetting factor", factor)
        check_positive("forgetting: a noise variance", variance)
        if factor > 1:
            raise ValueError(f"forgetting: a forgetting factor must be at most 1, got {factor!r}")
