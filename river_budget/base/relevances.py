"""How relevant each feature is, learned from the slopes of a model's own scores."""

from __future__ import annotations

import math
from typing import Any

from river_budget._core.sums import Sums
from river_budget._state import Count, Dict, Learned, finite
from river_budget.base.scales import Scales

# Relevances are learned after 64, 128, ..., 1,024 examples, and then after every 1,024, for life.
FIRST_UPDATE, LONGEST_INTERVAL = 64, 1024

# The least weight of a feature, if the mean is 1, so that none is lost for ever.
SMALLEST = 0.02


def next_relevances(n: int) -> int:
    """Return after which example relevances are learned next, if n examples were learned."""
    doubled, regular = 1 << n.bit_length(), (n // LONGEST_INTERVAL + 1) * LONGEST_INTERVAL
    return max(FIRST_UPDATE, min(doubled, regular))


class Relevances(Learned):
    """How relevant each feature is.

    The weight of a feature is the mean square of the slopes of the model's scores along the scaled
    feature at its support vectors, relative to the mean over all features, as in recursive feature machines
    (Radhakrishnan et al. 2024). A kernel that has relevances multiplies each scaled feature by the root of
    its weight, and so squared differences by the weight. A feature without a weight counts as it is.

    Attributes
    ----------
    weights
        The weight of each feature, 1 in the mean; empty before the first update.
    variances
        The variances of the features when scales were last learned.
    learned_at
        The number of examples after which the weights were learned; 0 before.
    """

    weights = Dict()
    variances = Dict()
    learned_at = Count()

    @property
    def factors(self) -> dict[Any, float]:
        """What scaled features are multiplied by."""
        return {name: math.sqrt(weight) for name, weight in self.weights.items()}

    def observe(self, sums: Sums) -> None:
        """Take the variances of the sums, unless these were cleared."""
        if len(sums.names):
            _, variances, _ = sums.measures()
            self.variances = dict(zip(sums.names, variances.tolist(), strict=True))

    def learned(self, squares: dict[Any, float], n: int) -> Relevances:
        """Return those of mean squared slopes, after n examples.

        They are the same if there is a single feature, or if all slopes are 0.
        """
        updated = Relevances()
        updated.variances, updated.learned_at = self.variances, n
        mean = math.fsum(squares.values()) / max(len(squares), 1)
        updated.weights = self.weights
        if len(squares) > 1 and 0.0 < mean < math.inf:
            # Sorted, because the order of features in the store depends on the past.
            names = sorted(squares, key=repr)
            weights = [max(squares[name] / mean, SMALLEST) for name in names]
            mean = math.fsum(weights) / len(weights)
            floored = [max(weight / mean, SMALLEST) for weight in weights]
            updated.weights = dict(zip(names, floored, strict=True))
        return updated

    def gamma(self, scales: Scales) -> float:
        """Return 1 over the sum of the variances of the features that were scaled and multiplied."""
        terms = (
            variance * scales.factors.get(name, scales.pooled) ** 2 * self.weights.get(name, 1.0)
            for name, variance in self.variances.items()
        )
        total = math.fsum(terms)
        return 1 / total if total > 0 else scales.gamma

    def _check_restored(self) -> None:
        for weight in self.weights.values():
            finite(weight, SMALLEST)
        for variance in self.variances.values():
            finite(variance, 0.0)
