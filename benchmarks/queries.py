"""Questions for labels: accuracy of one classifier whose labels different samplers ask for.

    python -m benchmarks.queries [--rate 0.1] [--seeds 5] [--limit 3000]

Each cell is the mean over seeds, which order the rows and drive the samplers. All samplers ask for the
first `FIRST` labels, and as often in total as `Query` does: `EntropySampler` gets the discount factor that
comes nearest, and random questions a number that is drawn beforehand. Streams whose data sets are not part
of River are read from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
import itertools
import random
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from river import active

import river_budget as rb
from benchmarks import streams, suite
from benchmarks.multiclass import markdown

FIRST = 10
STEPS_OF_SEARCH = 12
LARGEST_DISCOUNT = 200.0

SHUFFLED = ["Phishing", "Bananas", "Covertype", "ImageSegments (7)", "Pendigits (10)"]
# Their order is that of time.
ORDERED = ["Elec2", "SEA, drift", "Mixed, drift"]
READ = {**suite.BINARY, **suite.MANY}


class Random(active.base.ActiveLearningClassifier):
    """Asks in a number of rounds that are drawn beforehand."""

    def __init__(self, classifier: Any, n_labels: int, n_rounds: int, seed: int) -> None:
        super().__init__(classifier, seed)
        self._rounds = {*self._rng.sample(range(n_rounds), n_labels)}
        self._n = 0

    def _ask_for_label(self, x: dict, y_pred: dict) -> bool:
        self._n += 1
        return self._n - 1 in self._rounds


class Run(NamedTuple):
    """The share of right predictions, and the number of labels after the first ones."""

    accuracy: float
    n_labels: int


def run(model: Any, examples: list) -> Run:
    """Return how a sampler does that learns the first examples, then those that it asks for."""
    n_right = n_labels = 0
    for x, y in examples[:FIRST]:
        model.learn_one(x, y)
    for x, y in examples[FIRST:]:
        y_pred, asks = model.predict_one(x)
        n_right += y_pred == y
        if asks:
            model.learn_one(x, y)
            n_labels += 1
    return Run(n_right / len(examples[FIRST:]), n_labels)


def entropy_run(examples: list, n_labels: int, seed: int) -> Run:
    """Return the run of the `EntropySampler` that comes nearest to a number of labels."""
    least, most, runs = 0.0, LARGEST_DISCOUNT, []
    for _ in range(STEPS_OF_SEARCH):
        discount = (least + most) / 2
        runs.append(run(active.EntropySampler(rb.Mnemotron(), discount, seed), examples))
        least, most = (discount, most) if runs[-1].n_labels > n_labels else (least, discount)
    return min(runs, key=lambda found: abs(found.n_labels - n_labels))


def measured(task: tuple[str, float, int, int]) -> dict[str, Run]:
    name, rate, seed, limit = task
    examples = list(READ[name](streams.N if name in SHUFFLED else limit))
    if name in SHUFFLED:
        random.Random(seed).shuffle(examples)
    examples = examples[:limit]
    query = run(rb.Query(rb.Mnemotron(), rate, seed), examples)
    n_rounds = len(examples) - FIRST
    by_chance = Random(rb.Mnemotron(), query.n_labels, n_rounds, seed)
    return {
        "Query": query,
        "EntropySampler": entropy_run(examples, query.n_labels, seed),
        "random": run(by_chance, examples),
        "all labels": run(Random(rb.Mnemotron(), n_rounds, n_rounds, seed), examples),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=3000)
    given = parser.parse_args()
    tasks = list(
        itertools.product([*SHUFFLED, *ORDERED], [given.rate], range(given.seeds), [given.limit])
    )
    with ProcessPoolExecutor() as pool:
        found = dict(zip(tasks, pool.map(measured, tasks), strict=True))
    rows: dict[str, dict[str, str]] = {}
    for name in [*SHUFFLED, *ORDERED]:
        runs = [runs for task, runs in found.items() if task[0] == name]
        cells = {key: f"{np.mean([r[key].accuracy for r in runs]):.3f}" for key in runs[0]}
        for key in ("Query", "EntropySampler"):
            cells[f"labels, {key}"] = f"{np.mean([r[key].n_labels for r in runs]):.0f}"
        rows[name] = cells
    means = {
        key: f"{np.mean([runs[key].accuracy for runs in found.values()]):.3f}"
        for key in next(iter(found.values()))
    }
    rows["mean"] = {key: means.get(key, "") for key in cells}
    print(markdown(rows))


if __name__ == "__main__":
    main()
