from __future__ import annotations

from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, csv_rows

__all__ = ["Covertype"]

FEATURES = [
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area_{n}" for n in range(1, 5)),
    *(f"Soil_Type_{n}" for n in range(1, 41)),
]


class Covertype(PublishedDataset):
    """Forest cover types of 581,012 locations, 54 features: lodgepole pine against all others.

    The positive class is class 2, as in the Tightest paper [^1], which shuffles the rows and uses
    100,000 for training and 100,000 for testing. In file order, the stream has concept drift.

    Examples
    --------

    >>> from river_budget import datasets

    >>> covertype = datasets.Covertype()
    >>> covertype.n_samples, covertype.n_features
    (581012, 54)

    References
    ----------
    [^1]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^2]: [Blackard, J., 1998. Covertype. UCI Machine Learning Repository.](https://doi.org/10.24432/C50K5N)

    """

    def __init__(self) -> None:
        super().__init__(FILES["Covertype"], "all", n_features=54)

    def _iter(self) -> Iterator[Example]:
        rows = csv_rows(self.path, [*FEATURES, "Cover_Type"], target="Cover_Type")
        return binary(rows, positive={"2"})
