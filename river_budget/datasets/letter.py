from __future__ import annotations

import itertools
from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, csv_rows

__all__ = ["Letter"]

N_TRAIN = 16_000

FEATURES = [
    "x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar",
    "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx",
]  # fmt: skip


class Letter(PublishedDataset):
    """Capital letters in 20 fonts, 16 features: N to Z (positive) against A to M.

    The first 16,000 rows are the training part, as the donor of the data used them and as in the
    Tightest paper [^1]. Both parts are in one file.

    Parameters
    ----------
    part
        "train" or "test".

    Raises
    ------
    ValueError
        If there is no such part.

    Examples
    --------

    >>> from river_budget import datasets

    >>> [datasets.Letter(part).n_samples for part in ("train", "test")]
    [16000, 4000]

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [Slate, D., 1991. Letter Recognition. UCI Machine Learning Repository.](https://doi.org/10.24432/C5ZP40)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["Letter"], part, n_features=16)
        start, stop = (0, N_TRAIN) if part == "train" else (N_TRAIN, self.n_samples)
        self.n_samples = stop - start
        self._range = start, stop

    def _iter(self) -> Iterator[Example]:
        rows = csv_rows(self.path, ["letter", *FEATURES], target="letter")
        return binary(itertools.islice(rows, *self._range), positive=set("NOPQRSTUVWXYZ"))
