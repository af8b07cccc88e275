"""Where in its input a run goes on: after the lines that a checkpoint has seen of it."""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from collections.abc import Iterable, Iterator
from types import NoneType
from typing import IO, Any

from river_budget._state import count, require
from river_budget.cli import notes
from river_budget.cli.runs import Counts

# Characters of lines that are kept in memory while they are compared; more are kept on disk.
SPOOL = 2**24


class Lines:
    """The lines of an input with a name, and a record of those whose rows are done.

    The record has digests of the first 1, 2, 4, 8, ... lines and of all, so the first two lines
    mostly tell whether other input is the same.
    """

    def __init__(self, lines: Iterable[str], name: str) -> None:
        self._lines = lines
        self._name = name
        self._read: list[str] = []
        self._hash = hashlib.sha256()
        self._digests: list[str] = []
        self._n_lines = self._n_rows = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self._read.append(line)
            yield line

    def done(self) -> None:
        """Take note that one more row is done, with all lines that were read for it."""
        for line in self._read:
            # The last line of a file may still lack its end.
            self._hash.update(line.rstrip("\r\n").encode("utf-8", "surrogateescape") + b"\n")
            self._n_lines += 1
            if self._n_lines.bit_count() == 1:
                self._digests.append(self._hash.hexdigest())
        self._read.clear()
        self._n_rows += 1

    @property
    def place(self) -> dict[str, Any]:
        """What `placed` needs, in plain values."""
        return {
            "name": self._name, "n_rows": self._n_rows, "n_lines": self._n_lines,
            "digests": [*self._digests, self._hash.hexdigest()],
        }  # fmt: skip

    def may_reach(self, place: dict[str, Any]) -> bool:
        """Tell whether the lines that are done can be the first ones before a place."""
        return self._digests == place["digests"][: len(self._digests)]


def check(extra: dict[str, Any]) -> None:
    """Raise ValueError if no run can have kept this beside its model."""
    for name in Counts._fields:
        count(extra.get(name, 0))
    place, columns = extra.get("place"), extra.get("columns", {})
    if place is not None:
        require(type(place) is dict and place.keys() == Lines([], "").place.keys(), "no such place")
        count(place["n_rows"])
        count(place["n_lines"])
        require(type(place["digests"]) is list, "the digests of lines are no list")
    require(type(columns) is dict, "the columns have no names")
    require(type(columns.get("target")) in (str, NoneType), "the target is no name")
    for kind in ("features", "ignored"):
        names = columns.get(kind)
        is_known = type(names) in (tuple, list) and all(type(name) is str for name in names)
        require(names is None or is_known, f"the {kind} columns are no names")
    kinds = columns.get("has_texts") or {}
    is_known = type(kinds) is dict and all(type(value) is bool for value in kinds.values())
    require(is_known and all(type(name) is str for name in kinds), "the columns have no kinds")


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
    begin = Lines(itertools.islice(lines, place["n_lines"]), place["name"])
    spool = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed after its last line
        SPOOL, "w+", encoding="utf-8", errors="surrogateescape", newline=""
    )
    for line in begin:
        spool.write(line)
        begin.done()
        if not begin.may_reach(place):
            break
    spool.seek(0)
    return _again(spool, lines), begin.place["digests"] == place["digests"]


def _again(spool: IO[str], lines: Iterator[str]) -> Iterator[str]:
    with spool:
        yield from spool
    yield from lines
