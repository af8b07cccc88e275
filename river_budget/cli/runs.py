"""Runs through an input: an answer to each row, as a line of JSON.

Ctrl-C and SIGTERM stop a run between two rows.
"""

from __future__ import annotations

import abc
import contextlib
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from river_budget._features import shortened
from river_budget.base import memory_of
from river_budget.cli import files, notes, output
from river_budget.cli.options import OnError
from river_budget.keyed.answers import predict

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Counts(NamedTuple):
    """How many examples there were, with a known label, and with a right prediction."""

    n_seen: int = 0
    n_labelled: int = 0
    n_right: int = 0

    @property
    def accuracy(self) -> float | None:
        """Share of correct predictions among those whose label is known; None before the first."""
        return self.n_right / self.n_labelled if self.n_labelled else None

    def after(self, prediction: Any, label: Any) -> Counts:
        """Return the counts after one more example, whose label may be None."""
        is_known = label is not None
        is_right = is_known and prediction == label
        return Counts(self.n_seen + 1, self.n_labelled + is_known, self.n_right + is_right)


class Run(abc.ABC):
    """Answers the rows of an input, and counts them. A bad row stops it or is skipped."""

    def __init__(self, on_error: OnError) -> None:
        self.counts = Counts()
        self._on_error = on_error
        self._n_lines = self._n_skipped = 0
        self._seconds = 0.0

    @abc.abstractmethod
    def answer(self, row: files.Row) -> dict[str, Any]:
        """Return the answer to a row; raise ValueError, and change nothing, if it is bad."""

    @abc.abstractmethod
    def memory(self) -> str:
        """Return what the summary says about memory."""

    def learn(self, row: files.Row) -> None:
        """Learn a row whose answer is out."""

    def settle(self) -> None:
        """Take note that all is done for a row, or that it was skipped."""

    def close(self) -> None:
        """Take note that the run is over, whatever its end."""

    def through(self, rows: Iterable[files.Row]) -> None:
        """Print the answers to rows, and at the end, or when a signal comes, a summary."""
        try:
            with _Signals() as signals, output.status() as show, contextlib.closing(self):
                for row in rows:
                    try:
                        self._meet(row, signals)
                    except ValueError as error:
                        self._skip(row, error, signals)
                    show(self._text())
        except SystemExit:
            self._sum_up()
            raise
        self._sum_up()
        if 0 < self._n_lines == self._n_skipped:
            raise ValueError("every line was skipped")

    def _meet(self, row: files.Row, signals: _Signals) -> None:
        """Answer a row, and only then learn it: a run that ends in between has not seen it."""
        with signals.step(), self._timed():
            fields = self.answer(row)
        output.print_answer(fields)
        with signals.step():
            with self._timed():
                self.learn(row)
            self._n_lines += 1
            self.settle()

    def _skip(self, row: files.Row, error: ValueError, signals: _Signals) -> None:
        if self._on_error is OnError.STOP:
            raise ValueError(f"line {row.line}: {error}") from None
        output.print_answer({"error": shortened(str(error)), "line": row.line})
        with signals.step():
            self._n_lines += 1
            self._n_skipped += 1
            self.settle()

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - start

    def _text(self) -> str:
        skipped = f" ({self._n_skipped:,} skipped)" if self._n_skipped else ""
        accuracy = self.counts.accuracy
        right = "no label" if accuracy is None else f"accuracy {accuracy:.4f}"
        noun = "line" if self._n_lines == 1 else "lines"
        return f"{self._n_lines:,} {noun}{skipped}, {right}"

    def _sum_up(self) -> None:
        cost = 1e6 * self._seconds / max(1, self._n_lines)
        notes.say(f"{self._text()}, {self.memory()}, {cost:,.1f} µs a line")


class Predicting(Run):
    """Predicts each row with a model."""

    def __init__(self, model: Any, on_error: OnError) -> None:
        super().__init__(on_error)
        self._model = model
        self._next = self.counts

    def answer(self, row: files.Row) -> dict[str, Any]:
        row.check()
        margin, prediction = predict(self._model, row.x)
        self._next = self.counts.after(prediction, row.label)
        return {
            "example": self._next.n_seen, "prediction": prediction, "margin": margin,
            "label": row.label, "accuracy": self._next.accuracy,
        }  # fmt: skip

    def learn(self, row: files.Row) -> None:
        self.counts = self._next

    def memory(self) -> str:
        return f"{memory_of(self._model):,} bytes"


class _Signals:
    """Lets a signal end the command, at once or after the step that is under way.

    The exit status is the shell's: 128 and the number of the signal. Python hears a signal that comes
    just before a read begins only when that returns, so an alarm ends all waiting for a moment.
    """

    def __init__(self) -> None:
        self._is_busy = False
        self._received: int | None = None

    def __enter__(self) -> _Signals:
        self._former = {number: signal.signal(number, self._receive) for number in STOPPING}
        if sys.platform != "win32":
            self._former[signal.SIGALRM] = signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
        return self

    def __exit__(self, *raised: object) -> None:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, 0.0)
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
