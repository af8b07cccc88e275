"""Embeddings: 150 intents as vectors of 384 numbers, learned shuffled and in tasks, and questions of unknown intents.

The training part of clinc150 is learned once, shuffled or in 15 tasks of ten intents. Figures are the accuracy in percent
on the test part, the areas under the ROC curve of telling its out-of-scope questions from the others by novelty and by the
entropy of the probabilities, and microseconds to learn an example and megabytes. Models of the package use `learn_many`. One
seed decides the order and the random features; others change accuracies by 0.2 or so.

The widths are the best of 1/4, 1/2, 1, 2 and 4 on the validation part. `Mnemotron` has one kernel and one expert. The
nearest class mean and the streaming LDA, which has one covariance of all classes, with shrinkage, are written in NumPy here;
their novelty is minus the largest score.

"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.local import load
from benchmarks.tables import markdown, short, table

PER_TASK, SHRINKAGE = 10, 1e-3
SHUFFLED, IN_TASKS = "shuffled", "in tasks"

Array = NDArray[Any]


class NearestMean:
    """The nearest class mean for rows of norm 1, updated online."""

    def __init__(self) -> None:
        self.sums, self.counts = np.zeros((150, 384)), np.zeros(150)
        self.memory_bytes = self.sums.nbytes + self.counts.nbytes

    def learn_many(self, frame: dict[str, Array], labels: list[int]) -> None:
        for x, y in zip(frame["embedding"], labels, strict=True):
            self.learn_one(x, y)

    def learn_one(self, x: Array, y: int) -> None:
        self.sums[y] += x
        self.counts[y] += 1

    def weights(self, means: Array) -> Array:
        return means

    def scores(self, X: Array) -> Array:
        """Return the linear scores of all classes (rows, classes)."""
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        weights = self.weights(means)
        scores = X @ weights.T - (means * weights).sum(axis=1) / 2
        return np.where(self.counts > 0, scores, -np.inf)


class StreamingLDA(NearestMean):
    """Linear discriminant analysis: class means, and one covariance that is updated online."""

    def __init__(self) -> None:
        super().__init__()
        self.covariance = np.zeros((384, 384))
        self.memory_bytes += self.covariance.nbytes

    def learn_one(self, x: Array, y: int) -> None:
        n, difference = self.counts[y], x - self.sums[y] / max(self.counts[y], 1)
        self.covariance += n / (n + 1) * np.outer(difference, difference)
        super().learn_one(x, y)

    def weights(self, means: Array) -> Array:
        covariance = self.covariance / self.counts.sum() + SHRINKAGE * np.eye(384)
        return np.linalg.solve(covariance, means.T).T


MODELS: dict[str, Callable[[], Any]] = {
    "nearest class mean": NearestMean,
    "streaming LDA": StreamingLDA,
    "KernelLDA(300)": lambda: rb.KernelLDA(300),
    "KernelLDA(1000)": lambda: rb.KernelLDA(1000),
    "KernelLDA(4000)": lambda: rb.KernelLDA(4000),
    "Mnemotron(1000)": lambda: rb.Mnemotron(1000, [rb.RBF(0.5)], [(1.0, 0.1)]),
    "ProjectronPlusPlus(1000)": lambda: rb.ProjectronPlusPlus(rb.RBF(2.0), budget=1000),
}
ROUTER = "Reject(KernelLDA(1000), share=0.05)"


def rows_of(part: str, n: int, seed: int = 1) -> tuple[Array, Array]:
    """Return so many embeddings of a part of clinc150, or all, in random order, and their intents."""
    data = load("clinc150_lsa384")
    drawn = np.random.default_rng(seed).permutation(len(data[f"y_{part}"]))[:n]
    return data[f"X_{part}"][drawn].astype(np.float32), data[f"y_{part}"][drawn]


def answers(model: Any, X: Array) -> dict[str, Array]:
    """Return predictions and doubts about rows (rows,)."""
    if isinstance(model, NearestMean):
        scores = model.scores(X)
        return {"label": scores.argmax(axis=1), "novelty": -scores.max(axis=1)}
    probabilities = model.predict_proba_many({"embedding": X})
    values = np.array(list(probabilities.values()))
    return {
        "label": np.array(list(probabilities))[values.argmax(axis=0)],
        "novelty": np.array([model.novelty_one({"embedding": x}) for x in X]),
        "entropy": special.entr(values).sum(axis=0),
    }


def area(known: Array, unknown: Array) -> float:
    """Return the area under the ROC curve of telling unknown rows by larger values."""
    return stats.mannwhitneyu(unknown, known).statistic / (len(known) * len(unknown))


def measured(name: str, order: str, n: int) -> dict[str, float]:
    """Return the figures of a model that has learned so many rows in an order."""
    model, (X, y), (X_test, y_test) = MODELS[name](), rows_of("train", n), rows_of("test", n)
    X_unknown, _ = rows_of("oos_test", n)
    rows = np.argsort(y // PER_TASK, kind="stable") if order == IN_TASKS else np.arange(n)
    start = time.thread_time()
    model.learn_many({"embedding": X[rows]}, y[rows].tolist())
    seconds = time.thread_time() - start
    known, unknown = answers(model, X_test), answers(model, X_unknown)
    figures = {
        "accuracy": 100 * (known.pop("label") == y_test).mean(),
        "µs": 1e6 * seconds / n,
        "MB": model.memory_bytes / 1e6,
        **{doubt: area(values, unknown[doubt]) for doubt, values in known.items()},
    }
    return {key: round(float(figure), 4) for key, figure in figures.items()}


def rejected(seed: int, n: int) -> dict[str, float]:
    """Return what a router rejects, in percent: of training rows before it learns them, and of others at the end."""
    model = rb.Reject(rb.KernelLDA(1000, seed=seed), share=0.05)
    n_rejected = 0
    for x, y in zip(*rows_of("train", n, seed), strict=True):
        n_rejected += model.predict_one({"embedding": x}) is None
        model.learn_one({"embedding": x}, y)
    shares = {"training part": n_rejected / n}
    for name, part in (("known intents", "test"), ("unknown intents", "oos_test")):
        X, _ = rows_of(part, n)
        shares[name] = fmean(model.predict_one({"embedding": x}) is None for x in X)
    return {name: round(100 * share, 2) for name, share in shares.items()}


def cells(is_quick: bool) -> list[Cell]:
    n, names, seeds = (
        (500, list(MODELS)[:3], [1]) if is_quick else (15_000, list(MODELS), [1, 2, 3])
    )
    measures = [
        Cell(name, order, measured, (name, order, n))
        for name, order in product(names, (SHUFFLED, IN_TASKS))
    ]
    return measures + [Cell(ROUTER, f"order {seed}", rejected, (seed, n)) for seed in seeds]


def by_model(found: Found) -> str:
    """Return the table of models. All but the accuracy in tasks is measured on shuffled rows."""
    rows = {}
    for name in filter(found.__contains__, MODELS):
        shuffled, in_tasks = found[name][SHUFFLED], found[name][IN_TASKS]
        rows[name] = {
            "accuracy, shuffled": f"{shuffled['accuracy']:.1f}",
            "in tasks": f"{in_tasks['accuracy']:.1f}",
            "AUROC, novelty": f"{shuffled['novelty']:.3f}",
            "entropy": f"{shuffled['entropy']:.3f}" if "entropy" in shuffled else "",
            "µs to learn": short(shuffled["µs"]),
            "MB": short(shuffled["MB"]),
        }
    return markdown(rows)


TABLES = {
    "embeddings_models": by_model,
    "embeddings_rejected": lambda found: table(found[ROUTER], "{:.1f}".format),
}

SECTION = Section("embeddings", cells, TABLES, minutes=5)
