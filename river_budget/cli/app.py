"""The program that the commands are part of."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

import river_budget
from river_budget._features import shortened
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
        _check_streams()
        with notes.shown():
            status = app(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except (UsageError, CommandError) as error:
        _fail(str(error) if isinstance(error, CommandError) else error.format_message())
    except MemoryError:
        _fail("there is not enough memory: give a smaller --budget")
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except OSError as error:
        # What is still buffered goes nowhere, so that the interpreter can end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # Nobody reads on.
            sys.exit(1)
        _fail(str(error))


def _check_streams() -> None:
    """Refuse to write to a closed standard output, and write ? for what its encoding lacks.

    Errors may go nowhere.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _fail(text: str) -> NoReturn:
    print(f"river-budget: {' '.join(shortened(text).split())}", file=sys.stderr)
    sys.exit(2)


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
