"""Every class on a stream with 1 % positives, with and without balanced class weights.

    python -m benchmarks.rare [--quick]

F1 and the exact area under the ROC curve of progressive validation on `synth.RarePositives`, as means
over three seeds, with budgets of 100 and otherwise default parameters. River's models, which know no
class weights, run alone and under `imblearn.RandomUnderSampler` with equal shares of both classes.

"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from river import forest, imblearn, linear_model, metrics, preprocessing

from benchmarks.multiclass import markdown
from river_budget import synth
from river_budget.catalog import ALGORITHMS

SEEDS = range(1, 4)
BUDGET = 100


class Figures(NamedTuple):
    """F1 and the area under the ROC curve, in percent."""

    f1: float
    auc: float


def river_model(name: str, seed: int, balanced: bool):
    model = (
        forest.ARFClassifier(n_models=10, seed=seed)
        if name == "ARFClassifier(10)"
        else preprocessing.StandardScaler() | linear_model.LogisticRegression()
    )
    shares = {False: 0.5, True: 0.5}
    return imblearn.RandomUnderSampler(model, desired_dist=shares, seed=seed) if balanced else model


def own_model(name: str, seed: int, balanced: bool):
    model = ALGORITHMS[name].build(budget=BUDGET, seed=seed)
    return model.clone({"class_weight": "balanced"}) if balanced else model


MODELS: dict[str, Callable] = {
    **dict.fromkeys(ALGORITHMS, own_model),
    **dict.fromkeys(["LogisticRegression", "ARFClassifier(10)"], river_model),
}


def validated(name: str, balanced: bool, seed: int, n_samples: int) -> Figures:
    """Return the figures of one model on one stream."""
    f1, auc = metrics.F1(), metrics.RollingROCAUC(window_size=n_samples)
    model = MODELS[name](name, seed, balanced)
    for x, y in synth.RarePositives(n_samples, seed=seed):
        f1.update(y, bool(model.predict_one(x)))
        auc.update(y, model.predict_proba_one(x).get(True, 0.0))
        model.learn_one(x, y)
    return Figures(100 * f1.get(), 100 * auc.get())


def row(one_by_one: list[Figures], balanced: list[Figures]) -> dict[str, str]:
    """Return the means over the seeds as the cells of a row."""
    means = [
        sum(values) / len(values) for part in (one_by_one, balanced) for values in zip(*part)  # noqa: B905
    ]  # fmt: skip
    columns = ["F1", "AUC", "F1, balanced", "AUC, balanced"]
    return {column: f"{mean:.1f}" for column, mean in zip(columns, means, strict=True)}


def main() -> None:
    n_samples = 2_000 if "--quick" in sys.argv else 20_000
    with ProcessPoolExecutor() as pool:
        jobs = {
            (name, balanced): [
                pool.submit(validated, name, balanced, seed, n_samples) for seed in SEEDS
            ]
            for name in reversed(MODELS)  # River's take longest
            for balanced in (False, True)
        }
        rows = {
            name: row(*([job.result() for job in jobs[name, flag]] for flag in (False, True)))
            for name in MODELS
        }
    print(markdown(rows))


if __name__ == "__main__":
    main()
