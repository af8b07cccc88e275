"""Tables, progress, pictures and files."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.spinner import Spinner
from rich.table import Table

from river_budget.cli import notes
from river_budget.cli.app import CommandError


def check_directories(*paths: Path | None) -> None:
    """Refuse files whose directory does not exist, before any work is done."""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"the directory of {path} does not exist")


class Report:
    """What a command has found: a table, and if asked all figures and a picture.

    It refuses files that cannot be written, before any work is done.
    """

    def __init__(self, json_file: Path | None, plot_file: Path | None) -> None:
        check_directories(json_file, plot_file)
        self._json_file, self._plot_file = json_file, plot_file
        self._plots = _import_plots(plot_file) if plot_file else None

    def write(self, title: str, figures: Any, plot: str, results: Any) -> None:
        """Write the figures, and draw the results with the named function of `plots`."""
        if self._json_file:
            content = {"title": title, "models": figures}
            self._json_file.write_text(json.dumps(content, indent=1) + "\n")
        if self._plots:
            getattr(self._plots, plot)(results, title, self._plot_file)


def _import_plots(path: Path) -> Any:
    """Return the module of pictures, which needs matplotlib, if it can draw to this file."""
    try:
        from river_budget import plots
    except ModuleNotFoundError:
        raise CommandError("--plot needs matplotlib: pip install matplotlib") from None
    if path.suffix.removeprefix(".") not in plots.FORMATS:
        raise typer.BadParameter(f"no picture is drawn to {path.name!r}: end it in .png or .svg")
    return plots


def print_table(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a title, and lines of cells of which the first names an algorithm."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("algorithm", overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    for cells in lines:
        table.add_row(*cells)
    # A pipe has no width that would have to be kept to.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    console.print(title, soft_wrap=True)
    console.print(table)


def print_answer(fields: dict[str, Any]) -> None:
    """Print a line of JSON, at once."""
    try:
        print(json.dumps(fields), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"standard output: {error}") from None


@contextlib.contextmanager
def progress(total: int) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal, and nothing elsewhere.

    Yields a function that shows a text, and advances the bar by one step or several.
    """
    if not sys.stderr.isatty():
        yield lambda text, n=1: None
        return
    columns = [
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    ]  # fmt: skip
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("running", total=total)
        yield lambda text, n=1: bar.update(task, advance=n, description=text, refresh=True)


@contextlib.contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Show a line on a terminal whose output goes elsewhere, and nothing otherwise.

    Standard output stays what it is: rich would lead it to the terminal.
    """
    if sys.stdout.isatty() or not sys.stderr.isatty() or not notes.are_shown():
        yield lambda text: None
        return
    spinner = Spinner("dots", "waiting for lines")
    with Live(
        spinner, console=Console(stderr=True), transient=True, refresh_per_second=12,
        redirect_stdout=False,
    ):  # fmt: skip
        yield lambda text: spinner.update(text=text)
