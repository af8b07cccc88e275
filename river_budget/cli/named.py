"""Algorithms and whole streams by the names that a command line gives."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer

from river_budget import kernels
from river_budget.base import Labels, OnlineClassifier
from river_budget.catalog import ALGORITHMS, Algorithm
from river_budget.cli import files, options
from river_budget.cli.app import CommandError
from river_budget.keyed.answers import check_given

Example = tuple[dict[Any, Any], Any]

# The first examples of a stream, and its published kernel width.
Stream = tuple[list[Example], float | None]

# The models take no more by default.
MOST_LABELS = 1000


def algorithms(names: str | None) -> dict[str, Algorithm]:
    """Return the named algorithms of the package, or all of them."""
    if names is None:
        return ALGORITHMS
    by_short_name = {_short(name): row for name, row in ALGORITHMS.items()}
    chosen = {}
    for name in names.split(","):
        row = by_short_name.get(_short(name))
        if row is None:
            known = ", ".join(ALGORITHMS)
            raise typer.BadParameter(f"no algorithm is called {name!r}; there are {known}")
        chosen[row.name] = row
    return chosen


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower()))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def maker(name: str, budget: int, gamma: float | None, seed: int) -> Callable[[], OnlineClassifier]:
    """Return a function that makes models of the named algorithm."""
    algorithm, *others = algorithms(name).values()
    if others:
        raise typer.BadParameter(f"--model takes one algorithm, got {name!r}")
    if gamma is not None and not algorithm.takes("kernel"):
        raise CommandError(f"{algorithm.name} learns its widths: leave out --gamma")
    return functools.partial(algorithm.build, kernels.RBF(gamma), budget, seed)


def stream(name: str, columns: files.Columns, seed: int, limit: int | None) -> Stream:
    """Return the stream of a name, or of a file."""
    from river import datasets  # slow to import, as `synth` is, and many commands need neither

    from river_budget import synth

    streams: dict[str, tuple[Iterable[Example], float | None]] = {
        "gaussians": (synth.TwoGaussians(seed=seed), 1.0),
        "checkerboard": (synth.NoisyCheckerboard(seed=seed), 60.0),
        "bananas": (datasets.Bananas(), None),
        "phishing": (datasets.Phishing(), None),
    }
    examples, gamma = streams.get(name) or (_labelled(name, columns), None)
    return list(itertools.islice(examples, limit)), gamma


def _labelled(name: str, columns: files.Columns) -> Iterator[Example]:
    form = files.format_of(name)
    if form is None:
        raise typer.BadParameter(f"no stream is called {name!r}: give {options.STREAMS}")
    if form != files.Format.LIBSVM and columns.target is None:
        raise typer.BadParameter(f"{name} needs --target, the name of its target column")
    labels = Labels(MOST_LABELS, "is it an id?")
    with files.opened(name, columns) as (reader, lines):
        for row in reader.rows(lines):
            try:
                if row.error or row.label is None:
                    raise ValueError(row.error or "no label")
                check_given(row.x)
                labels.add(row.label)
            except ValueError as error:
                raise ValueError(f"line {row.line}: {error}") from None
            yield row.x, row.label
