"""The streams of `long`, with and without drift, two labels and more. All seeds are fixed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from river.datasets import synth

from benchmarks import suite
from benchmarks.local import load

# The functions of Agrawal, one after the other.
FUNCTIONS = (0, 3, 6, 8, 1)
BOTH = (False, True)
DIGITS = tuple(range(10))
NO_CATEGORIES: Mapping[object, int] = {}


class Stream(NamedTuple):
    """A stream that can be read again and again, all its labels, and the number of values of each category.

    The values of a category are whole numbers from 0 on.

    """

    read: Callable[[], Iterator[tuple[dict, object]]]
    labels: tuple = BOTH
    categories: Mapping[object, int] = NO_CATEGORIES


def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels in the publisher's order, a test part after the training part."""
    data = load(name)
    if "X" in data:
        return data["X"], data["y"]
    X = np.concatenate([data["X_train"], data["X_test"]])
    return X, np.concatenate([data["y_train"], data["y_test"]])


def shuffled(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], y[order]


def of_rows(X: np.ndarray, y: np.ndarray, n: int, **others: object) -> Stream:
    """Return the first rows as a stream. Each becomes a dict when it is read."""
    names = [f"f{j}" for j in range(X.shape[1])]

    def read() -> Iterator[tuple[dict, object]]:
        for x, label in zip(X[:n], y[:n].tolist(), strict=True):
            yield dict(zip(names, x.astype(float).tolist(), strict=True)), label

    return Stream(read, **others)


def flags(columns: Iterable[int]) -> dict[object, int]:
    """Return categories of two values."""
    return {f"f{j}": 2 for j in columns}


def covertype(X: np.ndarray, y: np.ndarray, n: int) -> Stream:
    """Return rows of Covertype: ten numbers, and areas and soils in one-hot form."""
    return of_rows(X, y > 0, n, categories=flags(range(10, 54)))


def elec2(n: int) -> Stream:
    """Return Elec2 without its date and its day of the week."""
    X, y = rows("elec2")
    return of_rows(X[:, -6:], y > 0, n)


def adult(n: int) -> Stream:
    X, y = rows("adult_a9a")
    return of_rows(X, y > 0, n, categories=flags(range(X.shape[1])))


def census(n: int) -> Stream:
    """Return Census-Income, 6 % positive: seven numbers, then 33 categories."""
    data = load("census_income_kdd_testpart")
    X = np.concatenate([data["X_num"], data["X_cat"]], axis=1)
    sizes = enumerate(data["cat_sizes"].tolist(), data["X_num"].shape[1])
    return of_rows(X, data["y"] > 0, n, categories={f"f{j}": size for j, size in sizes})


def of_generator(make: Callable[[int], Iterable], **others: object) -> Callable[[int], Stream]:
    """Return a maker of the first examples of what a generator yields, with two labels or digits."""
    label = int if others.get("labels") == DIGITS else bool

    def first(n: int) -> Stream:
        return Stream(lambda: ((x, label(y)) for x, y in itertools.islice(make(n), n)), **others)

    return first


STREAMS: dict[str, Callable[[int], Stream]] = {
    "Covertype, in order": lambda n: covertype(*rows("covtype"), n),
    "Covertype, shuffled": lambda n: covertype(*shuffled(*rows("covtype")), n),
    "Elec2": elec2,
    "Adult": adult,
    "Census": census,
    "MNIST, shuffled": lambda n: of_rows(*shuffled(*rows("mnist")), n, labels=DIGITS),
    "RandomRBFDrift": of_generator(
        lambda _: synth.RandomRBFDrift(
            seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
            change_speed=0.001, n_drift_centroids=50,
        )
    ),
    "Hyperplane": of_generator(lambda _: synth.Hyperplane(seed=1, mag_change=0.001)),
    "Agrawal, five concepts": of_generator(
        suite.switching(lambda function: synth.Agrawal(function, seed=1), FUNCTIONS)
    ),
    "Agrawal, function 1": of_generator(lambda _: synth.Agrawal(1, seed=1)),
    "RandomTree": of_generator(
        lambda _: synth.RandomTree(seed_tree=1, seed_sample=1),
        categories={f"x_cat_{j}": 5 for j in range(5)},
    ),
    "LED, drift": of_generator(
        lambda _: synth.LEDDrift(seed=1, noise_percentage=0.1, n_drift_features=4),
        labels=DIGITS, categories=dict.fromkeys(range(7), 2),
    ),
    "RecurringConcepts": of_generator(suite.rotating_boards),
}  # fmt: skip

# How many examples are taken of each.
SIZES = dict.fromkeys(STREAMS, 25_000) | {"Census": 15_000, "MNIST, shuffled": 15_000}
