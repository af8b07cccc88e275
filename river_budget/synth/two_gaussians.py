from __future__ import annotations

import math
import random
from collections.abc import Iterator

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import check_count, check_probability

__all__ = ["TwoGaussians"]


class TwoGaussians(datasets.base.SyntheticDataset):
    """Two Gaussians in the plane, with label noise.

    The positive class has mean (1, 1), the negative class mean (-1, -1). Both have the variances
    0.2 and 2, so they overlap. Labels are then flipped at random.

    Parameters
    ----------
    n_samples
        Number of examples.
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

    >>> for x, y in synth.TwoGaussians(seed=42).take(3):
    ...     print(x, y)
    {0: -0.6457421022434613, 1: -0.8224903521747634} False
    {0: -1.4195092595002838, 1: -3.673812298973276} True
    {0: 1.308654748473391, 1: 1.1849033430946416} True

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, section 5.](https://doi.org/10.1145/1390156.1390247)

    """

    def __init__(self, n_samples: int = 10_000, flip: float = 0.1, seed: int | None = None):
        check_count("n_samples", n_samples)
        check_probability("flip", flip)
        super().__init__(task=BINARY_CLF, n_features=2, n_classes=2, n_samples=n_samples)
        self.flip = flip
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[dict[int, float], bool]]:
        rng = random.Random(self.seed)
        for _ in range(self.n_samples):
            positive = rng.random() < 0.5
            mean = 1.0 if positive else -1.0
            x = {0: rng.gauss(mean, math.sqrt(0.2)), 1: rng.gauss(mean, math.sqrt(2.0))}
            yield x, positive != (rng.random() < self.flip)
