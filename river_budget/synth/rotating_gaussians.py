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
    """Two Gaussians in the plane that turn around each other, with flipped labels.

    Positive examples come from a round Gaussian whose mean turns on a circle, negative ones from
    the Gaussian on the other side of it. The best classifier at any time is the line between them,
    through the origin, and it turns as they do: `true_label`.

    How far the truth moves is known, so that a bound for a moving comparator can be computed
    [^1]: with the linear kernel, comparators `u_t = c * mean_at(t)` shift by
    `c * path_length(n)` over n examples.

    Parameters
    ----------
    n_samples
        Number of examples; endless by default.
    speed
        Angle by which the means turn from one example to the next, in radians; 0 stands still.
    start
        Angle of the positive mean at the first example, in radians.
    radius
        Radius of the circle.
    deviation
        Standard deviation of each Gaussian, in any direction.
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
        """Return the angle of the positive mean at example t, in radians; the first is 0."""
        return self.start + self.speed * t

    def mean_at(self, t: int) -> dict[int, float]:
        """Return the positive mean at example t; the negative one is its mirror image."""
        angle = self.concept_at(t)
        return {0: self.radius * math.cos(angle), 1: self.radius * math.sin(angle)}

    def true_label(self, x: dict[int, float], t: int) -> bool:
        """Return the label that is more likely for x at example t, if fewer than half are flipped."""
        mean = self.mean_at(t)
        return x[0] * mean[0] + x[1] * mean[1] > 0

    def path_length(self, n_samples: int) -> float:
        """Return how far the positive mean moves from the first to the last of so many examples.

        It is the sum of the straight steps `||mean_at(t + 1) - mean_at(t)||`.

        """
        return (n_samples - 1) * 2 * self.radius * abs(math.sin(self.speed / 2))
