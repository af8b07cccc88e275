"""Labels that come late: accuracy by delay, on streams whose labels come in runs and on others.

Progressive validation of the first 4,000 examples of each stream: each example is predicted, and learned after so many
others were predicted. Figures are the accuracy over all examples, in percent. Streams "in runs" have the examples of
another one, ordered so that each label comes in runs with a mean length of 20.

"""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from river import forest, linear_model, multiclass, preprocessing, tree

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.suite import STREAMS, Stream
from benchmarks.tables import markdown, mean

N_EXAMPLES = 4_000
DELAYS = [0, 100, 1_000]
MEAN_RUN = 20
# More examples than are used, so that no label of a stream in runs is gone early.
SUPPLY = 2


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
        "Bananas", "Phishing", "Adult9", "Pendigits (10)", "ImageSegments (7)", "Waveform (3)",
        "Agrawal", "RandomRBF", "Shuttle",
    ]
}  # fmt: skip
OTHERS = [
    "Elec2", "Covertype", "SpamAssassin", "ClassIncremental (10)", "RecurringConcepts", "Bananas",
    "Phishing", "Adult9", "Pendigits (10)", "Waveform (3)", "SEA, drift", "Agrawal, drift",
    "Sine, drift", "Hyperplane", "RandomRBF", "RandomTree", "RotatingGaussians", "LED, drift (10)",
]  # fmt: skip
READ: dict[str, Callable[[int], Stream]] = {**{name: STREAMS[name] for name in OTHERS}, **IN_RUNS}

MODELS: dict[str, Callable[[], Any]] = {
    "Mnemotron": lambda: rb.Mnemotron(max_pending=2_000),
    "Mnemotron, repeats=False": lambda: rb.Mnemotron(repeats=False, max_pending=2_000),
    "ARFClassifier(10)": lambda: forest.ARFClassifier(n_models=10, seed=1),
    "HoeffdingAdaptiveTree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "LogisticRegression": lambda: (
        preprocessing.StandardScaler()
        | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    ),
}


def accuracy(stream: str, model: str, delay: int, n: int) -> float:
    """Return the accuracy in percent of progressive validation with late labels."""
    examples, learner = READ[stream](n), MODELS[model]()
    hits = 0
    for number, x, y in rb.evaluate.Delays(delay).turns(examples):
        if y is None:
            hits += learner.predict_one(x) == examples[number][1]
        else:
            learner.learn_one(x, y)
    return round(100 * hits / len(examples), 4)


def cells(is_quick: bool) -> list[Cell]:
    streams, n = (["Bananas, in runs"], 150) if is_quick else (list(READ), N_EXAMPLES)
    return [
        Cell(stream, f"{model} @ {delay}", accuracy, (stream, model, delay, n))
        for stream, model, delay in product(streams, MODELS, DELAYS)
    ]


def by_delay(found: Found) -> str:
    """Return the table of means over the streams in runs, and over the others."""
    groups = {"in runs": found.keys() & IN_RUNS, "others": found.keys() - IN_RUNS}
    parts = {title: {name: found[name] for name in names} for title, names in groups.items()}
    return markdown({
        model: {
            f"{title}, late by {delay:,}": f"{mean(part, f'{model} @ {delay}'):.1f}"
            for title, part in parts.items()
            if part
            for delay in DELAYS
        }
        for model in MODELS
    })  # fmt: skip


def by_stream(found: Found) -> str:
    """Return the table of accuracies with labels late by 100."""
    return markdown({
        stream: {model: f"{row[f'{model} @ 100']:.1f}" for model in MODELS}
        for stream, row in found.items()
    })  # fmt: skip


SECTION = Section(
    "late", cells, {"late_by_delay": by_delay, "late_by_stream": by_stream}, minutes=25
)
