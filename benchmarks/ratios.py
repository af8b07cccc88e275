"""The cost of a round, as ratios of two times measured in one run, which tell more than times of different days.

Each time is the median of several runs, in processor time of one thread; the two sides of a ratio run alternately.
Predictions are compared with a lower limit: one BLAS matrix-vector product and one vectorised exp of the same size. The
last row is of the time until modules are imported. `python -m benchmarks` prints the rows, before and after a change.

"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
from river import datasets, evaluate, forest, linear_model, metrics

import river_budget as rb
from benchmarks import streams
from benchmarks.cells import Cell, Found, Section
from benchmarks.tables import markdown
from benchmarks.timing import alternating_medians, lower_limit

STREAMS: dict[str, Callable[[], list]] = {
    "10 features": functools.cache(streams.numeric),
    "Adult": functools.cache(streams.adult),
    "Bananas": functools.cache(lambda: list(datasets.Bananas())),
    "Texts": functools.cache(streams.texts),
}

KERNEL, OF_ADULT = rb.RBF(gamma=1.0), rb.RBF(gamma=1 / 50)
MODELS: dict[str, Callable[[], Any]] = {
    "RemoveOldest": lambda: rb.RemoveOldestPerceptron(KERNEL, 100),
    "Forgetron": lambda: rb.Forgetron(KERNEL, 100),
    "Tightest": lambda: rb.TightestPerceptron(KERNEL, 100),
    "Mnemotron": lambda: rb.Mnemotron(budget=100),
    "RemoveOldest B=1000": lambda: rb.RemoveOldestPerceptron(KERNEL, 1000),
    "RemoveOldest B=1500": lambda: rb.RemoveOldestPerceptron(OF_ADULT, 1500),
    "Forgetron B=1500": lambda: rb.Forgetron(OF_ADULT, 1500),
    "LogisticRegression": linear_model.LogisticRegression,
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
}
# Runs of each side; a forest takes minutes for more.
REPEATS, REPEATS_OF_FORESTS = 7, 3


Times = dict[str, float]


def per_example(n: int, *works: Callable[[], object], repeats: int = REPEATS) -> Times:
    """Return the times of both sides in microseconds per example."""
    a, b = (round(1e6 * t / n, 3) for t in alternating_medians(*works, repeats=repeats))
    return {"a": a, "b": b}


def rounds(stream: str, model: str, other: str, repeats: int) -> Times:
    """Compare River's progressive validation of two models."""
    examples = STREAMS[stream]()

    def validation(name: str) -> Callable[[], object]:
        return lambda: evaluate.progressive_val_score(examples, MODELS[name](), metrics.Accuracy())

    return per_example(len(examples), validation(model), validation(other), repeats=repeats)


def blocks(stream: str, model: str) -> Times:
    """Compare `learn_many` of blocks of a thousand rows with `learn_one`."""
    examples = STREAMS[stream]()
    frame, labels = pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples])
    parts = [slice(start, start + 1000) for start in range(0, len(examples), 1000)]
    prepared = [(frame[part], labels[part]) for part in parts]

    def many() -> None:
        learner = MODELS[model]()
        for X, y in prepared:
            learner.learn_many(X, y)

    def one() -> None:
        learner = MODELS[model]()
        for x, y in examples:
            learner.learn_one(x, y)

    return per_example(len(examples), many, one)


def limit(n_vectors: int, n_features: int) -> Times:
    """Compare predictions of a full model with the least work that they could take."""
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1 / n_features), n_vectors)
    examples = streams.noise(4 * n_vectors, n_features)
    for x, y in examples[:-n_vectors]:
        model.learn_one(x, y)
    queries = [x for x, _ in examples[-n_vectors:]]

    def predictions() -> None:
        for x in queries:
            model.predict_one(x)

    return per_example(n_vectors, predictions, lower_limit(n_vectors, queries))


def imports(module: str, other: str) -> Times:
    """Compare the milliseconds until modules are imported, from the bytecode that the first, untimed run stores."""
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def importing(name: str) -> Callable[[], object]:
        command = [sys.executable, "-c", f"import {name}"]
        return lambda: subprocess.run(command, check=True, env=environment)

    works = importing(module), importing(other)
    a, b = alternating_medians(*works, clock=time.perf_counter)
    return {"a": round(1e3 * a, 1), "b": round(1e3 * b, 1)}


class Row(NamedTuple):
    """A comparison, and what its ratio should not exceed."""

    name: str
    goal: float
    measure: Callable[..., Times]
    arguments: tuple[Any, ...]


ROWS = [
    Row("1,000 vectors, 100 features: predict_one / BLAS and exp", 2.0, limit, (1000, 100)),
    Row("1,000 vectors, 2 features: predict_one / BLAS and exp", 3.0, limit, (1000, 2)),
    *(
        Row(f"{stream}: {model} / {other}", goal, rounds, (stream, model, other, repeats))
        for stream, model, other, goal, repeats in [
            ("10 features", "RemoveOldest", "LogisticRegression", 0.5, REPEATS),
            ("10 features", "Forgetron", "LogisticRegression", 0.5, REPEATS),
            ("Adult", "RemoveOldest B=1500", "LogisticRegression", 0.8, REPEATS),
            ("Adult", "Forgetron B=1500", "RemoveOldest B=1500", 2.0, REPEATS),
            ("Texts", "RemoveOldest B=1000", "LogisticRegression", 0.8, REPEATS),
            ("Bananas", "Tightest", "Forgetron", 3.0, REPEATS),
            ("Bananas", "Tightest", "ARFClassifier(10)", 0.067, REPEATS_OF_FORESTS),
            ("Bananas", "Mnemotron", "ARFClassifier(10)", 0.05, REPEATS_OF_FORESTS),
        ]
    ),
    *(
        Row(f"{stream}: {model}, learn_many / learn_one", 1.0, blocks, (stream, model))
        for stream, model in [("10 features", "RemoveOldest"), ("10 features", "Forgetron"), ("Bananas", "Mnemotron")]
    ),
    Row("milliseconds: import river_budget / import river.linear_model", 1.0, imports, ("river_budget", "river.linear_model")),
]  # fmt: skip
QUICK = [Row("50 vectors, 2 features: predict_one / BLAS and exp", 3.0, limit, (50, 2))]
GOALS = {row.name: row.goal for row in [*ROWS, *QUICK]}


def cells(is_quick: bool) -> list[Cell]:
    rows = QUICK if is_quick else ROWS
    return [Cell(row.name, "times", row.measure, row.arguments) for row in rows]


def table(found: Found) -> str:
    """Return the table of both sides, in microseconds per example where the row does not say more."""
    rows = {name: row["times"] for name, row in found.items()}
    return markdown({
        name: {
            "a": f"{times['a']:,.2f}",
            "b": f"{times['b']:,.2f}",
            "a / b": f"{times['a'] / times['b']:.3f}",
            "goal": f"{GOALS[name]:g}",
        }
        for name, times in rows.items()
    })  # fmt: skip


SECTION = Section("ratios", cells, {"ratios": table}, minutes=2.5, is_timed=True)
