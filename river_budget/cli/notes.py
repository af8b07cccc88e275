"""Notes on standard error: what a command is about to do, and what it has done."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator

logger = logging.getLogger(__name__)


class _StandardError(logging.Handler):
    """Writes to whatever standard error is at the time: a display may have replaced it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"river-budget: {record.getMessage()}", file=sys.stderr)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Show notes, and warnings among them, while a command runs."""
    handler = _StandardError()
    logger.addHandler(handler)
    set_quiet(False)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(str(message))
        try:
            yield
        finally:
            logger.removeHandler(handler)


def set_quiet(quiet: bool) -> None:
    """Show no notes, or show them again."""
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def are_shown() -> bool:
    """Tell whether notes are shown."""
    return logger.isEnabledFor(logging.INFO)


def say(text: str) -> None:
    """Write a line on standard error, unless the command is to be quiet."""
    logger.info("%s", text)
