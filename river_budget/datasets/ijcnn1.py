from __future__ import annotations

from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, libsvm_rows

__all__ = ["IJCNN1"]


class IJCNN1(PublishedDataset):
    """Problem 1 of the IJCNN 2001 challenge: does an engine misfire? 22 features.

    The 49,990 training rows and 91,701 test rows are those of the Tightest paper [^1], in the
    encoding of the challenge's winner.

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

    >>> [datasets.IJCNN1(part).n_samples for part in ("train", "test")]
    [49990, 91701]

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [LIBSVM data: classification (binary class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["IJCNN1"], part, n_features=22, sparse=True)

    def _iter(self) -> Iterator[Example]:
        return binary(libsvm_rows(self.path), positive={1})
