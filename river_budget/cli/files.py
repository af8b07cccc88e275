"""Examples from csv, libsvm and JSON lines."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from river import stream
from river.stream.utils import open_filepath

__all__ = [
    "FORMATS", "UNREADABLE", "Format", "examples", "features", "format_of", "label", "read",
    "recognized", "rows",
]  # fmt: skip

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile)

# "csv", "libsvm" or "jsonl".
Format = str

# The number of a line, its features, and its label, or None where it has none.
Line = tuple[int, dict[Any, Any], Any]

FORMATS: tuple[Format, ...] = ("csv", "libsvm", "jsonl")


@contextlib.contextmanager
def read(
    file: str, form: Format | None, target: str | None
) -> Iterator[tuple[Format, Iterable[str]]]:
    """Open a file, compressed or not, or standard input, which is -, and tell its format.

    What is wrong with the file, as it is opened or read, is wrong usage that names it.

    """
    try:
        with (
            contextlib.nullcontext(sys.stdin) if file == "-" else open_filepath(file, "infer") as f
        ):
            form = form or format_of(file)
            yield (form, f) if form else recognized(f, target)
    except BrokenPipeError:
        raise
    except UNREADABLE as error:
        raise typer.BadParameter(f"{file}: {error}") from None


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
    return _with_target(lines, form, target)


def rows(lines: Iterable[str], form: Format) -> Iterator[tuple[int, dict[Any, Any]]]:
    """Yield the number of each line of csv or JSON, and its columns as they are.

    Raises
    ------
    ValueError
        If a line is malformed; it names the line.

    """
    return _csv(lines) if form == "csv" else _json_lines(lines)


def features(n: int, row: dict[Any, Any], form: Format) -> dict[Any, Any]:
    """Return the numbers of a row.

    Raises
    ------
    ValueError
        If a value is none; it names the line.

    """
    x = {name: _value(value, form) for name, value in row.items()}
    for name, value in x.items():
        if not isinstance(value, int | float):
            raise ValueError(f"line {n} has {value!r} in column {name!r}, which is not a number")
    return x


def label(value: Any, form: Format) -> Any:
    """Return the label that a column has, or None if it is empty."""
    return None if value == "" and form == "csv" else _value(value, form)


def _value(value: Any, form: Format) -> Any:
    return _parsed(value) if form == "csv" else value


def _parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _with_target(lines: Iterable[str], form: Format, target: str) -> Iterator[Line]:
    for n, row in rows(lines, form):
        if form == "csv" and target not in row:
            raise ValueError(
                f"line {n} has no column {target!r}; it has {', '.join(map(str, row))}"
            )
        y = label(row.pop(target, None), form)
        yield n, features(n, row, form), y


def _csv(lines: Iterable[str]) -> Iterator[tuple[int, dict[Any, Any]]]:
    reader = csv.DictReader(lines)
    for row in reader:
        if None in row:
            raise ValueError(f"line {reader.line_num} has more cells than the first line has names")
        yield reader.line_num, {name: cell for name, cell in row.items() if cell is not None}


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


def _json_lines(lines: Iterable[str]) -> Iterator[tuple[int, dict[Any, Any]]]:
    for n, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"line {n} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {n} is not a JSON object")
        yield n, row
