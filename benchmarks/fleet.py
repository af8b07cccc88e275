"""Workers that learn apart and are merged, beside one model that has learned all rows.

    python -m benchmarks.fleet [Pendigits ImageSegments clinc150] [--features 300] [--dtype float64] [--more 300]

A base learns 256 rows, and workers divide the others: in turn, as copies of the base, or by labels, as new
models with its kernel. `rb.merge` makes one model of them, which is compared with one model that has learned
all rows (without those of the base, if workers are new).

The first table has the largest differences: of P, W and K, each as a share of the largest element, and of a
probability of a test row, first with the temperature of the one model, and then with its own; of a probability
if workers are merged one after the other, from the last one; and the milliseconds of a merge. The second has the test rows: accuracy in %, how many predictions are equal in %, and
the log loss, right after the merge and when both models have learned `--more` rows, which no worker has. A
third of ImageSegments is tested.

The third table is for classifiers that cannot be merged: the mean of workers alone, the sum of their scores,
and one model that has learned all rows, accuracy in % on Pendigits.
"""

from __future__ import annotations

import argparse
import copy
import functools
import math
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


def accuracy(predict: Callable[[dict[Any, Any]], Any], rows: Rows) -> float:
    return 100 * statistics.mean(predict(x) == y for x, y in rows)


def log_loss(model: rb.KernelLDA, rows: Rows) -> float:
    of_labels = (model.predict_proba_one(x).get(y, 0.0) for x, y in rows)
    return statistics.mean(-math.log(max(p, 1e-15)) for p in of_labels)


def largest_gap(model: rb.KernelLDA, other: rb.KernelLDA, rows: Rows) -> float:
    """Return the largest difference of a probability."""
    pairs = ((model.predict_proba_one(x), other.predict_proba_one(x)) for x, _ in rows)
    return max(abs(p[label] - q[label]) for p, q in pairs for label in q)


class Fleet(NamedTuple):
    """Workers, the model that they are merged to, and the one that has learned all of their rows."""

    workers: list[rb.KernelLDA]
    merged: rb.KernelLDA
    whole: rb.KernelLDA
    staged: rb.KernelLDA  # merged one after the other, from the last worker
    seconds: float  # of the merge

    def differences(self, tested: Rows) -> list[str]:
        expected = matrices(self.whole)
        gaps = [
            np.abs(matrix - expected[key]).max() / np.abs(expected[key]).max()
            for key, matrix in matrices(self.merged).items()
        ]
        tuned = with_temperature_of(self.merged, self.whole)
        gaps += [largest_gap(model, self.whole, tested) for model in (tuned, self.merged)]
        gaps.append(largest_gap(self.staged, self.merged, tested))
        return [*(f"{gap:.0e}" for gap in gaps), f"{1000 * self.seconds:.0f}"]

    def results(self, tested: Rows, more: Rows) -> list[str]:
        alone = [accuracy(worker.predict_one, tested) for worker in self.workers]
        both = self.merged, self.whole
        equal = [self.merged.predict_one(x) == self.whole.predict_one(x) for x, _ in tested]
        later = [learn(copy.deepcopy(model), more) for model in both]
        return [
            f"{min(alone):.1f} to {max(alone):.1f}",
            *(f"{accuracy(model.predict_one, tested):.2f}" for model in both),
            f"{100 * statistics.mean(equal):.2f}",
            *(f"{log_loss(model, tested):.3f}" for model in (*both, *later)),
        ]


def new_fleet(rows: Rows, n: int, by: str, n_features: int, dtype: str) -> Fleet:
    start = learn(rb.KernelLDA(n_features, dtype=dtype), rows[:N_BASE])
    if by == "labels":
        start = rb.KernelLDA(n_features, kernel=start.resolved_kernel, dtype=dtype)
    rest = rows[N_BASE:]
    workers = [learn(copy.deepcopy(start), part) for part in WAYS[by](rest, n)]
    begun = time.perf_counter()
    merged = rb.merge(workers, start)
    seconds = time.perf_counter() - begun
    staged = functools.reduce(lambda one, other: rb.merge([one, other], start), reversed(workers))
    return Fleet(workers, merged, learn(copy.deepcopy(start), rest), staged, seconds)


DIFFERENCES = [
    "P",
    "W",
    "K",
    "probabilities, same temperature",
    "own temperature",
    "in stages",
    "ms",
]
RESULTS = [
    "each worker", "merged", "one model", "equal predictions", "log loss, merged", "one model",
    "later, merged", "one model",
]  # fmt: skip


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def lines(names: Sequence[str], n_features: int, dtype: str, n_more: int) -> Iterator[str]:
    differences, results = [], []
    for name in names:
        data = DATA[name]()
        rows, more = data.learned[:-n_more], data.learned[-n_more:]
        for by in WAYS:
            for n in (2, 8):
                fleet, title = new_fleet(rows, n, by, n_features, dtype), f"{n}, by {by}"
                differences.append([name, title, *fleet.differences(data.tested)])
                results.append([name, title, *fleet.results(data.tested, more)])
    for head, table in ((DIFFERENCES, differences), (RESULTS, results)):
        yield line(["", "workers", *head])
        yield line(["---"] * (len(head) + 2))
        yield from map(line, table)
        yield ""


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
    parser.add_argument("--more", type=int, default=300, help="number of rows after the merge")
    parser.add_argument("data", nargs="*", default=list(DATA), help="data sets")
    options = parser.parse_args()
    for text in lines(options.data, options.features, options.dtype, options.more):
        print(text, flush=True)
    if "Pendigits" in options.data:
        for text in sums(DATA["Pendigits"]()):
            print(text, flush=True)


if __name__ == "__main__":
    main()
