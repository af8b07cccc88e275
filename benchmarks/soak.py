"""Whether a long life leaves memory, time and numbers where they were.

python -m benchmarks.soak [rounds]

Every algorithm on a budget learns from a world that turns, with feature names that come and go and
one bad row in a thousand, in a process of its own.

"""

from __future__ import annotations

import concurrent.futures
import gc
import itertools
import math
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.models import ours

BUDGET = 100
MODELS = {type(model).__name__: model for model in ours(BUDGET).values()}

MOST_GROWTH = 2**20
MOST_SLOWDOWN = 1.2
# A tenth of fewer rounds is too short to take time of.
FEWEST_TIMED = 200_000
LARGEST_RESIDUALS = {"inverses": 1e-5}
LARGEST_RESIDUAL = 1e-9

# What is wrong with one row in a thousand, in turns: values, rows that are no dicts, labels.
BAD_ROWS = [
    ({"u": math.nan}, True), ({"u": math.inf}, True), ({"u": "red"}, True), ({"u": None}, True),
    ([1.0, 2.0], True), (None, True), ({"u": 1.0}, "third"), ({"u": 1.0}, None),
]  # fmt: skip


def resident_bytes() -> int:
    """Return the process's resident size (Linux)."""
    status = Path("/proc/self/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


def world(seed: int = 1) -> Iterator[tuple[dict, bool]]:
    """Two clouds that turn around each other, one label in ten wrong, among names that change.

    Two features tell the class. Three more have names that live for a thousand rounds or so, and one
    has a name that never comes back.

    """
    rng = random.Random(seed)
    for t in itertools.count():
        sign, angle = rng.choice([-1, 1]), t / 2000
        x = {
            "u": sign * math.cos(angle) + rng.gauss(0, 0.5),
            "v": sign * math.sin(angle) + rng.gauss(0, 0.5),
            **{f"name-{10**9 + t // 50 + rng.randrange(20)}": rng.random() for _ in range(3)},
            f"once-{10**9 + t}": 0.1,
        }
        yield x, (sign > 0) != (rng.random() < 0.1)


class Life:
    """A model in the world, and what is counted beside it."""

    def __init__(self, model) -> None:
        self.model = model
        self.rows = world()
        self.bad_rows = itertools.cycle(BAD_ROWS)
        self.n_good = self.n_mistakes = self.n_bad = self.n_refused = 0

    def go_on(self, n_rounds: int) -> float:
        """Live through so many rounds, in parts of a thousand, and return the seconds in the model."""
        seconds = 0.0
        for start in range(0, n_rounds, 1000):
            part = list(itertools.islice(self.rows, min(1000, n_rounds - start)))
            began = time.process_time()
            for x, y in part:
                f = self.model.decision_function_one(x)
                self.model.learn_one(x, y)
                self.n_mistakes += f <= 0 if y else f >= 0
            seconds += time.process_time() - began
            self.n_good += len(part)
            self.meet_a_bad_row()
        return seconds

    def meet_a_bad_row(self) -> None:
        self.n_bad += 1
        x, y = next(self.bad_rows)
        try:
            self.model.learn_one(x, y)
        except ValueError:
            self.n_refused += 1


def soak(name: str, n_rounds: int) -> tuple[str, bool]:
    """Return a line about an algorithm's life, and whether all is well."""
    life, tenth = Life(MODELS[name]), n_rounds // 10
    life.go_on(tenth)
    gc.collect()
    resident = resident_bytes()
    times = [life.go_on(tenth) for _ in range(9)]
    gc.collect()
    growth, slowdown = resident_bytes() - resident, times[-1] / times[0]
    residuals = life.model.numerical_errors()
    holds = {
        "growth": growth < MOST_GROWTH,
        "time": slowdown <= MOST_SLOWDOWN or n_rounds < FEWEST_TIMED,
        "rounds": life.model.n_rounds == life.n_good,
        "mistakes": life.model.n_mistakes == life.n_mistakes,
        "bad rows": life.n_refused == life.n_bad,
        "kept": all(
            value <= LARGEST_RESIDUALS.get(what, LARGEST_RESIDUAL)
            for what, value in residuals.items()
        ),
    }
    broken = [what for what, well in holds.items() if not well]
    kept = ", ".join(f"{what} {value:.0e}" for what, value in residuals.items()) or "nothing kept"
    line = (
        f"{name:<35}{life.model.n_rounds:>10,} rounds {life.model.n_mistakes:>9,} mistakes "
        f"{life.n_refused:>5,}/{life.n_bad:,} bad rows refused, {growth / 1024:>+6.0f} KiB, "
        f"time x {slowdown:.2f}, {kept}: {'FAIL ' + ', '.join(broken) if broken else 'ok'}"
    )
    return line, not broken


def main() -> None:
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with concurrent.futures.ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        well = True
        for line, is_well in processes.map(soak, MODELS, itertools.repeat(n_rounds)):
            print(line, flush=True)
            well = well and is_well
    sys.exit(not well)


if __name__ == "__main__":
    main()
