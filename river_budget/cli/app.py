"""The program that the commands are part of, its errors, and what it shows on standard error."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress

import river_budget
from river_budget._features import shortened

# The arguments become an object of the command's class, whose `run` is called.
app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    result_callback=lambda command, **_: command.run(),
)

# Click's UsageError, wherever this version of typer has it from.
UsageError: Any = typer.BadParameter.__base__

# Notes on what a command is about to do, and on what it has done. The option --quiet disables them.
notes = logging.getLogger(__name__)

# Whatever else the package logs is shown, too.
logger = logging.getLogger("river_budget")


class CommandError(Exception):
    """An error while a command runs, with a message for the user."""


def main() -> None:
    """Run the command line.

    An error of usage, or a later one, is one line on standard error, and the exit status is 2.
    """
    if sys.stderr is None:  # Errors go nowhere.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("river-budget: %(message)s"))
    try:
        if sys.stdout is None:
            raise CommandError("standard output is closed")
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        notes.disabled = False
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: notes.info(message)
            status = app(None if sys.argv[1:] else ["--help"], standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except UsageError as error:
        _fail(error.format_message())
    except ModuleNotFoundError as error:
        _fail(f"{error}: pip install {str(error.name).partition('.')[0]}")
    except BrokenPipeError:  # The reader of the output is gone.
        _end(1)
    except (CommandError, ValueError, OSError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory: give a smaller --budget")
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    finally:
        logger.removeHandler(handler)


def _fail(text: str) -> NoReturn:
    """Print an error as one line, and end the program."""
    print(f"river-budget: {' '.join(shortened(text).split())}", file=sys.stderr)
    _end(2)


def _end(status: int) -> NoReturn:
    """End the program, whether or not the output can still be written."""
    try:
        print(end="", flush=True)
    except OSError:
        # What is still buffered goes nowhere, so that the interpreter can end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


@app.callback(invoke_without_command=True)
def program(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Kernel learning on a memory budget, for River."""
    if version:
        print(f"river-budget {river_budget.__version__}")
        raise typer.Exit


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with the noun that it counts."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


@contextlib.contextmanager
def progress(total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; without a total, only if the output goes elsewhere.

    Yields a function that shows a text, and advances the bar by one step or several.
    """
    if not sys.stderr.isatty() or (total is None and (sys.stdout.isatty() or notes.disabled)):
        yield lambda text, n=1: None
        return
    # By default, rich would redirect standard output to the terminal, too.
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task, at_once = bar.add_task("waiting for lines", total=total), total is not None
        yield lambda text, n=1: bar.update(task, advance=n, description=text, refresh=at_once)
