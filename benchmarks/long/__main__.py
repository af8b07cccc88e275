"""Mnemotron on long streams, beside forests, adaptive trees and logistic regression.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.long [--streams NAME ...] [--models NAME ...] [--examples N]
        [--most-seconds S] [--save FILE] [--picture FILE]

Progressive validation of the first N examples of each stream, 100,000 by default, or of all that it has.
For each model: accuracy of the whole stream and of the last 20 % of it, log loss, microseconds an example,
and memory in the end. Probabilities below 0.001 count as 0.001 in the log loss. Times are processor time
of the thread that predicts and learns. Parameters are the defaults, but for the number of trees. A label
is predicted if its probability is the largest.

Mnemotron and logistic regression get categories as columns of zeros and ones, River's trees as texts, and
CapyMOA's learners as nominal attributes. Logistic regression is behind a StandardScaler. CapyMOA is the extra
`long` and needs Java; its times are without Java's compiler and garbage collector, which have threads of
their own, and its memory is the size of what Java writes to a file.

A model ends on a stream after S seconds of processor time, 1800 by default; its figures are those of the
examples until then, and say how many they are. What cannot be measured is left out, with a message: streams
without data, and CapyMOA where it or Java is not installed.

`--save` writes each result to a JSON file as soon as it is there, with the accuracy in 50 windows, and does
not repeat what the file has, unless S now allows more examples. The tables, in Markdown, are of all that the
file has. `--picture` draws the windows as learning curves, one panel a stream.

"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from benchmarks.long.measure import Figures, measure
from benchmarks.long.moa import UnavailableError
from benchmarks.long.models import MODELS
from benchmarks.long.picture import write_picture
from benchmarks.long.streams import STREAMS, Stream
from benchmarks.long.tables import kilobytes, tables
from benchmarks.record import Record
from river_budget.datasets import DatasetError

N_EXAMPLES = 100_000
MOST_SECONDS = 1_800.0
# More examples than the budget, so that everything is imported before it is timed.
WARM_UP = 200


def report(message: str) -> None:
    """Show progress, and what is left out."""
    print(message, file=sys.stderr, flush=True)


def shown(figures: Figures) -> str:
    cut = "" if figures.is_complete else ", ended by the limit of time"
    return (
        f"{figures.accuracy:.2f} % (last 20 %: {figures.last_fifth:.2f}), log loss {figures.log_loss:.3f}, "
        f"{figures.microseconds:,.1f} µs, {kilobytes(figures)} kB, {figures.n_done:,} of "
        f"{figures.n_examples:,} examples{cut}"
    )


def measured(stream: Stream, model: str, most_seconds: float) -> Figures:
    make = MODELS[model]
    start = stream._replace(read=lambda: itertools.islice(stream.read(), WARM_UP))
    measure(make(start), start, most_seconds)
    return measure(make(stream), stream, most_seconds)


def is_due(figures: Figures | None, most_seconds: float) -> bool:
    """Return whether a model is to be measured, maybe again: it has more time than when it was ended."""
    return figures is None or not (figures.is_complete or figures.seconds >= most_seconds)


def run(
    streams: list[str], models: list[str], n: int, most_seconds: float, record: Record[Figures]
) -> None:
    """Measure what the record does not have, and what may go on for longer than it did."""
    for name in streams:
        saved = record.results.get(name, {})
        due = [model for model in models if is_due(saved.get(model), most_seconds)]
        if not due:
            continue
        try:
            stream = STREAMS[name](n)
        except DatasetError as error:
            report(f"{name}: left out, {error}")
            continue
        for model in due:
            try:
                figures = measured(stream, model, most_seconds)
            except UnavailableError as error:
                report(f"{name}, {model}: left out, {error}")
                continue
            record.add(name, model, figures)
            report(f"{name}, {model}: {shown(figures)}")


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long")
    parser.add_argument(
        "--streams", nargs="+", choices=STREAMS, default=list(STREAMS), metavar="NAME"
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="NAME")
    parser.add_argument("--examples", type=int, default=N_EXAMPLES, metavar="N")
    parser.add_argument("--most-seconds", type=float, default=MOST_SECONDS, metavar="S")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--picture", type=Path, metavar="FILE")
    return parser


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    record = Record(options.save, {"examples": options.examples}, Figures)
    run(options.streams, options.models, options.examples, options.most_seconds, record)
    if not record.results:
        report("nothing was measured")
        return
    print(tables(record.results, MODELS))
    if options.picture:
        write_picture(record.results, MODELS, options.picture)


if __name__ == "__main__":
    main()
