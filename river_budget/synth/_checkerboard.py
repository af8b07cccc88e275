"""Points and labels of the two checkerboard streams."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

Point = dict[int, float]


def is_positive(x: Point, squares: int, offset: float = 0.0) -> bool:
    """Return the label of the square at x, on a board that is shifted by `offset` squares."""
    return (int(x[0] * squares + offset) + int(x[1] * squares)) % 2 == 1


def noisy_points(
    n_samples: int | None, noise: float, seed: int | None, label: Callable[[Point, int], bool]
) -> Iterator[tuple[Point, bool]]:
    """Yield uniform points of the unit square; `noise` is the probability of a flipped label."""
    rng = random.Random(seed)
    for t in itertools.islice(itertools.count(), n_samples):
        x = {0: rng.random(), 1: rng.random()}
        yield x, label(x, t) != (rng.random() < noise)
