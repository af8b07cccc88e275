"""The rows of a file or of standard input: csv, libsvm, JSON lines or parquet, compressed or not."""

from __future__ import annotations

import collections
import contextlib
import csv
import gzip
import importlib
import io
import itertools
import json
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

import typer

from river_budget.cli import notes
from river_budget.cli.app import CommandError

Format = str
FORMATS: tuple[Format, ...] = ("csv", "libsvm", "jsonl")

# A scaler's sums of squares would overflow, and never be numbers again.
LARGEST = 1e150

# The labels that say that there is none.
MISSING = ("", "NA", None)

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile, zlib.error)

# What separates columns instead of commas, and the option that says so.
DELIMITERS = {"\t": "tab", ";": "';'", "|": "'|'"}

GZIP, ZIP, PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"


class Row(NamedTuple):
    """A row of the input."""

    line: int  # the last one if it has several
    columns: dict[Any, Any]  # without the label, as they are
    label: Any
    error: str = ""  # what is wrong with it


class Table(NamedTuple):
    """The rows of the input, and the names in its header if it has one."""

    header: list[str] | None
    rows: Iterator[Row]


def _name_of(file: str) -> str:
    """Return what messages call a file."""
    return "standard input" if file == "-" else file


@contextlib.contextmanager
def opened(file: str, encoding: str = "utf-8-sig") -> Iterator[Iterator[str]]:
    """Open a file, or standard input, which is -, and yield its lines.

    Its first bytes tell whether it is compressed, or parquet, whose rows become lines of JSON. Bytes
    that are no text come as surrogates, so that one bad line is not the end of the file.
    """
    with contextlib.ExitStack() as stack:
        if file == "-" and sys.stdin is None:
            raise CommandError("standard input is closed")
        data: Any = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        magic = data.peek(4)
        if magic.startswith(GZIP):
            data = stack.enter_context(gzip.open(data))
        elif magic.startswith(ZIP):
            data = stack.enter_context(_only_member(_seekable(data)))
        if magic.startswith(PARQUET):
            yield _parquet(_seekable(data))
        else:
            yield stack.enter_context(io.TextIOWrapper(data, encoding, "surrogateescape"))


@contextlib.contextmanager
def blaming(file: str) -> Iterator[None]:
    """Turn what is wrong with a file, as it is opened or read, into an error that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except UNREADABLE as error:
        raise CommandError(f"{_name_of(file)}: {error}") from None


def format_of(name: str) -> Format | None:
    """Return the format that a file's name tells, compressed or not."""
    stem = name.removesuffix(".gz").removesuffix(".zip")
    if stem.endswith(".parquet"):
        return "jsonl"
    return next((form for form in FORMATS if stem.endswith(f".{form}")), None)


def check_format(form: Format | None) -> None:
    """Refuse a format that there is not."""
    if form not in (None, *FORMATS):
        raise typer.BadParameter(f"no format is called {form!r}: give {', '.join(FORMATS)}")


@contextlib.contextmanager
def recognized(
    file: str, encoding: str, form: Format | None, target: str | None
) -> Iterator[tuple[Format, Iterator[str]]]:
    """Open a file, and yield its format, if it is not given, and all its lines.

    Its name tells the format, or its first line: JSON lines begin with a brace, and with a target,
    whose name it needs, anything else is csv. An error names the file, also one that comes later.
    """
    with blaming(file), opened(file, encoding) as lines:
        known = form or format_of(file)
        if known is not None:
            yield known, lines
            return
        first = next(lines, "")
        is_csv = target is not None or not _is_libsvm(first)
        found = "jsonl" if first.lstrip().startswith("{") else "csv" if is_csv else "libsvm"
        yield found, itertools.chain([first] if first else [], lines)


def _is_libsvm(line: str) -> bool:
    label, *pairs = line.split() or ["0"]
    return all(":" in pair for pair in pairs) and (bool(pairs) or _parsed(label) is not label)


def table(
    lines: Iterable[str], form: Format, target: str | None = None, delimiter: str = ","
) -> Table:
    """Return the rows of an open file, which are read one by one as they are asked for.

    The target names the label in csv and JSON lines; rows without it have none. The delimiter
    separates the columns of csv. Raises ValueError if a csv header is malformed.
    """
    if form == "csv":
        return _csv(lines, target, delimiter)
    if form == "jsonl":
        return Table(None, _each_line(lines, lambda line: _labelled(_json(line), target)))
    return Table(None, _each_line(lines, _libsvm))


