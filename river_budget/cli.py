"""The command line. It needs typer and rich, which the extra `cli` installs."""

from __future__ import annotations

import contextlib
import csv
import inspect
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from river import datasets, preprocessing, stream
from river.base import Estimator
from river.stream.utils import open_filepath

import river_budget
from river_budget import evaluate, kernels, synth
from river_budget.base import KernelClassifier

__all__ = ["app", "main"]

app = typer.Typer(
    help="Kernel learning on a memory budget, for River.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Example = tuple[dict[Any, Any], Any]

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile)

# Click's UsageError, wherever this version of typer has it from.
UsageError: Any = typer.BadParameter.__base__


def main() -> None:
    """Run the command line; wrong usage is one line on standard error and exit status 2."""
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        message = " ".join(error.format_message().split())
        print(f"river-budget: {message}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


@app.callback()
def _commands() -> None:
    pass


class Source(NamedTuple):
    """A stream by name: its examples, its published kernel width, and whether to scale it."""

    examples: Any
    gamma: float | None
    scale: bool


@app.command()
def compare(
    stream_name: Annotated[
        str,
        typer.Option(
            "--stream",
            help="gaussians, checkerboard, bananas, phishing, FILE.csv or FILE.libsvm.",
        ),
    ] = "gaussians",
    target: Annotated[str | None, typer.Option(help="Target column of a csv file.")] = None,
    budget: Annotated[int, typer.Option(min=1, help="Number of support vectors.")] = 100,
    gamma: Annotated[
        float | None,
        typer.Option(help="Width of the RBF kernel. [default: as published for the stream]"),
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Names of algorithms, with commas. [default: all]")
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Number of orders; 1 keeps the stream's own.")
    ] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of examples.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 42,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write all figures to this file.")
    ] = None,
    plot_file: Annotated[
        Path | None, typer.Option("--plot", help="Draw error and support size to this file.")
    ] = None,
) -> None:
    """Run every algorithm on one stream by progressive validation, and print a table."""
    for path in [json_file, plot_file]:
        if path is not None and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"the folder of {path} does not exist")
    plot_comparison = _import_plot() if plot_file else None
    source = _source(stream_name, target, seed)
    rows = _rows(source.examples, stream_name, limit)
    kernel = _kernel(source.gamma if gamma is None else gamma)
    chosen = {
        name: _model(algorithm, kernel, budget, seed, source.scale)
        for name, algorithm in _algorithms(models).items()
    }
    with _progress(len(chosen) * permutations) as advance:
        try:
            comparison = evaluate.compare(chosen, rows, permutations, seed, after_run=advance)
        except ValueError as error:
            raise typer.BadParameter(f"{stream_name}: {error}") from None
    title = f"{stream_name}: {len(rows):,} examples, budget {budget}, {kernel}"
    _print_table(comparison, title, permutations)
    if json_file:
        json_file.write_text(json.dumps({"title": title, "models": comparison.to_dict()}, indent=1))
    if plot_file and plot_comparison:
        plot_comparison(comparison, title, plot_file)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=total)
        yield lambda name: bar.advance(task)


def _algorithms(names: str | None) -> dict[str, type[KernelClassifier]]:
    """Return the named algorithms of the package, or all of them."""
    exported = [getattr(river_budget, name) for name in river_budget.__all__]
    known = {
        member.__name__: member
        for member in exported
        if inspect.isclass(member) and issubclass(member, KernelClassifier)
    }
    if names is None:
        return known
    by_short_name = {_short(name): name for name in known}
    chosen = [by_short_name.get(_short(name)) for name in names.split(",")]
    for name, found in zip(names.split(","), chosen, strict=True):
        if found is None:
            raise typer.BadParameter(
                f"no algorithm is called {name!r}; there are {', '.join(known)}"
            )
    return {name: known[name] for name in chosen if name}


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower()))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def _model(
    algorithm: type[KernelClassifier], kernel: kernels.Kernel, budget: int, seed: int, scale: bool
) -> Estimator:
    options = {"kernel": kernel, "budget": budget, "seed": seed}
    wanted = inspect.signature(algorithm).parameters
    model = algorithm(**{key: options[key] for key in options if key in wanted})  # type: ignore[arg-type]
    return preprocessing.StandardScaler() | model if scale else model


def _kernel(gamma: float | None) -> kernels.Kernel:
    try:
        return kernels.RBF(gamma)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _source(name: str, target: str | None, seed: int) -> Source:
    if name == "gaussians":
        return Source(synth.TwoGaussians(seed=seed), 1.0, scale=False)
    if name == "checkerboard":
        return Source(synth.NoisyCheckerboard(seed=seed), 5.0, scale=True)
    if name == "bananas":
        return Source(datasets.Bananas(), None, scale=False)
    if name == "phishing":
        return Source(datasets.Phishing(), None, scale=False)
    stem = name.removesuffix(".gz").removesuffix(".zip")
    if stem.endswith(".csv"):
        if target is None:
            raise typer.BadParameter(f"{name} needs --target, the name of its target column")
        return Source(_csv(name, target), None, scale=True)
    if stem.endswith(".libsvm"):
        return Source(_libsvm(name), None, scale=False)
    raise typer.BadParameter(
        f"no stream is called {name!r}: give gaussians, checkerboard, bananas, phishing, "
        "FILE.csv or FILE.libsvm"
    )


def _csv(path: str, target: str) -> Iterator[Example]:
    with open_filepath(path, "infer") as file:
        for line, (x, _) in enumerate(stream.iter_csv(file), 2):
            if target not in x:
                names = ", ".join(map(str, x))
                raise ValueError(f"line {line} has no column {target!r}; it has {names}")
            y = _parsed(x.pop(target))
            features = {name: _parsed(text) for name, text in x.items()}
            for name, value in features.items():
                if isinstance(value, str):
                    raise ValueError(
                        f"line {line} has {value!r} in column {name!r}, which is not a number"
                    )
            yield features, y


def _libsvm(path: str) -> Iterator[Example]:
    with open_filepath(path, "infer") as file:
        yield from stream.iter_libsvm(file, target_type=_parsed)  # type: ignore[arg-type]


def _parsed(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _rows(examples: Any, name: str, limit: int | None) -> list[Example]:
    try:
        rows = list(islice(examples, limit))
    except UNREADABLE as error:
        raise typer.BadParameter(f"{name} cannot be read: {error}") from None
    classes = {y for _, y in rows}
    if len(classes) > 2:
        listed = ", ".join(sorted(map(str, classes))[:5])
        raise typer.BadParameter(f"{name} has {len(classes)} classes ({listed} ...): give it two")
    return rows


def _print_table(comparison: evaluate.Comparison, title: str, permutations: int) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("algorithm", no_wrap=True)
    for heading in ["mistakes %", "support", "bytes", "µs/example"]:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, figures in comparison.summary().items():
        cells = zip(figures.values(), [".2f", ",.0f", ",.0f", ".2f"], strict=True)
        table.add_row(name, *[_cell(mean, sd, spec, permutations) for (mean, sd), spec in cells])
    console = Console(highlight=False)
    console.print(title, soft_wrap=True)
    console.print(table)


def _cell(mean: float, deviation: float, spec: str, permutations: int) -> str:
    return f"{mean:{spec}}" + (f" ± {deviation:{spec}}" if permutations > 1 else "")


def _import_plot() -> Any:
    try:
        from river_budget.plots import plot_comparison
    except ModuleNotFoundError as error:
        raise typer.BadParameter(
            f"--plot needs {error.name}: pip install 'river-budget[plot]'"
        ) from None
    return plot_comparison
