"""Mnemotron on a budget of 100 beside perceptrons, River's models and IE-GP, all with default parameters.

    python -m benchmarks.mnemotron [--streams NAME ...] [--models NAME ...] [--examples N] [--raw]
        [--save FILE] [--against FILE ...] [--one-vs-rest] [--blocks]

Progressive validation of the first N examples of each stream of `benchmarks.suite` in order, 5,000 by
default, after a StandardScaler, or on values as they are with `--raw`. Accuracy, F1 and the calibration
error are in percent. F1 is that of the rarer label, and the mean over the labels if there are more than
two. Probabilities below 0.001 count as 0.001 in the log loss. Times are processor time of one thread, with
the scaler. A label is predicted if its probability is the largest.

`--save` writes every figure to a JSON file as soon as it is there, and does not repeat what the file has.
`--against` adds rows of saved runs; a model of the same name gets the name of the file in addition. Run it
on a checkout of an earlier version to compare with that. `--one-vs-rest` compares one Mnemotron with one
a label, in time and memory too. `--blocks` compares the time of blocks of 1,000 rows with that of one row
after another, at 10 features and two labels, once the budget is full. Streams without data are left out.

"""

from __future__ import annotations

import argparse
import copy
import json
import math
import operator
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from river import forest, linear_model, multiclass, preprocessing

import river_budget as rb
from benchmarks import streams as plain_streams
from benchmarks.ie_gp import IEGP
from benchmarks.models import knn, size_of
from benchmarks.multiclass import markdown
from benchmarks.record import Record, parsed
from benchmarks.suite import BINARY, STREAMS, Stream
from benchmarks.timing import alternating_medians
from river_budget.datasets import DatasetError
from river_budget.metrics import CalibrationError

BUDGET = 100
SMALLEST_PROBABILITY = 1e-3
BLOCK = 1_000
# More examples than the budget, so that everything is imported before it is timed.
WARM_UP = 200

# Makes a model from whether the stream has two labels.
Maker = Callable[[bool], object]


def for_any_labels(make: Callable) -> Maker:
    """Return one model, or one a label if there are more than two."""
    return lambda is_binary: make() if is_binary else multiclass.OneVsRestClassifier(make())


MODELS: dict[str, Maker] = {
    "Mnemotron": lambda _: rb.Mnemotron(BUDGET),
    "Mnemotron, regions=16": lambda _: rb.Mnemotron(BUDGET, regions=16),
    "Mnemotron, relevances=False": lambda _: rb.Mnemotron(BUDGET, relevances=False),
    "Mnemotron, B=50": lambda _: rb.Mnemotron(BUDGET // 2),
    "KernelPA, unbounded": lambda _: rb.KernelPAClassifier(),
    "ProjectronPlusPlus": lambda _: rb.ProjectronPlusPlus(budget=BUDGET),
    "TightestPerceptron": lambda _: rb.TightestPerceptron(budget=BUDGET),
    "KNNClassifier(1000)": lambda _: knn(1000),
    "ARFClassifier(10)": lambda _: forest.ARFClassifier(n_models=10, seed=1),
    "LogisticRegression": lambda is_binary: (
        linear_model.LogisticRegression() if is_binary else linear_model.SoftmaxRegression()
    ),
    "IE-GP": for_any_labels(IEGP),
}

ONE_VS_REST = "OneVsRest(Mnemotron)"
SHARED: dict[str, Maker] = {
    ONE_VS_REST: lambda _: multiclass.OneVsRestClassifier(rb.Mnemotron(BUDGET)),
    "Mnemotron": MODELS["Mnemotron"],
    "Mnemotron, B=200": lambda _: rb.Mnemotron(2 * BUDGET),
}
SHARED_STREAMS = ["Pendigits (10)", "MNIST (10)", "ImageSegments (7)"]


class Figures(NamedTuple):
    """What is measured of one model on one stream."""

    accuracy: float
    log_loss: float
    calibration_error: float
    f1: float
    microseconds: float
    bytes: int


# The figures of each model on each stream.
Results = dict[str, dict[str, Figures]]


def f1(labels: list, predicted: list, is_binary: bool) -> float:
    """Return the F1 of the rarer of two labels, or the mean over more."""
    came, said = Counter(labels), Counter(predicted)
    hits = Counter(y for y, label in zip(labels, predicted, strict=True) if y == label)
    scored = [min(came, key=lambda y: came[y])] if is_binary else list(came)
    return float(np.mean([2 * hits[y] / (came[y] + said[y]) for y in scored]))


def learn(model, examples: Stream) -> None:
    for x, y in examples:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def measure(model, examples: Stream, is_binary: bool) -> Figures:
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
        100 * hits / n, loss / n, 100 * error.get(), 100 * f1(labels, predicted, is_binary),
        1e6 * seconds / n, size_of(model),
    )  # fmt: skip


