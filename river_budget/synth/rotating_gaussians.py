from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import check_count, check_positive, check_probability, check_real

__all__ = ["RotatingGaussians"]


class RotatingGaussians(datasets.base.SyntheticDataset):
    """Two Gaussians that rotate around the origin of the plane, with label noise.

    The means of the positive and the negative class lie on opposite sides of a circle. The best
    classifier is the line halfway between them, which rotates with them (`true_label`).

    The path length of the drift is known, as mistake bounds for a drifting comparator need it [^1]:
    with the linear kernel, the comparators `u_t = c * mean_at(t)` have path length
    `c * path_length(n)` over n examples.

    Parameters
    ----------
    n_samples
        Number of examples; endless by default.
    speed
        Angle of rotation from one example to the next, in radians; 0 is stationary.
    start
        Angle of the positive mean at the first example, in radians.
    radius
        Radius of the circle.
    deviation
        Standard deviation of both Gaussians, in every direction.
    flip
        Probability that a label is flipped.
    seed
        Random number generator seed for reproducibility.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

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

    def __init__(
        self,
        n_samples: int | None = None,
        speed: float = 0.001,
        start: float = 0.0,
        radius: float = 1.0,
        deviation: float = 0.5,
        flip: float = 0.1,
        seed: int | None = None,
    ):
        if n_samples is not None:
            check_count("n_samples", n_samples)
        check_real("speed", speed)
        check_real("start", start)
        check_positive("radius", radius)
        check_positive("deviation", deviation)
        check_probability("flip", flip)
        super().__init__(task=BINARY_CLF, n_features=2, n_classes=2, n_samples=n_samples)
        self.speed = speed
        self.start = start
        self.radius = radius
        self.deviation = deviation
        self.flip = flip
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[dict[int, float], bool]]:
        rng = random.Random(self.seed)
        for t in itertools.islice(itertools.count(), self.n_samples):
            sign = 1 if rng.random() < 0.5 else -1
            mean = self.mean_at(t)
            x = {name: rng.gauss(sign * mean[name], self.deviation) for name in mean}
            yield x, (sign > 0) != (rng.random() < self.flip)

    def concept_at(self, t: int) -> float:
        """Return the angle of the positive mean at example t (from 0), in radians."""
        return self.start + self.speed * t

    def mean_at(self, t: int) -> dict[int, float]:
        """Return the positive mean at example t; the negative mean is its opposite."""
        angle = self.concept_at(t)
        return {0: self.radius * math.cos(angle), 1: self.radius * math.sin(angle)}

    def true_label(self, x: dict[int, float], t: int) -> bool:
        """Return the more likely label of x at example t, for `flip` below 0.5."""
        mean = self.mean_at(t)
        return x[0] * mean[0] + x[1] * mean[1] > 0

    def path_length(self, n_samples: int) -> float:
        """Return the sum of `||mean_at(t + 1) - mean_at(t)||` over the first `n_samples` examples."""
        return (n_samples - 1) * 2 * self.radius * abs(math.sin(self.speed / 2))
