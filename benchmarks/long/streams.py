"""The streams of `benchmarks.long`, with and without drift, two labels and more.

A category is a whole number from 0 on; a stream says which features are categories. All seeds are fixed.
The labels of two-class streams are booleans. Data sets are read from the directory given by
RIVER_BUDGET_DATA; those with a test part have it after the training part. The codes of Agrawal are
numbers, as its generator has them.

"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from river.datasets import synth

from benchmarks import suite
from benchmarks.local import load
from river_budget import synth as own

# Examples before the next function of Agrawal comes, and the functions.
PERIOD = 20_000
FUNCTIONS = (0, 3, 6, 8, 1)
BOTH = (False, True)
DIGITS = tuple(range(10))
NO_CATEGORIES: Mapping[str, int] = {}


class Stream(NamedTuple):
    """A stream that can be read again and again.

    Attributes
    ----------
    read
        Returns the examples, from the first one on.
    n_examples
        Their number.
    labels
        All labels.
    categories
        Number of values of each feature that is a category.

    """

    read: Callable[[], Iterator[tuple[dict, object]]]
    n_examples: int
    labels: tuple = BOTH
    categories: Mapping[str, int] = NO_CATEGORIES


def of_rows(
    X: np.ndarray,
    y: np.ndarray,
    labels: tuple = BOTH,
    categories: Mapping[str, int] = NO_CATEGORIES,
) -> Stream:
    """Return the rows of an array. Each becomes a dict when it is read."""
    names = [f"f{j}" for j in range(X.shape[1])]

    def read() -> Iterator[tuple[dict, object]]:
        for x, label in zip(X, y.tolist(), strict=True):
            yield dict(zip(names, x.astype(float).tolist(), strict=True)), label

    return Stream(read, len(y), labels, categories)


def of_generator(
    make: Callable[[int], Iterable],
    labels: tuple = BOTH,
    categories: Mapping[str, int] = NO_CATEGORIES,
) -> Callable[[int], Stream]:
    """Return a maker of the first examples of what a generator yields."""
    is_binary = labels == BOTH

    def first(n: int) -> Stream:
        def read() -> Iterator[tuple[dict, object]]:
            for x, y in itertools.islice(make(n), n):
                yield x, bool(y) if is_binary else y

        return Stream(read, n, labels, categories)

    return first


def binary_columns(columns: Iterable[int]) -> dict[str, int]:
    return {f"f{j}": 2 for j in columns}


def in_random_order(n_rows: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(n_rows)


def both_parts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the training part and of the test part, and their labels."""
    data = load(name)
    X = np.concatenate([data["X_train"], data["X_test"]])
    return X, np.concatenate([data["y_train"], data["y_test"]])


def covertype(n: int) -> Stream:
    """Return Covertype in the publisher's order: ten numbers, and areas and soils in one-hot form."""
    data = load("covtype")
    return of_rows(data["X"][:n], data["y"][:n] > 0, categories=binary_columns(range(10, 54)))


def shuffled_covertype(n: int) -> Stream:
    data = load("covtype")
    chosen = in_random_order(len(data["y"]))[:n]
    categories = binary_columns(range(10, 54))
    return of_rows(data["X"][chosen], data["y"][chosen] > 0, categories=categories)


def elec2(n: int) -> Stream:
    """Return Elec2 without its date and its day of the week."""
    data = load("elec2")
    return of_rows(data["X"][:n, -6:], data["y"][:n] > 0)


def adult(n: int) -> Stream:
    X, y = both_parts("adult_a9a")
    return of_rows(X[:n], y[:n] > 0, categories=binary_columns(range(X.shape[1])))


def census(n: int) -> Stream:
    """Return Census-Income, 6 % positive: seven numbers, then 33 categories."""
    data = load("census_income_kdd_testpart")
    X = np.concatenate([data["X_num"][:n], data["X_cat"][:n]], axis=1)
    first = data["X_num"].shape[1]
    categories = {f"f{first + j}": size for j, size in enumerate(data["cat_sizes"].tolist())}
    return of_rows(X, data["y"][:n] > 0, categories=categories)


def mnist(n: int) -> Stream:
    X, y = both_parts("mnist")
    chosen = in_random_order(len(y))[:n]
    return of_rows(X[chosen], y[chosen], labels=DIGITS)


def five_concepts(n: int) -> own.RecurringConcepts:
    """Return Agrawal with another function after each period."""
    concepts = [synth.Agrawal(function, seed=1) for function in FUNCTIONS]
    schedule = [(i, PERIOD) for i in range(len(concepts))]
    return own.RecurringConcepts(concepts, schedule, n)


def rbf_drift(_: int) -> synth.RandomRBFDrift:
    return synth.RandomRBFDrift(
        seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
        change_speed=0.001, n_drift_centroids=50,
    )  # fmt: skip


random_tree = of_generator(
    lambda _: synth.RandomTree(seed_tree=1, seed_sample=1),
    categories={f"x_cat_{j}": 5 for j in range(5)},
)

STREAMS: dict[str, Callable[[int], Stream]] = {
    "Covertype, in order": covertype,
    "Covertype, shuffled": shuffled_covertype,
    "Elec2": elec2,
    "Adult": adult,
    "Census": census,
    "MNIST, shuffled": mnist,
    "RandomRBFDrift": of_generator(rbf_drift),
    "Hyperplane": of_generator(lambda _: synth.Hyperplane(seed=1, mag_change=0.001)),
    "Agrawal, five concepts": of_generator(five_concepts),
    "Agrawal, function 1": of_generator(lambda _: synth.Agrawal(1, seed=1)),
    "RandomTree": random_tree,
    "LED, drift": of_generator(
        lambda _: synth.LEDDrift(seed=1, noise_percentage=0.1, n_drift_features=4),
        labels=DIGITS,
        categories=dict.fromkeys(range(7), 2),
    ),
    "RecurringConcepts": of_generator(suite.rotating_boards),
}
