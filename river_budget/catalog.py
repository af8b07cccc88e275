"""The table of all algorithms, which tests, fuzzer, benchmarks, command line and README read.

A new algorithm is one file, one export in `river_budget/__init__.py`, and one row here.
"""

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
    when_full: str  # what it does once the budget is full, for tables
    source: str
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

DEKEL = "Dekel, Shalev-Shwartz & Singer 2005"
ORABONA = "Orabona, Keshet & Caputo 2008"
SUTSKEVER = "Sutskever 2009"

ROWS = [
    Algorithm(
        rb.Mnemotron,
        "removes the support vector that contributes least to its Gaussian process experts",
        "its docstring",
        variants(archive={"archive": 10}),
    ),
    Algorithm(
        rb.KernelLDA,
        "has no budget but a fixed size: sums over random features, in which no order matters",
        "Momeni, Mazumder & Liu 2024",
    ),
    Algorithm(
        rb.KernelPerceptron,
        "has no budget: the unbounded baseline; mistake bound",
        f"{ORABONA}, Alg. 1",
        UNBOUNDED,
    ),
    Algorithm(rb.Stoptron, "stops learning: the bounded baseline", f"{ORABONA}, section 5"),
    Algorithm(
        rb.RemoveOldestPerceptron, "removes the oldest support vector", f"{DEKEL}, section 3"
    ),
    Algorithm(
        rb.RandomizedBudgetPerceptron,
        "removes a random support vector",
        "Cesa-Bianchi & Gentile 2006",
    ),
    Algorithm(
        rb.FixedBudgetPerceptron,
        "removes the support vector with the largest margin without itself",
        "Crammer, Kandola & Singer 2004",
    ),
    Algorithm(
        rb.Forgetron,
        "shrinks all coefficients, then removes the oldest support vector; mistake bound",
        f"{DEKEL}, Fig. 1",
    ),
    Algorithm(
        rb.SimplifiedForgetron,
        "decays all coefficients, removes the smallest; mistake bound under drift",
        f"{SUTSKEVER}, Alg. 2",
    ),
    Algorithm(
        rb.ModifiedRandomizedBudgetPerceptron,
        "may remove a random support vector at any mistake; mistake bound under drift",
        f"{SUTSKEVER}, Alg. 1",
    ),
    Algorithm(
        rb.TighterPerceptron,
        "removes the support vector whose removal gives the fewest errors on a validation set",
        "Weston, Bordes & Bottou 2005",
        {
            "0": Variant({}),
            "A": Variant({"validation": 9}),
            "Full": Variant({"validation": "all"}, is_bounded=False),
        },
    ),
    Algorithm(
        rb.TightestPerceptron,
        "removes the support vector whose removal gives the smallest expected loss",
        "Wang & Vucetic 2009",
    ),
    Algorithm(
        rb.Projectron,
        "projects every mistake onto the span (before: only those close to it); mistake bound",
        f"{ORABONA}, Alg. 2",
    ),
    Algorithm(
        rb.ProjectronPlusPlus,
        "the same, and also updates on margins below 1; mistake bound",
        f"{ORABONA}, section 4.1",
        variants(U={"norm_bound": 2.0}),
    ),
    Algorithm(
        rb.KernelPAClassifier,
        "has no budget: PA, PA-I, PA-II",
        "Crammer et al. 2006",
        UNBOUNDED,
    ),
    Algorithm(
        rb.BudgetPassiveAggressive,
        "removes the support vector whose term is nearest to its projection onto a few others; mistake bound after a run",
        "Wang & Vucetic 2010",
        variants(S={"maintenance": "simple"}, P={"maintenance": "projection"}),
    ),
    Algorithm(
        rb.Ahpatron,
        "projects the half with the smaller coefficients onto the other one; mistake bound",
        "Liao, Li, Liao, Hu & Dang 2024",
    ),
    Algorithm(
        rb.BudgetedOGD,
        "removes a random support vector, and enlarges the others to make up for it",
        "Zhao, Wang, Wu, Jin & Hoi 2012",
        variants(uniform={"sampling": "uniform"}, logistic={"loss": "logistic"}),
    ),
    Algorithm(
        rb.BudgetedSGD,
        "merges the smallest support vector with another one, or removes it",
        "Wang, Crammer & Vucetic 2012",
        variants(removal={"maintenance": "removal"}, logistic={"loss": "logistic"}),
    ),
    Algorithm(
        rb.ProjectedGradient,
        "projects every gradient onto the span (before: only those close to it); mistake bound after a run",
        "Li & Liao 2023",
    ),
]

# The rows by class name.
ALGORITHMS = {row.name: row for row in ROWS}
