"""Whether memory, time per round and numerical accuracy stay constant over a long run.

python -m benchmarks.soak [rounds]

Every algorithm whose memory is bounded learns a drifting stream, with feature names that appear and disappear
and one bad row in a thousand, in a process of its own.

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

import river_budget as rb
from benchmarks.models import ours

BUDGET = 100
MODELS = {type(model).__name__: model for model in [*ours(BUDGET).values(), rb.KernelLDA(100)]}

MOST_GROWTH = 2**20
# Memory is measured after at least so many rounds: Mnemotron first learns relevances with a full support set
# after 1,024, and takes the memory for that.
FEWEST_BEFORE = 1_200
MOST_SLOWDOWN = 1.2
# A tenth of fewer rounds is too short to be timed.
FEWEST_TIMED = 200_000
LARGEST_RESIDUALS = {"inverses": 1e-5}
LARGEST_RESIDUAL = 1e-9

# The bad rows, in rotation: invalid values, rows that are not mappings, invalid labels.
BAD_ROWS = [
    ({"u": math.inf}, True), ({"u": [1.0]}, True), ({"u": 1e200}, True),
    ([1.0, 2.0], True), (None, True), ({"u": 1.0}, [True]), ({"u": 1.0}, None),
]  # fmt: skip


def resident_bytes(process: int | str = "self") -> int:
    """Return the resident size of a process (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


def drifting_stream(seed: int = 1) -> Iterator[tuple[dict, bool]]:
    """Yield examples of two Gaussians that rotate around each other, with 10 % flipped labels.

    Two features determine the class. Three more have names that are in use for about a thousand
    rounds, and one has a name that never recurs.

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


class Run:
    """A model that learns the stream, and independent counts of its rounds and mistakes."""

    def __init__(self, model) -> None:
        self.model = model
        self.rows = drifting_stream()
        self.bad_rows = itertools.cycle(BAD_ROWS)
        self.n_good = self.n_mistakes = self.n_bad = self.n_refused = 0

    def advance(self, n_rounds: int) -> float:
        """Learn some rounds, with a bad row after each thousand, and return the seconds in the model."""
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
            self.learn_a_bad_row()
        return seconds

    def learn_a_bad_row(self) -> None:
        self.n_bad += 1
        x, y = next(self.bad_rows)
        try:
            self.model.learn_one(x, y)
        except ValueError:
            self.n_refused += 1


def soak(name: str, n_rounds: int) -> tuple[str, bool]:
    """Return a report on an algorithm, and whether all checks passed."""
    run, tenth = Run(MODELS[name]), n_rounds // 10
    run.advance(max(tenth, FEWEST_BEFORE))
    gc.collect()
    resident = resident_bytes()
    times = [run.advance(tenth) for _ in range(9)]
    gc.collect()
    growth, slowdown = resident_bytes() - resident, times[-1] / times[0]
    residuals = run.model.numerical_errors()
    holds = {
        "growth": growth < MOST_GROWTH,
        "time": slowdown <= MOST_SLOWDOWN or n_rounds < FEWEST_TIMED,
        "rounds": run.model.n_rounds == run.n_good,
        "mistakes": run.model.n_mistakes == run.n_mistakes,
        "bad rows": run.n_refused == run.n_bad,
        "accuracy": all(
            value <= LARGEST_RESIDUALS.get(what, LARGEST_RESIDUAL)
            for what, value in residuals.items()
        ),
    }
    failed = [what for what, passed in holds.items() if not passed]
    errors = (
        ", ".join(f"{what} {value:.0e}" for what, value in residuals.items())
        or "no incremental quantities"
    )
    report = (
        f"{name:<35}{run.model.n_rounds:>10,} rounds {run.model.n_mistakes:>9,} mistakes "
        f"{run.n_refused:>5,}/{run.n_bad:,} bad rows refused, {growth / 1024:>+6.0f} KiB, "
        f"time x {slowdown:.2f}, {errors}: {'FAIL ' + ', '.join(failed) if failed else 'ok'}"
    )
    return report, not failed


def main() -> None:
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with concurrent.futures.ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        all_passed = True
        for report, passed in processes.map(soak, MODELS, itertools.repeat(n_rounds)):
            print(report, flush=True)
            all_passed = all_passed and passed
    sys.exit(not all_passed)


if __name__ == "__main__":
    main()
