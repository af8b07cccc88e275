from __future__ import annotations

import time
from typing import Any

from river_budget import checkpoint, evaluate, synth, theory
from river_budget.catalog import ALGORITHMS
from river_budget.cli import named, notes
from river_budget.cli.app import app

BUDGET = 5


@app.command()
def warmup() -> None:
    """Compile everything that the commands use, once for this machine, and keep it in Numba's cache.

    It takes a minute or so where nothing is compiled yet. Standard error names each step, and says
    in the end how long it took.
    """
    notes.expect_compiling()
    start = time.perf_counter()
    kernel = named.rbf(None)
    two_labels = _rows(60)
    three_labels = [(x, t % 3) for t, (x, _) in enumerate(two_labels)]
    for name, algorithm in ALGORITHMS.items():
        notes.say(f"{name} ...")
        model = named.build(algorithm, kernel, BUDGET, seed=1, scale=True)
        for rows in (two_labels, three_labels):
            evaluate.compare({name: model}, rows)
            evaluate.lifelong(model, [rows], [0], len(rows) // 2, len(rows) // 3)
        # The commands above learn with clones.
        for x, y in two_labels:
            model.learn_one(x, y)
        checkpoint.loads(checkpoint.dumps(model))
    notes.say("certificates ...")
    theory.certify(ALGORITHMS["KernelPerceptron"].build(kernel), two_labels)
    notes.say(f"compiled in {time.perf_counter() - start:.1f} s")


def _rows(n: int) -> list[tuple[dict[Any, Any], Any]]:
    """Return examples whose names are first the same and then change: other loops do each."""
    listed = list(synth.TwoGaussians(n, seed=1))
    changing = [({**x, f"other {t % 4}": 1.0}, y) for t, (x, y) in enumerate(listed)]
    return listed[: n // 2] + changing[n // 2 :]
