"""The table of all algorithms, which tests, fuzzer, benchmarks, checkpoints and command line read."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import river_budget as rb
from river_budget.base import OnlineClassifier

__all__ = ["ALGORITHMS", "Algorithm"]

# Sets of parameters that are tested separately, by name. The first set is the default.
Variants = Mapping[str, Mapping[str, Any]]
DEFAULT: Variants = {"": {}}


class Algorithm(NamedTuple):
    """One row of the table."""

    model: type[OnlineClassifier]
    variants: Variants = DEFAULT
    unbounded: Collection[str] = ()  # The names of the variants whose memory grows without bound.

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.model.__name__

    def takes(self, parameter: str) -> bool:
        """Return whether the class has a parameter of this name."""
        return parameter in inspect.signature(self.model).parameters

    def build(self, kernel: Any = None, variant: str | None = None, **others: Any) -> Any:
        """Return a new model.

        Parameters
        ----------
        kernel
            The kernel.
        variant
            The name of the variant; the first one by default.
        others
            Further arguments. Arguments that are None, or that the class does not take, are left out.
        """
        chosen = next(iter(self.variants)) if variant is None else variant
        arguments = {"kernel": kernel, **others}
        accepted = {k: v for k, v in arguments.items() if v is not None and self.takes(k)}
        return self.model(**accepted, **self.variants[chosen])


TIGHTER: Variants = {"0": {}, "A": {"validation": 9}, "Full": {"validation": "all"}}
PASSIVE_AGGRESSIVE = {"": {}, "S": {"maintenance": "simple"}, "P": {"maintenance": "projection"}}
OGD = {"": {}, "uniform": {"sampling": "uniform"}, "logistic": {"loss": "logistic"}}
SGD = {"": {}, "removal": {"maintenance": "removal"}, "logistic": {"loss": "logistic"}}

ROWS = [
    Algorithm(rb.Mnemotron, {"": {}, "archive": {"archive": 10}}),
    Algorithm(rb.KernelLDA),
    Algorithm(rb.KernelPerceptron, unbounded=[""]),
    Algorithm(rb.Stoptron),
    Algorithm(rb.RemoveOldestPerceptron),
    Algorithm(rb.RandomizedBudgetPerceptron),
    Algorithm(rb.FixedBudgetPerceptron),
    Algorithm(rb.Forgetron),
    Algorithm(rb.SimplifiedForgetron),
    Algorithm(rb.ModifiedRandomizedBudgetPerceptron),
    Algorithm(rb.TighterPerceptron, TIGHTER, unbounded=["Full"]),
    Algorithm(rb.TightestPerceptron),
    Algorithm(rb.Projectron),
    Algorithm(rb.ProjectronPlusPlus, {"": {}, "U": {"norm_bound": 2.0}}),
    Algorithm(rb.KernelPAClassifier, unbounded=[""]),
    Algorithm(rb.BudgetPassiveAggressive, PASSIVE_AGGRESSIVE),
    Algorithm(rb.Ahpatron),
    Algorithm(rb.BudgetedOGD, OGD),
    Algorithm(rb.BudgetedSGD, SGD),
    Algorithm(rb.ProjectedGradient),
]

# The rows by the name of their class.
ALGORITHMS = {row.name: row for row in ROWS}
