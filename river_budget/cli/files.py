"""The rows of a file or of standard input: csv, libsvm, JSON lines or parquet, compressed or not."""

from __future__ import annotations

import collections
import contextlib
import csv
import decimal
import enum
import gzip
import importlib
import io
import itertools
import json
import math
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import IO, Any, NamedTuple

from river_budget.cli import notes
from river_budget.cli.app import CommandError

# What says that there is no value, and no label; so does the number NaN.
MISSING = ("", "NA", "NaN", "null", None)

# Texts that are refused as categories: each would be one of its own.
DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4}|\d\d?/\d\d?/\d\d)([T ,].*)?")

# Numbers as several languages write them, which would be categories, too.
DECIMAL_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}([. ]\d{3})+),\d+")

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile, zlib.error)

# What may separate columns if no delimiter is given.
DELIMITERS = ",;\t|"

# So many lines tell which columns of csv have texts. A pipe's first line does: others may come late.
N_FIRST = 1000

GZIP, ZIP, PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"

LINE_ENDS = ("\n", "\r\n", "\r")

# How files of bzip2, xz and zstd begin.
PACKED = (b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")


class Format(enum.StrEnum):
    """How lines are written."""

    CSV = "csv"
    LIBSVM = "libsvm"
    JSONL = "jsonl"


class Row(NamedTuple):
    """A row of the input."""

    line: int  # the last one if it has several
    x: dict[Any, Any]
    label: Any
    others: dict[str | None, Any]
    error: str = ""  # what is wrong with it

    def check(self) -> None:
        """Raise ValueError if something is wrong with it."""
        if self.error:
            raise ValueError(self.error)


class Columns(NamedTuple):
    """What the options say about columns."""

    target: str | None
    features: Collection[str] | None = None  # None: all that nothing else is said of
    ignored: Collection[str] | None = None
    delimiter: str | None = None  # None: what the header tells
    others: tuple[str | None, ...] = ()  # neither features nor label, and read as they are
    has_texts: dict[str, bool] | None = None  # which columns of csv have texts: none is known

    def has_feature(self, name: Any) -> bool:
        return name not in (self.ignored or ()) and (self.features is None or name in self.features)


@contextlib.contextmanager
def opened(
    file: str, columns: Columns, form: Format | None = None, encoding: str = "utf-8-sig"
) -> Iterator[tuple[Reader, Iterator[str]]]:
    """Open a file, or standard input, which is -, and yield a reader for its format and all its lines.

    Its first bytes tell whether it is compressed, or parquet, whose rows become lines of JSON. Bytes
    that are no text come as surrogates, so that one bad line is not the end of the file. If the format
    is not given, the name tells it, or the first line: JSON lines begin with a brace, and with a target,
    whose name it needs, anything else is csv. An error names the file, also one that comes later.
    """
    with blaming(file), contextlib.ExitStack() as stack:
        if file == "-" and sys.stdin is None:
            raise CommandError("standard input is closed")
        data: Any = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        magic, is_whole = data.peek(4), data.seekable()
        if magic.startswith(GZIP):
            data = stack.enter_context(gzip.open(data))
        elif magic.startswith(ZIP):
            data = stack.enter_context(_only_member(_seekable(data)))
        elif magic.startswith(PACKED):
            raise ValueError(
                "it is compressed by another program than gzip or zip: unpack it first"
            )
        lines: Iterator[str]
        header = None
        if magic.startswith(PARQUET):
            header, lines = _parquet(_seekable(data))
            form = Format.JSONL
        else:
            text = io.TextIOWrapper(data, encoding, "surrogateescape", newline="")
            lines = stack.enter_context(text)
        first = [*itertools.islice(lines, 1)]
        form = form or format_of(file) or _format_of_line("".join(first), columns.target)
        first += itertools.islice(lines, N_FIRST if is_whole else form == Format.CSV)
        yield Reader(form, columns, first, header), itertools.chain(first, lines)


@contextlib.contextmanager
def blaming(file: str) -> Iterator[None]:
    """Turn what is wrong with a file, as it is opened or read, into an error that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except UNREADABLE as error:
        raise CommandError(f"{'standard input' if file == '-' else file}: {error}") from None


def format_of(name: str) -> Format | None:
    """Return the format that a file's name tells, compressed or not."""
    stem = name.removesuffix(".gz").removesuffix(".zip")
    if stem.endswith(".parquet"):
        return Format.JSONL
    return next((form for form in Format if stem.endswith(f".{form}")), None)


def _format_of_line(line: str, target: str | None) -> Format:
    if line.lstrip().startswith("{"):
        return Format.JSONL
    label, *pairs = line.split() or ["0"]
    is_libsvm = all(":" in pair for pair in pairs) and (bool(pairs) or _parsed(label) is not label)
    return Format.LIBSVM if target is None and is_libsvm else Format.CSV


class Reader:
    """Reads lines of a format as examples, as the options and the first lines tell.

    A csv column is one of texts if `columns` says so or, where they say nothing, if more than half of its
    first cells are texts. Else it is one of numbers, in which a text is an error. The `columns` of the
    reader say of each what it is. `header` has the columns of parquet. Raises ValueError if a header is
    malformed.
    """

    def __init__(
        self, form: Format, columns: Columns, first: list[str], header: list[str] | None
    ) -> None:
        self.form, self.columns, self.header = form, columns, header
        self._parsed: Callable[[Any], Any] = lambda value: value
        self._class: Callable[[Any], Any] = self._parsed
        self._cells: Callable[[Any], dict[Any, Any]] = _json if form == Format.JSONL else _libsvm
        self._has_texts: dict[str, bool] | None = None
        if form == Format.CSV:
            self._parsed, self._class, self._cells = _parsed, _class, self._named
            self._delimiter = columns.delimiter or _delimiter_of("".join(first[:1]))
            self.header = self._header(first)
        elif header is not None:
            self._check(header)
        rows = list(self._read(first))
        are_texts: dict[Any, list[bool]] = collections.defaultdict(list)
        for name, value in itertools.chain(*(row.x.items() for row in rows)):
            if value is not None:
                are_texts[name].append(isinstance(value, str))
        known = columns.has_texts or {}
        kinds = {name: known.get(name, 2 * sum(c) > len(c)) for name, c in are_texts.items()}
        n_labels = len({str(row.label) for row in rows if row.label is not None})
        self._summary = _summary(list(kinds.values()), columns.target, n_labels)
        if form == Format.CSV:
            self._has_texts = known | kinds
            self.columns = columns._replace(has_texts=self._has_texts)

    def require_target(self) -> None:
        """Raise ValueError if a header lacks the target, so that a new model would learn nothing."""
        if self.header and self.columns.target not in self.header:
            raise ValueError(_absent(self.columns.target, self.header))

    def rows(self, lines: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of all lines, which are read one by one, and say what is taken as what."""
        if self._summary:
            notes.say(self._summary)
        target = self.columns.target
        if self.header and target not in (None, *self.header):
            notes.say(f"{_absent(target, self.header)}: no line has a label")
        yield from self._read(lines)

    def _header(self, first: list[str]) -> list[str]:
        reader = csv.reader(first, delimiter=self._delimiter, skipinitialspace=True)
        try:
            header = [_decoded(name) for name in next(reader, [])]
            if len(header) == 1 and not self.columns.delimiter and re.search(r"\W", header[0]):
                raise ValueError(f"the header is one column, {header[0]!r}: give --delimiter")
            self._check(header)
        except (csv.Error, ValueError) as error:
            raise ValueError(f"line {max(1, reader.line_num)}: {error}") from None
        return header

    def _check(self, header: list[str]) -> None:
        for name, count in collections.Counter(header).items():
            if count > 1:
                times = "twice" if count == 2 else f"{count} times"
                raise ValueError(f"the header has the column {name!r} {times}")
        for name in (*(self.columns.features or ()), *(self.columns.ignored or ())):
            if header and name not in header:
                raise ValueError(_absent(name, header))

    def _read(self, lines: Iterable[str]) -> Iterator[Row]:
        items: Any = iter(lines)
        if self.form == Format.CSV:
            items = csv.reader(items, delimiter=self._delimiter, skipinitialspace=True)
            next(items, None)
        for n in itertools.count(1):
            try:
                item = next(items)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(items.line_num, {}, None, {}, str(error))
                continue
            if item and item not in LINE_ENDS:  # An empty line is none.
                yield self._row(items.line_num if self.form == Format.CSV else n, item)

    def _row(self, n: int, item: Any) -> Row:
        try:
            cells = self._cells(item)
            label = cells.pop(self.columns.target if self.form != Format.LIBSVM else None, None)
            others = {name: cells.pop(name, None) for name in self.columns.others}
            has_feature = self.columns.has_feature
            x = {name: self._value(name, cells[name]) for name in cells if has_feature(name)}
            return Row(n, x, self._label(label), others)
        except ValueError as error:
            return Row(n, {}, None, {}, str(error))

    def _label(self, cell: Any) -> Any:
        """Return a label, None if it is missing; raise ValueError if it is an infinite number."""
        label = None if cell in MISSING else self._class(cell)
        if label in (math.inf, -math.inf):
            raise ValueError(f"the label is {label}: expected a class")
        return label if label == label else None

    def _value(self, name: Any, cell: Any) -> Any:
        """Return the value of a feature, None if it is missing; raise ValueError if it is bad."""
        value = None if cell in MISSING else self._parsed(cell)
        if value is None or value != value:
            return None
        is_text = isinstance(value, str)
        if is_text and DATE.fullmatch(value):
            raise ValueError(
                f"{value!r} in column {name!r} is a date: give --ignore {name}, or convert it to numbers"
            )
        if is_text and DECIMAL_COMMA.fullmatch(value):
            raise ValueError(
                f"{value!r} in column {name!r} has a decimal comma: write a point, or give --ignore {name}"
            )
        if self._has_texts is None:
            return value
        if self._has_texts.setdefault(name, is_text):
            return cell
        if is_text:
            raise ValueError(f"{cell!r} in column {name!r} is not a number")
        return value

    def _named(self, cells: list[str]) -> dict[Any, Any]:
        header = self.header or []
        if len(cells) != len(header):
            comparison = "more" if len(cells) > len(header) else "fewer"
            raise ValueError(
                f"{comparison} cells ({len(cells)}) than the header has ({len(header)})"
            )
        _decoded("".join(cells))
        return dict(zip(header, cells, strict=True))


def _absent(name: str | None, header: list[str]) -> str:
    return f"no column {name!r}, only {', '.join(header)}"


def _delimiter_of(header: str) -> str:
    """Return the delimiter that a header has most of outside of quotes."""
    return max(DELIMITERS, key=re.sub(r'"[^"]*"', "", header).count)


def _summary(kinds: list[bool], target: str | None, n_labels: int) -> str:
    """Return a text that says how many features have texts, and how many labels there are so far."""
    n_texts, named = sum(kinds), f' "{target}"' if target else ""
    counts = [(len(kinds) - n_texts, "number", "numbers"), (n_texts, "category", "categories")]
    parts = [f"{n:,} {one if n == 1 else many}" for n, one, many in counts]
    if n_labels:
        parts.append(f"target{named} with {n_labels:,} value{'s' * (n_labels > 1)} so far")
    return ", ".join(parts) if kinds else ""


def number(text: str) -> float:
    """Return the number that a text is, or raise ValueError: Python reads 1_0 and other digits, too."""
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} is not a number")
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text."""
    try:
        return number(text)
    except ValueError:
        return {"True": True, "False": False}.get(text, text)


def _class(text: str) -> Any:
    """Return the label that a text is: a finite number only if it is written as Python would."""
    value = _parsed(text)
    is_plain = str(value) == text.strip().removeprefix("+") and value not in (math.inf, -math.inf)
    return value if is_plain or value != value else text


def _json(line: str) -> dict[Any, Any]:
    try:
        row = json.loads(_decoded(line))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return row


def _libsvm(line: str) -> dict[Any, Any]:
    """Return the features, and the label, whose name is None."""
    try:
        label, *pairs = _decoded(line).split("#")[0].split()
        split = (pair.rsplit(":", 1) for pair in pairs)
        return {name: number(value) for name, value in split} | {None: _class(label)}
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
    # macOS adds files that begin so.
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise ValueError(f"the archive has {len(names)} files: expected one")
    try:
        return archive.open(names[0])
    except RuntimeError as error:  # It has a password, or a method that zipfile does not know.
        raise ValueError(str(error)) from None


def _parquet(data: IO[bytes]) -> tuple[list[str], Iterator[str]]:
    """Return the columns, and the rows as lines of JSON."""
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise CommandError("parquet needs pyarrow: pip install pyarrow") from None
    table = parquet.ParquetFile(data)
    if not table.metadata.num_rows:
        raise ValueError("the table has no rows")
    rows = itertools.chain.from_iterable(batch.to_pylist() for batch in table.iter_batches())
    return table.schema_arrow.names, (json.dumps(row, default=_plain) + "\n" for row in rows)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, decimal.Decimal) else str(value)
