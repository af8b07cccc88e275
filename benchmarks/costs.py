"""Time per example and memory, by budget, dimension, density and noise.

    python -m benchmarks.costs

Each table varies one setting. The others stay at a budget of 100, 10 features, all of them present,
and 20 % flipped labels; the table by density has 784 features. All models learn the same examples from
two Gaussians, and all kernels are the defaults. A model is first trained without being timed: the
package's until scales and width are learned and the budget is full, if need be on the same examples
again, River's on as many as the latter may take. Then eleven parts of River's progressive validation are
timed, in processor time, and the median is shown. NoChange does
nothing, so its time is that of River's loop. The window of KNNClassifier is the budget. The lower limit
is one BLAS matrix-vector product and one vectorised exp, with as many vectors as the budget and as many
features as are present.

KernelPerceptron and KernelPAClassifier have no budget and are left out. The validation set of
TighterPerceptron is as large as the budget.

"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple

from river import dummy, forest, linear_model, tree

import river_budget as rb
from benchmarks.ie_gp import IEGP
from benchmarks.models import knn, ours, run
from benchmarks.streams import gaussians
from benchmarks.timing import alternating_medians, lower_limit
from river_budget.base import Chain
from river_budget.base.scales import LAST_UPDATE

PARTS = 11

# An update of these reads matrices of the size of the budget several times; those of Mnemotron take 80
# bytes times the square of the budget.
LARGEST_BUDGETS = {"Mnemotron": 1000, "BudgetPassiveAggressive": 1000}


class Setting(NamedTuple):
    """What a table varies."""

    budget: int = 100
    n_features: int = 10
    density: float = 1.0
    noise: float = 0.2

    @property
    def n_warm(self) -> int:
        """Examples after which a perceptron with an error rate of 20 % has filled its budget."""
        return 1000 + 5 * self.budget

    @property
    def n_timed(self) -> int:
        """Examples in a part."""
        return 50 if self.budget * self.n_features * self.density > 5000 else 200


TABLES = {
    "by budget": {f"B={budget}": Setting(budget=budget) for budget in [20, 100, 500, 1000, 4000]},
    "by dimension": {f"d={d}": Setting(n_features=d) for d in [2, 10, 100, 784]},
    "by density": {
        f"{density:.0%}": Setting(n_features=784, density=density) for density in [0.01, 0.1, 1.0]
    },
    "by noise": {f"{noise:.0%}": Setting(noise=noise) for noise in [0.05, 0.2, 0.5]},
}


def models(budget: int) -> dict:
    return {
        **ours(budget),
        "KernelLDA": rb.KernelLDA(seed=1),
        "IE-GP": IEGP(),
        "KNNClassifier": knn(budget),
        "ARFClassifier(10)": forest.ARFClassifier(n_models=10, seed=1),
        "HoeffdingTree": tree.HoeffdingTreeClassifier(),
        "LogisticRegression": linear_model.LogisticRegression(),
        "NoChange": dummy.NoChangeClassifier(),
    }


class Cost(NamedTuple):
    """Time per example and memory of a model at a setting, and whether its budget was full."""

    microseconds: float
    memory: int
    is_full: bool


@functools.cache
def examples(setting: Setting) -> list:
    _, *what = setting
    return gaussians(setting.n_warm + PARTS * setting.n_timed, *what)


def is_full(model, budget: int) -> bool:
    return getattr(model, "n_support", 0) == budget


def train(model, warm: list, budget: int) -> None:
    """Train a model until its rounds cost what they will cost from then on."""
    n_least = LAST_UPDATE if hasattr(model, "n_support") else len(warm)
    for n, (x, y) in enumerate(itertools.cycle(warm)):
        if n >= n_least and (n >= len(warm) or is_full(model, budget)):
            break
        model.learn_one(x, y)


def cost(name: str, setting: Setting) -> Cost:
    model = models(setting.budget)[name]
    warm, timed = examples(setting)[: setting.n_warm], examples(setting)[setting.n_warm :]
    train(model, warm, setting.budget)
    full = is_full(model, setting.budget) or not hasattr(model, "n_support")
    starts = range(0, len(timed), setting.n_timed)
    times = [run(model, timed[start : start + setting.n_timed])[1] for start in starts]
    return Cost(statistics.median(times), Chain(model).memory_bytes, full)


def limit_of(setting: Setting) -> float:
    """Return the lower limit at a setting in microseconds."""
    queries = [x for x, _ in examples(setting)[-setting.n_timed :]]
    (time,) = alternating_medians(lower_limit(setting.budget, queries))
    return 1e6 * time / len(queries)


def costs_of(name: str, settings: Iterable[Setting]) -> list[Cost | None]:
    """Return the cost of a model at each setting, None where it is left out."""
    largest = LARGEST_BUDGETS.get(name, math.inf)
    return [cost(name, setting) if setting.budget <= largest else None for setting in settings]


def row(name: str, cells: Iterable[str]) -> str:
    return f"{name:<36}" + "".join(f"{cell:>12}" for cell in cells)


def times(costs: list[Cost | None]) -> list[str]:
    return [
        f"{c.microseconds:,.1f}{' ' if c.is_full else '*'}" if c else "left out " for c in costs
    ]


def kilobytes(costs: list[Cost | None]) -> list[str]:
    return [f"{c.memory / 1000:,.1f} " if c else "left out " for c in costs]


def main() -> None:
    print("* the budget was not full when timing began")
    for title, settings in TABLES.items():
        print("\n" + row(f"microseconds {title}", [f"{name} " for name in settings]))
        limits = [f"{limit_of(setting):,.1f} " for setting in settings.values()]
        print(row("lower limit", limits))
        found = {}
        for name in models(1):
            found[name] = costs_of(name, settings.values())
            print(row(name, times(found[name])), flush=True)
        print(f"\nkilobytes {title}")
        for name, of_model in found.items():
            print(row(name, kilobytes(of_model)))


if __name__ == "__main__":
    main()