def with_saved(results: Results, paths: list[Path]) -> Results:
    """Return results with those of saved runs on the same streams."""
    merged = {stream: dict(row) for stream, row in results.items()}
    own = {model for row in results.values() for model in row}
    for path in paths:
        for stream, row in parsed(json.loads(path.read_text()), Figures).items():
            if stream in merged:
                merged[stream] |= {
                    f"{model} ({path.stem})" if model in own else model: figures
                    for model, figures in row.items()
                }
    return merged


def run(streams: list[str], models: dict[str, Maker], n: int, raw: bool, record: Record) -> None:
    """Measure what the record does not have yet."""
    for stream in streams:
        missing = [name for name in models if name not in record.results.get(stream, {})]
        if not missing:
            continue
        try:
            examples = STREAMS[stream](n)
        except DatasetError as error:
            print(f"{stream}: left out, {error}", file=sys.stderr)
            continue
        is_binary = stream in BINARY
        for name in missing:

            def new(make: Maker = models[name], is_binary: bool = is_binary):
                model = make(is_binary)
                return model if raw else preprocessing.StandardScaler() | model

            learn(new(), examples[:WARM_UP])
            figures = measure(new(), examples, is_binary)
            record.add(stream, name, figures)
            shown = ", ".join(f"{k} {v:,.4g}" for k, v in figures._asdict().items())
            print(f"{stream}, {name}: {shown}", file=sys.stderr, flush=True)


def complete(results: Results) -> tuple[Results, list[str]]:
    """Return the streams that all models have done, and the models."""
    models = list(dict.fromkeys(model for row in results.values() for model in row))
    return {stream: row for stream, row in results.items() if len(row) == len(models)}, models


def ranks(row: dict[str, Figures]) -> dict[str, float]:
    """Return the rank of each model by accuracy; ties share their mean rank."""
    values = np.array([figures.accuracy for figures in row.values()])
    greater = (values[None] > values[:, None]).sum(1)
    equal = (values[None] == values[:, None]).sum(1)
    return dict(zip(row, (greater + (equal + 1) / 2).tolist(), strict=True))


def summary(results: Results) -> str:
    """Return a table of means over the streams that all models have done."""
    shared, models = complete(results)
    by_stream = [ranks(row) for row in shared.values()]
    rows = {}
    for model in models:
        means = Figures(*np.mean([row[model] for row in shared.values()], axis=0))
        rows[model] = {
            "accuracy": f"{means.accuracy:.2f}",
            "rank": f"{np.mean([ranked[model] for ranked in by_stream]):.2f}",
            "log loss": f"{means.log_loss:.4f}",
            "calibration error": f"{means.calibration_error:.2f}",
            "F1": f"{means.f1:.2f}",
            "µs": f"{means.microseconds:,.0f}",
            "bytes": f"{means.bytes:,.0f}",
        }
    return markdown(rows)


