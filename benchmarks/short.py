"""Short streams: every classifier beside River's, on at most 5,000 examples of each of 31 streams.

Progressive validation, where the label with the largest probability is predicted. Budgets are 100, and all other
parameters the defaults, but for those that a name says, and seeds. The package's models see values as they are, except where a name says "scaled".
River's models and IE-GP are behind a StandardScaler, but for trees, which need none, and Mondrian forests (AMF), which
expect values between 0 and 1. A model for two labels learns one against the rest if there are more.

Accuracy, calibration error and F1 are in percent; F1 is that of the rarer label, or the mean over more labels.
Probabilities below 0.001 count as 0.001 in the log loss. Times are processor time of the thread, while other cells are
measured on the other cores.

"""

from __future__ import annotations

import functools
import math
import operator
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from river import (
    dummy,
    ensemble,
    forest,
    linear_model,
    multiclass,
    naive_bayes,
    preprocessing,
    tree,
)

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.ie_gp import IEGP
from benchmarks.models import knn, size_of
from benchmarks.suite import BINARY, STREAMS, Stream
from benchmarks.tables import columns, markdown, mean
from river_budget.catalog import ALGORITHMS
from river_budget.metrics import CalibrationError

N_EXAMPLES = 5_000
SMALLEST_PROBABILITY = 1e-3
# More examples than the budget, so that everything is imported before it is timed.
WARM_UP = 200

# Makes a model from whether the stream has two labels.
Maker = Callable[[bool], Any]

BUDGET = 100
BUDGETS = [20, 50, BUDGET, 500]
BY_BUDGET = [
    "Mnemotron", "BudgetedSGD", "ProjectedGradient", "ProjectronPlusPlus", "TightestPerceptron", "Forgetron",
]  # fmt: skip


def of_budget(name: str, budget: int) -> str:
    """Return the name of a model with a budget, which is said if it is another one than usual."""
    return name if budget == BUDGET else f"{name}, B={budget}"


OURS: dict[str, Maker] = {
    name: lambda _, row=row: row.build(budget=BUDGET, seed=1) for name, row in ALGORITHMS.items()
}
REGIONS: dict[str, Maker] = {"Mnemotron, regions=16": lambda _: rb.Mnemotron(regions=16)}
VARIANTS: dict[str, Maker] = {
    **{
        of_budget(name, budget): lambda _, n=name, b=budget: ALGORITHMS[n].build(budget=b, seed=1)
        for name, budget in product(BY_BUDGET, BUDGETS)
        if budget != BUDGET
    },
    **{
        f"Calibrated({name})": lambda _, row=ALGORITHMS[name]: rb.Calibrated(
            row.build(budget=BUDGET, seed=1)
        )
        for name in BY_BUDGET[1:]
    },
    **{
        f"{name}, scaled": lambda _, row=ALGORITHMS[name]: scaled(row.build(budget=BUDGET, seed=1))
        for name in BY_BUDGET
    },
}


def scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


def for_two_labels(make: Callable[[], Any]) -> Maker:
    """Return a maker of one model, or of one a label if there are more than two."""
    return lambda is_binary: scaled(make() if is_binary else multiclass.OneVsRestClassifier(make()))


PEERS: dict[str, Maker] = {
    "last label": lambda _: dummy.NoChangeClassifier(),
    "LogisticRegression": for_two_labels(linear_model.LogisticRegression),
    "GaussianNB": lambda _: naive_bayes.GaussianNB(),
    "KNNClassifier(1000)": lambda _: scaled(knn(1000)),
    "HoeffdingTree": lambda _: tree.HoeffdingTreeClassifier(),
    "HoeffdingAdaptiveTree": lambda _: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "ARFClassifier(10)": lambda _: forest.ARFClassifier(n_models=10, seed=1),
    "AMFClassifier(10)": lambda _: preprocessing.MinMaxScaler() | forest.AMFClassifier(seed=1),
    "SRPClassifier(10)": lambda _: ensemble.SRPClassifier(n_models=10, seed=1),
    "IE-GP": for_two_labels(IEGP),
}
MODELS = {**OURS, **REGIONS, **VARIANTS, **PEERS}


