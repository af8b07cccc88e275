"""Notes on standard error: what a command is about to do, and what it has done."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

from numba.core import event

logger = logging.getLogger(__name__)


class _StandardError(logging.Handler):
    """Writes to whatever standard error is at the time: a display may have replaced it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"river-budget: {record.getMessage()}", file=sys.stderr)


class _Compiling(event.Listener):
    """Says once that Numba compiles; what it finds in its cache it does not compile."""

    def __init__(self) -> None:
        self.is_unexpected = True

    def on_start(self, event: Any) -> None:
        if self.is_unexpected:
            say("compiling for this machine, once ... (`river-budget warmup` does it beforehand)")
        self.is_unexpected = False

    def on_end(self, event: Any) -> None:
        """Say nothing."""


_compiling = _Compiling()


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Show notes while a command runs."""
    handler = _StandardError()
    logger.addHandler(handler)
    set_quiet(False)
    _compiling.is_unexpected = True
    try:
        with event.install_listener("numba:compile", _compiling):
            yield
    finally:
        logger.removeHandler(handler)


def expect_compiling() -> None:
    """Do not say that Numba compiles: it is what the command is for."""
    _compiling.is_unexpected = False


def set_quiet(quiet: bool) -> None:
    """Show no notes, or show them again."""
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def are_shown() -> bool:
    """Tell whether notes are shown."""
    return logger.isEnabledFor(logging.INFO)


def say(text: str) -> None:
    """Write a line on standard error, unless the command is to be quiet."""
    logger.info("%s", text)
