"""Labels that come late: accuracy by delay, on streams whose labels come in runs and on others.

    python -m benchmarks.late [--streams NAME ...] [--models NAME ...] [--delays D ...] [--examples N]
        [--distribution NAME] [--missing SHARE] [--save FILE] [--against FILE ...]

Progressive validation of the first N examples of each stream, 4,000 by default: each example is predicted, and
learned after D others were predicted. Figures are the accuracy over all examples, in percent. Streams "in runs"
have the examples of another one, ordered so that each label comes in runs with a mean length of 20.

`--save` writes every figure to a JSON file as soon as it is there, and does not repeat what the file has.
`--against` adds a saved run of another version, and shows the differences to it. Streams without data are left
out.

"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from river import forest, linear_model, multiclass, preprocessing, tree

import river_budget as rb
from benchmarks.multiclass import markdown
from benchmarks.record import Record, parsed
from benchmarks.suite import STREAMS, Stream
from river_budget.datasets import DatasetError

DELAYS = [0, 1, 10, 100, 1_000]
MEAN_RUN = 20
# More examples than are used, so that no label of a stream in runs is gone early.
SUPPLY = 2


class Figures(NamedTuple):
    """What is measured of one model on one stream with one delay."""

    accuracy: float
    microseconds: float


def in_runs(name: str, n: int) -> Stream:
    """Return examples of a stream in runs of the same label, until a label that is drawn is used up."""
    rng = np.random.default_rng(1)
    queues: dict[object, deque] = defaultdict(deque)
    for x, y in STREAMS[name](SUPPLY * n):
        queues[y].append((x, y))
    labels = sorted(queues, key=str)
    shares = np.array([len(queues[y]) for y in labels], float)
    ordered: Stream = []
    while len(ordered) < n:
        queue = queues[labels[rng.choice(len(labels), p=shares / shares.sum())]]
        length = rng.geometric(1 / MEAN_RUN)
        if len(queue) < length:
            break
        ordered += [queue.popleft() for _ in range(length)]
    return ordered[:n]


IN_RUNS = {
    f"{name}, in runs": functools.partial(in_runs, name)
    for name in [
        "Bananas", "Phishing", "Adult9", "Pendigits (10)", "MNIST (10)", "ImageSegments (7)",
        "Waveform (3)", "Agrawal", "RandomRBF", "Shuttle",
    ]
}  # fmt: skip
AUTOCORRELATED = [
    "Elec2", "Covertype", "SpamAssassin", "ClassIncremental (10)", "RecurringConcepts", *IN_RUNS,
]  # fmt: skip
OTHERS = [
    "Bananas", "Phishing", "Adult9", "Pendigits (10)", "MNIST (10)", "Waveform (3)", "SEA, drift", "Agrawal, drift",
    "Sine, drift", "Hyperplane", "RandomRBF", "RandomTree", "RotatingGaussians", "LED, drift (10)",
]  # fmt: skip
ALL: dict[str, Callable[[int], Stream]] = {**STREAMS, **IN_RUNS}


def river(classifier: object) -> object:
    return preprocessing.StandardScaler() | classifier


MODELS: dict[str, Callable[[], object]] = {
    "Mnemotron": lambda: rb.Mnemotron(max_pending=2_000),
    "Mnemotron, regions=16": lambda: rb.Mnemotron(regions=16, max_pending=2_000),
    "Mnemotron, repeats=False": lambda: rb.Mnemotron(repeats=False, max_pending=2_000),
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "HoeffdingAdaptiveTreeClassifier": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "LogisticRegression": lambda: river(
        multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    ),
}


def measure(model, examples: Stream, delays: rb.evaluate.Delays) -> Figures:
    """Return the figures of progressive validation with late labels."""
    labels, hits = [y for _, y in examples], 0
    start = time.thread_time()
    for number, x, y in delays.turns(examples):
        if y is None:
            hits += model.predict_one(x) == labels[number]
        else:
            model.learn_one(x, y)
    seconds = time.thread_time() - start
    return Figures(100 * hits / len(labels), 1e6 * seconds / len(labels))


def run(streams: list[str], models: list[str], delays: list[int], options, record: Record) -> None:
    """Measure what the record does not have yet."""
    for stream in streams:
        try:
            examples = ALL[stream](options.examples)
        except DatasetError as error:
            print(f"{stream}: left out, {error}", file=sys.stderr)
            continue
        for model in models:
            for delay in delays:
                key = f"{model} @ {delay}"
                if key in record.results.get(stream, {}):
                    continue
                drawn = rb.evaluate.Delays(delay, options.distribution, options.missing, seed=1)
                figures = measure(MODELS[model](), examples, drawn)
                record.add(stream, key, figures)
                print(f"{stream}, {key}: {figures}", file=sys.stderr, flush=True)


Results = dict[str, dict[str, Figures]]


def table(results: Results, streams: Iterable[str], keys: list[str], before: Results) -> str:
    """Return a table of accuracies by stream, with their means, and the differences to an earlier run."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for stream in streams:
        row, old = results.get(stream, {}), before.get(stream, {})
        if all(key in row for key in keys):
            rows[stream] = [
                (row[key].accuracy, row[key].accuracy - old[key].accuracy if key in old else np.nan)
                for key in keys
            ]
    if not rows:
        return ""
    rows["mean"] = np.mean(list(rows.values()), axis=0).tolist()
    return markdown({
        stream: {
            key: f"{value:.2f}" + ("" if np.isnan(gain) else f" ({gain:+.2f})")
            for key, (value, gain) in zip(keys, row, strict=True)
        }
        for stream, row in rows.items()
    })  # fmt: skip


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.late")
    parser.add_argument("--streams", nargs="+", choices=ALL, metavar="NAME")
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, metavar="NAME", default=["Mnemotron"]
    )
    parser.add_argument("--delays", nargs="+", type=int, default=DELAYS, metavar="D")
    parser.add_argument("--examples", type=int, default=4_000, metavar="N")
    parser.add_argument("--distribution", default="fixed")
    parser.add_argument("--missing", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--against", type=Path, metavar="FILE")
    return parser


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    settings = {
        "examples": options.examples,
        "distribution": options.distribution,
        "missing": options.missing,
    }
    record = Record(options.save, settings, Figures)
    streams = options.streams or [*AUTOCORRELATED, *OTHERS]
    run(streams, options.models, options.delays, options, record)
    before = {}
    if options.against is not None:
        before = parsed(json.loads(options.against.read_text()), Figures)
    keys = [f"{model} @ {delay}" for model in options.models for delay in options.delays]
    for title, group in [("in runs", AUTOCORRELATED), ("others", OTHERS)]:
        shown = [stream for stream in group if stream in streams]
        print(f"{title}\n\n{table(record.results, shown, keys, before)}\n")


if __name__ == "__main__":
    main()