class Figures(NamedTuple):
    """What is measured of one model on one stream."""

    accuracy: float
    log_loss: float
    calibration_error: float
    f1: float
    microseconds: float
    bytes: int


def f1(labels: list, predicted: list, is_binary: bool) -> float:
    """Return the F1 of the rarer of two labels, or the mean over more."""
    came, said = Counter(labels), Counter(predicted)
    hits = Counter(y for y, label in zip(labels, predicted, strict=True) if y == label)
    scored = [min(came, key=lambda y: came[y])] if is_binary else list(came)
    return float(np.mean([2 * hits[y] / (came[y] + said[y]) for y in scored]))


def validated(model: Any, examples: Stream, is_binary: bool) -> Figures:
    """Return the figures of progressive validation."""
    predicted, error, loss, seconds = [], CalibrationError(), 0.0, 0.0
    for x, y in examples:
        start = time.thread_time()
        probabilities = model.predict_proba_one(x)
        seconds += time.thread_time() - start
        predicted.append(max(probabilities, key=probabilities.get, default=None))
        error.update(y, probabilities)
        loss -= math.log(max(probabilities.get(y, 0.0), SMALLEST_PROBABILITY))
        start = time.thread_time()
        model.learn_one(x, y)
        seconds += time.thread_time() - start
    n, labels = len(examples), [y for _, y in examples]
    hits = sum(map(operator.eq, labels, predicted))
    return Figures(
        round(100 * hits / n, 4), round(loss / n, 5), round(100 * error.get(), 4),
        round(100 * f1(labels, predicted, is_binary), 4), round(1e6 * seconds / n, 2), size_of(model),
    )  # fmt: skip


@functools.lru_cache(maxsize=2)
def examples_of(stream: str, n: int) -> Stream:
    return STREAMS[stream](n)


def measured(stream: str, model: str, n: int) -> dict[str, float]:
    examples, is_binary = examples_of(stream, n), stream in BINARY
    validated(MODELS[model](is_binary), examples[:WARM_UP], is_binary)
    return validated(MODELS[model](is_binary), examples, is_binary)._asdict()


def cells(is_quick: bool) -> list[Cell]:
    streams, models, n = list(STREAMS), list(MODELS), N_EXAMPLES
    if is_quick:
        streams, models, n = ["Bananas", "ImageSegments (7)"], ["Mnemotron", "IE-GP"], 60
    return [
        Cell(stream, model, measured, (stream, model, n))
        for stream, model in product(streams, models)
    ]


def summary(found: Found) -> str:
    """Return the table of means, the most accurate model first."""
    models = sorted(columns(found), key=lambda model: -mean(found, model, "accuracy"))
    return markdown({
        model: {
            "accuracy (%)": f"{mean(found, model, 'accuracy'):.1f}",
            "log loss": f"{mean(found, model, 'log_loss'):.3f}",
            "calibration error (%)": f"{mean(found, model, 'calibration_error'):.1f}",
            "F1 (%)": f"{mean(found, model, 'f1'):.1f}",
        }
        for model in models
    })  # fmt: skip


def by_budget(found: Found) -> str:
    """Return the table of mean accuracies by budget."""
    return markdown({
        name: {
            f"B={budget}": f"{mean(found, of_budget(name, budget), 'accuracy'):.1f}"
            for budget in BUDGETS
            if any(of_budget(name, budget) in row for row in found.values())
        }
        for name in BY_BUDGET
    })  # fmt: skip


SHOWN = [
    "Mnemotron", "KernelLDA", "TightestPerceptron", "ProjectedGradient", "Forgetron", "KernelPAClassifier",
    "SRPClassifier(10)", "ARFClassifier(10)", "KNNClassifier(1000)", "LogisticRegression",
]  # fmt: skip


def by_stream(found: Found) -> str:
    """Return the table of accuracies of some models, with a row for each stream."""
    return markdown({
        stream: {model: f"{row[model]['accuracy']:.1f}" for model in SHOWN if model in row}
        for stream, row in found.items()
    })  # fmt: skip


SECTION = Section(
    "short", cells, {"short_summary": summary, "short_budgets": by_budget, "short_streams": by_stream}, minutes=100
)  # fmt: skip
