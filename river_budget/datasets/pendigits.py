from __future__ import annotations

from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, csv_rows

__all__ = ["Pendigits"]

COORDINATES = [f"{axis}{n}" for n in range(1, 9) for axis in "xy"]


class Pendigits(PublishedDataset):
    """Handwritten digits, as the coordinates of 8 points on the pen's path: round digits or not.

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

    >>> [datasets.Pendigits(part).n_samples for part in ("train", "test")]
    [7494, 3498]

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [Alpaydin, E. and Alimoglu, F., 1998. Pen-Based Recognition of Handwritten Digits. UCI Machine Learning Repository.](https://doi.org/10.24432/C5MG6K)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["Pendigits"], part, n_features=16)

    def _iter(self) -> Iterator[Example]:
        rows = csv_rows(self.path, [*COORDINATES, "digit"], target="digit")
        return binary(rows, positive=set("36890"))
