"""Scales of features and the width of a kernel, learned from the data."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.sums import Sums
from river_budget._state import Dict, Field, Learned, Number, finite
from river_budget.kernels import Kernel, Scaled

# Scales are computed after 2, 4, 8, ..., 256 examples, then after every 256 up to 1,024, and after
# every 512 up to 8,192.
SMALLEST_INTERVAL, LARGEST_INTERVAL = 256, 512
N_DENSE, LAST_UPDATE = 1024, 8192

# A gamma that differs by a smaller factor leaves the kernel as it is, if no scale changes.
SMALLEST_CHANGE = 1.1

# An estimate of a standard deviation from n normal values has a logarithm (with base 2) with two standard
# errors of this, divided by the root of n.
TWO_STANDARD_ERRORS = math.sqrt(2) / math.log(2)

# The mantissas of inverse scales, which are from 1/2 to 1, are rounded to multiples of 1/16.
STEPS = 16

# A scale is kept while its logarithm (with base 2) differs by less than this from that of the data.
KEPT_WITHIN = 0.1

# Inverse scales are from 2^-60 to 2^60, so that the squares of scaled values cannot overflow.
LARGEST_EXPONENT = 60
SMALLEST_FACTOR, LARGEST_FACTOR = 2.0**-LARGEST_EXPONENT, 2.0**LARGEST_EXPONENT


def next_update(n: int) -> int:
    """Return after which example the scales are updated next, if n examples were learned."""
    if n < SMALLEST_INTERVAL:
        return max(2, 1 << n.bit_length())
    interval = SMALLEST_INTERVAL if n < N_DENSE else LARGEST_INTERVAL
    return (n // interval + 1) * interval


class Scales(Learned):
    """Scales of features and the width of a kernel, learned from the first examples.

    Features are divided by their scales, so that those in large units do not drown the others. Features
    of the same unit should share a scale, although their estimates differ by chance. So each scale is
    moved towards the geometric mean of all scales, by at most two standard errors of its estimate.

    A feature is multiplied by its inverse scale, which has a mantissa of few bits. So integers and other
    values with few binary digits are scaled and restored without rounding, and equal distances stay
    equal. The mean scale itself is the nearest power of two, since `gamma` makes up for the rest; others
    are rounded relative to it. A scale that is still nearly right is kept.
    """

    # The sums over examples from which scales are estimated.
    sums = Field[Sums](Sums)
    # The inverse scale of each feature that has a scale, and that of all others.
    factors = Dict()
    pooled = Number(least=SMALLEST_FACTOR, most=LARGEST_FACTOR, start=1.0)
    # 1 over the sum of the variances of the scaled features; 0 before the first update.
    gamma = Number(least=0.0)
    # Logarithms of scales (with base 2) are rounded relative to this. It always differs from the mean of
    # all by a whole number, so that the mean scale is rounded to a power of two.
    _offset = Number()

    def update(self, names: Collection[Any]) -> bool:
        """Update everything from the sums; return whether anything has changed.

        `names` are the features in use. The sums of others are dropped.
        """
        self.sums.drop_unused(names)
        names = self.sums.names
        sizes, variances, scales = self.sums.measures()
        factors = np.array([self.factors.get(name, math.nan) for name in names])
        pooled, updated = self._updated_factors(sizes, scales, factors)

        total = math.fsum((variances * updated * updated).tolist())
        gamma = 1 / total if total > 0 else self.gamma

        in_use = np.where(np.isnan(factors), self.pooled, factors)
        has_same_scales = pooled == self.pooled and (updated == in_use).all()
        if has_same_scales and _is_close(gamma, self.gamma):
            return False

        scaled = zip(names, updated.tolist(), (scales > 0).tolist(), strict=True)
        self.factors = {name: factor for name, factor, has_scale in scaled if has_scale}
        self.pooled, self.gamma = pooled, gamma
        return True

    def _updated_factors(
        self, sizes: Floats, scales: Floats, factors: Floats
    ) -> tuple[float, Floats]:
        """Return the inverse scale of features without a scale, and those of all features (features,).

        All arrays have an element for each feature: the number of its values in the sums, its scale
        there (0: none), and its inverse scale so far (NaN: none).
        """
        has_scale = scales > 0
        if not has_scale.any():
            return 1.0, np.ones(len(factors))

        # Move the logarithms towards their mean, as far as their errors allow.
        logs = np.log2(scales[has_scale])
        errors = TWO_STANDARD_ERRORS / np.sqrt(sizes[has_scale])
        logs -= _clipped(logs - logs.mean(), errors)
        mean = float(logs.mean())

        # The offset moves by -1/2 to 1/2, so that it differs from the mean by a whole number.
        self._offset += (mean - self._offset + 0.5) % 1.0 - 0.5

        # The last element stands for all features without a scale.
        logs = np.append(logs, mean) - self._offset
        rounded = _with_short_mantissas(2.0 ** _clipped(-logs, LARGEST_EXPONENT))
        pooled = float(rounded[-1])

        # Comparisons with NaN are false, so a feature without a factor gets one.
        own = factors[has_scale]
        is_kept = abs(logs[:-1] + np.log2(own)) < KEPT_WITHIN
        updated = np.full(len(scales), pooled)
        updated[has_scale] = np.where(is_kept, own, rounded[:-1])
        return pooled, updated

    def in_units_of_user(self, kernel: Kernel, relevances: Mapping[Any, float] = {}) -> Kernel:
        """Return the kernel of the features in the user's units, given that of the scaled features.

        `relevances` are what it multiplies the scaled features by, if it is not 1.
        """
        if not self.factors and self.pooled == 1.0 and not relevances:
            return kernel
        scales = tuple(
            (name, 1 / (self.factors.get(name, self.pooled) * relevances.get(name, 1.0)))
            for name in {**self.factors, **relevances}
        )
        return Scaled(kernel, scales, 1 / self.pooled)

    def _check_restored(self) -> None:
        for factor in self.factors.values():
            finite(factor, SMALLEST_FACTOR, LARGEST_FACTOR)


def _is_close(gamma: float, former: float) -> bool:
    """Return whether neither width is `SMALLEST_CHANGE` times the other."""
    limit = SMALLEST_CHANGE * former
    return gamma < limit and limit < SMALLEST_CHANGE**2 * gamma


def _with_short_mantissas(values: Floats) -> Floats:
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(STEPS * mantissas) / STEPS, exponents)


def _clipped(values: Floats, limits: Any) -> Floats:
    """Return values from -limits to limits. For a few values this takes half the time of `np.clip`."""
    return np.minimum(np.maximum(values, -limits), limits)
