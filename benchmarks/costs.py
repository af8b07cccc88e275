"""Time of a round and memory of a model, by budget and by dimension.

All models learn the same examples of two Gaussians, a fifth of whose labels are flipped, with the default kernels. A
model is first trained without being timed: the package's until scales and width are learned and the budget is full,
River's on a thousand examples and more. Then River's progressive validation goes on with examples that are new. A pass
has eleven parts, whose median counts, and the figure is the least of three passes, in processor time. NoChange does
nothing, so its time is that of River's loop.

The window of KNNClassifier is the budget, and so is the validation set of TighterPerceptron. Models without a budget
are measured once for each dimension. KernelPerceptron and KernelPAClassifier grow with the stream, and are left out.

"""

from __future__ import annotations

import functools
import itertools
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

from river import dummy, forest, linear_model, tree

import river_budget as rb
from benchmarks import models
from benchmarks.cells import Cell, Found, Section
from benchmarks.ie_gp import IEGP
from benchmarks.models import knn, ours
from benchmarks.streams import gaussians
from benchmarks.tables import markdown, short
from river_budget.base import Chain
from river_budget.base.scales import LAST_UPDATE

PASSES, PARTS = 3, 11

BUDGETS = [20, 50, 100, 500, 1000]
DIMENSIONS = [2, 10, 100, 784]
BUDGET, DIMENSION = 100, 10


class Setting(NamedTuple):
    """What a column varies."""

    budget: int = BUDGET
    n_features: int = DIMENSION

    @property
    def column(self) -> str:
        return f"B={self.budget}, d={self.n_features}"

    @property
    def n_warm(self) -> int:
        """Examples after which a perceptron with an error rate of 20 % has filled its budget."""
        return 1000 + 5 * self.budget

    @property
    def n_timed(self) -> int:
        """Examples in a part."""
        return 50 if self.budget * self.n_features > 5000 else 200


# The columns of the tables, and their titles.
BY_BUDGET = {Setting(budget=budget).column: f"B={budget:,}" for budget in BUDGETS}
BY_DIMENSION = {Setting(n_features=n).column: f"d={n}" for n in DIMENSIONS}


def with_budget(budget: int) -> dict[str, Any]:
    return {**ours(budget), "KNNClassifier": knn(budget)}


def without_budget() -> dict[str, Any]:
    return {
        "KernelLDA": rb.KernelLDA(seed=1),
        "IE-GP": IEGP(),
        "ARFClassifier(10)": forest.ARFClassifier(n_models=10, seed=1),
        "HoeffdingTree": tree.HoeffdingTreeClassifier(),
        "LogisticRegression": linear_model.LogisticRegression(),
        "NoChange": dummy.NoChangeClassifier(),
    }


@functools.lru_cache(maxsize=1)
def examples(setting: Setting) -> list:
    return gaussians(setting.n_warm + PASSES * PARTS * setting.n_timed, setting.n_features)


def is_full(model: Any, budget: int) -> bool:
    return getattr(model, "n_support", 0) == budget


def train(model: Any, warm: list, budget: int) -> None:
    """Train a model until its rounds cost what they will cost from then on."""
    n_least = LAST_UPDATE if hasattr(model, "n_support") else len(warm)
    for n, (x, y) in enumerate(itertools.cycle(warm)):
        if n >= n_least and (n >= len(warm) or is_full(model, budget)):
            break
        model.learn_one(x, y)


def cost(name: str, budget: int, n_features: int) -> dict[str, Any]:
    """Return the cost of a model with full budget, or after as many examples as should have filled it."""
    setting = Setting(budget, n_features)
    model = {**with_budget(budget), **without_budget()}[name]
    stream = iter(examples(setting))
    train(model, list(itertools.islice(stream, setting.n_warm)), budget)
    full = is_full(model, budget) or not hasattr(model, "n_support")
    passes = [
        statistics.median(
            models.microseconds(model, list(itertools.islice(stream, setting.n_timed)))
            for _ in range(PARTS)
        )
        for _ in range(PASSES)
    ]
    return {
        "microseconds": round(min(passes), 2),
        "bytes": Chain(model).memory_bytes,
        "is_full": full,
    }


def cells(is_quick: bool) -> list[Cell]:
    """Return the cells, setting by setting, so that the examples of a setting are made once."""
    if is_quick:
        return [cell("Forgetron", Setting(20)), cell("LogisticRegression", Setting(n_features=2))]
    names = [*with_budget(1), *without_budget()]
    dimensions = [Setting(n_features=n) for n in DIMENSIONS]
    budgets = [Setting(budget) for budget in BUDGETS if budget != BUDGET]
    return [
        *(cell(name, setting) for setting in dimensions for name in names),
        *(cell(name, setting) for setting in budgets for name in with_budget(1)),
    ]


def cell(name: str, setting: Setting) -> Cell:
    return Cell(name, setting.column, cost, (name, *setting))


def cost_of(found: Found, model: str, budget: int = BUDGET) -> dict[str, str]:
    """Return the columns of time and memory with ten features, for a table of another page.

    They say "grows" of a model that was not measured, because its cost grows with the stream.

    """
    figures = found.get(model, {}).get(Setting(budget).column)
    if figures is None:
        return {"µs": "grows", "kB": "grows"}
    return {"µs": short(figures["microseconds"]), "kB": kilobytes(figures)}


def microseconds(figures: dict[str, Any]) -> str:
    """Return a time, with a star if the budget was not full when timing began."""
    return short(figures["microseconds"]) + ("" if figures["is_full"] else "*")


def kilobytes(figures: dict[str, Any]) -> str:
    return short(figures["bytes"] / 1000)


def chosen(found: Found, titles: dict[str, str], shown: Callable[[dict], str]) -> str:
    """Return a table of the columns that have a title, of which a model may have some."""
    return markdown({
        f"`{name}`": {
            title: shown(row[column]) for column, title in titles.items() if column in row
        }
        for name, row in found.items()
        if titles.keys() & row.keys()
    })  # fmt: skip


def by_budget(found: Found) -> str:
    """Return the table of times by budget; a model without a budget has one column."""
    return chosen(found, BY_BUDGET, microseconds)


def memory(found: Found) -> str:
    """Return the table of memory by budget."""
    return chosen(found, BY_BUDGET, kilobytes)


def by_dimension(found: Found) -> str:
    """Return the table of times by dimension."""
    return chosen(found, BY_DIMENSION, microseconds)


SECTION = Section(
    "costs",
    cells,
    {"costs_by_budget": by_budget, "costs_by_dimension": by_dimension, "costs_memory": memory},
    minutes=10,
    is_timed=True,
)
