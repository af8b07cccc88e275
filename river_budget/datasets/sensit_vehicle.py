from __future__ import annotations

from collections.abc import Collection, Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, libsvm_rows

__all__ = ["SensITVehicle"]


class SensITVehicle(PublishedDataset):
    """Vehicle types from acoustic and seismic sensors at a road, 100 features (combined).

    The training part is the one of the Projectron paper [^1], which does not state how it turns the
    three classes into two. The default here is class 3 against the others.

    Parameters
    ----------
    positive
        The positive classes, one or two of 1, 2 and 3.
    part
        "train" or "test".

    Raises
    ------
    ValueError
        If there is no such part, or `positive` is not one or two of the classes.

    Examples
    --------

    >>> from river_budget import datasets

    >>> [datasets.SensITVehicle(part=part).n_samples for part in ("train", "test")]
    [78823, 19705]

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, section 5.](https://doi.org/10.1145/1390156.1390247)
    [^2]: [LIBSVM data: classification (multi-class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html)

    """

    def __init__(self, positive: Collection[int] = (3,), part: str = "train"):
        if not set(positive) < {1, 2, 3} or not positive:
            raise ValueError(
                f"positive must be one or two of the classes 1, 2, 3, got {positive!r}"
            )
        super().__init__(FILES["SensITVehicle"], part, n_features=100, sparse=True)
        self.positive = positive

    def _iter(self) -> Iterator[Example]:
        return binary(libsvm_rows(self.path), self.positive)
