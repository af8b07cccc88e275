"""The latency of single rounds: how long the slowest ones take, and not only the average one.

    python -m benchmarks.latency

A round is a prediction followed by learning, on a stream of ten features with a fifth of the labels
flipped, from the first round on. Garbage collection is on. Times are those of the thread, so other
processes count only as far as they empty the caches, but interrupts of the machine count: the first row is a
loop of about as many microseconds, which allocates nothing.

"""

from __future__ import annotations

import gc
import time
from typing import NamedTuple

import numpy as np

import river_budget as rb
from benchmarks import streams
from river_budget.catalog import ALGORITHMS

N_ROUNDS = 100_000
BUDGET = 100

# Without a budget, the work of a round grows with the number of mistakes.
N_UNBOUNDED = 5_000


class Latency(NamedTuple):
    """Quantiles of the times of rounds in microseconds."""

    n_rounds: int
    p50: float
    p99: float
    p999: float
    largest: float


class Loop:
    """No model, but a loop that takes some microseconds."""

    def predict_one(self, x: dict) -> None:
        for _ in range(150):
            pass

    def learn_one(self, x: dict, y: bool) -> None:
        """Learn nothing."""


def latency(model, examples: list) -> Latency:
    """Return the latency of all rounds."""
    times = np.empty(len(examples))
    clock = time.thread_time_ns
    for i, (x, y) in enumerate(examples):
        start = clock()
        model.predict_one(x)
        model.learn_one(x, y)
        times[i] = clock() - start
    return Latency(len(times), *np.quantile(times / 1e3, [0.5, 0.99, 0.999, 1.0]).tolist())


def main() -> None:
    assert gc.isenabled()
    examples = streams.gaussians(N_ROUNDS)
    print(
        f"{'microseconds per round':<38}{'rounds':>9}{'p50':>9}{'p99':>9}{'p99.9':>9}{'largest':>11}"
    )
    show("a loop", latency(Loop(), examples))
    for name, row in ALGORITHMS.items():
        model = row.build(rb.RBF(gamma=0.1), budget=BUDGET, seed=1)
        n = N_UNBOUNDED if next(iter(row.variants)) in row.unbounded else N_ROUNDS
        show(name, latency(model, examples[:n]))


def show(name: str, times: Latency) -> None:
    print(
        f"{name:<38}{times.n_rounds:>9,}{times.p50:>9.1f}{times.p99:>9.1f}{times.p999:>9.1f}"
        f"{times.largest:>11.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
