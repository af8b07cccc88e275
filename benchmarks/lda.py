"""KernelLDA where classes arrive one after the other: accuracy on all of them, bytes and microseconds.

    python -m benchmarks.lda [--seeds 3]

The rows of each data set are learned once, shuffled or in tasks: clinc150 in 15 tasks of ten classes,
Pendigits and MNIST in five of two. Embeddings and pictures are arrays. Accuracy in % is that on the test
rows of all classes at the end, the mean over seeds of the order and of the random features. A round is
`predict_one` and `learn_one`, in the last fifth of the shuffled rows.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

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
SIZES = {"clinc150": (300, 500, 1000), "Pendigits": (100, 300, 1000), "MNIST": (100, 300, 1000)}


class Result(NamedTuple):
    accuracy: float
    n_bytes: int
    microseconds: float


def measure(data: Data, order: np.ndarray, n_features: int, seed: int) -> Result:
    model = rb.KernelLDA(n_features=n_features, seed=seed)
    labels, start = data.labels.tolist(), len(order) * 4 // 5
    for i in order[:start]:
        model.learn_one(data.rows[i], labels[i])
    begun = time.thread_time()
    for i in order[start:]:
        model.predict_one(data.rows[i])
        model.learn_one(data.rows[i], labels[i])
    seconds = (time.thread_time() - begun) / (len(order) - start)
    predicted = [model.predict_one(x) for x in data.test_rows]
    hits = [p == y for p, y in zip(predicted, data.test_labels, strict=True)]
    return Result(100 * statistics.mean(hits), model.memory_bytes, 1e6 * seconds)


def in_tasks(data: Data, shuffled: np.ndarray) -> np.ndarray:
    tasks = data.labels[shuffled].astype(int) // data.classes_of_task
    return shuffled[np.argsort(tasks, kind="stable")]


def lines(n_seeds: int) -> Iterator[str]:
    yield "| | D | shuffled | in tasks | bytes | microseconds |\n|---|---|---|---|---|---|"
    for name, read in DATA.items():
        data = read()
        orders = [
            np.random.default_rng(seed).permutation(len(data.rows)) for seed in range(n_seeds)
        ]
        for n_features in SIZES[name]:
            shuffled = [measure(data, o, n_features, s) for s, o in enumerate(orders)]
            tasks = [measure(data, in_tasks(data, o), n_features, s) for s, o in enumerate(orders)]
            means = [
                f"{statistics.mean(r.accuracy for r in some):.1f}" for some in (shuffled, tasks)
            ]
            time_of_round = statistics.median(r.microseconds for r in shuffled)
            cells = [*means, f"{shuffled[0].n_bytes:,}", f"{time_of_round:.1f}"]
            yield f"| {name} | {n_features} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="number of orders")
    for line in lines(parser.parse_args().seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
