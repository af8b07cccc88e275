"""Scales of features, learned from the data."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, count, finite, floats, require
from river_budget.kernels import Features

__all__ = ["NEVER", "Scales", "next_observed"]

# Scales are computed after 2, 4, 8, ..., 256 examples, then after every 256, for the last time after
# 8,192.
UPDATE_INTERVAL = 256
LAST_UPDATE = 8192

# No number of examples.
NEVER = 2**62

# A gamma that differs by a smaller factor leaves the kernel as it is, if no scale changes.
SMALLEST_CHANGE = 1.1

# Two standard errors of the logarithm, with base 2, of the standard deviation of one normal value;
# those of n values are smaller by the root of n.
TWO_STANDARD_ERRORS = math.sqrt(2) / math.log(2)

# A scale is kept while its logarithm, with base 2, differs by less from that of the data.
KEPT = 0.75

# All examples are observed up to this number, and then one in `STRIDE`.
N_OBSERVED_ALL = 128
STRIDE = 16

# Scales are limited to powers of two with exponents of at most this size, so that scaled squares
# cannot overflow.
LARGEST_EXPONENT = 60

# Names that are no longer in use are dropped if there are more than this many of them.
MAX_UNUSED = 64


def next_observed(n: int) -> int:
    """Return the number of the first example after the n-th that is observed; `NEVER` for none."""
    following = n + 1 if n < N_OBSERVED_ALL else (n // STRIDE + 1) * STRIDE
    return following if following <= LAST_UPDATE else NEVER


class Sums:
    """Running sums of the values of one feature.

    Attributes
    ----------
    since
        Number of examples that were observed before the first one with the feature.
    reference
        The first value. The sums are those of differences from it, so that no digits cancel in the
        variance of values that are far from 0.
    n_present, n_nonzero
        Number of examples that have the feature, and of those with a value other than 0.
    total, squares
        Sum of the differences, and of their squares.

    """

    __slots__ = ("n_nonzero", "n_present", "reference", "since", "squares", "total")

    def __init__(
        self,
        since: float,
        reference: float,
        n_present: float = 0,
        n_nonzero: float = 0,
        total: float = 0.0,
        squares: float = 0.0,
    ) -> None:
        self.since = since
        self.reference = reference
        self.n_present = n_present
        self.n_nonzero = n_nonzero
        self.total = total
        self.squares = squares

    def add(self, value: float) -> None:
        """Add the value of one example."""
        difference = value - self.reference
        self.n_present += 1
        self.n_nonzero += value != 0
        self.total += difference
        self.squares += difference * difference

    def variance(self, n_observed: int) -> float:
        """Return the variance, where the feature is 0 in examples that lack it."""
        n, reference = n_observed - self.since, self.reference
        n_missing = n - self.n_present
        mean = (self.total - n_missing * reference) / n
        return max(0.0, (self.squares + n_missing * reference * reference) / n - mean * mean)

    def scale(self, n_observed: int) -> float:
        """Return the standard deviation, or the root mean square of the values other than 0.

        The latter is the scale of a feature that is 0 in more than half of the examples, such as a
        word: a rare one is not blown up. It is 0 if there is no scale.

        """
        if 2 * self.n_nonzero >= n_observed - self.since:
            return math.sqrt(self.variance(n_observed))
        if not self.n_nonzero:
            return 0.0
        reference = self.reference
        squares = self.squares + reference * (2 * self.total + self.n_present * reference)
        return math.sqrt(max(0.0, squares) / self.n_nonzero)

    def values(self) -> list[float]:
        """Return the attributes, in the order of the constructor."""
        return [
            self.since, self.reference, self.n_present, self.n_nonzero, self.total, self.squares
        ]  # fmt: skip


class Scales:
    """Scales of features and the width of a kernel, learned from the first examples.

    A scale is a power of two, so that values are scaled and restored without rounding. It is as near
    to the geometric mean of all scales as two standard errors allow, so that features of one unit
    share a scale. It is rounded relative to the fraction that the logarithms of all scales have in
    common, which `gamma` makes up for, and kept while it is nearly as near. Features without a scale
    of their own, constant or never seen, have the geometric mean of the others. All is computed after
    2, 4, 8, ..., 256 learned examples, then after every 256, and fixed after 8,192.

    Attributes
    ----------
    factors
        The inverse scale of each feature, by name.
    pooled
        The inverse scale of all other features.
    gamma
        The width, 1 over the sum of the variances of the scaled features; 0 while all are constant.

    """

    __slots__ = ("_n_observed", "_offset", "_sums", "factors", "gamma", "pooled")

    def __init__(self) -> None:
        self.factors: dict[Any, float] = {}
        self.pooled = 1.0
        self.gamma = 0.0
        self._sums: dict[Any, Sums] = {}
        self._n_observed = 0
        # The fraction that the logarithms of all scales have in common, or it plus an integer.
        self._offset = 0.0

    def observe(self, x: Features, names: Collection[Any]) -> None:
        """Add an example to the sums of the names that some support vector has.

        Parameters
        ----------
        x
            The example, in the units of the user.
        names
            These names.

        """
        for name, value in x.items():
            if name in names:
                sums = self._sums.get(name)
                if sums is None:
                    sums = self._sums[name] = Sums(self._n_observed, value)
                sums.add(value)
        self._n_observed += 1
        if len(self._sums) > 2 * len(names) + MAX_UNUSED:
            self._sums = {name: sums for name, sums in self._sums.items() if name in names}

    def is_due(self, n: int) -> bool:
        """Return whether the scales are to be updated after the n-th example."""
        return n > 1 and (n % UPDATE_INTERVAL == 0 if n > UPDATE_INTERVAL else n & (n - 1) == 0)

    def update(self, n: int) -> bool:
        """Update scales and width after the n-th example, and return whether they have changed."""
        n_observed, sums = self._n_observed, self._sums
        exponents, common = self._exponents()
        factors = {name: 2.0**-exponent for name, exponent in exponents.items()}
        pooled = 2.0**-common
        total = math.fsum(
            s.variance(n_observed) * factors.get(name, pooled) ** 2 for name, s in sums.items()
        )
        gamma = 1 / total if total > 0 else self.gamma
        if n == LAST_UPDATE:
            self._sums = {}
        unchanged = pooled == self.pooled and all(
            factors.get(name, pooled) == self.factors.get(name, pooled) for name in sums
        )
        if unchanged and gamma < SMALLEST_CHANGE * self.gamma < SMALLEST_CHANGE**2 * gamma:
            return False
        self.factors, self.pooled, self.gamma = factors, pooled, gamma
        return True

    def _exponents(self) -> tuple[dict[Any, int], int]:
        """Return the exponent of the scale of each feature that has one, and of the pooled one."""
        n = self._n_observed
        scales = {name: s.scale(n) for name, s in self._sums.items()}
        names = [name for name, scale in scales.items() if scale > 0]
        if not names:
            return {}, 0
        logs = np.log2([scales[name] for name in names])
        sizes = np.array([n - self._sums[name].since for name in names])
        logs = _pooled(logs, TWO_STANDARD_ERRORS / np.sqrt(sizes))
        self._offset += _wrapped(_common_fraction(logs) - self._offset)
        exact = (logs - self._offset).tolist()
        exponents = {
            name: _limited(_kept(log, self.factors.get(name)))
            for name, log in zip(names, exact, strict=True)
        }
        return exponents, _limited(float(logs.mean()) - self._offset)

    @property
    def nbytes(self) -> int:
        """Memory of sums and scales in bytes."""
        size = sys.getsizeof(Sums(0, 0.0)) + 6 * sys.getsizeof(0.0)
        return sys.getsizeof(self._sums) + sys.getsizeof(self.factors) + len(self._sums) * size

    def state(self) -> State:
        """Return sums and scales."""
        return {
            "n_observed": self._n_observed,
            "sum_names": tuple(self._sums),
            "sums": np.array([s.values() for s in self._sums.values()]).reshape(-1, 6),
            "names": tuple(self.factors),
            "factors": np.array(list(self.factors.values()), np.float64),
            "pooled": self.pooled,
            "offset": self._offset,
            "gamma": self.gamma,
        }

    def restore(self, state: State) -> None:
        """Restore sums and scales from their state."""
        self._n_observed = count(state["n_observed"])
        names, sums = state["sum_names"], floats(state["sums"], (None, 6))
        require(type(names) is tuple and len(names) == len(sums), "sums lack names")
        since, _, present, nonzero = sums[:, :4].T
        require(
            (since >= 0).all()
            and (nonzero >= 0).all()
            and (nonzero <= present).all()
            and (present >= 1).all()
            and (present + since <= self._n_observed).all()
            and (sums[:, 5] >= 0).all(),
            "the sums of a feature are wrong",
        )
        self._sums = {name: Sums(*row) for name, row in zip(names, sums.tolist(), strict=True)}
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


def _kept(log: float, factor: float | None) -> float:
    """Return the logarithm of a scale, or that of the present one if it is nearly as near."""
    if factor is None or abs(log + math.log2(factor)) >= KEPT:
        return log
    return -math.log2(factor)


def _limited(log: float) -> int:
    """Return the nearest exponent."""
    return max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, round(log)))


def _factor(value: float) -> float:
    mantissa, exponent = math.frexp(value)
    valid = mantissa == 0.5 and abs(exponent - 1) <= LARGEST_EXPONENT
    require(valid, f"the scale of a feature is 1 / {value}, which is no power of two")
    return value


def _factors(names: Any, values: Floats) -> dict[Any, float]:
    require(type(names) is tuple and len(names) == len(values), "scales lack names")
    return {name: _factor(value) for name, value in zip(names, values.tolist(), strict=True)}
