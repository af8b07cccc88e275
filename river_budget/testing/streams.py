"""Streams for the checks: features that come and go, features that stay, and blocks of both."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from river_budget.kernels import Features

N_EXAMPLES = 120

# The features, the label and the weight of an example.
Line = tuple[Features, Any, float]


def come_and_go(seed: int, share_of_arrays: float, labels: str = "abc") -> Iterator[Line]:
    """Yield examples of numbers, texts, arrays, gaps, and names that never come again."""
    rng = random.Random(seed)
    for _ in range(N_EXAMPLES):
        label = rng.choice(labels)
        center = labels.index(label)
        x: Features = {name: rng.gauss(center, 1.0) for name in "uvw" if rng.random() < 0.8}
        if rng.random() < share_of_arrays:
            x["array"] = np.array([rng.gauss(center, 1.0) for _ in range(4)])
        if rng.random() < 0.05:
            x["rare array"] = np.array([rng.gauss(center, 1.0), 1.0])
        if rng.random() < 0.2:
            x["text"] = rng.choice("klm")
        if rng.random() < 0.1:
            x["v"] = None
        if rng.random() < 0.1:
            x = {f"new-{rng.random()}": 1.0}
        yield x, label, weight(rng)


def steady(seed: int, labels: str) -> Iterator[Line]:
    """Yield examples of the same three numbers, with labels in runs of five."""
    rng = random.Random(seed)
    for t in range(N_EXAMPLES):
        label = labels[t // 5 % len(labels)]
        center = labels.index(label)
        yield {name: rng.gauss(center, 1.0) for name in "uvw"}, label, weight(rng)


def weight(rng: random.Random) -> float:
    """Return a random weight."""
    return rng.choice([1.0, 1.0, 0.5, 2.0])


def of_new_names(n: int) -> Iterator[Line]:
    """Yield examples of which no two have a name in common."""
    for t in range(n):
        yield {f"{t:05}-{j}": 1.0 for j in range(8)}, "ab"[t % 2], 1.0


def blocks(
    lines: Iterable[Line], rng: random.Random
) -> Iterator[tuple[dict[Any, Any], list[Any], list[float]]]:
    """Yield lines in blocks of random lengths, as columns, labels and weights.

    The lines of a block have the same names, in the same order.
    """
    for _, same in itertools.groupby(lines, key=lambda line: list(line[0])):
        rest = list(same)
        while rest:
            size = rng.randint(1, 30)
            block, rest = rest[:size], rest[size:]
            examples, labels, weights = zip(*block, strict=True)
            columns = {name: _column([x[name] for x in examples]) for name in examples[0]}
            yield columns, list(labels), list(weights)


def _column(values: list[Any]) -> Any:
    """Return a column of numbers as an array of numbers, and any other as one of objects."""
    has_numbers = all(type(value) is float for value in values)
    return np.array(values) if has_numbers else np.fromiter(values, object, len(values))
