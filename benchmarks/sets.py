"""Sets of labels: how often they contain the label, and their size, with labels at once and late ones.

`PredictionSets(model, coverage=0.9)` on the first 4,000 examples of each short stream: the set of each example is
predicted, and its label is learned at once, or after 200 others were predicted. Rounds before the model knows any label
do not count. "Possible" is the share of rounds in which the model knew the label; where it is lower than the coverage,
no sets can reach that. "Constant" is the mean size with the best constant threshold for the probabilities of the
model, which is known only in the end.

"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import river_budget as rb
from benchmarks import late
from benchmarks.cells import Cell, Found, Section
from benchmarks.suite import STREAMS, Stream
from benchmarks.tables import markdown, means

N_EXAMPLES = 4_000
COVERAGE = 0.9
DELAYS = {0: "labels at once", 200: "late by 200"}
# The largest distance from the coverage that is not a miss of it.
TOLERANCE = 0.01

MODELS: dict[str, Callable[[], Any]] = {
    "Mnemotron": rb.Mnemotron,
    **{name: late.MODELS[name] for name in ("ARFClassifier(10)", "LogisticRegression")},
}


class Figures(NamedTuple):
    """What is measured of the sets around one model on one stream with one delay."""

    coverage: float
    size: float
    possible: float
    constant: float
    microseconds: float


def validated(model: rb.PredictionSets, examples: Stream, delay: int, coverage: float) -> Figures:
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
    possible = fmean(label in probabilities for probabilities, label in forecasts)
    constant = constant_size(forecasts, coverage)
    return Figures(hits.get(), sizes.get(), possible, constant, 1e6 * seconds / len(examples))


def constant_size(forecasts: list[tuple[dict, object]], coverage: float) -> float:
    """Return the mean size of the sets of the largest threshold that covers enough labels."""
    of_labels = sorted(probabilities.get(label, -1.0) for probabilities, label in forecasts)
    threshold = of_labels[int((1 - coverage) * len(of_labels))]
    return fmean(sum(p >= threshold for p in own.values()) for own, _ in forecasts)


def measured(stream: str, model: str, delay: int, n: int) -> dict[str, float]:
    sets = rb.PredictionSets(MODELS[model](), COVERAGE)
    figures = validated(sets, STREAMS[stream](n), delay, COVERAGE)._asdict()
    return {name: round(value, 5) for name, value in figures.items()}


def cells(is_quick: bool) -> list[Cell]:
    names, n = (["Bananas"], 250) if is_quick else (STREAMS, N_EXAMPLES)
    return [
        Cell(stream, f"{model}, {when}", measured, (stream, model, delay, n))
        for stream, (delay, when), model in product(names, DELAYS.items(), MODELS)
    ]


def is_near(figures: dict[str, float]) -> bool:
    return abs(figures["coverage"] - COVERAGE) <= TOLERANCE


def summary(found: Found) -> str:
    """Return the table of means, extremes, and numbers of streams, by delay and model."""
    rows = {}
    for when, model in product(DELAYS.values(), MODELS):
        column = [row[f"{model}, {when}"] for row in found.values()]
        figures, coverages = means(column), [100 * each["coverage"] for each in column]
        rows[f"{model}, {when}"] = {
            "coverage (%)": f"{100 * figures['coverage']:.1f}",
            "lowest and highest": f"{min(coverages):.1f} to {max(coverages):.1f}",
            "streams within a point": f"{sum(map(is_near, column))} of {len(column)}",
            "size": f"{figures['size']:.2f}",
            "constant: size": f"{figures['constant']:.2f}",
            "µs": f"{figures['microseconds']:,.0f}",
        }
    return markdown(rows)


def misses(found: Found) -> str:
    """Return the table of coverages that are off by more than a point, of sizes, and of what was possible."""
    return markdown({
        f"{stream}, {key}": {
            "coverage (%)": f"{100 * figures['coverage']:.1f}",
            "possible (%)": f"{100 * figures['possible']:.1f}",
            "size": f"{figures['size']:.2f}",
        }
        for stream, row in found.items()
        for key, figures in row.items()
        if not is_near(figures)
    })  # fmt: skip


SECTION = Section("sets", cells, {"sets": summary, "sets_off": misses}, minutes=10)
