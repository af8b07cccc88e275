"""Our models and River's, each with the form of examples that it takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from river import compose, forest, linear_model, multiclass, preprocessing, tree

import river_budget as rb
from benchmarks.long.measure import Entrant
from benchmarks.long.streams import Stream

BUDGET = 100
SEED = 1

Maker = Callable[[Stream], Entrant]


def large_categories(stream: Stream) -> dict[str, int]:
    """Return the categories that are not a column of zeros and ones already."""
    return {name: size for name, size in stream.categories.items() if size > 2}


def with_texts(categories: dict[str, int], x: dict) -> dict:
    """Return features with categories as texts."""
    return x | {name: f"c{x[name]:.0f}" for name in categories}


def with_columns(categories: dict[str, int], x: dict) -> dict:
    """Return features with a column of zeros and ones for each value of a category."""
    numbers = {name: value for name, value in x.items() if name not in categories}
    for name, size in categories.items():
        numbers |= {f"{name}={value}": float(x[name] == value) for value in range(size)}
    return numbers


def ours(make: Callable[[], object]) -> Maker:
    return lambda stream: Entrant(make(), partial(with_columns, large_categories(stream)))


def rivers_tree(make: Callable[[], object]) -> Maker:
    return lambda stream: Entrant(make(), partial(with_texts, large_categories(stream)))


def logistic_regression(stream: Stream) -> Entrant:
    """Return a logistic regression, one a label if there are more than two."""
    model = linear_model.LogisticRegression()
    if len(stream.labels) > 2:
        model = multiclass.OneVsRestClassifier(model)
    scaled = compose.Pipeline(preprocessing.StandardScaler(), model)
    return Entrant(scaled, partial(with_columns, large_categories(stream)))


MODELS: dict[str, Maker] = {
    "Mnemotron": ours(lambda: rb.Mnemotron(budget=BUDGET)),
    "Mnemotron, regions=16": ours(lambda: rb.Mnemotron(budget=BUDGET, regions=16)),
    "Mnemotron, regions=64": ours(lambda: rb.Mnemotron(budget=BUDGET, regions=64)),
    "KernelLDA": ours(rb.KernelLDA),
    "BudgetedSGD": ours(lambda: rb.BudgetedSGD(budget=BUDGET)),
    "ProjectedGradient": ours(lambda: rb.ProjectedGradient(budget=BUDGET)),
    "ProjectronPlusPlus": ours(lambda: rb.ProjectronPlusPlus(budget=BUDGET)),
    "TightestPerceptron": ours(lambda: rb.TightestPerceptron(budget=BUDGET)),
    "Forgetron": ours(lambda: rb.Forgetron(budget=BUDGET)),
    "HoeffdingAdaptiveTree": rivers_tree(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=SEED)),
    "LogisticRegression": logistic_regression,
    "ARFClassifier(10)": rivers_tree(lambda: forest.ARFClassifier(n_models=10, seed=SEED)),
}
