"""Tables, progress, pictures and files."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.spinner import Spinner
from rich.table import Table

from river_budget.cli import notes
from river_budget.cli.app import CommandError


def report(
    json_file: Path | None,
    plot_file: Path | None,
    title: str,
    figures: Any,
    plot: str,
    results: Any,
) -> None:
    """Write figures, and draw results with the named function of `plots`, if there are files for them."""
    if json_file:
        content = {"title": title, "models": figures}
        json_file.write_text(json.dumps(content, indent=1) + "\n")
    if plot_file:
        from river_budget import plots  # needs matplotlib

        getattr(plots, plot)(results, title, plot_file)


def print_table(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a title, and lines of cells of which the first names an algorithm."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("algorithm", overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    for cells in lines:
        table.add_row(*cells)
    # A pipe has no width that would have to be kept to.
    width = None if sys.stdout.isatty() else 200
    console = Console(highlight=False, markup=False, width=width)
    console.print(title, soft_wrap=True)
    console.print(table)


def print_answer(fields: dict[str, Any]) -> None:
    """Print a line of JSON, at once; raise ValueError if it has something else."""
    try:
        line = json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the answer cannot be written as JSON: {error}") from None
    try:
        print(line, flush=True)
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
