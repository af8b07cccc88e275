"""Options that several commands have, and the algorithms that they name."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from river_budget import kernels
from river_budget.base import OnlineClassifier
from river_budget.catalog import ALGORITHMS, Algorithm
from river_budget.cli.app import CommandError

# What a bad row does: stop or skip.
OnError = enum.StrEnum("OnError", ["STOP", "SKIP"])


def _names(text: str | None) -> list[str] | None:
    return text.split(",") if text else None


def _character(text: str | None) -> str | None:
    delimiter = "\t" if text in ("tab", r"\t") else text
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise typer.BadParameter(f"{text!r} is not one character, nor tab")
    return delimiter


STREAMS = "gaussians, checkerboard, bananas, phishing, or a file, as learn reads it"
Stream = Annotated[str, typer.Argument(metavar="STREAM", help=f"One of {STREAMS}.")]
File = Annotated[
    str,
    typer.Argument(help="csv, libsvm, JSON lines or parquet, also in gzip; - is standard input."),
]
Delimiter = Annotated[
    str | None, typer.Option(callback=_character, help="Separator of csv, or tab. [default: found]")
]
Features = Annotated[
    str | None, typer.Option(callback=_names, help="Columns to learn, with commas. [default: all]")
]
Ignored = Annotated[
    str | None,
    typer.Option("--ignore", callback=_names, help="Columns to leave out, such as ids and dates."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of the input.")]
OnErrorOption = Annotated[
    OnError, typer.Option(help="Stop at a bad line, or skip it: answer with its error and number.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Write nothing but errors on standard error.")]
Target = Annotated[str | None, typer.Option(help="Name of the label in csv and JSON lines.")]
Budget = Annotated[int, typer.Option(min=1, max=10**8, help="Number of support vectors.")]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="Width of the RBF kernel, for values as they are and none missing. [default: as "
        "published, else learned; in certify 1 / features]"
    ),
]
DEFAULT_MODEL = "mnemotron"
Model = Annotated[str, typer.Option("--model", help="Name of the algorithm.")]
Models = Annotated[
    str | None, typer.Option("--models", help="Names of algorithms, with commas. [default: all]")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Draw a picture to this file.")]


def algorithms(names: str | None) -> dict[str, Algorithm]:
    """Return the named algorithms of the package, or all of them."""
    if names is None:
        return ALGORITHMS
    return {row.name: row for row in map(_algorithm, names.split(","))}


def _algorithm(name: str) -> Algorithm:
    for row in ALGORITHMS.values():
        if _short(row.name) == _short(name):
            return row
    raise typer.BadParameter(f"no algorithm is called {name!r}; there are {', '.join(ALGORITHMS)}")


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower().replace("+", "plus")))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def maker(name: str, budget: int, gamma: float | None, seed: int) -> Callable[[], OnlineClassifier]:
    """Return a function that makes models of the named algorithm."""
    algorithm = _algorithm(name)
    if gamma is not None and not algorithm.takes("kernel"):
        raise CommandError(f"{algorithm.name} learns its widths: leave out --gamma")
    return functools.partial(algorithm.build, kernels.RBF(gamma), budget=budget, seed=seed)
