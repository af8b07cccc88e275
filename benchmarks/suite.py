"""The short streams: real and synthetic, with and without drift, two labels and more.

Each is a function from a number of examples to a list of pairs of features and label. The labels of
two-class streams are booleans. All seeds are fixed. The data sets that are not part of River are read
from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np
from river import datasets
from river.datasets import synth

from benchmarks import streams
from benchmarks.local import load
from river_budget import synth as own

Stream = list[tuple[dict, object]]


def binary(examples: Iterable, n: int) -> Stream:
    return [(x, bool(y)) for x, y in itertools.islice(examples, n)]


def switching(make: Callable, functions: Iterable[int]) -> Callable[[int], Stream]:
    """Return a stream of equal parts, each with another classification function."""

    def read(n: int) -> Stream:
        concepts = [make(function) for function in functions]
        schedule = [(i, -(-n // len(concepts))) for i in range(len(concepts))]
        return binary(own.RecurringConcepts(concepts, schedule), n)

    return read


def census(n: int) -> Stream:
    """Return Census-Income, 6 % positive, with nominal features in one-hot form."""
    data = load("census_income_kdd_testpart")
    one_hot = [
        np.eye(size, dtype=np.float32)[codes]
        for codes, size in zip(data["X_cat"][:n].T, data["cat_sizes"], strict=True)
    ]
    X = np.concatenate([data["X_num"][:n], *one_hot], axis=1)
    return list(zip(streams.dense(X), (data["y"][:n] > 0).tolist(), strict=True))


def waveform(n: int) -> Stream:
    data = load("waveform_gen")
    return list(zip(streams.dense(data["X_train"][:n]), data["y_train"][:n].tolist(), strict=True))


def rotating_boards(n: int) -> Stream:
    """Return a checkerboard and two Gaussians in turn, each of which comes back."""
    concepts = [own.NoisyCheckerboard(squares=3, noise=0.05, seed=1), own.TwoGaussians(seed=1)]
    return binary(own.RecurringConcepts(concepts, n_samples=n), n)


BINARY: dict[str, Callable[[int], Stream]] = {
    **{
        name: lambda n, name=name: streams.named(name)[:n]
        for name in [
            "Bananas", "Phishing", "Elec2", "Adult9", "Covertype", "SpamAssassin", "Pendigits",
            "RandomRBFDrift",
        ]
    },
    "Shuttle": lambda n: binary(datasets.Shuttle(), n),
    "Census": census,
    "Waveform": lambda n: [(x, y > 0) for x, y in waveform(n)],
    "SEA": lambda n: binary(synth.SEA(noise=0.1, seed=1), n),
    "SEA, drift": switching(lambda k: synth.SEA(variant=k, noise=0.1, seed=1), range(4)),
    "Agrawal": lambda n: binary(synth.Agrawal(seed=1), n),
    "Agrawal, drift": switching(lambda k: synth.Agrawal(k, seed=1), [0, 3, 6, 8]),
    "STAGGER, drift": switching(lambda k: synth.STAGGER(k, seed=1), [0, 1, 2]),
    "Sine, drift": switching(lambda k: synth.Sine(k, seed=1), range(4)),
    "Mixed, drift": switching(lambda k: synth.Mixed(k, seed=1), [0, 1, 0, 1]),
    "Hyperplane": lambda n: binary(synth.Hyperplane(seed=1, mag_change=0.001), n),
    "RandomRBF": lambda n: binary(synth.RandomRBF(seed_model=1, seed_sample=1, n_centroids=50), n),
    "RandomTree": lambda n: binary(synth.RandomTree(seed_tree=1, seed_sample=1), n),
    "RotatingGaussians": lambda n: binary(own.RotatingGaussians(speed=0.002, seed=1), n),
    "ShiftingCheckerboard": lambda n: binary(
        own.ShiftingCheckerboard(shift=0.001, every=1, noise=0.05, seed=1), n
    ),
    "RecurringConcepts": rotating_boards,
    "RarePositives": lambda n: binary(own.RarePositives(n, seed=1), n),
}  # fmt: skip

MANY: dict[str, Callable[[int], Stream]] = {
    "ImageSegments (7)": lambda n: streams.labelled("ImageSegments", n),
    "Pendigits (10)": lambda n: streams.labelled("Pendigits", n),
    "Waveform (3)": waveform,
    "LED, drift (10)": lambda n: list(
        synth.LEDDrift(seed=1, noise_percentage=0.1, n_drift_features=4).take(n)
    ),
    "RandomRBFDrift (5)": lambda n: list(
        synth.RandomRBFDrift(
            seed_model=1, seed_sample=1, n_classes=5, n_centroids=50, n_drift_centroids=50,
            change_speed=0.0005,
        ).take(n)
    ),
    "ClassIncremental (10)": lambda n: list(
        own.ClassIncremental(n, samples_per_task=-(-n // 7), recurrence=0.3, seed=1)
    ),
}  # fmt: skip

STREAMS = {**BINARY, **MANY}
