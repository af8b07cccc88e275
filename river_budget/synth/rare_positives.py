from __future__ import annotations

import math
import random
from collections.abc import Iterator

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import (
    check_count,
    check_not_negative,
    check_positive,
    check_probability,
)

__all__ = ["RarePositives"]

Point = dict[int, float]


class RarePositives(datasets.base.SyntheticDataset):
    """A rare class in a few small clusters among the examples of a common one.

    Negative examples follow the standard normal distribution of the plane. Positive examples are
    rare. They lie in small Gaussian clusters, evenly spaced on a circle around the origin, so that
    no line separates them. With the default parameters, the best possible F1 is about 0.6.

    Parameters
    ----------
    n_samples
        Number of examples.
    rate
        Probability of a positive example.
    clusters
        Number of clusters of positive examples.
    radius
        Radius of the circle, at least 0.
    deviation
        Standard deviation of each cluster, in every direction.
    seed
        Random number generator seed for reproducibility.

    Attributes
    ----------
    means
        The means of the clusters.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------

    >>> from river_budget import synth

    >>> stream = synth.RarePositives(seed=42)
    >>> for x, y in stream.take(2):
    ...     print(x, y)
    {0: 0.7921447409497909, 1: 0.12551827570326066} False
    {0: -0.12758828378288709, 1: -1.4973534143409575} False

    >>> sum(y for _, y in stream)
    105

    """

    def __init__(
        self,
        n_samples: int = 10_000,
        rate: float = 0.01,
        clusters: int = 3,
        radius: float = 2.5,
        deviation: float = 0.2,
        seed: int | None = None,
    ):
        check_count("n_samples", n_samples)
        check_probability("rate", rate)
        check_count("clusters", clusters)
        check_not_negative("radius", radius)
        check_positive("deviation", deviation)
        super().__init__(task=BINARY_CLF, n_features=2, n_classes=2, n_samples=n_samples)
        self.rate = rate
        self.clusters = clusters
        self.radius = radius
        self.deviation = deviation
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[Point, bool]]:
        rng, means = random.Random(self.seed), self.means
        for _ in range(self.n_samples):
            y = rng.random() < self.rate
            mean, deviation = (rng.choice(means), self.deviation) if y else ({0: 0.0, 1: 0.0}, 1.0)
            yield {name: rng.gauss(value, deviation) for name, value in mean.items()}, y

    @property
    def means(self) -> list[Point]:
        """The means of the clusters."""
        angles = [2 * math.pi * k / self.clusters for k in range(self.clusters)]
        return [{0: self.radius * math.cos(a), 1: self.radius * math.sin(a)} for a in angles]
