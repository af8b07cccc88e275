"""The latency of single rounds: how long the slowest ones take, and not only the average one.

A round is a prediction followed by learning, on a stream of ten features with a fifth of the labels flipped, from the
first round on. Garbage collection is on. Times are those of the thread, so other processes count only as far as they
empty the caches, but interrupts of the machine count: the first row is a loop of about as many microseconds, which
allocates nothing.

"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

import river_budget as rb
from benchmarks import streams
from benchmarks.cells import Cell, Found, Section
from benchmarks.tables import markdown, short
from river_budget.catalog import ALGORITHMS

N_ROUNDS = 50_000
BUDGET = 100

# Without a budget, the work of a round grows with the number of mistakes.
N_UNBOUNDED = 5_000

LOOP = "a loop"
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "largest": 1.0}


class Loop:
    """No model, but a loop that takes some microseconds."""

    def predict_one(self, x: dict) -> None:
        for _ in range(150):
            pass

    def learn_one(self, x: dict, y: bool) -> None:
        """Learn nothing."""


examples = functools.cache(streams.gaussians)


def latency(name: str, n_rounds: int) -> dict[str, Any]:
    """Return the quantiles of the times of all rounds of a model in microseconds."""
    model = Loop() if name == LOOP else built(name)
    times = []
    clock = time.thread_time_ns
    for x, y in examples(n_rounds):
        start = clock()
        model.predict_one(x)
        model.learn_one(x, y)
        times.append(clock() - start)
    found = np.quantile(np.array(times) / 1e3, list(QUANTILES.values())).round(2).tolist()
    return {"rounds": len(times), **dict(zip(QUANTILES, found, strict=True))}


def built(name: str) -> Any:
    return ALGORITHMS[name].build(rb.RBF(gamma=0.1), budget=BUDGET, seed=1)


def cells(is_quick: bool) -> list[Cell]:
    names = [LOOP, "Forgetron"] if is_quick else [LOOP, *ALGORITHMS]
    return [Cell(name, "latency", latency, (name, rounds(name, is_quick))) for name in names]


def rounds(name: str, is_quick: bool) -> int:
    if is_quick:
        return 500
    grows = name != LOOP and next(iter(ALGORITHMS[name].variants)) in ALGORITHMS[name].unbounded
    return N_UNBOUNDED if grows else N_ROUNDS


def table(found: Found) -> str:
    """Return the table of quantiles in microseconds."""
    rows = {name: row["latency"] for name, row in found.items()}
    return markdown({
        name if name == LOOP else f"`{name}`": {
            "rounds": f"{figures['rounds']:,}",
            **{name: short(figures[name]) for name in QUANTILES},
        }
        for name, figures in rows.items()
    })  # fmt: skip


SECTION = Section("latency", cells, {"latency": table}, minutes=1.5, is_timed=True)
