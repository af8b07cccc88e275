"""Scales and width from the data, beside the width 1 / (number of features of the first example).

    python -m benchmarks.widths [N]

Progressive accuracy in percent on N examples of each stream, 5,000 by default, on a budget of 100: raw
values, and after a StandardScaler, for both rules. Each is the mean over three samples: other parts of
streams in the order of time, other orders of other data sets, and other seeds of generated streams.
Data sets that are not part of the package are read from the directory given by RIVER_BUDGET_DATA, and
left out if they are absent. At the end, the three first texts before SpamAssassin's, and all cells that
miss their goal: 1.0 below a StandardScaler with the width 1 / features at most, and 0.5 between the
first texts.

"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from river import datasets, evaluate, metrics, preprocessing
from river.datasets import synth

import river_budget as rb
from benchmarks.local import load
from river_budget.datasets import DatasetError

N = 5_000
BUDGET = 100
N_SAMPLES = 3

# The goals: the largest loss against a StandardScaler with the old width, and between first texts.
LARGEST_LOSS, LARGEST_SPREAD = 1.0, 0.5

Stream = list[tuple[dict, object]]


def examples(X, y) -> Stream:
    names = [f"f{j}" for j in range(X.shape[1])]
    rows = np.asarray(X, float).tolist()
    return [(dict(zip(names, x, strict=True)), t) for x, t in zip(rows, y.tolist(), strict=True)]


def in_order(n: int, sample: int, X, y) -> tuple:
    """Return one of three equally spaced parts of n rows."""
    start = sample * max(0, len(X) - n) // (N_SAMPLES - 1)
    return X[start : start + n], y[start : start + n]


def shuffled(n: int, sample: int, X, y) -> tuple:
    """Return n rows in another order, for the first sample in theirs."""
    order = np.random.default_rng(sample).permutation(len(X)) if sample else np.arange(len(X))
    return X[order[:n]], y[order[:n]]


def stored(
    name: str, part: Callable = shuffled, positive: Callable | None = None
) -> Callable[[int, int], Stream]:
    def read(n: int, sample: int) -> Stream:
        data = load(name)
        X, y = (data["X"], data["y"]) if "X" in data else (data["X_train"], data["y_train"])
        return examples(*part(n, sample, X, y if positive is None else positive(y)))

    return read


def spam(first: str | None = None, unit: bool = False) -> Callable[[int, int], Stream]:
    """Return SpamAssassin as sparse dicts, optionally with norm 1 and after a first text."""

    def read(n: int, sample: int) -> Stream:
        data = load("spam_assassin")
        X, y = in_order(n, sample, data["X"], data["y"])
        stream = [
            ({f"w{j}": 1.0 for j in np.flatnonzero(row).tolist()}, bool(t))
            for row, t in zip(X, y, strict=True)
        ]
        if unit:
            stream = [({w: v / math.sqrt(len(x)) for w, v in x.items()}, y) for x, y in stream]
        if first is not None:
            stream.insert(0, (dict.fromkeys(first.split(), 1.0), False))
        return stream

    return read


def rivers(dataset: Callable) -> Callable[[int, int], Stream]:
    """Return a data set of River, in another order for each sample but the first."""

    def read(n: int, sample: int) -> Stream:
        stream = [({k: float(v) for k, v in x.items()}, y) for x, y in dataset()]
        if sample:
            random.Random(sample).shuffle(stream)
        return stream[:n]

    return read


def generated(generator: Callable) -> Callable[[int, int], Stream]:
    """Return a generated stream of River, given the generator of a seed."""

    def read(n: int, sample: int) -> Stream:
        pairs = itertools.islice(generator(sample + 1), n)
        return [({k: float(v) for k, v in x.items()}, y) for x, y in pairs]

    return read


def changing(kind: str) -> Callable[[int, int], Stream]:
    """Return two rings whose first feature grows fourfold, slowly or at once half-way."""

    def read(n: int, sample: int) -> Stream:
        rng = np.random.default_rng(sample + 1)
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
    "Bananas": rivers(datasets.Bananas),
    "Phishing": rivers(datasets.Phishing),
    "Agrawal": generated(lambda seed: synth.Agrawal(seed=seed)),
    "SEA": generated(lambda seed: synth.SEA(seed=seed)),
    "RandomRBF": generated(
        lambda seed: synth.RandomRBF(seed_model=42, seed_sample=41 + seed, n_centroids=50)
    ),
    "a feature that trends": changing("trend"),
    "a feature that jumps": changing("jump"),
    "ImageSegments (7 labels)": rivers(datasets.ImageSegments),
    "Elec2": stored("elec2", in_order),
    "Covertype": stored("covtype", in_order),
    "Adult9, one-hot": stored("adult_a9a"),
    "Pendigits (10 labels)": stored("pendigits"),
    "Waveform": stored("waveform_gen", positive=lambda y: y > 0),
    "MNIST, odd or even": stored("mnist", positive=lambda y: y % 2 == 1),
    "SpamAssassin": spam(),
    "SpamAssassin, norm 1": spam(unit=True),
}
FIRST_TEXTS = {
    "''": spam(""),
    "'hi'": spam("hi"),
    "200 words": spam(" ".join(f"first{i}" for i in range(200))),
}

# The columns of a model.
RAW_OLD, RAW_NEW, SCALED_OLD, SCALED_NEW = range(4)


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


def cells(name: str, sample: int, n: int) -> list[list[float]]:
    """Return the accuracies of each model: old and new on raw values, old and new when scaled."""
    stream = {**STREAMS, **FIRST_TEXTS}[name](n, sample)
    first = stream[0][0]
    old = models(1 / max(1, len(first)), tuple(first))
    return [
        [
            accuracy(prepare(model.clone()), stream)
            for prepare in (lambda m: m, lambda m: preprocessing.StandardScaler() | m)
            for model in (old[which], new)
        ]
        for which, new in models(None, ()).items()
    ]


def row(name: str, n: int) -> list[list[float]] | None:
    """Return the means of `cells` over all samples; None without the data."""
    try:
        samples = [cells(name, sample, n) for sample in range(N_SAMPLES)]
    except DatasetError:
        return None
    return np.mean(samples, axis=0).tolist()


def missed(found: dict[str, list[list[float]]]) -> list[str]:
    """Return the cells that miss their goal."""
    misses = []
    for i, model in enumerate(models(None, ())):
        for name in STREAMS.keys() & found.keys():
            values = found[name][i]
            for cell, which in [(RAW_NEW, "raw"), (SCALED_NEW, "scaled")]:
                difference = values[cell] - values[SCALED_OLD]
                if difference < -LARGEST_LOSS:
                    misses.append(f"{name}, {model}, {which}: {difference:+.1f}")
        texts = [found[name][i][RAW_NEW] for name in FIRST_TEXTS if name in found]
        if texts and max(texts) - min(texts) > LARGEST_SPREAD:
            misses.append(f"first texts, {model}: {max(texts) - min(texts):.1f} apart")
    return sorted(misses)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else N
    print(f"{'raw old, new; scaled old, new':28s}", *(f"{m:>27s}" for m in models(None, ())))
    names, found = [*STREAMS, *FIRST_TEXTS], {}
    with ProcessPoolExecutor(2) as pool:
        for name, values in zip(names, pool.map(row, names, itertools.repeat(n)), strict=True):
            if values is not None:
                found[name] = values
                parts = ("".join(f"{value:7.1f}" for value in part) for part in values)
                print(f"{name:28s}", *parts, flush=True)
    print("\nmissed:", *missed(found) or ["none"], sep="\n")


if __name__ == "__main__":
    main()
