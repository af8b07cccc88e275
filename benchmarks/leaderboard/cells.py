"""What the leaderboard measures: one model on one stream, test then learn."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from river import dummy, linear_model, metrics

from benchmarks import suite
from benchmarks.leaderboard import track
from benchmarks.models import size_of
from benchmarks.multiclass import Part
from river_budget.catalog import ALGORITHMS

N_SYNTHETIC = 10_000
# Imports on first use are no part of the cost, nor are rounds before the budget is full.
WARM_UP, SMALL_BUDGET = 300, 5


class Stream(NamedTuple):
    """A stream of the leaderboard.

    Attributes
    ----------
    read
        Returns the examples.
    n_examples
        Their number.
    is_binary
        Whether there are two labels.

    """

    read: Callable[[], Any]
    n_examples: int
    is_binary: bool


def synthetic(name: str) -> Stream:
    return Stream(lambda: suite.STREAMS[name](N_SYNTHETIC), N_SYNTHETIC, name in suite.BINARY)


# The quick ones first.
STREAMS = {
    "Phishing": Stream(track.STREAMS["Phishing"], 1_250, is_binary=True),
    "ImageSegments": Stream(track.STREAMS["ImageSegments"], 2_310, is_binary=False),
    "Bananas": Stream(track.STREAMS["Bananas"], 5_300, is_binary=True),
    **{
        name: synthetic(name)
        for name in ["SEA, drift", "RandomRBFDrift", "LED, drift (10)", "RandomRBFDrift (5)"]
    },
    "Elec2": Stream(track.STREAMS["Elec2"], 45_312, is_binary=True),
}

OURS = {name: lambda row=row: row.build(seed=1) for name, row in ALGORITHMS.items()}
RIVERS = {
    **track.ANY_LABELS,
    # River's newer releases expect values of a known range.
    "AMF, scaled": lambda: track.scaled(track.ANY_LABELS["AMF"]()),
}
BINARY_ONLY = {**track.BINARY_ONLY, "PA": lambda: track.scaled(linear_model.PAClassifier())}
MANY_ONLY = {"Softmax regression": lambda: track.scaled(linear_model.SoftmaxRegression())}


def models(stream: str) -> dict[str, Callable[[], Any]]:
    """Return makers of the models that take the labels of a stream."""
    return {**RIVERS, **(BINARY_ONLY if STREAMS[stream].is_binary else MANY_ONLY), **OURS}


class Cell(NamedTuple):
    """The figures of one model on one stream.

    Attributes
    ----------
    stream, model
        Their names.
    asked, examples
        Number of examples to learn, and of those that the limit of time allowed.
    accuracy, kappa, kappa_m, kappa_t
        In percent, over all examples. As in River, an example without a prediction, the first one,
        does not count.
    window, windowed
        Number of examples in a window, and accuracy in percent in each full window.
    processor, wall
        Microseconds to predict and learn an example.
    bytes
        Size of the classifier in the end.

    """

    stream: str
    model: str
    asked: int
    examples: int
    accuracy: float
    kappa: float
    kappa_m: float
    kappa_t: float
    window: int
    windowed: list[float]
    processor: float
    wall: float
    bytes: int


def warm_up(model: str, make: Callable[[], Any], examples: list) -> None:
    row = ALGORITHMS.get(model)
    learner = row.build(budget=SMALL_BUDGET) if row else make()
    for x, y in examples:
        learner.predict_one(x)
        learner.learn_one(x, y)


def measure(stream: str, model: str, n: int, seconds: float) -> Cell:
    """Return the figures of a model on the first `n` examples of a stream.

    It stops after so many seconds of processor time.

    """
    make = models(stream)[model]
    examples = list(itertools.islice(STREAMS[stream].read(), n))
    warm_up(model, make, examples[:WARM_UP])
    learner, part, hits = make(), Part(examples, seconds), []
    scored = metrics.Accuracy() + metrics.CohenKappa()
    # The baselines of kappa m and kappa t, from the second example on.
    baselines = {dummy.PriorClassifier(): [], dummy.NoChangeClassifier(): []}
    processor = wall = 0.0
    for x, y in part:
        start, start_wall = time.thread_time(), time.perf_counter()
        y_pred = learner.predict_one(x)
        learner.learn_one(x, y)
        processor += time.thread_time() - start
        wall += time.perf_counter() - start_wall
        hits.append(y_pred == y)
        for baseline, right in baselines.items():
            right.append(baseline.predict_one(x) == y)
            baseline.learn_one(x, y)
        if y_pred is not None:
            scored.update(y, y_pred)

    wrong, *others = (sum(not hit for hit in own[1:]) for own in [hits, *baselines.values()])
    kappas = [1 - wrong / other if other else 0.0 for other in others]
    window = min(1000, max(100, len(examples) // 25))
    full = range(window, len(hits) + 1, window)
    return Cell(
        stream, model, len(examples), len(part),
        *(round(100 * value, 4) for value in [*(metric.get() for metric in scored), *kappas]),
        window, [round(100 * sum(hits[end - window : end]) / window, 2) for end in full],
        round(1e6 * processor / len(part), 3), round(1e6 * wall / len(part), 3), size_of(learner),
    )  # fmt: skip
