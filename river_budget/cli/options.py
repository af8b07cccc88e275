"""Options that several commands have, and the algorithms that they name."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from river_budget._checks import MOST_VECTORS
from river_budget.catalog import ALGORITHMS, Algorithm

# What a bad row does: stop or skip.
OnError = enum.StrEnum("OnError", ["STOP", "SKIP"])

# What `compare` sorts models by.
Score = enum.StrEnum("Score", ["ACCURACY", "BALANCED", "F1", "LOGLOSS", "AUC"])


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",")] if text else None


def _character(text: str | None) -> str | None:
    delimiter = "\t" if text in ("tab", r"\t") else text
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise typer.BadParameter(f"{text!r} is not one character, nor tab")
    return delimiter


def _mark(text: str) -> str:
    if text not in (".", ","):
        raise typer.BadParameter(f"{text!r} is neither a point nor a comma")
    return text


STREAMS = "gaussians, checkerboard, bananas, phishing, or a file, as learn reads it, all labelled"
Stream = Annotated[str, typer.Argument(metavar="STREAM", help=f"One of {STREAMS}.")]
TASKS = "rotating-gaussians, checkerboards, class-incremental, or streams with commas"
Tasks = Annotated[str, typer.Argument(metavar="TASKS", help=f"One of {TASKS}.")]
File = Annotated[str, typer.Argument(help="csv, libsvm, JSON lines, parquet, gzip; - is stdin.")]
Delimiter = Annotated[str | None, typer.Option(callback=_character, help="Separator of csv.")]
Features = Annotated[str | None, typer.Option(callback=_names, help="Columns to use: a,b.")]
Ignore = Annotated[str | None, typer.Option(callback=_names, help="Columns to leave out: a,b.")]
Decimal = Annotated[str, typer.Option(callback=_mark, help="Decimal mark of csv: . or a comma.")]
Encoding = Annotated[str, typer.Option(help="Encoding of the input.")]
OnErrorOption = Annotated[OnError, typer.Option(help="Stop at a bad line, or answer its error.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Write nothing but errors on standard error.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse other columns than the model's.")]
Proba = Annotated[bool, typer.Option("--proba", help="Answer the probability of each label.")]
Alert = Annotated[str | None, typer.Option(metavar="LABEL", help="Give alerts for this label.")]
Above = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Alert above this probability; by default as the costs say, else 0.5."
    ),
]
OnlyAlerts = Annotated[bool, typer.Option("--only-alerts", help="Print no other answers.")]
Why = Annotated[bool, typer.Option("--why", help="Answer the three strongest features as well.")]
CostMiss = Annotated[float | None, typer.Option(min=0, help="Cost of a missed alert.")]
CostAlarm = Annotated[float | None, typer.Option(min=0, help="Cost of an alert, right or false.")]
Calibrated = Annotated[bool, typer.Option("--calibrated", help="Calibrate the probabilities.")]
Target = Annotated[str | None, typer.Option(help="Name of the label in csv and JSON lines.")]
Budget = Annotated[int, typer.Option(min=1, max=MOST_VECTORS, help="Number of support vectors.")]
Gamma = Annotated[float | None, typer.Option(help="Width of the RBF kernel if none is learned.")]
Model = Annotated[str, typer.Option("--model", help="Name of the algorithm.")]
Models = Annotated[str | None, typer.Option(help="Names of algorithms, such as a,b; all if none.")]
Metric = Annotated[Score | None, typer.Option(help="How the best model is chosen.")]
Delay = Annotated[int, typer.Option(min=0, help="Labels come so many examples later.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Draw a picture to this file.")]


def algorithms(names: str | None) -> dict[str, Algorithm]:
    """Return the named algorithms of the package, or all of them."""
    if names is None:
        return ALGORITHMS
    return {row.name: row for row in map(algorithm, names.split(","))}


def algorithm(name: str) -> Algorithm:
    """Return the named algorithm; names may be short, such as tightest or projectron++."""
    for row in ALGORITHMS.values():
        if _short(row.name) == _short(name):
            return row
    raise typer.BadParameter(f"no algorithm is called {name!r}; there are {', '.join(ALGORITHMS)}")


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower().replace("+", "plus")))
    return letters.removesuffix("perceptron").removesuffix("classifier")
