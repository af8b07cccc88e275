from __future__ import annotations

from collections.abc import Iterator

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import check_count, check_not_negative, check_probability
from river_budget.synth._checkerboard import Point, is_positive, noisy_points

__all__ = ["ShiftingCheckerboard"]


class ShiftingCheckerboard(datasets.base.SyntheticDataset):
    """A noisy checkerboard with concept drift: the board shifts along the first axis.

    The points are those of `NoisyCheckerboard`. A shift by one square swaps all labels, a shift by
    two restores them. For gradual drift, shift a little at every example (`every=1`).

    Parameters
    ----------
    n_samples
        Number of examples; endless by default.
    squares
        Number of squares along each side of the board.
    shift
        How far the board shifts each time, in squares.
    every
        Number of examples between shifts.
    start
        Offset of the board at the first example, in squares.
    noise
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

    >>> stream = synth.ShiftingCheckerboard(shift=1, every=2, noise=0, seed=42)
    >>> for t, (x, y) in enumerate(stream.take(4)):
    ...     print(stream.concept_at(t), x, y)
    0.0 {0: 0.6394267984578837, 1: 0.025010755222666936} False
    0.0 {0: 0.22321073814882275, 1: 0.7364712141640124} False
    1.0 {0: 0.8921795677048454, 1: 0.08693883262941615} False
    1.0 {0: 0.029797219438070344, 1: 0.21863797480360336} True

    """

    def __init__(
        self,
        n_samples: int | None = None,
        squares: int = 4,
        shift: float = 0.5,
        every: int = 2000,
        start: float = 0.0,
        noise: float = 0.15,
        seed: int | None = None,
    ):
        if n_samples is not None:
            check_count("n_samples", n_samples)
        check_count("squares", squares)
        check_not_negative("shift", shift)
        check_count("every", every)
        check_not_negative("start", start)
        check_probability("noise", noise)
        super().__init__(task=BINARY_CLF, n_features=2, n_classes=2, n_samples=n_samples)
        self.squares = squares
        self.shift = shift
        self.every = every
        self.start = start
        self.noise = noise
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[Point, bool]]:
        return noisy_points(self.n_samples, self.noise, self.seed, self.true_label)

    def concept_at(self, t: int) -> float:
        """Return the offset of the board at example t (from 0), in squares, modulo 2."""
        return (self.start + t // self.every * self.shift) % 2.0

    def true_label(self, x: Point, t: int) -> bool:
        """Return the label of x at example t, before noise."""
        return is_positive(x, self.squares, self.concept_at(t))
