"""The program that the commands are part of."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

import river_budget
from river_budget.cli import notes

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)

# Click's UsageError, wherever this version of typer has it from.
UsageError: Any = typer.BadParameter.__base__


class CommandError(Exception):
    """What goes wrong while a command runs; its message is for the user."""


def main() -> None:
    """Run the command line.

    Wrong usage, and what goes wrong later, is one line on standard error and exit status 2.
    """
    try:
        with notes.shown():
            status = app(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except (UsageError, CommandError) as error:
        text = str(error) if isinstance(error, CommandError) else error.format_message()
        print(f"river-budget: {' '.join(text.split())}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        # Nobody reads on. What is still buffered goes nowhere, so that the interpreter can end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"river-budget {river_budget.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Kernel learning on a memory budget, for River."""
