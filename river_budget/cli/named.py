"""Algorithms, kernels and whole streams by the names that a command line gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import typer
from river import datasets, preprocessing

from river_budget import kernels, synth
from river_budget.base import Labels
from river_budget.catalog import ALGORITHMS, Algorithm
from river_budget.cli import files, options
from river_budget.cli.app import CommandError

Example = tuple[dict[Any, Any], Any]

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
            raise typer.BadParameter(
                f"no algorithm is called {name!r}; there are {', '.join(ALGORITHMS)}"
            )
        chosen[row.name] = row
    return chosen


def algorithm(name: str) -> Algorithm:
    """Return the named algorithm of the package."""
    chosen = algorithms(name)
    if len(chosen) != 1:
        raise typer.BadParameter(f"--model takes one algorithm, got {name!r}")
    return next(iter(chosen.values()))


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower()))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def build(algorithm: Algorithm, kernel: kernels.Kernel, budget: int, seed: int, scale: bool) -> Any:
    """Return a model with those of the options that the algorithm has, behind a scaler if asked."""
    model = algorithm.build(kernel, budget, seed)
    return preprocessing.StandardScaler() | model if scale else model


def rbf(gamma: float | None) -> kernels.Kernel:
    """Return the RBF kernel of a width."""
    try:
        return kernels.RBF(gamma)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def described(kernel: kernels.Kernel) -> str:
    """Return what a title says about a kernel."""
    is_open = getattr(kernel, "gamma", 0.0) is None
    return f"{type(kernel).__name__} with gamma from the data" if is_open else str(kernel)


class Source(NamedTuple):
    """A stream by name: its examples, its published kernel width, and whether to scale it."""

    examples: Any
    gamma: float | None
    scale: bool


def source(name: str, target: str | None, delimiter: str, seed: int) -> Source:
    """Return the stream of a name, or of a file whose label is the target."""
    if name == "gaussians":
        return Source(synth.TwoGaussians(seed=seed), 1.0, scale=False)
    if name == "checkerboard":
        return Source(synth.NoisyCheckerboard(seed=seed), 5.0, scale=True)
    if name == "bananas":
        return Source(datasets.Bananas(), None, scale=False)
    if name == "phishing":
        return Source(datasets.Phishing(), None, scale=False)
    form = files.format_of(name)
    if form is None:
        raise typer.BadParameter(f"no stream is called {name!r}: give {options.STREAMS}")
    if form != "libsvm" and target is None:
        raise typer.BadParameter(f"{name} needs --target, the name of its target column")
    return Source(_labelled(name, form, target, delimiter), None, scale=form != "libsvm")


def _labelled(
    path: str, form: files.Format, target: str | None, delimiter: str
) -> Iterator[Example]:
    with files.opened(path) as lines:
        table = files.table(lines, form, target, delimiter)
        labels = Labels(MOST_LABELS, "is it an id?")
        for row in table.rows:
            try:
                if table.header is not None and target not in table.header:
                    raise ValueError(f"no column {target!r}; it has {', '.join(table.header)}")
                x, y = files.example(row, form)
                if y is None:
                    raise ValueError("no label")
                labels.add(y)
                yield x, y
            except ValueError as error:
                raise ValueError(f"line {row.line}: {error}") from None


def rows(examples: Any, name: str, limit: int | None) -> list[Example]:
    """Return the first examples of a stream, or all."""
    try:
        return list(islice(examples, limit))
    except files.UNREADABLE as error:
        raise CommandError(f"{name} cannot be read: {error}") from None
