"""Tables and progress."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)  # fmt: skip
from rich.table import Table

from river_budget.cli.app import notes


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


@contextlib.contextmanager
def progress(total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; without a total, a text, if the output goes elsewhere.

    Yields a function that shows a text, and advances the bar by one step or several. Standard output
    stays what it is: rich would lead it to the terminal.
    """
    is_hidden = total is None and (sys.stdout.isatty() or notes.disabled)
    if is_hidden or not sys.stderr.isatty():
        yield lambda text, n=1: None
        return
    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
    if total is not None:
        columns = [columns[1], BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("waiting for lines", total=total)
        yield lambda text, n=1: bar.update(
            task, advance=n, description=text, refresh=total is not None
        )
