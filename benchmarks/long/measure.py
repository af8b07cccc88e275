"""Progressive validation of one model on a long stream."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.long.streams import Stream
from benchmarks.models import size_of

SMALLEST_PROBABILITY = 1e-3
# More examples than the budget, so that everything is imported before it is timed.
WARM_UP = 200


class Entrant(NamedTuple):
    """A model, what puts an example into the form that it takes, and what returns its size in bytes."""

    model: Any
    form: Callable[[dict], object]
    size: Callable[[Any], int | None] = size_of


def percent(hits: list[bool]) -> float:
    return round(100 * fmean(hits), 3)


def measure(entrant: Entrant, stream: Stream) -> dict[str, Any]:
    """Return the figures of a model. The time to put examples into its form does not count."""
    model, hits, loss, seconds = entrant.model, [], 0.0, 0.0
    for x, y in stream.read():
        features = entrant.form(x)
        start = time.thread_time()
        probabilities = model.predict_proba_one(features)
        seconds += time.thread_time() - start
        hits.append(max(probabilities, key=probabilities.get, default=None) == y)
        loss -= math.log(max(probabilities.get(y, 0.0), SMALLEST_PROBABILITY))
        start = time.thread_time()
        model.learn_one(features, y)
        seconds += time.thread_time() - start
    n = len(hits)
    return {
        "accuracy": percent(hits),
        "last_fifth": percent(hits[-math.ceil(n / 5) :]),
        "log_loss": round(loss / n, 4),
        "microseconds": round(1e6 * seconds / n, 2),
        "bytes": entrant.size(model),
        "n_examples": n,
    }


def figures(make: Callable[[Stream], Entrant], stream: Stream) -> dict[str, Any]:
    """Return the figures of a new model, measured after another one has seen the first examples."""
    start = stream._replace(read=lambda: itertools.islice(stream.read(), WARM_UP))
    measure(make(start), start)
    return measure(make(stream), stream)
