"""Questions for labels: the accuracy of Mnemotron where a sampler asks for one label in ten.

Each cell is the mean over five seeds, which order the rows and drive the samplers, of up to 3,000 examples. All
samplers get the first ten labels, and then as many as `Query` asks for: `EntropySampler` has the discount factor that
comes nearest, which is searched with the whole stream in view, and random questions are drawn beforehand.

"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

from river import active

import river_budget as rb
from benchmarks import streams
from benchmarks.cells import Cell, Found, Section
from benchmarks.suite import STREAMS, Stream
from benchmarks.tables import means, short, table

N_SEEDS, N_EXAMPLES = 5, 3_000
RATE = 0.1
FIRST = 10
STEPS_OF_SEARCH = 12
LARGEST_DISCOUNT = 200.0

SHUFFLED = ["Phishing", "Bananas", "Covertype", "ImageSegments (7)", "Pendigits (10)"]
# Their order is that of time.
ORDERED = ["Elec2", "SEA, drift", "Mixed, drift"]


class Asking:
    """A model whose labels are asked for in rounds that are drawn beforehand."""

    def __init__(self, rounds: Iterable[int]) -> None:
        self.model, self.rounds, self.n = rb.Mnemotron(), {*rounds}, -1

    def predict_one(self, x: dict) -> tuple[Any, bool]:
        self.n += 1
        return self.model.predict_one(x), self.n in self.rounds

    def learn_one(self, x: dict, y: Any) -> None:
        self.model.learn_one(x, y)


class Run(NamedTuple):
    """The share of right predictions, and the number of labels, after the first ones."""

    accuracy: float
    n_labels: int


def run(sampler: Any, examples: Stream) -> Run:
    """Return how a sampler does that learns the first examples, then those that it asks for."""
    n_right = n_labels = 0
    for x, y in examples[:FIRST]:
        sampler.learn_one(x, y)
    for x, y in examples[FIRST:]:
        y_pred, asks = sampler.predict_one(x)
        n_right += y_pred == y
        if asks:
            sampler.learn_one(x, y)
            n_labels += 1
    return Run(n_right / len(examples[FIRST:]), n_labels)


def nearest_run(examples: Stream, n_labels: int, seed: int) -> Run:
    """Return the run of the `EntropySampler` that comes nearest to a number of labels."""
    least, most, runs = 0.0, LARGEST_DISCOUNT, []
    for _ in range(STEPS_OF_SEARCH):
        discount = (least + most) / 2
        runs.append(run(active.EntropySampler(rb.Mnemotron(), discount, seed), examples))
        least, most = (discount, most) if runs[-1].n_labels > n_labels else (least, discount)
    return min(runs, key=lambda found: abs(found.n_labels - n_labels))


def examples_of(stream: str, seed: int, n: int) -> Stream:
    if stream in ORDERED:
        return STREAMS[stream](n)
    examples = list(STREAMS[stream](streams.N))
    random.Random(seed).shuffle(examples)
    return examples[:n]


def measured(stream: str, seed: int, n: int) -> dict[str, float]:
    """Return the accuracy of each sampler in percent, and the labels of those whose number is not given."""
    examples = examples_of(stream, seed, n)
    rounds = range(len(examples) - FIRST)
    query = run(rb.Query(rb.Mnemotron(), RATE, seed), examples)
    runs = {
        "Query": query,
        "EntropySampler": nearest_run(examples, query.n_labels, seed),
        "random": run(Asking(random.Random(seed).sample(rounds, query.n_labels)), examples),
        "all labels": run(Asking(rounds), examples),
    }
    accuracies = {name: round(100 * each.accuracy, 3) for name, each in runs.items()}
    return accuracies | {f"labels, {name}": runs[name].n_labels for name in list(runs)[:2]}


def cells(is_quick: bool) -> list[Cell]:
    names, seeds, n = (
        (["Bananas"], 1, 80) if is_quick else (SHUFFLED + ORDERED, N_SEEDS, N_EXAMPLES)
    )
    return [
        Cell(stream, f"seed {seed}", measured, (stream, seed, n))
        for stream, seed in product(names, range(seeds))
    ]


def by_stream(found: Found) -> str:
    """Return the table of means over the seeds."""
    rows = {stream: means(list(row.values())) for stream, row in found.items()}
    rows["mean"] = means(list(rows.values()))
    return table(rows, short)


SECTION = Section("queries", cells, {"queries": by_stream}, minutes=1)