def note_missing(target: str | None, header: list[str] | None, file: str) -> None:
    """Say so if a csv file has no labels."""
    if target is not None and header and target not in header:
        notes.say(
            f"{_name_of(file)} has no column {target!r}, it has {', '.join(header)}: "
            "its lines are predicted, not learned"
        )


def example(row: Row, form: Format) -> tuple[dict[Any, Any], Any]:
    """Return the features and the label of a row; raise ValueError if it is invalid."""
    if row.error:
        raise ValueError(row.error)
    return features(row.columns, form), row.label


def features(columns: dict[Any, Any], form: Format) -> dict[Any, Any]:
    """Return columns as numbers, which are to be scaled; raise ValueError if one cannot be."""
    x = {name: _parsed(cell) for name, cell in columns.items()} if form == "csv" else columns
    for name, value in x.items():
        if not isinstance(value, int | float):
            raise ValueError(f"{value!r} in column {name!r} is not a number")
        if abs(value) > LARGEST:
            raise ValueError(f"{value!r} in column {name!r} is too large to be scaled")
    return x


def _parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _each_line(
    lines: Iterable[str], read: Callable[[str], tuple[dict[Any, Any], Any]]
) -> Iterator[Row]:
    for n, line in enumerate(lines, 1):
        yield _row(n, lambda line=line: read(_decoded(line)))  # type: ignore[misc]


def _row(line: int, read: Callable[[], tuple[dict[Any, Any], Any]]) -> Row:
    try:
        return Row(line, *read())
    except ValueError as error:
        return Row(line, {}, None, str(error))


def _csv(lines: Iterable[str], target: str | None, delimiter: str) -> Table:
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        header = [_decoded(name) for name in next(reader, [])]
        for name, count in collections.Counter(header).items():
            if count > 1:
                times = "twice" if count == 2 else f"{count} times"
                raise ValueError(f"the header has the column {name!r} {times}")
        for character, option in DELIMITERS.items():
            if len(header) == 1 and character in header[0]:
                raise ValueError(f"the header is one column: give --delimiter {option}")
    except (csv.Error, ValueError) as error:
        raise ValueError(f"line {max(1, reader.line_num)}: {error}") from None
    return Table(header, _csv_rows(reader, header, target))


def _csv_rows(reader: Any, header: list[str], target: str | None) -> Iterator[Row]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(reader.line_num, {}, None, str(error))
            continue
        if cells:
            yield _row(reader.line_num, lambda: _labelled(_named(cells, header), target, _parsed))  # noqa: B023


def _named(cells: list[str], header: list[str]) -> dict[Any, Any]:
    if len(cells) != len(header):
        comparison = "more" if len(cells) > len(header) else "fewer"
        raise ValueError(f"{comparison} cells ({len(cells)}) than the header has ({len(header)})")
    _decoded("".join(cells))
    return dict(zip(header, cells, strict=True))


def _labelled(
    columns: dict[Any, Any], target: str | None, parsed: Callable[[Any], Any] = lambda value: value
) -> tuple[dict[Any, Any], Any]:
    """Return the columns without the label, and the label or None."""
    label = columns.pop(target, None)
    return columns, None if label in MISSING else parsed(label)


def _json(line: str) -> dict[Any, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return row


def _libsvm(line: str) -> tuple[dict[Any, Any], Any]:
    try:
        label, *pairs = line.split("#")[0].split()
        split = (pair.rsplit(":", 1) for pair in pairs)
        return {name: float(value) for name, value in split}, _parsed(label)
    except ValueError:
        raise ValueError("not 'label name:value name:value ...'") from None


def _decoded(text: str) -> str:
    """Return a text; raise ValueError if bytes of it were none."""
    if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
        raise ValueError("not text in the encoding that --encoding tells")
    return text


def _seekable(data: IO[bytes]) -> IO[bytes]:
    """Return a file in which one can go back: a pipe's content is read into memory."""
    return data if data.seekable() else io.BytesIO(data.read())


def _only_member(data: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(data)
    names = archive.namelist()
    if len(names) != 1:
        raise ValueError(f"the archive has {len(names)} files: expected one")
    try:
        return archive.open(names[0])
    except RuntimeError as error:  # It has a password, or a method that zipfile does not know.
        raise ValueError(str(error)) from None


def _parquet(data: IO[bytes]) -> Iterator[str]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise CommandError("parquet needs pyarrow: pip install pyarrow") from None
    table = parquet.ParquetFile(data)
    if not table.metadata.num_rows:
        raise ValueError("the table has no rows")
    for batch in table.iter_batches():
        for row in batch.to_pylist():
            yield json.dumps(row, default=str) + "\n"
