"""Times, and the lower limit that they are compared with."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

REPEATS = 7


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start


def alternating_medians(
    *works: Callable[[], object],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.thread_time,
) -> list[float]:
    """Return the median time of each function in seconds; they run alternately.

    The first round is a warm-up. The default clock counts the processor time of this thread alone.

    """
    rounds = [[seconds(work, clock) for work in works] for _ in range(repeats + 1)]
    return [statistics.median(times) for times in zip(*rounds[1:], strict=True)]


def lower_limit(n_vectors: int, queries: list[dict]) -> Callable[[], object]:
    """Return a function that does the least work of predictions: per query a BLAS product and an exp."""
    rows = [np.array(list(x.values())) for x in queries]
    vectors = np.random.default_rng(1).normal(size=(n_vectors, len(rows[0])))

    def work():
        for row in rows:
            np.exp(vectors @ row)

    return work
