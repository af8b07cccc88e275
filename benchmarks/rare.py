"""Every class on a stream with 1 % positives, with and without balanced class weights.

F1 and the exact area under the ROC curve of progressive validation on 20,000 examples of `synth.RarePositives`, as
means over three seeds, with budgets of 100 and otherwise default parameters. River's models, which know no
class weights, run alone and under `imblearn.RandomUnderSampler` with equal shares of both classes.

"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from river import forest, imblearn, linear_model, metrics, preprocessing

from benchmarks.cells import Cell, Found, Section
from benchmarks.tables import markdown, means
from river_budget import synth
from river_budget.catalog import ALGORITHMS

SEEDS = [1, 2, 3]
N_EXAMPLES = 20_000
BUDGET = 100
RIVERS: dict[str, Callable[[int], Any]] = {
    "LogisticRegression": lambda seed: (
        preprocessing.StandardScaler() | linear_model.LogisticRegression()
    ),
    "ARFClassifier(10)": lambda seed: forest.ARFClassifier(n_models=10, seed=seed),
}


class Figures(NamedTuple):
    """F1 and the area under the ROC curve, in percent."""

    f1: float
    auc: float


def made(name: str, is_balanced: bool, seed: int) -> Any:
    if name in RIVERS:
        model, shares = RIVERS[name](seed), {False: 0.5, True: 0.5}
        return imblearn.RandomUnderSampler(model, shares, seed=seed) if is_balanced else model
    model = ALGORITHMS[name].build(budget=BUDGET, seed=seed)
    return model.clone({"class_weight": "balanced"}) if is_balanced else model


def validated(model: Any, seed: int, n: int) -> Figures:
    """Return the figures of one model on one stream."""
    f1, auc = metrics.F1(), metrics.RollingROCAUC(window_size=n)
    for x, y in synth.RarePositives(n, seed=seed):
        f1.update(y, bool(model.predict_one(x)))
        auc.update(y, model.predict_proba_one(x).get(True, 0.0))
        model.learn_one(x, y)
    return Figures(100 * f1.get(), 100 * auc.get())


def measured(name: str, is_balanced: bool, seeds: list[int], n: int) -> dict[str, float]:
    """Return the means over the seeds."""
    return means([validated(made(name, is_balanced, seed), seed, n)._asdict() for seed in seeds])


def cells(is_quick: bool) -> list[Cell]:
    names = ["Forgetron", "LogisticRegression"] if is_quick else [*ALGORITHMS, *RIVERS]
    size = ([1], 300) if is_quick else (SEEDS, N_EXAMPLES)
    return [
        Cell(name, "balanced" if is_balanced else "alone", measured, (name, is_balanced, *size))
        for name, is_balanced in product(names, [False, True])
    ]


def by_model(found: Found) -> str:
    return markdown({
        model: {
            name if column == "alone" else f"{name}, balanced": f"{value:.1f}"
            for column, figures in row.items()
            for name, value in zip(["F1", "AUC"], figures.values(), strict=True)
        }
        for model, row in found.items()
    })  # fmt: skip


SECTION = Section("rare", cells, {"rare": by_model}, minutes=2)
