"""Ctrl-C and SIGTERM, which stop a command between two rows."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

__all__ = ["Signals"]

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Lets a signal end the command, at once or after the step that is under way.

    The exit status is the shell's: 128 and the number of the signal.

    """

    def __init__(self) -> None:
        self._is_busy = False
        self._received: int | None = None

    def __enter__(self) -> Signals:
        self._former = {number: signal.signal(number, self._receive) for number in STOPPING}
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Finish what is done within, even if a signal comes."""
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False
            if self._received is not None:
                raise SystemExit(128 + self._received)

    def _receive(self, number: int, frame: Any) -> None:
        self._received = number
        if not self._is_busy:
            raise SystemExit(128 + number)
