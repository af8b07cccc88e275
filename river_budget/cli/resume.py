"""Where in its input a run goes on: after the lines that a checkpoint has seen of it."""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from river_budget.cli import notes

# Characters of lines that are kept in memory while they are compared; more are kept on disk.
SPOOL = 2**24


class Record:
    """Which lines were seen: their number, and digests of the first 1, 2, 4, 8, ... and of all.

    So the first two lines mostly tell whether other input is the same.
    """

    def __init__(self) -> None:
        self.n_lines = 0
        self._hash = hashlib.sha256()
        self._digests: list[str] = []

    def add(self, line: str) -> None:
        """Add a line; the last one of a file may still lack its end."""
        self._hash.update(line.removesuffix("\n").encode("utf-8", "surrogateescape") + b"\n")
        self.n_lines += 1
        if self.n_lines.bit_count() == 1:
            self._digests.append(self._hash.hexdigest())

    @property
    def digests(self) -> list[str]:
        """The digests, that of all lines last."""
        return [*self._digests, self._hash.hexdigest()]

    def may_become(self, digests: list[str]) -> bool:
        """Tell whether these can be the first lines of those with the digests."""
        return self._digests == digests[: len(self._digests)]


class Lines:
    """The lines of an input with a name, and a record of those whose rows are done."""

    def __init__(self, lines: Iterable[str], name: str) -> None:
        self._lines = iter(lines)
        self._name = name
        self._read: list[str] = []
        self._record = Record()
        self._n_rows = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._read.append(line)
        return line

    def done(self) -> None:
        """Take note that one more row is done, with all lines that were read for it."""
        for line in self._read:
            self._record.add(line)
        self._read.clear()
        self._n_rows += 1

    @property
    def place(self) -> dict[str, Any]:
        """What `placed` needs, in plain values."""
        return {
            "name": self._name, "n_rows": self._n_rows, "n_lines": self._record.n_lines,
            "digests": self._record.digests,
        }  # fmt: skip


def placed(
    lines: Iterator[str], name: str, extra: dict[str, Any] | None
) -> tuple[Iterator[str], int]:
    """Return all lines of an input with a name, and how many of its rows a checkpoint has seen.

    `extra` is what the run that was saved has kept beside its model; None if there was none.
    """
    if extra is None:
        return lines, 0
    place: dict[str, Any] = extra.get("place") or {"name": None}
    is_same = False
    if place["name"] == name:
        lines, is_same = _compared(lines, place)
    if not is_same:
        notes.say("the checkpoint has seen other input than this: learning from line 1")
        return lines, 0
    n = place["n_lines"]
    notes.say(f"the checkpoint has seen {n:,} lines of this input: going on at line {n + 1:,}")
    return lines, place["n_rows"]


def _compared(lines: Iterator[str], place: dict[str, Any]) -> tuple[Iterator[str], bool]:
    """Return all lines, and whether they begin with those that were seen, reading no more to tell."""
    record = Record()
    spool = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed after its last line
        SPOOL, "w+", encoding="utf-8", errors="surrogateescape", newline="\n"
    )
    for line in itertools.islice(lines, place["n_lines"]):
        spool.write(line)
        record.add(line)
        if not record.may_become(place["digests"]):
            break
    spool.seek(0)
    return _again(spool, lines), record.digests == place["digests"]


def _again(spool: IO[str], lines: Iterator[str]) -> Iterator[str]:
    with spool:
        yield from spool
    yield from lines