def by_stream(results: Results) -> str:
    """Return a table of accuracies, with a row for each stream."""
    models = complete(results)[1]
    return markdown({
        stream: {
            model: f"{row[model].accuracy:.2f}" if model in row else "" for model in models
        }
        for stream, row in results.items()
    })  # fmt: skip


def ratios(results: Results) -> str:
    """Return a table of time and memory as shares of those of one Mnemotron a label."""
    rows = {}
    for stream, row in results.items():
        reference = next(figures for model, figures in row.items() if model.startswith(ONE_VS_REST))
        for model, figures in row.items():
            rows[f"{stream}, {model}"] = {
                "accuracy": f"{figures.accuracy:.2f}",
                "µs": f"{figures.microseconds:,.0f}", "bytes": f"{figures.bytes:,}",
                "time": f"{figures.microseconds / reference.microseconds:.3f}",
                "memory": f"{figures.bytes / reference.bytes:.3f}",
            }  # fmt: skip
    return markdown(rows)


def blocks() -> str:
    """Return a table of the times of blocks and of their rows one by one."""
    n = 4 * BLOCK
    rows = {}
    for name, examples in [
        ("RandomRBF", plain_streams.numeric(2 * n)),
        ("two Gaussians, 20 % noise", plain_streams.gaussians(2 * n)),
    ]:
        model = rb.Mnemotron(BUDGET)
        learn(model, examples[:n])
        times = block_times(model, examples[n:])
        for task, (many, one) in times.items():
            rows[f"{name}: {task}"] = {
                "µs, blocks": f"{many:.1f}", "µs, one by one": f"{one:.1f}",
                "ratio": f"{many / one:.2f}",
            }  # fmt: skip
    return markdown(rows)


def block_times(model: rb.Mnemotron, examples: list) -> dict[str, tuple[float, float]]:
    """Return the times of blocks and of rows one by one, in microseconds a row."""
    frame = pd.DataFrame([x for x, _ in examples])
    labels = pd.Series([y for _, y in examples])
    starts = range(0, len(examples), BLOCK)
    parts = [(frame[i : i + BLOCK], labels[i : i + BLOCK]) for i in starts]

    def learn_many():
        learner = copy.deepcopy(model)
        for X, y in parts:
            learner.learn_many(X, y)

    def learn_one():
        learner = copy.deepcopy(model)
        for x, y in examples:
            learner.learn_one(x, y)

    def predict_many():
        for X, _ in parts:
            model.predict_many(X)

    def predict_one():
        for x, _ in examples:
            model.predict_one(x)

    times = alternating_medians(learn_many, learn_one, predict_many, predict_one)
    learned, one, predicted, one_predicted = (1e6 * t / len(examples) for t in times)
    return {
        "learn_many / learn_one": (learned, one),
        "predict_many / predict_one": (predicted, one_predicted),
    }


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mnemotron")
    parser.add_argument("--streams", nargs="+", choices=STREAMS, metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=[*MODELS, *SHARED], metavar="NAME")
    parser.add_argument("--examples", type=int, default=5_000, metavar="N")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--against", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--one-vs-rest", action="store_true")
    parser.add_argument("--blocks", action="store_true")
    return parser


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.blocks:
        print(blocks())
        return
    available = SHARED if options.one_vs_rest else MODELS
    models = {name: {**MODELS, **SHARED}[name] for name in options.models or available}
    streams = options.streams or (SHARED_STREAMS if options.one_vs_rest else list(STREAMS))
    settings = {"examples": options.examples, "raw": options.raw}
    record = Record(options.save, settings, Figures)
    run(streams, models, options.examples, options.raw, record)
    results = with_saved(record.results, options.against)
    if options.one_vs_rest:
        print(ratios(results))
        return
    print(f"{len(complete(results)[0])} streams\n\n{summary(results)}\n\n{by_stream(results)}")


if __name__ == "__main__":
    main()
