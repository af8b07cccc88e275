"""KernelLDA where classes arrive one after the other: accuracy on all of them, bytes and microseconds.

    python -m benchmarks.lda [NAME ...] [--seeds 3]
    python -m benchmarks.lda --steps 1000000

The rows of each data set are learned once, shuffled or in tasks: clinc150 in 15 tasks of ten classes,
Pendigits and MNIST in five of two. Embeddings and pictures are arrays. Accuracy in % is that on the test
rows of all classes at the end, the mean over seeds of the order and of the random features. A round is
`predict_one` and `learn_one`, of the last 200 rows; `learn_many` learns all others.

With `--steps`, models in single and in double precision learn so many rows of four streams, of which they see
20,000 rows, or all of Pendigits, again and again. Accuracy in % is that on the last tenth, in blocks of 1,000
rows that are predicted and then learned.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from river.datasets import synth

import river_budget as rb
from benchmarks.streams import dense, load


class Data(NamedTuple):
    """Learned and tested rows, as dicts, and the number of classes in a task."""

    rows: list
    labels: np.ndarray
    test_rows: list
    test_labels: list
    classes_of_task: int


def arrays(X: np.ndarray) -> list:
    return [{"x": row} for row in X.astype(np.float32)]


def clinc150() -> Data:
    data = load("clinc150_lsa384")
    return Data(
        arrays(data["X_train"]), data["y_train"],
        arrays(data["X_test"]), data["y_test"].tolist(), 10,
    )  # fmt: skip


def pendigits() -> Data:
    data = load("pendigits")
    return Data(
        list(dense(data["X_train"])), data["y_train"],
        list(dense(data["X_test"])), data["y_test"].tolist(), 2,
    )  # fmt: skip


def mnist() -> Data:
    data = load("mnist")
    rows, labels = arrays(data["X_train"][:8000]), data["y_train"][:8000]
    return Data(rows, labels, arrays(data["X_test"]), data["y_test"].tolist(), 2)


DATA = {"clinc150": clinc150, "Pendigits": pendigits, "MNIST": mnist}
SIZES = {
    "clinc150": (300, 500, 1000, 2000, 4000, 8000),
    "Pendigits": (100, 300, 1000),
    "MNIST": (100, 300, 1000),
}


N_TIMED = 200


class Result(NamedTuple):
    """Accuracy in percent, memory, and microseconds of a round and of a row in `learn_many`."""

    accuracy: float
    n_bytes: int
    of_round: float
    of_row: float


def frame_of(rows: list) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def measure(data: Data, order: np.ndarray, n_features: int, seed: int) -> Result:
    model = rb.KernelLDA(n_features=n_features, seed=seed)
    labels, first, last = data.labels.tolist(), order[:-N_TIMED], order[-N_TIMED:]
    frame = frame_of([data.rows[i] for i in first])
    times = [time.thread_time()]
    model.learn_many(frame, [labels[i] for i in first])
    times.append(time.thread_time())
    for i in last:
        model.predict_one(data.rows[i])
        model.learn_one(data.rows[i], labels[i])
    times.append(time.thread_time())
    of_row, of_round = 1e6 * np.diff(times) / (len(first), len(last))
    hits = np.asarray(model.predict_many(frame_of(data.test_rows))) == data.test_labels
    return Result(100 * float(hits.mean()), model.memory_bytes, of_round, of_row)


def in_tasks(data: Data, shuffled: np.ndarray) -> np.ndarray:
    tasks = data.labels[shuffled].astype(int) // data.classes_of_task
    return shuffled[np.argsort(tasks, kind="stable")]


def lines(names: list[str], n_seeds: int) -> Iterator[str]:
    yield "| | D | shuffled | in tasks | bytes | microseconds of a round | of `learn_many` |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        data = DATA[name]()
        orders = [
            np.random.default_rng(seed).permutation(len(data.rows)) for seed in range(n_seeds)
        ]
        for n_features in SIZES[name]:
            shuffled = [measure(data, o, n_features, s) for s, o in enumerate(orders)]
            tasks = [measure(data, in_tasks(data, o), n_features, s) for s, o in enumerate(orders)]
            means = [
                f"{statistics.mean(r.accuracy for r in some):.1f}" for some in (shuffled, tasks)
            ]
            of_round, of_row = (
                min(getattr(result, kind) for result in shuffled + tasks)
                for kind in ("of_round", "of_row")
            )
            cells = [*means, f"{shuffled[0].n_bytes:,}", f"{of_round:,.0f}", f"{of_row:,.0f}"]
            yield f"| {name} | {n_features} | {' | '.join(cells)} |"


BLOCK, N_ROWS = 1_000, 20_000


def sources() -> dict[str, list]:
    """Return the rows of four streams, with their labels."""
    data = load("pendigits")
    return {
        "Pendigits": list(zip(dense(data["X_train"]), data["y_train"].tolist(), strict=True)),
        "RotatingGaussians": list(rb.synth.RotatingGaussians(N_ROWS, speed=1 / 2000, seed=1)),
        "RandomRBF (5)": list(
            synth.RandomRBF(1, 1, n_classes=5, n_features=10, n_centroids=20).take(N_ROWS)
        ),
        "Waveform (3)": list(synth.Waveform(seed=1).take(N_ROWS)),
    }


def accuracy_after(rows: list, forgetting: float, dtype: str, n_steps: int) -> float:
    """Return the accuracy on the last tenth of so many rows, in percent."""
    model = rb.KernelLDA(100, forgetting=forgetting, dtype=dtype)
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    n_blocks, hits = n_steps // BLOCK, []
    for block in range(n_blocks):
        chosen = np.arange(block * BLOCK, (block + 1) * BLOCK) % len(rows)
        if 10 * block >= 9 * n_blocks:
            hits.append(np.mean(np.asarray(model.predict_many(X.iloc[chosen])) == y.iloc[chosen]))
        model.learn_many(X.iloc[chosen], y.iloc[chosen])
    return 100 * statistics.mean(hits)


def precision(n_steps: int) -> Iterator[str]:
    yield f"| after {n_steps:,} steps | forgetting | float32 | float64 |\n|---|---|---|---|"
    for name, rows in sources().items():
        for forgetting in (1.0, 0.999):
            both = (accuracy_after(rows, forgetting, t, n_steps) for t in ("float32", "float64"))
            yield f"| {name} | {forgetting} | {' | '.join(f'{a:.2f}' for a in both)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DATA))
    parser.add_argument("--seeds", type=int, default=3, help="number of orders")
    parser.add_argument("--steps", type=int, help="compare precisions after so many steps")
    options = parser.parse_args()
    for line in (
        precision(options.steps)
        if options.steps
        else lines(options.names or list(DATA), options.seeds)
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main()
