"""Scales of features, learned from the data."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, finite, floats, require
from river_budget.kernels import Features
from river_budget.support.sums import Measures, Sums

__all__ = ["NEVER", "Scales", "next_observed"]

# Scales are computed after 2, 4, 8, ..., 256 examples, then after every 256 up to 1,024, and after
# every 512 up to 8,192.
SMALLEST_INTERVAL, N_DENSE, LARGEST_INTERVAL, LAST_UPDATE = 256, 1024, 512, 8192

# No number of examples.
NEVER = 2**62

# A gamma that differs by a smaller factor leaves the kernel as it is, if no scale changes.
SMALLEST_CHANGE = 1.1

# Two standard errors of the logarithm, with base 2, of the standard deviation of one normal value;
# those of n values are smaller by the root of n.
TWO_STANDARD_ERRORS = math.sqrt(2) / math.log(2)

# A scale is kept while its logarithm, with base 2, differs by less from that of the data.
KEPT = 0.75

# All examples are observed up to this number, one in 16 up to 1,024, and then one in 32.
N_OBSERVED_ALL = 128
SMALL_STRIDE, LARGE_STRIDE = 16, 32

# Scales are limited to powers of two with exponents of at most this size, so that scaled squares
# cannot overflow.
LARGEST_EXPONENT = 60


def next_observed(n: int) -> int:
    """Return the number of the first example after the n-th that is observed; `NEVER` for none."""
    stride = 1 if n < N_OBSERVED_ALL else SMALL_STRIDE if n < N_DENSE else LARGE_STRIDE
    following = (n // stride + 1) * stride
    return following if following <= LAST_UPDATE else NEVER


class Scales:
    """Scales of features and the width of a kernel, learned from the first examples.

    A scale is a power of two, so that values are scaled and restored without rounding. It is as near
    to the geometric mean of all scales as two standard errors allow, so that features of one unit
    share a scale. It is rounded relative to the fraction that the logarithms of all scales have in
    common, which `gamma` makes up for, and kept while it is nearly as near. Features without a scale
    of their own, constant or never seen, have the geometric mean of the others. All is computed after
    2, 4, 8, ..., 256 learned examples, after every 256 up to 1,024 and every 512 up to 8,192, and
    fixed from then on.

    Attributes
    ----------
    factors
        The inverse scale of each feature, by name.
    pooled
        The inverse scale of all other features.
    gamma
        The width, 1 over the sum of the variances of the scaled features; 0 while all are constant.

    """

    __slots__ = ("_offset", "_sums", "factors", "gamma", "pooled")

    def __init__(self) -> None:
        self.factors: dict[Any, float] = {}
        self.pooled = 1.0
        self.gamma = 0.0
        self._sums = Sums()
        # The fraction that the logarithms of all scales have in common, or it plus an integer.
        self._offset = 0.0

    def observe(self, x: Features, names: Collection[Any]) -> None:
        """Add an example to the sums of the features that some support vector has.

        Parameters
        ----------
        x
            The example, in the units of the user.
        names
            The names of these features.

        """
        self._sums.observe(x, names)

    def is_due(self, n: int) -> bool:
        """Return whether the scales are to be updated after the n-th example."""
        if n < SMALLEST_INTERVAL:
            return n > 1 and n & (n - 1) == 0
        return n % (SMALLEST_INTERVAL if n <= N_DENSE else LARGEST_INTERVAL) == 0

    def update(self, n: int) -> bool:
        """Update scales and width after the n-th example, and return whether they have changed."""
        measures = self._sums.measures()
        factors = np.array([self.factors.get(name, math.nan) for name in self._sums.names])
        pooled, updated = self._updated(measures, factors)
        total = math.fsum((measures.variances * updated * updated).tolist())
        gamma = 1 / total if total > 0 else self.gamma
        names = self._sums.names
        if n == LAST_UPDATE:
            self._sums.clear()
        before = np.where(np.isnan(factors), self.pooled, factors)
        unchanged = pooled == self.pooled and (updated == before).all()
        if unchanged and gamma < SMALLEST_CHANGE * self.gamma < SMALLEST_CHANGE**2 * gamma:
            return False
        scaled = zip(names, updated.tolist(), (measures.scales > 0).tolist(), strict=True)
        self.factors = {name: factor for name, factor, has_scale in scaled if has_scale}
        self.pooled, self.gamma = pooled, gamma
        return True

    def _updated(self, measures: Measures, factors: Floats) -> tuple[float, Floats]:
        """Return the inverse scale of features without one, and those of all features."""
        with_scale = measures.scales > 0
        if not with_scale.any():
            return 1.0, np.ones(len(factors))
        errors = TWO_STANDARD_ERRORS / np.sqrt(measures.sizes[with_scale])
        logs = _pooled(np.log2(measures.scales[with_scale]), errors)
        self._offset += _wrapped(_common_fraction(logs) - self._offset)
        pooled = float(2.0 ** -_nearest(logs.mean() - self._offset))
        updated = np.full(len(factors), pooled)
        updated[with_scale] = _inverse_scales(logs - self._offset, factors[with_scale])
        return pooled, updated

    @property
    def nbytes(self) -> int:
        """Memory of sums and scales in bytes."""
        return self._sums.nbytes + sys.getsizeof(self.factors)

    def state(self) -> State:
        """Return sums and scales."""
        return {
            "sums": self._sums.state(),
            "names": tuple(self.factors),
            "factors": np.array(list(self.factors.values()), np.float64),
            "pooled": self.pooled,
            "offset": self._offset,
            "gamma": self.gamma,
        }

    def restore(self, state: State) -> None:
        """Restore sums and scales from their state."""
        self._sums.restore(state["sums"])
        self.factors = _factors(state["names"], floats(state["factors"], (None,)))
        self.pooled = _factor(finite(state["pooled"], 0.0, math.inf))
        self._offset = finite(state["offset"], -math.inf, math.inf)
        self.gamma = finite(state["gamma"], 0.0, math.inf)


def _pooled(logs: Floats, errors: Floats) -> Floats:
    """Return the logarithms of scales as near to their mean as their errors allow."""
    distances = logs - logs.mean()
    return logs - np.clip(distances, -errors, errors)


def _common_fraction(logs: Floats) -> float:
    """Return the fraction that the logarithms have in common, their circular mean."""
    angles = 2 * math.pi * logs
    return math.atan2(np.sin(angles).sum(), np.cos(angles).sum()) / (2 * math.pi)


def _wrapped(difference: float) -> float:
    """Return a difference of fractions, from -1/2 to 1/2."""
    return (difference + 0.5) % 1.0 - 0.5


def _inverse_scales(logs: Floats, factors: Floats) -> Floats:
    """Return inverse scales, which stay as they are where the logarithms of the scales allow it.

    Factors are NaN for features that have had no scale.

    """
    present = -np.log2(factors)
    kept = abs(logs - present) < KEPT
    return 2.0 ** -_nearest(np.where(kept, present, logs))


def _nearest(logs: Any) -> Any:
    """Return the nearest exponents."""
    return np.clip(np.rint(logs), -LARGEST_EXPONENT, LARGEST_EXPONENT)


def _factor(value: float) -> float:
    mantissa, exponent = math.frexp(value)
    valid = mantissa == 0.5 and abs(exponent - 1) <= LARGEST_EXPONENT
    require(valid, f"the scale of a feature is 1 / {value}, which is no power of two")
    return value


def _factors(names: Any, values: Floats) -> dict[Any, float]:
    require(type(names) is tuple and len(names) == len(values), "scales lack names")
    return {name: _factor(value) for name, value in zip(names, values.tolist(), strict=True)}
