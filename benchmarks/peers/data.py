"""The streams that both sides learn, and the forms in which they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from river import datasets

from benchmarks import streams
from benchmarks.local import load
from river_budget import synth

N = 20_000
ROWS_OF_BLOCK = 1_000

# Digits after the point of all values: KOL's parser keeps nine digits of a number.
DIGITS = 6


class Examples(NamedTuple):
    """Rows of features, and boolean labels."""

    X: np.ndarray
    y: np.ndarray


class Stream(NamedTuple):
    """Examples to learn, others to test what was learned, and the width of the kernel."""

    name: str
    learn: Examples
    test: Examples
    gamma: float


def rotating() -> Stream:
    examples = arrays(synth.RotatingGaussians(N + 1_000, seed=1))
    return Stream("2-D", *split(examples, N), gamma=1.0)


def bananas() -> Stream:
    """Return Bananas, with the sizes and the width of the Tightest paper."""
    return Stream("Bananas", *split(arrays(datasets.Bananas()), 4_300), gamma=5.0)


def adult(n: int = N) -> Stream:
    """Return the first examples of Adult9, with the width of the Projectron paper."""
    data = load("adult_a9a")
    learn = Examples(data["X_train"][:n].astype(float), data["y_train"][:n] > 0)
    test = Examples(data["X_test"].astype(float), data["y_test"] > 0)
    return Stream("Adult", learn, test, gamma=1 / 50)


def arrays(examples) -> Examples:
    """Return examples that have all features as rows of rounded values."""
    rows, labels = zip(*examples, strict=True)
    X = np.array([list(x.values()) for x in rows]).round(DIGITS)
    return Examples(X, np.array(labels, dtype=bool))


def split(examples: Examples, n: int) -> tuple[Examples, Examples]:
    """Return the first n examples, and the others."""
    X, y = examples
    return Examples(X[:n], y[:n]), Examples(X[n:], y[n:])


def libsvm(examples: Examples) -> Iterator[str]:
    """Yield the lines of a file in the LIBSVM format."""
    for x, y in zip(*examples, strict=True):
        values = " ".join(f"{j + 1}:{x[j].item()!r}" for j in np.flatnonzero(x))
        yield f"{'+1' if y else '-1'} {values}\n"


def dicts(examples: Examples) -> list:
    """Return pairs of a dict of the values other than 0, and a label."""
    return list(zip(streams.sparse(examples.X), examples.y.tolist(), strict=True))


def blocks(examples: Examples) -> list:
    """Return pairs of a frame and its labels."""
    frame = pd.DataFrame(examples.X, columns=[f"f{j}" for j in range(examples.X.shape[1])])
    labels = pd.Series(examples.y)
    parts = [slice(start, start + ROWS_OF_BLOCK) for start in range(0, len(frame), ROWS_OF_BLOCK)]
    return [(frame[part], labels[part]) for part in parts]
