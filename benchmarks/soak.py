"""Whether memory, time of a round and numerical accuracy stay constant over a long run.

    python -m benchmarks.soak [rounds]

Every algorithm whose memory is bounded learns a drifting stream, with feature names that appear and disappear and one
bad row in a thousand, in a process of its own. Growth is that of the resident size of the process after the first tenth
of the run, the slowdown is the time of the last tenth divided by that of the second, and the largest residual is that of
the quantities that a model updates incrementally, compared with their values from scratch. The command runs a million
rounds unless told otherwise, and fails if something that must hold does not.

"""

from __future__ import annotations

import gc
import itertools
import math
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.models import ours
from benchmarks.processes import alone, resident_bytes
from benchmarks.tables import markdown

N_ROUNDS, N_ROUNDS_OF_COMMAND = 100_000, 1_000_000
BUDGET = 100

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


def models() -> dict[str, Any]:
    return {**ours(BUDGET), "KernelLDA": rb.KernelLDA(100)}


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

    def __init__(self, model: Any) -> None:
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


def soak(name: str, n_rounds: int) -> dict[str, Any]:
    """Return the report on an algorithm, which has to be in a process of its own."""
    run, tenth = Run(models()[name]), n_rounds // 10
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
    return {
        "rounds": run.n_good,
        "mistakes": run.n_mistakes,
        "growth": growth,
        "slowdown": round(slowdown, 3),
        "residual": max(residuals.values(), default=0.0),
        "failed": [what for what, passed in holds.items() if not passed],
    }


def soak_alone(name: str, n_rounds: int) -> dict[str, Any]:
    return alone(soak, name, n_rounds)


def cells(is_quick: bool) -> list[Cell]:
    names, n_rounds = (["Forgetron"], 2_000) if is_quick else (models(), N_ROUNDS)
    return [Cell(name, "run", soak_alone, (name, n_rounds)) for name in names]


def table(found: Found) -> str:
    """Return the table of reports."""
    return markdown({f"`{name}`": shown(row["run"]) for name, row in found.items()})


def shown(report: dict[str, Any]) -> dict[str, str]:
    return {
        "rounds": f"{report['rounds']:,}",
        "mistakes": f"{report['mistakes']:,}",
        "growth, KiB": f"{report['growth'] / 1024:,.0f}",
        "slowdown": f"{report['slowdown']:.2f}",
        "largest residual": f"{report['residual']:.0e}",
        "failed": ", ".join(report["failed"]) or "nothing",
    }


def main() -> None:
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else N_ROUNDS_OF_COMMAND
    reports = []
    for name in models():
        reports.append(soak_alone(name, n_rounds))
        print(
            f"{name}: {', '.join(f'{what} {value}' for what, value in shown(reports[-1]).items())}"
        )
    sys.exit(any(report["failed"] for report in reports))


SECTION = Section("soak", cells, {"soak": table}, minutes=2)

if __name__ == "__main__":
    main()
