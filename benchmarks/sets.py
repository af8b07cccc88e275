"""Sets of labels: how often they cover the label, and their mean size, with labels at once and late ones.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.sets [--streams NAME ...] [--models NAME ...] [--delays D ...]
        [--examples N] [--coverage SHARE] [--save FILE]

`PredictionSets` around each model, on the first N examples of each stream of `benchmarks.suite`, 4,000 by
default: the set of each example is predicted, and its label is learned after D others were predicted. By
default, the streams are those of the figures of the documentation. Rounds before the model knows any label
do not count. "Possible" is the share of rounds in which the model knew the label; where it is lower than the
coverage, no sets can reach that. "Constant" is the mean size with the best constant threshold for the
probabilities of the model, which is known only in the end.

Mnemotron sees values as they are, LogisticRegression is behind a StandardScaler.

`--save` writes every figure to a JSON file as soon as it is there, and does not repeat what the file has.
Streams without data are left out.

"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from river import forest, linear_model, multiclass, preprocessing

import river_budget as rb
from benchmarks.figures import LEFT_OUT
from benchmarks.multiclass import markdown
from benchmarks.record import Record
from benchmarks.suite import STREAMS, Stream
from river_budget.datasets import DatasetError

DELAYS = [0, 200]

# The largest distance of a coverage from the target that is not marked.
TOLERANCE = 0.01

MODELS: dict[str, Callable[[], object]] = {
    "Mnemotron": rb.Mnemotron,
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "LogisticRegression": lambda: (
        preprocessing.StandardScaler()
        | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    ),
}


class Figures(NamedTuple):
    """What is measured of the sets around one model on one stream with one delay."""

    coverage: float
    size: float
    possible: float
    constant: float
    microseconds: float


def measure(model: rb.PredictionSets, examples: Stream, delay: int, coverage: float) -> Figures:
    """Return the figures of progressive validation with late labels."""
    waiting, forecasts = {}, []
    hits, sizes = rb.metrics.SetCoverage(), rb.metrics.SetSize()
    start = time.thread_time()
    for number, x, y in rb.evaluate.Delays(delay).turns(examples):
        if y is not None:
            model.learn(waiting.pop(number), y)
            continue
        waiting[number] = answer = model.ask(x)
        if answer.probabilities:
            label, labels = examples[number][1], model.set_of(answer)
            hits.update(label, labels)
            sizes.update(label, labels)
            forecasts.append((answer.probabilities, label))
    seconds = time.thread_time() - start
    possible = float(np.mean([label in probabilities for probabilities, label in forecasts]))
    return Figures(
        hits.get(), sizes.get(), possible, constant_size(forecasts, coverage),
        1e6 * seconds / len(examples),
    )  # fmt: skip


def constant_size(forecasts: list[tuple[dict, object]], coverage: float) -> float:
    """Return the mean size of the sets of the largest threshold that covers enough labels."""
    of_labels = sorted(probabilities.get(label, -1.0) for probabilities, label in forecasts)
    threshold = of_labels[int((1 - coverage) * len(of_labels))]
    sizes = [sum(p >= threshold for p in own.values()) for own, _ in forecasts]
    return float(np.mean(sizes))


def run(streams: list[str], options: argparse.Namespace, record: Record) -> None:
    """Measure what the record does not have yet."""
    for stream in streams:
        try:
            examples = STREAMS[stream](options.examples)
        except DatasetError as error:
            print(f"{stream}: left out, {error}", file=sys.stderr)
            continue
        for name in options.models:
            for delay in options.delays:
                key = f"{name} @ {delay}"
                if key in record.results.get(stream, {}):
                    continue
                model = rb.PredictionSets(MODELS[name](), options.coverage)
                figures = measure(model, examples, delay, options.coverage)
                record.add(stream, key, figures)
                print(f"{stream}, {key}: {figures}", file=sys.stderr, flush=True)


def cell(figures: Figures, coverage: float) -> str:
    """Return coverage in percent and size, with a mark where the coverage is not the target."""
    is_off = abs(figures.coverage - coverage) > TOLERANCE
    return f"{100 * figures.coverage:.1f}{' *' if is_off else ''} / {figures.size:.2f}"


def table(
    record: Record, streams: list[str], models: list[str], delay: int, coverage: float
) -> str:
    """Return a table with a row for each stream, and rows of summaries."""
    found = {
        stream: {model: record.results[stream][f"{model} @ {delay}"] for model in models}
        for stream in streams
        if all(f"{model} @ {delay}" in record.results.get(stream, {}) for model in models)
    }
    rows = {
        stream: {model: cell(row[model], coverage) for model in models}
        for stream, row in found.items()
    }
    columns = {model: [row[model] for row in found.values()] for model in models}
    summaries = {
        "mean": lambda own: f"{100 * mean_of(own, 'coverage'):.1f} / {mean_of(own, 'size'):.2f}",
        "lowest and highest coverage": lambda own: (
            f"{100 * min(f.coverage for f in own):.1f} to {100 * max(f.coverage for f in own):.1f}"
        ),
        "streams within one point": lambda own: (
            f"{sum(abs(f.coverage - coverage) <= TOLERANCE for f in own)} of {len(own)}"
        ),
        "constant: mean size": lambda own: f"{mean_of(own, 'constant'):.2f}",
        "µs": lambda own: f"{mean_of(own, 'microseconds'):,.0f}",
    }
    for name, summary in summaries.items():
        rows[name] = {model: summary(columns[model]) for model in models}
    return markdown(rows)


def mean_of(figures: list[Figures], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in figures]))


def unreachable(record: Record, streams: list[str], coverage: float) -> list[str]:
    """Return where the labels that a model knew were too few, as lines."""
    return [
        f"- {stream}, {key}: possible are {100 * figures.possible:.1f} %"
        for stream in streams
        for key, figures in record.results.get(stream, {}).items()
        if figures.possible < coverage
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sets")
    default = [name for name in STREAMS if name not in LEFT_OUT]
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=default, metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="NAME")
    parser.add_argument("--delays", nargs="+", type=int, default=DELAYS, metavar="D")
    parser.add_argument("--examples", type=int, default=4_000, metavar="N")
    parser.add_argument("--coverage", type=float, default=0.9, metavar="SHARE")
    parser.add_argument("--save", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    settings = {"examples": options.examples, "coverage": options.coverage}
    record = Record(options.save, settings, Figures)
    run(options.streams, options, record)
    for delay in options.delays:
        print(f"delay {delay}: coverage (%) / mean size\n")
        print(table(record, options.streams, options.models, delay, options.coverage), end="\n\n")
    print("\n".join(unreachable(record, options.streams, options.coverage)))


if __name__ == "__main__":
    main()
