"""Scales and width from the data, beside the width 1 / (number of features of the first example).

    python -m benchmarks.widths [N]

Progressive accuracy in percent on the first N examples of each stream, 5,000 by default, on a budget of
100: raw values, and after a StandardScaler, for both rules. Data sets that are not part of the package
are read from the directory given by RIVER_BUDGET_DATA, and left out if they are absent. At the end, the
three first texts before SpamAssassin's.

"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from river import datasets, evaluate, metrics, preprocessing
from river.datasets import synth

import river_budget as rb
from river_budget.datasets import DatasetError, load

N = 5_000
BUDGET = 100

Stream = list[tuple[dict, object]]


def examples(X, y, n: int) -> Stream:
    names = [f"f{j}" for j in range(X.shape[1])]
    rows = np.asarray(X[:n], float).tolist()
    return [
        (dict(zip(names, x, strict=True)), t) for x, t in zip(rows, y[:n].tolist(), strict=True)
    ]


def stored(name: str, positive: Callable | None = None) -> Callable[[int], Stream]:
    def read(n: int) -> Stream:
        data = load(name)
        X, y = (data["X"], data["y"]) if "X" in data else (data["X_train"], data["y_train"])
        return examples(X, y if positive is None else positive(y), n)

    return read


def spam(first: str | None = None, unit: bool = False) -> Callable[[int], Stream]:
    """Return SpamAssassin as sparse dicts, optionally with norm 1 and after a first text."""

    def read(n: int) -> Stream:
        data = load("spam_assassin")
        stream = [
            ({f"w{j}": 1.0 for j in np.flatnonzero(row).tolist()}, bool(t))
            for row, t in zip(data["X"][:n], data["y"][:n], strict=True)
        ]
        if unit:
            stream = [({w: v / math.sqrt(len(x)) for w, v in x.items()}, y) for x, y in stream]
        if first is not None:
            stream.insert(0, (dict.fromkeys(first.split(), 1.0), False))
        return stream

    return read


def rivers(stream: Iterator) -> Callable[[int], Stream]:
    def read(n: int) -> Stream:
        pairs = itertools.islice(stream, n)
        return [({k: float(v) for k, v in x.items()}, y) for x, y in pairs]

    return read


def changing(kind: str) -> Callable[[int], Stream]:
    """Return two rings whose first feature grows fourfold, slowly or at once half-way."""

    def read(n: int) -> Stream:
        rng = np.random.default_rng(1)
        stream: Stream = []
        for t in range(n):
            y = bool(rng.random() < 0.5)
            radius, angle = (1.0 if y else 2.0) + 0.3 * rng.normal(), 2 * math.pi * rng.random()
            factor = 1 + 3 * t / n if kind == "trend" else 4.0 if 2 * t > n else 1.0
            x = {"u": factor * radius * math.cos(angle), "v": radius * math.sin(angle)}
            stream.append((x, y))
        return stream

    return read


STREAMS = {
    "Bananas": rivers(iter(datasets.Bananas())),
    "Phishing": rivers(iter(datasets.Phishing())),
    "Agrawal": rivers(iter(synth.Agrawal(seed=1))),
    "SEA": rivers(iter(synth.SEA(seed=1))),
    "RandomRBF": rivers(iter(synth.RandomRBF(seed_model=42, seed_sample=42, n_centroids=50))),
    "a feature that trends": changing("trend"),
    "a feature that jumps": changing("jump"),
    "ImageSegments (7 labels)": rivers(iter(datasets.ImageSegments())),
    "Elec2": stored("elec2"),
    "Covertype": stored("covtype"),
    "Adult9, one-hot": stored("adult_a9a"),
    "Pendigits (10 labels)": stored("pendigits"),
    "Waveform": stored("waveform_gen", lambda y: y > 0),
    "MNIST, odd or even": stored("mnist", lambda y: y % 2 == 1),
    "SpamAssassin": spam(),
    "SpamAssassin, norm 1": spam(unit=True),
}
FIRST_TEXTS = {
    "''": spam(""),
    "'hi'": spam("hi"),
    "200 words": spam(" ".join(f"first{i}" for i in range(200))),
}


def models(gamma: float | None, names: tuple) -> dict:
    """Return the models with a given width, or with one that they learn."""
    kernel = None if gamma is None else rb.RBF(gamma=gamma)
    kernels = gamma and (
        rb.RationalQuadratic(gamma=gamma), rb.AdditiveRationalQuadratic(gamma=gamma, names=names)
    )  # fmt: skip
    return {
        "Forgetron": rb.Forgetron(kernel, BUDGET),
        "Projectron++": rb.ProjectronPlusPlus(kernel, budget=BUDGET),
        "Tightest": rb.TightestPerceptron(kernel, BUDGET),
        "Mnemotron": rb.Mnemotron(BUDGET, kernels or None),
    }


def accuracy(model, stream: Stream) -> float:
    """Return the accuracy in percent."""
    return 100 * evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get()


def row(name: str, n: int) -> tuple[str, list[list[float]]] | None:
    """Return the accuracies of each model: old and new on raw values, old and new when scaled."""
    try:
        stream = {**STREAMS, **FIRST_TEXTS}[name](n)
    except DatasetError:
        return None
    first = stream[0][0]
    old = models(1 / max(1, len(first)), tuple(first))
    return name, [
        [
            accuracy(prepare(model.clone()), stream)
            for prepare in (lambda m: m, lambda m: preprocessing.StandardScaler() | m)
            for model in (old[which], new)
        ]
        for which, new in models(None, ()).items()
    ]


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else N
    print(f"{'raw old, new; scaled old, new':28s}", *(f"{m:>27s}" for m in models(None, ())))
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(row, [*STREAMS, *FIRST_TEXTS], itertools.repeat(n)):
            if found:
                cells = ("".join(f"{value:7.1f}" for value in part) for part in found[1])
                print(f"{found[0]:28s}", *cells, flush=True)


if __name__ == "__main__":
    main()
