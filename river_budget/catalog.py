"""The table of all algorithms, which tests, fuzzer, benchmarks, checkpoints and command line read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import river_budget as rb
from river_budget.base import OnlineClassifier
from river_budget.kernels import Kernel

__all__ = ["ALGORITHMS", "Algorithm", "Variant"]


class Variant(NamedTuple):
    """A set of parameters of an algorithm that is tested separately."""

    parameters: Mapping[str, Any]  # other than kernel, budget and seed
    is_bounded: bool = True  # in memory


class Algorithm(NamedTuple):
    """One row of the table."""

    model: type[OnlineClassifier]
    variants: Mapping[str, Variant] = {"": Variant({})}  # by name, the default parameters first

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.model.__name__

    def takes(self, parameter: str) -> bool:
        """Return whether the class has a parameter."""
        return parameter in inspect.signature(self.model).parameters

    def build(
        self,
        kernel: Kernel | None = None,
        budget: int | None = None,
        seed: int | None = None,
        variant: str | None = None,
    ) -> OnlineClassifier:
        """Return a model with the arguments that its class accepts, except those that are None."""
        chosen = next(iter(self.variants)) if variant is None else variant
        arguments = {"kernel": kernel, "budget": budget, "seed": seed}
        accepted = {k: v for k, v in arguments.items() if v is not None and self.takes(k)}
        make: Any = self.model
        return make(**accepted, **self.variants[chosen].parameters)


def variants(**others: Mapping[str, Any]) -> dict[str, Variant]:
    """Return the variant with the default parameters, and others by name."""
    return {"": Variant({}), **{name: Variant(parameters) for name, parameters in others.items()}}


UNBOUNDED = {"": Variant({}, is_bounded=False)}
TIGHTER = {
    "0": Variant({}),
    "A": Variant({"validation": 9}),
    "Full": Variant({"validation": "all"}, is_bounded=False),
}

ROWS = [
    Algorithm(rb.Mnemotron, variants(archive={"archive": 10})),
    Algorithm(rb.KernelLDA),
    Algorithm(rb.KernelPerceptron, UNBOUNDED),
    Algorithm(rb.Stoptron),
    Algorithm(rb.RemoveOldestPerceptron),
    Algorithm(rb.RandomizedBudgetPerceptron),
    Algorithm(rb.FixedBudgetPerceptron),
    Algorithm(rb.Forgetron),
    Algorithm(rb.SimplifiedForgetron),
    Algorithm(rb.ModifiedRandomizedBudgetPerceptron),
    Algorithm(rb.TighterPerceptron, TIGHTER),
    Algorithm(rb.TightestPerceptron),
    Algorithm(rb.Projectron),
    Algorithm(rb.ProjectronPlusPlus, variants(U={"norm_bound": 2.0})),
    Algorithm(rb.KernelPAClassifier, UNBOUNDED),
    Algorithm(
        rb.BudgetPassiveAggressive,
        variants(S={"maintenance": "simple"}, P={"maintenance": "projection"}),
    ),
    Algorithm(rb.Ahpatron),
    Algorithm(
        rb.BudgetedOGD, variants(uniform={"sampling": "uniform"}, logistic={"loss": "logistic"})
    ),
    Algorithm(
        rb.BudgetedSGD, variants(removal={"maintenance": "removal"}, logistic={"loss": "logistic"})
    ),
    Algorithm(rb.ProjectedGradient),
]

# The rows by class name.
ALGORITHMS = {row.name: row for row in ROWS}
