"""Times, and the limit that they are held against."""

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


def in_turns(
    *works: Callable[[], object],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.thread_time,
) -> list[float]:
    """Return each work's median time in seconds; the first round only warms up.

    The clock stands still while the processor does other work, unless another one is given.

    """
    rounds = [[seconds(work, clock) for work in works] for _ in range(repeats + 1)]
    return [statistics.median(times) for times in zip(*rounds[1:], strict=True)]


def limit(n_vectors: int, queries: list[dict]) -> Callable[[], object]:
    """Return the least that predictions can take: for each query one BLAS product and one exp."""
    lines = [np.array(list(x.values())) for x in queries]
    vectors = np.random.default_rng(1).normal(size=(n_vectors, len(lines[0])))

    def work():
        for line in lines:
            np.exp(vectors @ line)

    return work
