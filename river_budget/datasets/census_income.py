from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river_budget.datasets.files import FILES
from river_budget.datasets.remote import PublishedDataset
from river_budget.datasets.rows import Example, binary, csv_rows

__all__ = ["CensusIncome"]

ATTRIBUTES = [
    "age",
    "class of worker",
    "industry code",
    "occupation code",
    "education",
    "wage per hour",
    "enrolled in edu inst last wk",
    "marital status",
    "major industry code",
    "major occupation code",
    "race",
    "hispanic origin",
    "sex",
    "member of a labor union",
    "reason for unemployment",
    "full or part time employment stat",
    "capital gains",
    "capital losses",
    "dividends from stocks",
    "tax filer status",
    "region of previous residence",
    "state of previous residence",
    "detailed household and family stat",
    "detailed household summary in household",
    "instance weight",
    "migration code-change in msa",
    "migration code-change in reg",
    "migration code-move within reg",
    "live in this house 1 year ago",
    "migration prev res in sunbelt",
    "num persons worked for employer",
    "family members under 18",
    "country of birth father",
    "country of birth mother",
    "country of birth self",
    "citizenship",
    "own business or self employed",
    "fill inc questionnaire for veterans admin",
    "veterans benefits",
    "weeks worked in year",
    "year",
]
NUMBERS = {
    "age",
    "wage per hour",
    "capital gains",
    "capital losses",
    "dividends from stocks",
    "instance weight",
    "num persons worked for employer",
    "weeks worked in year",
}


class CensusIncome(PublishedDataset):
    """Census-Income (KDD): does a person have an income of more than $50,000? Two survey years.

    The training part is the one of the Forgetron paper [^1], which does not state its encoding.
    Here the 7 numeric attributes are features without scaling, and the 33 others are one-hot
    encoded as `attribute=value`; "?" counts as a value. The instance weight is left out, because
    the publisher excludes it from learning.

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

    >>> [datasets.CensusIncome(part).n_samples for part in ("train", "test")]
    [199523, 99762]

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 5.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    [^2]: [Census-Income (KDD), 2000. UCI Machine Learning Repository.](https://doi.org/10.24432/C5N30T)

    """

    def __init__(self, part: str = "train"):
        super().__init__(FILES["CensusIncome"], part, n_features=510, sparse=True)

    def _iter(self) -> Iterator[Example]:
        names = [*ATTRIBUTES, "income"]
        rows = csv_rows(self.path, names, target="income", categorical=set(ATTRIBUTES) - NUMBERS)
        return binary(((_features(row), y) for row, y in rows), positive={"50000+."})


def _features(row: dict[str, Any]) -> dict[str, float]:
    del row["instance weight"]
    return {
        **{name: value for name, value in row.items() if name in NUMBERS},
        **{f"{name}={value}": 1.0 for name, value in row.items() if name not in NUMBERS},
    }
