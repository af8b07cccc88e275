"""Workers that learn apart and are merged, beside one model that has learned all rows.

A base `KernelLDA` in double precision learns 256 rows, and workers divide the others: in turn, as copies of the base, or
by labels, as new models with its kernel. `rb.merge` makes one model of them, which is compared with one model that has
learned all rows (without those of the base, if workers are new): the largest difference of an element of P, W and K, as a
share of the largest one, and of the probability of a label; accuracies and equal predictions on the test rows, in percent;
and the log loss there, right after the merge and when both have learned 300 rows that no worker has.

"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
from river import datasets

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.local import load
from benchmarks.tables import markdown
from river_budget._arrays import unpacked

N_BASE, N_MORE = 256, 300
MERGED = "merged"
# What the table shows, and how.
SHOWN = {
    "P, W, K": ".0e", "probabilities": ".0e", "equal": ".2f",
    "worst": ".1f", "best": ".1f", "merged": ".1f", "one": ".1f",
    "loss, merged": ".3f", "loss, one": ".3f", "later, merged": ".3f", "later, one": ".3f",
}  # fmt: skip

Rows = list[tuple[dict[Any, Any], Any]]


def shuffled(rows: Rows) -> Rows:
    return [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]


def image_segments() -> tuple[Rows, Rows]:
    """Return rows to learn, and a third of all to test."""
    rows = shuffled(list(datasets.ImageSegments()))
    return rows[:1540], rows[1540:]


def arrays(name: str) -> tuple[Rows, Rows]:
    """Return the rows to learn and those to test of a file."""
    data, parts = load(name), {}
    for part in ("train", "test"):
        X, labels = data[f"X_{part}"].astype(np.float32), data[f"y_{part}"].tolist()
        parts[part] = [({"x": x}, y) for x, y in zip(X, labels, strict=True)]
    return shuffled(parts["train"]), parts["test"]


DATA: dict[str, Callable[[], tuple[Rows, Rows]]] = {
    "Pendigits": functools.partial(arrays, "pendigits"),
    "ImageSegments": image_segments,
    "clinc150": functools.partial(arrays, "clinc150_lsa384"),
}


def by_labels(rows: Rows, n: int) -> list[Rows]:
    """Divide rows so that no label is in two parts; with fewer labels than parts, some are empty."""
    labels = sorted({y for _, y in rows})
    return [[row for row in rows if labels.index(row[1]) % n == k] for k in range(n)]


WAYS: dict[str, Callable[[Rows, int], list[Rows]]] = {
    "rows": lambda rows, n: [rows[k::n] for k in range(n)],
    "labels": by_labels,
}


def learn(model: rb.KernelLDA, rows: Rows) -> rb.KernelLDA:
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


def differences(merged: rb.KernelLDA, whole: rb.KernelLDA, tested: Rows) -> dict[str, float]:
    found, expected = matrices(merged), matrices(whole)
    pairs = ((merged.predict_proba_one(x), whole.predict_proba_one(x)) for x, _ in tested)
    return {
        "P, W, K": max(np.abs(found[key] - M).max() / np.abs(M).max() for key, M in expected.items()),
        "probabilities": max(abs(p[label] - q[label]) for p, q in pairs for label in q),
    }  # fmt: skip


def accuracy(model: rb.KernelLDA, rows: Rows) -> float:
    return 100 * fmean(model.predict_one(x) == y for x, y in rows)


def log_loss(model: rb.KernelLDA, rows: Rows) -> float:
    of_labels = (model.predict_proba_one(x).get(y, 0.0) for x, y in rows)
    return fmean(-math.log(max(p, 1e-15)) for p in of_labels)


def compared(name: str, n: int, by: str, n_features: int) -> dict[str, float]:
    """Return the figures of so many workers that divide the rows of a data set by rows or by labels."""
    learned, tested = DATA[name]()
    shared, rest, more = learned[:N_BASE], learned[N_BASE:-N_MORE], learned[-N_MORE:]
    start = learn(rb.KernelLDA(n_features, dtype="float64"), shared)
    if by == "labels":
        start = rb.KernelLDA(n_features, kernel=start.resolved_kernel, dtype="float64")
    workers = [learn(copy.deepcopy(start), part) for part in WAYS[by](rest, n)]
    merged, whole = rb.merge(workers, start), learn(start, rest)
    alone = [accuracy(worker, tested) for worker in workers]
    figures = differences(merged, whole, tested)
    figures |= {"worst": min(alone), "best": max(alone)}
    figures["equal"] = accuracy(merged, [(x, whole.predict_one(x)) for x, _ in tested])
    for title, model in (("merged", merged), ("one", whole)):
        figures[title] = accuracy(model, tested)
        figures[f"loss, {title}"] = log_loss(model, tested)
        figures[f"later, {title}"] = log_loss(learn(model, more), tested)
    return {key: float(f"{figure:.6g}") for key, figure in figures.items()}


def cells(is_quick: bool) -> list[Cell]:
    names, n_features = (["ImageSegments"], 20) if is_quick else (list(DATA), 300)
    return [
        Cell(f"{name}, {n} by {by}", MERGED, compared, (name, n, by, n_features))
        for name, by, n in product(names, WAYS, (2, 8))
    ]


def table(found: Found) -> str:
    return markdown({
        row: {key: format(cells[MERGED][key], form) for key, form in SHOWN.items()}
        for row, cells in found.items()
    })  # fmt: skip


SECTION = Section("fleet", cells, {"fleet": table}, minutes=2)
