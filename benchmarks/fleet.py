"""Workers that learn apart and are merged, beside one model that has learned all rows.

    python -m benchmarks.fleet [--features 300] [--dtype float64]

Workers are copies of a base that has learned 256 rows, and divide the other rows, in turn or by labels.
`rb.merge` makes one model of them. It is compared with the model that has learned all rows: the largest
differences of P, W and K, each as a share of the largest element; on the test rows, accuracy in %, how many
predictions are equal in %, the log loss, and the largest difference of a probability, once more with the
temperature of the model of all rows. A third of ImageSegments is tested.

The last table is for classifiers that cannot be merged: the mean of workers alone, the sum of their scores,
and one model that has learned all rows, accuracy in % on Pendigits.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base, datasets

import river_budget as rb
from benchmarks import lda
from river_budget._arrays import unpacked

N_BASE = 256

Rows = list[tuple[dict[Any, Any], Any]]


class Data(NamedTuple):
    learned: Rows
    tested: Rows


def shuffled(rows: Rows) -> Rows:
    return [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]


def of_lda(data: lda.Data) -> Data:
    learned = list(zip(data.rows, data.labels.tolist(), strict=True))
    return Data(shuffled(learned), list(zip(data.test_rows, data.test_labels, strict=True)))


def image_segments() -> Data:
    rows = shuffled(list(datasets.ImageSegments()))
    n = len(rows) * 2 // 3
    return Data(rows[:n], rows[n:])


DATA: dict[str, Callable[[], Data]] = {
    "Pendigits": lambda: of_lda(lda.pendigits()),
    "ImageSegments": image_segments,
    "clinc150": lambda: of_lda(lda.clinc150()),
}


def by_rows(rows: Rows, n: int) -> list[Rows]:
    return [rows[k::n] for k in range(n)]


def by_labels(rows: Rows, n: int) -> list[Rows]:
    """Divide rows so that no label is in two parts; with fewer labels than parts, some are empty."""
    labels = sorted({y for _, y in rows})
    return [[row for row in rows if labels.index(row[1]) % n == k] for k in range(n)]


WAYS = {"rows": by_rows, "labels": by_labels}


def learn(model: Any, rows: Rows) -> Any:
    for x, y in rows:
        model.learn_one(x, y)
    return model


def matrices(model: rb.KernelLDA) -> dict[str, np.ndarray]:
    """Return P, W and K of a model, with sorted labels."""
    state = model.state()
    learned, columns = state["hypothesis"], state["labels"]["columns"]
    order = [columns[label] for label in sorted(model.classes)]
    return {
        "P": learned["scale"] * unpacked(learned["inverse"], model.n_features),
        "W": learned["coefficients"][order].astype(float),
        "K": learned["residuals"][np.ix_(order, order)],
    }


def with_temperature_of(model: rb.KernelLDA, other: rb.KernelLDA) -> rb.KernelLDA:
    state, tuned = model.state(), model.clone()
    state["hypothesis"]["beta"] = other.state()["hypothesis"]["beta"]
    tuned.restore(state)
    return tuned


class Tested(NamedTuple):
    """What a model says of the test rows."""

    labels: list
    probabilities: np.ndarray  # (rows, labels)
    accuracy: float
    log_loss: float


def test(model: rb.KernelLDA, rows: Rows) -> Tested:
    said = [model.predict_proba_one(x) for x, _ in rows]
    labels, names = [max(p, key=p.__getitem__) for p in said], sorted(model.classes)
    losses = [-np.log(max(p.get(y, 0.0), 1e-15)) for p, (_, y) in zip(said, rows, strict=True)]
    hits = [label == y for label, (_, y) in zip(labels, rows, strict=True)]
    probabilities = np.array([[p[name] for name in names] for p in said])
    return Tested(labels, probabilities, 100 * statistics.mean(hits), statistics.mean(losses))


def compared(data: Data, n_features: int, dtype: str) -> Iterator[list[str]]:
    """Yield a row of the table for each way to divide the rows."""
    start = learn(rb.KernelLDA(n_features, dtype=dtype), data.learned[:N_BASE])
    rest = data.learned[N_BASE:]
    whole = learn(copy.deepcopy(start), rest)
    of_whole, expected = test(whole, data.tested), matrices(whole)
    for way, divide in WAYS.items():
        for n in (2, 8):
            workers = [learn(copy.deepcopy(start), part) for part in divide(rest, n)]
            begun = time.perf_counter()
            merged = rb.merge(workers, start)
            seconds = time.perf_counter() - begun
            gaps = [
                np.abs(matrix - expected[key]).max() / np.abs(expected[key]).max()
                for key, matrix in matrices(merged).items()
            ]
            alone = [test(worker, data.tested).accuracy for worker in workers]
            found = test(merged, data.tested)
            tuned = test(with_temperature_of(merged, whole), data.tested)
            equal = [a == b for a, b in zip(found.labels, of_whole.labels, strict=True)]
            yield [
                f"{n}, by {way}", f"{min(alone):.1f} to {max(alone):.1f}",
                f"{found.accuracy:.2f}", f"{of_whole.accuracy:.2f}",
                *(f"{gap:.0e}" for gap in gaps), f"{100 * statistics.mean(equal):.2f}",
                f"{found.log_loss:.3f}", f"{of_whole.log_loss:.3f}",
                *(f"{np.abs(t.probabilities - of_whole.probabilities).max():.0e}" for t in (found, tuned)),
                f"{1000 * seconds:.0f}",
            ]  # fmt: skip


HEADS = [
    "workers", "accuracy of each", "merged", "one model", "P", "W", "K", "equal predictions",
    "log loss, merged", "one model", "probabilities", "same temperature", "ms",
]  # fmt: skip


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def lines(n_features: int, dtype: str) -> Iterator[str]:
    yield line(["", *HEADS])
    yield line(["---"] * (len(HEADS) + 1))
    for name, read in DATA.items():
        for cells in compared(read(), n_features, dtype):
            yield line([name, *cells])


ADDED: dict[str, Callable[[], base.Classifier]] = {
    "Forgetron(budget=100)": lambda: rb.Forgetron(budget=100),
    "ProjectronPlusPlus(budget=100)": lambda: rb.ProjectronPlusPlus(budget=100),
    "Mnemotron(budget=100)": lambda: rb.Mnemotron(budget=100),
}


def sum_of_scores(models: Sequence[Any], x: dict[Any, Any]) -> Any:
    """Return the label with the largest sum of the scores of models, as the recipe adds them."""
    sums: dict[Any, float] = {}
    for model in models:
        for label, score in model.scores_one(x).items():
            sums[label] = sums.get(label, 0.0) + score
    return max(sums, key=sums.__getitem__)


def accuracy(predict: Callable[[dict[Any, Any]], Any], rows: Rows) -> float:
    return 100 * statistics.mean(predict(x) == y for x, y in rows)


def sums(data: Data) -> Iterator[str]:
    yield line(["two workers", "by", "each alone", "sum of scores", "one model"])
    yield line(["---"] * 5)
    for name, make in ADDED.items():
        whole = accuracy(learn(make(), data.learned).predict_one, data.tested)
        for way, divide in WAYS.items():
            workers = [learn(make(), part) for part in divide(data.learned, 2)]
            alone = statistics.mean(accuracy(w.predict_one, data.tested) for w in workers)
            both = accuracy(lambda x, workers=workers: sum_of_scores(workers, x), data.tested)
            yield line([name, way, f"{alone:.1f}", f"{both:.1f}", f"{whole:.1f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=300, help="number of random features")
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    options = parser.parse_args()
    for text in lines(options.features, options.dtype):
        print(text, flush=True)
    print()
    for text in sums(DATA["Pendigits"]()):
        print(text, flush=True)


if __name__ == "__main__":
    main()
