"""The program that the commands are part of."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

__all__ = ["app", "main"]

app = typer.Typer(
    help="Kernel learning on a memory budget, for River.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

# Click's UsageError, wherever this version of typer has it from.
UsageError: Any = typer.BadParameter.__base__


def main() -> None:
    """Run the command line; wrong usage is one line on standard error and exit status 2."""
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except UsageError as error:
        message = " ".join(error.format_message().split())
        print(f"river-budget: {message}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        # Nobody reads on. What is still buffered goes nowhere, so that the interpreter can end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
