"""What both sides learn, and what the modules of the libraries have in common.

Such a module has VARIABLE, the environment variable with the directory of its programs; BUDGETS by stream;
`cases(stream)`, the algorithms that both sides have, by title; `learned(case, stream, directory)`, which runs its
program on the files `learn` and `test` of a directory; and `errors(model, stream)`, those of our model in percent.

"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from river import datasets

import river_budget as rb
from benchmarks import streams
from benchmarks.local import load
from river_budget import synth

ROWS_OF_BLOCK = 1_000
N_TEST = 1_000


class Examples(NamedTuple):
    """Rows of features, and boolean labels."""

    X: np.ndarray
    y: np.ndarray


class Stream(NamedTuple):
    """Examples to learn, others to test what was learned, and the width of the kernel."""

    learn: Examples
    test: Examples
    gamma: float


class Case(NamedTuple):
    """An algorithm: the options that select it there, and what makes our model for a kernel."""

    theirs: Sequence[str]
    ours: Callable[[rb.RBF], Any]


class Learned(NamedTuple):
    """The time of learning in seconds, the errors in percent, and the number of support vectors."""

    seconds: float
    errors: float
    n_support: int


def adult(n: int) -> Stream:
    """Return the first examples of Adult9 and its test part, with the width of the Projectron paper."""
    data = load("adult_a9a")
    learn = Examples(data["X_train"][:n].astype(float), data["y_train"][:n] > 0)
    test = Examples(data["X_test"].astype(float), data["y_test"] > 0)
    return Stream(learn, test, gamma=1 / 50)


# Bananas have the width of the Tightest paper.
READ: dict[str, Callable[[int], Stream]] = {
    "2-D": lambda n: Stream(*split(synth.RotatingGaussians(n + N_TEST, seed=1), n), gamma=1.0),
    "Bananas": lambda n: Stream(*split(datasets.Bananas(), n), gamma=5.0),
    "Adult": adult,
}


def split(examples: Iterable[tuple[dict, bool]], n: int) -> tuple[Examples, Examples]:
    """Return the first n examples, and the next ones to test, as rows of values.

    They are rounded, since KOL's parser keeps nine digits of a number.

    """
    rows, labels = zip(*examples, strict=True)
    X = np.array([list(x.values()) for x in rows]).round(6)
    y = np.array(labels, dtype=bool)
    return Examples(X[:n], y[:n]), Examples(X[n : n + N_TEST], y[n : n + N_TEST])


def write(examples: Examples, path: Path) -> None:
    """Write a file in the LIBSVM format."""
    with path.open("w") as file:
        for x, y in zip(*examples, strict=True):
            values = " ".join(f"{j + 1}:{x[j].item()!r}" for j in np.flatnonzero(x))
            file.write(f"{'+1' if y else '-1'} {values}\n")


def dicts(examples: Examples) -> list[tuple[dict, bool]]:
    """Return pairs of a dict of the values other than 0, and a label."""
    return list(zip(streams.sparse(examples.X), examples.y.tolist(), strict=True))


def blocks(examples: Examples) -> list[tuple[pd.DataFrame, pd.Series]]:
    """Return pairs of a frame and its labels."""
    frame, labels = pd.DataFrame(examples.X).add_prefix("f"), pd.Series(examples.y)
    parts = [slice(start, start + ROWS_OF_BLOCK) for start in range(0, len(frame), ROWS_OF_BLOCK)]
    return [(frame[part], labels[part]) for part in parts]


def field(output: str, pattern: str, program: str) -> float:
    """Return the number after a pattern in the output of a program."""
    found = re.search(rf"{pattern} *([-+.\de]*\d)", output)
    if found is None:
        raise ValueError(f"no {pattern!r} in the output of {program}: {output[-500:]!r}")
    return float(found[1])
