from __future__ import annotations

from collections.abc import Iterator

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import check_count, check_probability
from river_budget.synth._checkerboard import Point, is_positive, noisy_points

__all__ = ["NoisyCheckerboard"]


class NoisyCheckerboard(datasets.base.SyntheticDataset):
    """A checkerboard on the unit square, with label noise.

    Points are uniform on the unit square. Neighbouring squares of the board have different labels;
    the square at the origin is negative. Labels are then flipped at random. The points do not
    depend on `noise`.

    Parameters
    ----------
    n_samples
        Number of examples.
    squares
        Number of squares along each side of the board.
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

    >>> for x, y in synth.NoisyCheckerboard(seed=42).take(3):
    ...     print(x, y)
    {0: 0.6394267984578837, 1: 0.025010755222666936} False
    {0: 0.22321073814882275, 1: 0.7364712141640124} False
    {0: 0.8921795677048454, 1: 0.08693883262941615} True

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, section IV.A.](https://doi.org/10.1109/IJCNN.2009.5178870)

    """

    def __init__(
        self,
        n_samples: int = 10_000,
        squares: int = 4,
        noise: float = 0.15,
        seed: int | None = None,
    ):
        check_count("n_samples", n_samples)
        check_count("squares", squares)
        check_probability("noise", noise)
        super().__init__(task=BINARY_CLF, n_features=2, n_classes=2, n_samples=n_samples)
        self.squares = squares
        self.noise = noise
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[Point, bool]]:
        return noisy_points(
            self.n_samples, self.noise, self.seed, lambda x, t: is_positive(x, self.squares)
        )
