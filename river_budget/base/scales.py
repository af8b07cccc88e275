"""Scales of features, learned from the data."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.sums import Sums
from river_budget._state import Dict, Field, Learned, Number, finite
from river_budget.kernels import Kernel, Scaled

# Scales are computed after 2, 4, 8, ..., 256 examples, then after every 256 up to 1,024, and after
# every 512 up to 8,192.
SMALLEST_INTERVAL, N_DENSE, LARGEST_INTERVAL, LAST_UPDATE = 256, 1024, 512, 8192

# A gamma that differs by a smaller factor leaves the kernel as it is, if no scale changes.
SMALLEST_CHANGE = 1.1

# Of the logarithm, with base 2, of the standard deviation of one normal value; those of n values are
# smaller by the root of n.
TWO_STANDARD_ERRORS = math.sqrt(2) / math.log(2)

# The mantissas of inverse scales, from 1/2 to 1, are multiples of 1/16. A scale is kept while its
# logarithm, with base 2, differs by less from that of the data.
STEPS = 16
KEPT = 0.1

# Inverse scales are from 2^-60 to 2^60, so that scaled squares cannot overflow.
LARGEST_EXPONENT, SMALLEST, LARGEST = 60, 2.0**-60, 2.0**60


def next_update(n: int) -> int:
    """Return the number of the first example after the n-th after which scales are updated."""
    if n < SMALLEST_INTERVAL:
        return max(2, 1 << n.bit_length())
    interval = SMALLEST_INTERVAL if n < N_DENSE else LARGEST_INTERVAL
    return (n // interval + 1) * interval


class Scales(Learned):
    """Scales of features and the width of a kernel, learned from the first examples.

    A scale is as near to the geometric mean of all scales as two standard errors allow, so features
    of one unit share a scale: the power of two nearest to the mean (`gamma` makes up for the rest).
    Other scales are rounded relative to the mean, and kept while they are nearly as near. The
    inverses, the `factors` by name and `pooled` for features without a scale, have short mantissas.
    So integers and the like are scaled and restored without rounding, and equal distances stay
    equal. `gamma` is 1 over the sum of the variances of the scaled features, or 0.
    """

    sums = Field[Sums](Sums)
    factors = Dict()
    pooled = Number(least=SMALLEST, most=LARGEST, start=1.0)
    gamma = Number(least=0.0)
    # The fraction of the mean of the logarithms of all scales, or it plus an integer.
    _offset = Number()

    def update(self, names: Collection[Any]) -> bool:
        """Update all, given the names of features; return whether anything has changed."""
        self.sums.drop_unused(names)
        names = self.sums.names
        sizes, variances, scales = self.sums.measures()
        factors = np.array([self.factors.get(name, math.nan) for name in names])
        pooled, updated = self._updated(sizes, scales, factors)
        total = math.fsum((variances * updated * updated).tolist())
        gamma = 1 / total if total > 0 else self.gamma
        before = np.where(np.isnan(factors), self.pooled, factors)
        unchanged = pooled == self.pooled and (updated == before).all()
        if unchanged and gamma < SMALLEST_CHANGE * self.gamma < SMALLEST_CHANGE**2 * gamma:
            return False
        scaled = zip(names, updated.tolist(), (scales > 0).tolist(), strict=True)
        self.factors = {name: factor for name, factor, has_scale in scaled if has_scale}
        self.pooled, self.gamma = pooled, gamma
        return True

    def _updated(self, sizes: Floats, scales: Floats, factors: Floats) -> tuple[float, Floats]:
        """Return the inverse scale of features without one, and those of all features."""
        with_scale = scales > 0
        if not with_scale.any():
            return 1.0, np.ones(len(factors))
        errors = TWO_STANDARD_ERRORS / np.sqrt(sizes[with_scale])
        logs = np.log2(scales[with_scale])
        # As near to their mean as the errors allow.
        logs -= _clipped(logs - logs.mean(), errors)
        mean = float(logs.mean())
        # Without the integer part of the difference, from -1/2 to 1/2.
        self._offset += (mean - self._offset + 0.5) % 1.0 - 0.5
        logs, factors = np.append(logs, mean) - self._offset, factors[with_scale]
        nearest = 2.0 ** _clipped(-logs, LARGEST_EXPONENT)
        mantissas, exponents = np.frexp(nearest)
        nearest = np.ldexp(np.rint(STEPS * mantissas) / STEPS, exponents)
        updated = np.full(len(with_scale), pooled := float(nearest[-1]))
        # A feature without a scale so far has the factor NaN.
        kept = abs(logs[:-1] + np.log2(factors)) < KEPT
        updated[with_scale] = np.where(kept, factors, nearest[:-1])
        return pooled, updated

    def in_units_of_user(self, kernel: Kernel) -> Kernel:
        """Return a kernel of scaled features as a kernel of the features in the units of the user."""
        if not self.factors and self.pooled == 1.0:
            return kernel
        scales = tuple((name, 1 / factor) for name, factor in self.factors.items())
        return Scaled(kernel, scales, 1 / self.pooled)

    def _check_restored(self) -> None:
        for factor in self.factors.values():
            finite(factor, SMALLEST, LARGEST)


def _clipped(values: Floats, limits: Any) -> Floats:
    """Return values between two limits, in half the time that `np.clip` takes for a few."""
    return np.minimum(np.maximum(values, -limits), limits)
