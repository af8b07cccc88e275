"""Runs through an input: an answer to each row, as a line of JSON.

Ctrl-C and SIGTERM stop a run between two rows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from river_budget._features import shortened
from river_budget._state import require
from river_budget.cli import files, options
from river_budget.cli.app import counted, notes, progress
from river_budget.cli.options import OnError


@dataclasses.dataclass
class Command:
    """A command: its fields are options, and `run` does its work."""

    target: options.Target = None
    features: options.Features = None
    ignore: options.Ignore = None
    delimiter: options.Delimiter = None
    decimal: options.Decimal = "."

    @property
    def columns(self) -> files.Columns:
        """What the options say about columns."""
        return files.Columns(self.target, self.features, self.ignore, self.delimiter, self.decimal)

    @contextlib.contextmanager
    def opened(
        self, file: str, columns: files.Columns, encoding: str = "utf-8-sig"
    ) -> Iterator[tuple[files.Reader, files.Lines]]:
        """Open an input as `files.opened` does, and log names of --ignore that its header lacks."""
        with files.opened(file, columns, encoding) as (reader, lines):
            header = reader.header
            for name in self.ignore or ():
                if header and name not in header:
                    near = ", ".join(difflib.get_close_matches(name, header))
                    hint = f"near: {near}" if near else f"only {', '.join(header)}"
                    notes.warning(f"--ignore: no column {name!r}, {hint}")
            yield reader, lines


@dataclasses.dataclass
class Run(Command):
    """Answers the rows of an input with a model, and counts them. A bad row stops it or is skipped."""

    file: options.File = "-"
    encoding: options.Encoding = "utf-8-sig"
    on_error: options.OnErrorOption = OnError.STOP
    quiet: options.Quiet = False

    def __post_init__(self) -> None:
        notes.disabled = self.quiet
        self._chain: Any = None
        self._n_lines = self._n_skipped = 0
        self._is_busy, self._signal = False, 0

    def answer(self, row: files.Row) -> dict[str, Any] | None:
        """Return the answer to a row; None if it is not to be printed.

        Raises ValueError, and changes nothing, if the row is bad.
        """
        raise NotImplementedError

    def finish(self, row: files.Row | None) -> None:
        """Do what follows the answer to a row; None stands for a row that was skipped."""

    def finding(self) -> str:
        """Return what was found so far."""
        raise NotImplementedError

    def summary(self) -> list[str]:
        """Return what is to be said at the end, as texts of one line or several."""
        return []

    def memory(self) -> int:
        """Return how many bytes the model takes."""
        return self._chain.memory_bytes

    def answer_all(self, rows: Iterable[files.Row]) -> None:
        """Print the answers to rows, and at the end, or when a signal comes, a summary.

        The exit status after a signal is the one that a shell expects.
        """
        start = time.process_time()
        with contextlib.suppress(SystemExit), contextlib.ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, self._receive))
            if sys.platform != "win32":
                # If a signal comes just before a read begins, Python handles it only when the read
                # returns. So an alarm interrupts all reads once a second.
                signal.signal(signal.SIGALRM, lambda *_: None)
                signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
                stack.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)
            show = stack.enter_context(progress())
            for row in rows:
                self._answer_and_finish(row)
                show(self._text())

        seconds, n = time.process_time() - start, self._n_lines
        text = f"{self._text()}, {self.memory():,} bytes"
        notes.info(f"{text}, {1e6 * seconds / n:,.1f} µs a line" if n else text)
        for text in self.summary():
            notes.info(text.replace("\n", "\n  "))
        if self._signal:
            sys.exit(128 + self._signal)
        is_any_answered = self._n_skipped < self._n_lines or self._n_lines == 0
        require(is_any_answered, "every line was skipped")

    def _receive(self, number: int, frame: Any) -> None:
        """End the run: at once, or when the row in progress is finished."""
        self._signal = number
        if not self._is_busy:
            raise SystemExit

    def _answer_and_finish(self, row: files.Row) -> None:
        """Print the answer to a row, and only then finish it: a run that ends in between has not seen it."""
        try:
            require(not row.error, row.error)
            answer = self.answer(row)
            if answer is not None:
                print_answer(answer)
            self._finish(row)
        except ValueError as error:
            if self.on_error is OnError.STOP:
                raise ValueError(f"line {row.line}: {error}") from None
            print_answer({"error": shortened(str(error)), "line": row.line})
            self._finish(None)

    def _finish(self, row: files.Row | None) -> None:
        """Finish a row without an interruption by a signal, and count it."""
        self._is_busy = True
        self.finish(row)
        self._n_lines += 1
        self._n_skipped += row is None
        self._is_busy = False
        if self._signal:
            raise SystemExit

    def _text(self) -> str:
        """Return how many lines there were, and what was found."""
        skipped = f" ({self._n_skipped:,} skipped)" if self._n_skipped else ""
        return f"{counted(self._n_lines, 'line')}{skipped}, {self.finding()}"


def print_answer(fields: dict[str, Any]) -> None:
    """Print a line of JSON, at once. Raises ValueError if a number is not finite."""
    line = json.dumps(fields, allow_nan=False, default=str)
    with files.blaming("standard output"):
        print(line, flush=True)
