"""Notes on standard error: what a command is about to do, and what it has done."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator

_quiet = False


class _Logged(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print(f"river-budget: {record.getMessage()}", file=sys.stderr)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Show notes, warnings among them, and what is logged, while a command runs."""
    set_quiet(False)
    logger, handler = logging.getLogger("river_budget"), _Logged()
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(str(message))
            yield
    finally:
        logger.removeHandler(handler)


def set_quiet(quiet: bool) -> None:
    """Show no notes, or show them again."""
    global _quiet
    _quiet = quiet


def are_shown() -> bool:
    """Tell whether notes are shown."""
    return not _quiet


def say(text: str) -> None:
    """Write a line on standard error, unless the command is to be quiet."""
    if not _quiet:
        print(f"river-budget: {text}", file=sys.stderr)
