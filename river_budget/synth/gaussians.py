"""Streams of Gaussian clusters in the plane."""

from __future__ import annotations

import math
import random

from river_budget.synth import _fields as field
from river_budget.synth._stream import Example, Point, Stream, stream


@stream
class TwoGaussians(Stream):
    """Two Gaussians in the plane, with label noise.

    The positive class has mean (1, 1), the negative class mean (-1, -1). Both have the variances
    0.2 and 2, so they overlap. Labels are then flipped at random.

    Examples
    --------

    >>> from river_budget import synth

    >>> for x, y in synth.TwoGaussians(seed=42).take(3):
    ...     print(x, y)
    {0: -0.6457421022434613, 1: -0.8224903521747634} False
    {0: -1.4195092595002838, 1: -3.673812298973276} True
    {0: 1.308654748473391, 1: 1.1849033430946416} True

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, section 5.](https://doi.org/10.1145/1390156.1390247)
    """

    n_samples: int = field.length(10_000)
    flip: float = field.probability(0.1, "Probability that a label is flipped.")
    seed: int | None = field.seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        positive = rng.random() < 0.5
        mean = 1.0 if positive else -1.0
        x = {0: rng.gauss(mean, math.sqrt(0.2)), 1: rng.gauss(mean, math.sqrt(2.0))}
        return x, positive != (rng.random() < self.flip)


@stream
class RotatingGaussians(Stream):
    """Two Gaussians that rotate around the origin of the plane, with label noise.

    The means of the two classes lie on opposite sides of a circle. The best classifier is the line
    halfway between them, which rotates with them (`true_label`).

    For mistake bounds against a drifting comparator [^1], the path length of the drift is known:
    with the linear kernel, the comparators `u_t = c * mean_at(t)` have path length
    `c * path_length(n)` over n examples.

    Examples
    --------

    >>> from river_budget import synth

    >>> stream = synth.RotatingGaussians(speed=0.01, seed=42)
    >>> for x, y in stream.take(3):
    ...     print(x, y)
    {0: -0.6039276295251046, 1: 0.06275913785163033} False
    {0: -1.4689756111332823, 1: -0.9553352374461647} True
    {0: 1.3448865062488786, 1: 0.08537187057647504} True

    >>> stream.path_length(1001)
    9.99...

    References
    ----------
    [^1]: [Sutskever, I., 2009. A simpler unified analysis of budget perceptrons. ICML 2009.](https://doi.org/10.1145/1553374.1553501)
    """

    n_samples: int | None = field.length()
    speed: float = field.real(
        0.001, "Angle of rotation from one example to the next, in radians; 0 is stationary."
    )
    start: float = field.real(0.0, "Angle of the positive mean at the first example, in radians.")
    radius: float = field.positive(1.0, "Radius of the circle.")
    deviation: float = field.positive(
        0.5, "Standard deviation of both Gaussians, in every direction."
    )
    flip: float = field.probability(0.1, "Probability that a label is flipped.")
    seed: int | None = field.seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        sign = 1 if rng.random() < 0.5 else -1
        x = {name: rng.gauss(sign * v, self.deviation) for name, v in self.mean_at(t).items()}
        return x, (sign > 0) != (rng.random() < self.flip)

    def concept_at(self, t: int) -> float:
        """Return the angle of the positive mean at example t (from 0), in radians."""
        return self.start + self.speed * t

    def mean_at(self, t: int) -> Point:
        """Return the positive mean at example t; the negative mean is its opposite."""
        angle = self.concept_at(t)
        return {0: self.radius * math.cos(angle), 1: self.radius * math.sin(angle)}

    def true_label(self, x: Point, t: int) -> bool:
        """Return the more likely label of x at example t, for `flip` below 0.5."""
        mean = self.mean_at(t)
        return x[0] * mean[0] + x[1] * mean[1] > 0

    def path_length(self, n_samples: int) -> float:
        """Return the sum of `||mean_at(t + 1) - mean_at(t)||` over the first `n_samples` examples."""
        return (n_samples - 1) * 2 * self.radius * abs(math.sin(self.speed / 2))


@stream
class RarePositives(Stream):
    """A rare class in a few small clusters among the examples of a common one.

    Negative examples follow the standard normal distribution of the plane. Positive ones lie in
    small Gaussian clusters, evenly spaced on a circle around the origin, so no line separates them.
    With the default parameters, the best possible F1 is about 0.6.

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

    n_samples: int = field.length(10_000)
    rate: float = field.probability(0.01, "Probability of a positive example.")
    clusters: int = field.count(3, "Number of clusters of positive examples.")
    radius: float = field.not_negative(2.5, "Radius of the circle, at least 0.")
    deviation: float = field.positive(
        0.2, "Standard deviation of each cluster, in every direction."
    )
    seed: int | None = field.seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        y = rng.random() < self.rate
        mean, deviation = (rng.choice(self.means), self.deviation) if y else ({0: 0.0, 1: 0.0}, 1.0)
        return {name: rng.gauss(value, deviation) for name, value in mean.items()}, y

    @property
    def means(self) -> list[Point]:
        """The means of the clusters."""
        angles = [2 * math.pi * k / self.clusters for k in range(self.clusters)]
        return [{0: self.radius * math.cos(a), 1: self.radius * math.sin(a)} for a in angles]
