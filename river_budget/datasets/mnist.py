from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, libsvm_rows

__all__ = ["MNIST", "mnist_splits"]

# Number of rows of each digit.
COUNTS = {
    "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
}


class MNIST(PublishedDataset):
    """Handwritten digits, 28 by 28 pixels from 0 to 255: one group of digits against another.

    The default is 8 against 3, the task of the Tightest paper [^1]; `mnist_splits` yields the tasks
    of the Forgetron paper [^2]. Digits in neither group are left out. Pixels are numbered from 1,
    row by row; pixels 781 to 784 are always 0.

    Parameters
    ----------
    positive
        The digits of the positive class.
    negative
        The digits of the negative class.
    part
        "train" or "test".

    Raises
    ------
    ValueError
        If there is no such part, or the groups are not non-empty groups of distinct digits.

    Examples
    --------

    >>> from river_budget import datasets

    >>> [datasets.MNIST(part=part).n_samples for part in ("train", "test")]
    [11982, 1984]
    >>> datasets.MNIST(positive=range(5, 10), negative=range(5)).n_samples
    60000

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 5.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    [^3]: [LIBSVM data: classification (multi-class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html)

    """

    def __init__(
        self,
        positive: Collection[int] = (8,),
        negative: Collection[int] = (3,),
        part: str = "train",
    ):
        digits = [*positive, *negative]
        distinct = len(set(digits)) == len(digits)
        if not (positive and negative and distinct and set(digits) <= set(range(10))):
            raise ValueError(
                "positive and negative must be non-empty groups of distinct digits, "
                f"got {positive!r} and {negative!r}"
            )
        super().__init__(FILES["MNIST"], part, n_features=780, sparse=True)
        self.n_samples = sum(COUNTS[part][digit] for digit in digits)
        self.positive = positive
        self.negative = negative

    def _iter(self) -> Iterator[Example]:
        return binary(libsvm_rows(self.path), self.positive, self.negative)


def mnist_splits() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the 126 splits of the ten digits into two groups of five, in a fixed order.

    Each split is a pair of positive and negative digits; 0 is always positive. The Forgetron paper
    [^1] averages over all splits.

    Examples
    --------

    >>> from river_budget import datasets

    >>> splits = list(datasets.mnist_splits())
    >>> len(splits)
    126
    >>> splits[0]
    ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9))
    >>> tasks = [datasets.MNIST(positive, negative) for positive, negative in splits]

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 5.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)

    """
    for others in itertools.combinations(range(1, 10), 4):
        positive = (0, *others)
        yield positive, tuple(digit for digit in range(10) if digit not in positive)
