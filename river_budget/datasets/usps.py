from __future__ import annotations

from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, libsvm_rows

__all__ = ["USPS"]

# In LIBSVM's file, the class of a digit is the digit plus 1.
ROUND = {digit + 1 for digit in (3, 6, 8, 9, 0)}


class USPS(PublishedDataset):
    """Handwritten digits of the US Postal Service, 16 by 16 pixels: round digits or not.

    The positive class is the digits 3, 6, 8, 9 and 0, as in the Tightest paper [^1].

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

    >>> [datasets.USPS(part).n_samples for part in ("train", "test")]
    [7291, 2007]

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [LIBSVM data: classification (multi-class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["USPS"], part, n_features=256, sparse=True)

    def _iter(self) -> Iterator[Example]:
        return binary(libsvm_rows(self.path), positive=ROUND)
