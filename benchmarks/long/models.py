"""The models of `benchmarks.long`, each with the form of examples that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from river import compose, forest, linear_model, multiclass, preprocessing, tree

import river_budget as rb
from benchmarks.long import moa
from benchmarks.long.streams import Stream

BUDGET = 100
SEED = 1

# Makes of the features of a stream what a model takes.
Form = Callable[[dict], object]


class Entrant(NamedTuple):
    """A model, and the form of examples that it takes."""

    model: object
    form: Form


Maker = Callable[[Stream], Entrant]


def large_categories(stream: Stream) -> dict[str, int]:
    """Return the categories that are not a column of zeros and ones already."""
    return {name: size for name, size in stream.categories.items() if size > 2}


def texts(stream: Stream) -> Form:
    """Return features with categories as texts."""
    categories = large_categories(stream)

    def form(x: dict) -> dict:
        return x | {name: f"c{x[name]:.0f}" for name in categories}

    return form


def columns(stream: Stream) -> Form:
    """Return features with a column of zeros and ones for each value of a category."""
    categories = large_categories(stream)

    def form(x: dict) -> dict:
        numbers = {name: value for name, value in x.items() if name not in categories}
        for name, size in categories.items():
            numbers |= {f"{name}={value}": float(x[name] == value) for value in range(size)}
        return numbers

    return form


def ours(make: Callable[[], object]) -> Maker:
    return lambda stream: Entrant(make(), columns(stream))


def rivers_tree(make: Callable[[], object]) -> Maker:
    return lambda stream: Entrant(make(), texts(stream))


def logistic_regression(stream: Stream) -> Entrant:
    """Return a logistic regression, one a label if there are more than two."""
    model = linear_model.LogisticRegression()
    if len(stream.labels) > 2:
        model = multiclass.OneVsRestClassifier(model)
    return Entrant(compose.Pipeline(preprocessing.StandardScaler(), model), columns(stream))


def capymoa(learner: str, **parameters: object) -> Maker:
    def make(stream: Stream) -> Entrant:
        model = moa.Classifier(learner, stream, {"random_seed": SEED, **parameters})
        return Entrant(model, model.instance)

    return make


MODELS: dict[str, Maker] = {
    "Mnemotron": ours(lambda: rb.Mnemotron(budget=BUDGET)),
    "Mnemotron, relevances=False": ours(lambda: rb.Mnemotron(budget=BUDGET, relevances=False)),
    "Mnemotron, regions=16": ours(lambda: rb.Mnemotron(budget=BUDGET, regions=16)),
    "Mnemotron, regions=64": ours(lambda: rb.Mnemotron(budget=BUDGET, regions=64)),
    "Mnemotron, regions=256 of 100": ours(
        lambda: rb.Mnemotron(budget=BUDGET, regions=256, region_budget=100)
    ),
    "HAT": rivers_tree(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=SEED)),
    "LogisticRegression": logistic_regression,
    "ARF(10)": rivers_tree(lambda: forest.ARFClassifier(n_models=10, seed=SEED)),
    "CapyMOA HAT": capymoa("HoeffdingAdaptiveTree"),
    "CapyMOA ARF(10)": capymoa("AdaptiveRandomForestClassifier", ensemble_size=10),
    "CapyMOA ARF(100)": capymoa("AdaptiveRandomForestClassifier", ensemble_size=100),
    "CapyMOA SRP(100)": capymoa("StreamingRandomPatches", ensemble_size=100),
}
