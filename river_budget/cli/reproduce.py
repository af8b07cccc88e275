from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget.cli import output
from river_budget.cli.app import CommandError, app

__all__ = ["reproduce"]


@app.command()
def reproduce(
    papers: Annotated[
        str, typer.Option(help="projectron, tightest, forgetron or bsgd, with commas.")
    ] = "projectron,tightest,forgetron,bsgd",
    directory: Annotated[
        Path | None,
        typer.Option(
            "--data", envvar="RIVER_BUDGET_DATA", help="Directory of the data sets, as *.npz files."
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option(
            "--download", help="Download IJCNN, Letter, Pendigits, USPS and Vehicle if need be."
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="Directory of results; a run that was stopped goes on from there. Take "
            "another one for other data."
        ),
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="One repeat of some rows, in two minutes.")
    ] = False,
    splits: Annotated[
        int, typer.Option(min=1, help="Number of the 126 splits of MNIST, and of orders of census.")
    ] = 3,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of processes. [default: all processors]")
    ] = None,
) -> None:
    """Print the papers' tables with our figures beside theirs, and draw their figures.

    A cell is ours, the paper's in brackets, and a verdict: within two standard deviations (the larger
    of theirs and ours) of the paper, better or worse.

    """
    output.check_directories(out)
    experiments, run = _imported()
    for name in papers.split(","):
        if name not in experiments:
            raise typer.BadParameter(f"no paper is called {name!r}: give {', '.join(experiments)}")
    if directory is not None and not directory.is_dir():
        raise typer.BadParameter(f"{directory} is not a directory")
    if download:
        _download(directory)
    chosen = [experiments[name] for name in papers.split(",")]
    tasks, notes = [], []
    for experiment in chosen:
        found, missing = experiment.tasks(directory, quick, splits)
        tasks += found
        notes += [f"Left out: {experiment.title}, {note}." for note in missing]
    with output.progress(len(tasks)) as advance:
        results = run(tasks, out, processes or os.cpu_count() or 1, advance)
    page = _page(chosen, results, notes, out)
    print(page)
    (out / "report.md").write_text(page + "\n")
    output.write_json(out / "figures.json", results)


def _imported() -> Any:
    try:
        from river_budget.reproduce import run
        from river_budget.reproduce.papers import EXPERIMENTS
    except ModuleNotFoundError as error:
        raise CommandError(
            f"reproduce needs {error.name}: pip install 'river-budget[reproduce]'"
        ) from None
    return EXPERIMENTS, run


def _download(directory: Path | None) -> None:
    from river_budget.reproduce import data

    try:
        data.download(directory)
    except OSError as error:
        raise CommandError(str(error)) from None


def _page(experiments: list[Any], results: dict[str, Any], notes: list[str], out: Path) -> str:
    """Return the report in Markdown."""
    packages = ["river-budget", "river", "numpy", "numba"]
    parts = [
        "ours (the paper's) verdict; mean ± standard deviation",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{package} {version(package)}" for package in packages)
        + f", {platform.processor() or platform.machine()}",
        *notes,
    ]
    for experiment in experiments:
        parts += map(str, experiment.tables(results))
        parts += [f"![{title}]({name})" for title, name in experiment.draw(results, out).items()]
    return "\n\n".join(parts)
