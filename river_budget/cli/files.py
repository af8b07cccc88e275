"""Examples from csv, libsvm and JSON lines."""

from __future__ import annotations

import csv
import itertools
import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from river import stream

__all__ = ["FORMATS", "UNREADABLE", "Format", "examples", "format_of", "recognized"]

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile)

# "csv", "libsvm" or "jsonl".
Format = str

# The number of a line, its features, and its label, or None where it has none.
Line = tuple[int, dict[Any, Any], Any]

FORMATS: tuple[Format, ...] = ("csv", "libsvm", "jsonl")


def format_of(name: str) -> Format | None:
    """Return the format that a file's name tells, compressed or not."""
    stem = name.removesuffix(".gz").removesuffix(".zip")
    return next((form for form in FORMATS if stem.endswith(f".{form}")), None)


def recognized(lines: Iterable[str], target: str | None) -> tuple[Format, Iterator[str]]:
    """Return the format of lines that are read from no named file, and the lines.

    JSON lines begin with a brace. Otherwise a csv file has a target, whose name it needs, and a
    libsvm file has none.

    """
    lines = iter(lines)
    first = next(lines, "")
    form = "jsonl" if first.lstrip().startswith("{") else "csv" if target else "libsvm"
    return form, itertools.chain([first] if first else [], lines)


def examples(lines: Iterable[str], form: Format, target: str | None) -> Iterator[Line]:
    """Yield the examples that lines of text hold, one by one as they come.

    Parameters
    ----------
    lines
        An open file.
    form
        Its format.
    target
        The name of the label in csv and JSON lines.

    Raises
    ------
    ValueError
        If a line is malformed, or has a value that is not a number; it names the line.

    """
    if form == "libsvm":
        return _libsvm(lines)
    if target is None:
        raise ValueError(f"{form} needs --target, the name of the label")
    return _csv(lines, target) if form == "csv" else _json_lines(lines, target)


def _parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _csv(lines: Iterable[str], target: str) -> Iterator[Line]:
    for n, (row, _) in enumerate(stream.iter_csv(lines), 2):  # type: ignore[arg-type]
        if target not in row:
            raise ValueError(
                f"line {n} has no column {target!r}; it has {', '.join(map(str, row))}"
            )
        label = _parsed(row.pop(target))
        x = {name: _parsed(text) for name, text in row.items()}
        yield n, _numbers(n, x), None if label == "" else label


def _libsvm(lines: Iterable[str]) -> Iterator[Line]:
    pairs = stream.iter_libsvm(lines, target_type=_parsed)  # type: ignore[arg-type]
    for n in itertools.count(1):
        try:
            x, y = next(pairs)
        except StopIteration:
            return
        except ValueError:
            raise ValueError(f"line {n} is not 'label name:value name:value ...'") from None
        yield n, x, y


def _json_lines(lines: Iterable[str], target: str) -> Iterator[Line]:
    for n, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {n} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {n} is not a JSON object")
        label = row.pop(target, None)
        yield n, _numbers(n, row), label


def _numbers(n: int, x: dict[Any, Any]) -> dict[Any, Any]:
    for name, value in x.items():
        if not isinstance(value, int | float):
            raise ValueError(f"line {n} has {value!r} in column {name!r}, which is not a number")
    return x
