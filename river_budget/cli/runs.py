"""Runs through an input: an answer to each row, as a line of JSON.

Ctrl-C and SIGTERM stop a run between two rows.
"""

from __future__ import annotations

import abc
import contextlib
import signal
import time
from collections.abc import Iterable, Iterator
from typing import Any

from river_budget._features import shortened
from river_budget.base import memory_of
from river_budget.cli import files, notes, output
from river_budget.cli.options import OnError
from river_budget.keyed.answers import predict

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Run(abc.ABC):
    """Answers the rows of an input, and counts them. A bad row stops it or is skipped."""

    def __init__(self, on_error: OnError) -> None:
        self.n_labelled = self.n_right = 0
        self._on_error = on_error
        self._n_lines = self._n_skipped = 0
        self._seconds = 0.0

    @abc.abstractmethod
    def answer(self, row: files.Row) -> dict[str, Any]:
        """Return the answer to a row; raise ValueError, and change nothing, if it is bad."""

    @abc.abstractmethod
    def memory(self) -> str:
        """Return what the summary says about memory."""

    def settle(self) -> None:
        """Take note that a row was answered or skipped."""

    def close(self) -> None:
        """Take note that the run is over, whatever its end."""

    @property
    def accuracy(self) -> float | None:
        """Share of correct predictions among those whose label is known; None before the first."""
        return self.n_right / self.n_labelled if self.n_labelled else None

    def through(self, rows: Iterable[files.Row]) -> None:
        """Print the answers to rows, and at the end, or when a signal comes, a summary."""
        try:
            with _Signals() as signals, output.status() as show, contextlib.closing(self):
                for row in rows:
                    with signals.step():
                        start = time.perf_counter()
                        fields = self._answered(row)
                        self._seconds += time.perf_counter() - start
                        self._n_lines += 1
                        self.settle()
                    output.print_answer(fields)
                    show(self._counts())
        except SystemExit:
            self._sum_up()
            raise
        self._sum_up()
        if 0 < self._n_lines == self._n_skipped:
            raise ValueError("every line was skipped")

    def _answered(self, row: files.Row) -> dict[str, Any]:
        try:
            return self.answer(row)
        except ValueError as error:
            if self._on_error is OnError.STOP:
                raise ValueError(f"line {row.line}: {error}") from None
            self._n_skipped += 1
            return {"error": shortened(str(error)), "line": row.line}

    def _counts(self) -> str:
        skipped = f" ({self._n_skipped:,} skipped)" if self._n_skipped else ""
        right = "no label" if self.accuracy is None else f"accuracy {self.accuracy:.4f}"
        noun = "line" if self._n_lines == 1 else "lines"
        return f"{self._n_lines:,} {noun}{skipped}, {right}"

    def _sum_up(self) -> None:
        cost = 1e6 * self._seconds / max(1, self._n_lines)
        notes.say(f"{self._counts()}, {self.memory()}, {cost:,.1f} µs a line")


class Predicting(Run):
    """Predicts each row with a model."""

    def __init__(self, model: Any, on_error: OnError) -> None:
        super().__init__(on_error)
        self.n_seen = 0
        self._model = model

    def answer(self, row: files.Row) -> dict[str, Any]:
        row.check()
        y = row.label
        margin, prediction = predict(self._model, row.x)
        if y is not None:
            self.meet(row.x, y)
        self.n_seen += 1
        self.n_labelled += y is not None
        self.n_right += y is not None and prediction == y
        return {
            "example": self.n_seen, "prediction": prediction, "margin": margin, "label": y,
            "accuracy": self.accuracy,
        }  # fmt: skip

    def meet(self, x: dict[Any, Any], y: Any) -> None:
        """Do what is to be done with a labelled example; raise ValueError if it is bad."""

    def memory(self) -> str:
        return f"{memory_of(self._model):,} bytes"


class _Signals:
    """Lets a signal end the command, at once or after the step that is under way.

    The exit status is the shell's: 128 and the number of the signal.
    """

    def __init__(self) -> None:
        self._is_busy = False
        self._received: int | None = None

    def __enter__(self) -> _Signals:
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
