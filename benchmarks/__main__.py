"""What a round costs, as ratios of two things measured in one run.

    python -m benchmarks

Each measurement is the median of several, the two sides in turns, in River's own progressive
validation around both, on one thread. The sets that are not part of the package are read from the
folder that RIVER_BUDGET_DATA names.

"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numba
import numpy as np
import pandas as pd
import river
from river import evaluate, linear_model, metrics

import river_budget as rb
from benchmarks import streams

REPEATS = 7


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(*works: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Return each work's median time in seconds; the first round only warms up."""
    rounds = [[seconds(work) for work in works] for _ in range(repeats + 1)]
    return [statistics.median(times) for times in zip(*rounds[1:], strict=True)]


def validation(examples: list, model) -> Callable[[], object]:
    return lambda: evaluate.progressive_val_score(examples, model.clone(), metrics.Accuracy())


def against_logistic_regression(examples: list, model) -> tuple[float, float]:
    """Return the times of the model and of logistic regression, in microseconds an example."""
    times = in_turns(
        validation(examples, model), validation(examples, linear_model.LogisticRegression())
    )
    return tuple(1e6 * t / len(examples) for t in times)


def blocks_against_rows(examples: list, model, size: int = 1000) -> tuple[float, float]:
    frame = pd.DataFrame([x for x, _ in examples])
    labels = pd.Series([y for _, y in examples])
    parts = [slice(start, start + size) for start in range(0, len(examples), size)]
    blocks = [(frame[part], labels[part]) for part in parts]

    def many():
        learner = model.clone()
        for X, y in blocks:
            learner.learn_many(X, y)

    def one():
        learner = model.clone()
        for x, y in examples:
            learner.learn_one(x, y)

    return tuple(1e6 * t / len(examples) for t in in_turns(many, one))


def imports() -> tuple[float, float]:
    """Return the times to import the package, and River and numba, in milliseconds."""

    def importing(names: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True)

    return tuple(1e3 * t for t in in_turns(importing("river_budget"), importing("river, numba")))


def main() -> None:
    numeric, adult = streams.numeric(), streams.adult()
    narrow, wide = rb.RBF(gamma=1.0), rb.RBF(gamma=1 / 50)
    rows = [
        ("RemoveOldest B=100, 10 features / logistic regression, µs", 0.8,
         lambda: against_logistic_regression(numeric, rb.RemoveOldestPerceptron(narrow, budget=100))),
        ("RemoveOldest B=1000, 10 features / logistic regression, µs", 1.4,
         lambda: against_logistic_regression(numeric, rb.RemoveOldestPerceptron(narrow, budget=1000))),
        ("RemoveOldest B=1500, Adult / logistic regression, µs", 1.3,
         adult and (lambda: against_logistic_regression(
             adult, rb.RemoveOldestPerceptron(wide, budget=1500)))),
        ("learn_many of 1,000 rows / learn_one, B=100, 10 features, µs", 0.4,
         lambda: blocks_against_rows(numeric, rb.RemoveOldestPerceptron(narrow, budget=100))),
        ("import river_budget / import river, numba, ms", 1.5, imports),
    ]  # fmt: skip
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"River {river.__version__}, numba {numba.__version__}, NumPy {np.__version__}"
    )
    print(f"{'measured (a / b, per example or once)':<64}{'a':>8}{'b':>8}{'a / b':>7}{'goal':>6}")
    for name, goal, measure in rows:
        if measure is None:
            print(f"{name:<64} skipped: not in {streams.DATA}")
            continue
        ours, theirs = measure()
        print(f"{name:<64}{ours:>8.2f}{theirs:>8.2f}{ours / theirs:>7.2f}{goal:>6}")


if __name__ == "__main__":
    main()
