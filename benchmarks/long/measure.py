"""Progressive validation of one model on a long stream."""

from __future__ import annotations

import itertools
import math
import time
from typing import NamedTuple

import numpy as np

from benchmarks.long import moa
from benchmarks.long.models import Entrant
from benchmarks.long.streams import Stream
from benchmarks.models import size_of

SMALLEST_PROBABILITY = 1e-3
N_WINDOWS = 50


class Figures(NamedTuple):
    """What is measured of one model on one stream.

    Attributes
    ----------
    accuracy, last_fifth
        In percent, of all examples that were done, and of the last 20 % of them.
    log_loss
        The mean over the examples that were done.
    microseconds
        Processor time to predict and learn an example.
    bytes
        Memory of the model in the end, None if it is unknown.
    n_done, n_examples
        Number of examples that were done, and that of the stream.
    windows
        Accuracy in percent in each window that was done, one of 50 equal parts of the stream.

    """

    accuracy: float
    last_fifth: float
    log_loss: float
    microseconds: float
    bytes: int | None
    n_done: int
    n_examples: int
    windows: list[float]

    @property
    def is_complete(self) -> bool:
        return self.n_done == self.n_examples

    @property
    def seconds(self) -> float:
        """Processor time of all examples that were done."""
        return self.microseconds * self.n_done / 1e6


def percent(hits: np.ndarray) -> float:
    return round(100 * float(hits.mean()), 4)


def last_fifth(hits: np.ndarray) -> float:
    """Return the accuracy in percent of the last 20 %, rounded up to whole examples."""
    return percent(hits[-math.ceil(len(hits) / 5) :])


def ends_of_windows(n_examples: int) -> list[int]:
    """Return where each of 50 equal parts of a stream ends, or of fewer if it is shorter than that."""
    n_windows = min(N_WINDOWS, n_examples)
    return [n_examples * i // n_windows for i in range(1, n_windows + 1)]


def windows(hits: np.ndarray, n_examples: int) -> list[float]:
    """Return the accuracy in percent in each window that was done to its end."""
    ends = [end for end in ends_of_windows(n_examples) if end <= len(hits)]
    return [percent(hits[start:end]) for start, end in itertools.pairwise([0, *ends])]


def memory(model: object) -> int | None:
    return model.written_bytes() if isinstance(model, moa.Classifier) else size_of(model)


def measure(entrant: Entrant, stream: Stream, most_seconds: float) -> Figures:
    """Return the figures of a model, which stops once it has taken so many seconds of processor time.

    The time to put an example into the form that the model takes does not count.

    """
    model, hits, loss, seconds = entrant.model, [], 0.0, 0.0
    for x, y in stream.read():
        if seconds > most_seconds:
            break
        features = entrant.form(x)
        start = time.thread_time()
        probabilities = model.predict_proba_one(features)
        seconds += time.thread_time() - start
        hits.append(max(probabilities, key=probabilities.get, default=None) == y)
        loss -= math.log(max(probabilities.get(y, 0.0), SMALLEST_PROBABILITY))
        start = time.thread_time()
        model.learn_one(features, y)
        seconds += time.thread_time() - start
    right, n = np.array(hits), len(hits)
    return Figures(
        percent(right), last_fifth(right), round(loss / n, 5), 1e6 * seconds / n,
        memory(model), n, stream.n_examples, windows(right, stream.n_examples),
    )  # fmt: skip
