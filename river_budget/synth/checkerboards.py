"""Checkerboards on the unit square."""

from __future__ import annotations

import random

from river_budget.synth import _fields as field
from river_budget.synth._stream import Example, Point, Stream, stream


class _Checkerboard(Stream):
    squares: int
    noise: float

    def concept_at(self, t: int) -> float:
        """Return the offset of the board at example t (from 0), in squares, modulo 2."""
        return 0.0

    def true_label(self, x: Point, t: int) -> bool:
        """Return the label of x at example t, before noise."""
        column = int(x[0] * self.squares + self.concept_at(t))
        return (column + int(x[1] * self.squares)) % 2 == 1

    def _example(self, t: int, rng: random.Random) -> Example:
        x = {0: rng.random(), 1: rng.random()}
        return x, self.true_label(x, t) != (rng.random() < self.noise)


@stream
class NoisyCheckerboard(_Checkerboard):
    """A checkerboard on the unit square, with label noise.

    Points are uniform on the unit square. Neighbouring squares of the board have different labels;
    the square at the origin is negative. Labels are then flipped at random. The points do not
    depend on `noise`.

    Examples
    --------

    >>> from river_budget import synth

    >>> for x, y in synth.NoisyCheckerboard(seed=42).take(3):
    ...     print(x, y)
    {0: 0.6394267984578837, 1: 0.025010755222666936} False
    {0: 0.22321073814882275, 1: 0.7364712141640124} False
    {0: 0.8921795677048454, 1: 0.08693883262941615} True

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, section IV.A.](https://doi.org/10.1109/IJCNN.2009.5178870)
    """

    n_samples: int = field.length(10_000)
    squares: int = field.count(4, "Number of squares along each side of the board.")
    noise: float = field.probability(0.15, "Probability that a label is flipped.")
    seed: int | None = field.seed()


@stream
class ShiftingCheckerboard(_Checkerboard):
    """A noisy checkerboard with concept drift: the board shifts along the first axis.

    The points are those of `NoisyCheckerboard`. A shift by one square swaps all labels, a shift by
    two restores them. For gradual drift, shift a little at every example (`every=1`).

    Examples
    --------

    >>> from river_budget import synth

    >>> stream = synth.ShiftingCheckerboard(shift=1, every=2, noise=0, seed=42)
    >>> for t, (x, y) in enumerate(stream.take(4)):
    ...     print(stream.concept_at(t), x, y)
    0.0 {0: 0.6394267984578837, 1: 0.025010755222666936} False
    0.0 {0: 0.22321073814882275, 1: 0.7364712141640124} False
    1.0 {0: 0.8921795677048454, 1: 0.08693883262941615} False
    1.0 {0: 0.029797219438070344, 1: 0.21863797480360336} True
    """

    n_samples: int | None = field.length()
    squares: int = field.count(4, "Number of squares along each side of the board.")
    shift: float = field.not_negative(0.5, "How far the board shifts each time, in squares.")
    every: int = field.count(2000, "Number of examples between shifts.")
    start: float = field.not_negative(0.0, "Offset of the board at the first example, in squares.")
    noise: float = field.probability(0.15, "Probability that a label is flipped.")
    seed: int | None = field.seed()

    def concept_at(self, t: int) -> float:
        return (self.start + t // self.every * self.shift) % 2.0
