"""The public data sets of the papers, from their publishers.

>>> from river_budget import datasets
>>> datasets.Adult9().n_samples, datasets.Adult9("test").n_samples
(32561, 16281)
>>> datasets.MNIST(positive=range(5, 10), negative=range(5)).n_samples
60000
"""

from __future__ import annotations

from collections.abc import Collection

from river_budget.datasets.published import DatasetError, PublishedDataset
from river_budget.datasets.table import MNIST_COUNTS

__all__ = [
    "IJCNN1", "MNIST", "USPS", "Adult9", "CensusIncome", "Covertype", "DatasetError", "Letter",
    "Pendigits", "SensITVehicle",
]  # fmt: skip


# The table describes each data set and gives it its docstring.
class Adult9(PublishedDataset): ...


class CensusIncome(PublishedDataset): ...


class Covertype(PublishedDataset):
    def __init__(self) -> None:
        super().__init__("all")


class IJCNN1(PublishedDataset): ...


class Letter(PublishedDataset): ...


class MNIST(PublishedDataset):
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
        super().__init__(part)
        self.positive, self.negative = positive, negative
        self.n_samples = sum(MNIST_COUNTS[part][digit] for digit in digits)


class Pendigits(PublishedDataset): ...


class SensITVehicle(PublishedDataset):
    def __init__(self, positive: Collection[int] = (3,), part: str = "train"):
        if not set(positive) < {1, 2, 3} or not positive:
            raise ValueError(
                f"positive must be one or two of the classes 1, 2, 3, got {positive!r}"
            )
        super().__init__(part)
        self.positive = positive


class USPS(PublishedDataset): ...
