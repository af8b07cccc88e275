from __future__ import annotations

from collections.abc import Iterator

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, libsvm_rows

__all__ = ["Adult9"]


class Adult9(PublishedDataset):
    """Adult (a9a): does a person earn more than $50,000 a year? 123 binary features.

    The training part is the one of the Projectron paper [^1]. The Tightest paper [^2] uses only the
    30,162 rows (test: 15,060) that have no missing values, which are those with 14 active features.

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

    >>> adult = datasets.Adult9()
    >>> adult.n_samples, adult.n_features
    (32561, 123)

    References
    ----------
    [^1]: [Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, section 5.](https://doi.org/10.1145/1390156.1390247)
    [^2]: [Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)
    [^3]: [LIBSVM data: classification (binary class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["Adult9"], part, n_features=123, sparse=True)

    def _iter(self) -> Iterator[Example]:
        return binary(libsvm_rows(self.path), positive={1})
