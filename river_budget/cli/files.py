"""The rows of a file or of standard input: csv, libsvm, JSON lines or parquet, compressed or not."""

from __future__ import annotations

import collections
import contextlib
import csv
import enum
import gzip
import importlib
import io
import itertools
import json
import math
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import IO, Any, NamedTuple

from river_budget.cli.app import CommandError, counted, notes

# What says that there is no value, and no label; so does the number NaN.
MISSING = ("", "NA", "NaN", "null", None)

INFINITE = (math.inf, -math.inf)

# Texts that are refused, as each would be a category of its own, and what to do: dates, and numbers
# as several languages write them.
REFUSED = {
    r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4}|\d\d?/\d\d?/\d\d)([T ,].*)?": (
        "is a date: give --ignore {}, or convert it to numbers"
    ),
    r"[-+]?(\d+|\d{1,3}([. ]\d{3})+),\d+": "has a decimal comma: write a point, or give --ignore {}",
}

# What may separate columns if no delimiter is given.
DELIMITERS = ",;\t|"

# So many lines tell which columns of csv have texts. A pipe's first line does: others may come late.
N_FIRST = 1000

# How files begin; the last are those of zip, bzip2, xz and zstd.
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
PACKED = (b"PK\x03\x04", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")


# How lines are written: csv, libsvm or jsonl.
Format = enum.StrEnum("Format", ["CSV", "LIBSVM", "JSONL"])


class Row(NamedTuple):
    """A row of the input."""

    line: int  # the last one if it has several
    x: dict[Any, Any]
    label: Any
    others: dict[str | None, Any]
    error: str = ""  # what is wrong with it


class Columns(NamedTuple):
    """What the options say about columns."""

    target: str | None
    features: Collection[str] | None = None  # None: all that nothing else is said of
    ignored: Collection[str] | None = None
    delimiter: str | None = None  # None: what the header tells
    others: tuple[str | None, ...] = ()  # neither features nor label, and read as they are
    has_texts: dict[str, bool] | None = None  # which columns of csv have texts: none is known


@contextlib.contextmanager
def opened(
    file: str, columns: Columns, encoding: str = "utf-8-sig"
) -> Iterator[tuple[Reader, Iterator[str]]]:
    """Open a file, or standard input, which is -, and yield a reader for its format and all its lines.

    Rows of parquet become lines of JSON. Bytes that are no text come as surrogates, so that they are one
    bad line only. An error names the file, also one that comes later.
    """
    with blaming(file), contextlib.ExitStack() as stack:
        if file == "-" and sys.stdin is None:
            raise CommandError("standard input is closed")
        data: Any = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        magic, is_whole = data.peek(4), data.seekable()
        if magic.startswith(PACKED):
            raise ValueError("compressed by another program than gzip: unpack it first")
        if magic.startswith(PARQUET):
            header, lines = _parquet(data if is_whole else io.BytesIO(data.read()))
        else:
            data = gzip.GzipFile(fileobj=data) if magic.startswith(GZIP) else data
            try:
                text = io.TextIOWrapper(data, encoding, "surrogateescape", newline="")
            except LookupError as error:  # The encoding is unknown.
                raise ValueError(error) from None
            header, lines = [], stack.enter_context(text)
        first = [*itertools.islice(lines, 1)]
        form = Format.JSONL if header else _format_of(file, "".join(first), columns.target)
        first += itertools.islice(lines, N_FIRST if is_whole else form == Format.CSV)
        yield Reader(form, columns, first, header), itertools.chain(first, lines)


@contextlib.contextmanager
def blaming(file: str) -> Iterator[None]:
    """Turn what is wrong with a file, as it is opened, read or written, into an error that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
        raise CommandError(f"{'standard input' if file == '-' else file}: {error}") from None


def _format_of(name: str, line: str, target: str | None) -> Format:
    """Return the format that a name or the first line tells: libsvm has no name for a target."""
    for form in Format:
        if name.removesuffix(".gz").endswith(f".{form}"):
            return form
    if line.lstrip().startswith("{"):
        return Format.JSONL
    label, *pairs = line.partition("#")[0].split() or ["0"]
    is_libsvm = all(":" in pair for pair in pairs) and (bool(pairs) or parsed(label) is not label)
    return Format.LIBSVM if target is None and is_libsvm else Format.CSV


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
    written = json.JSONEncoder(default=lambda v: float(v) if isinstance(v, Decimal) else str(v))
    return table.schema_arrow.names, (written.encode(row) + "\n" for row in rows)


class Reader:
    """Reads lines of a format as examples, as the options and the first lines tell.

    A csv column is one of texts if `columns` says so or, where they say nothing, if more than half of its
    first cells are texts. Its own `columns` say what each is, and `no_labels` whether there is no target.
    """

    def __init__(self, form: Format, columns: Columns, first: list[str], header: list[str]) -> None:
        self.form = form
        self.columns = columns
        self.header = header
        self._is_csv = form == Format.CSV
        self._target = None if form == Format.LIBSVM else columns.target
        try:
            if self._is_csv:
                # What the header has most of outside of quotes.
                unquoted = re.sub(r'"[^"]*"', "", "".join(first[:1]))
                self._delimiter = columns.delimiter or max(DELIMITERS, key=unquoted.count)
                self.header = header = [_decoded(name) for name in next(self._csv(first), [])]
                if len(header) == 1 and not columns.delimiter and re.search(r"\W", header[0]):
                    raise ValueError(f"the header is one column, {header[0]!r}: give --delimiter")
            for name, n in collections.Counter(header).items():
                if n > 1:
                    raise ValueError(f"the header has the column {name!r} twice")
            if absent := self._absent(*(columns.features or ()), *(columns.ignored or ())):
                raise ValueError(absent)
        except (csv.Error, ValueError) as error:
            raise ValueError(f"line 1: {error}" if self._is_csv else str(error)) from None
        self.no_labels = "" if columns.target is None else self._absent(columns.target)
        self._has_texts: dict[str, bool] | None = None
        rows = list(self._read(first))
        cells = [cell for row in rows for cell in row.x.items() if cell[1] is not None]
        n_texts = collections.Counter(name for name, value in cells if isinstance(value, str))
        n_cells, known = collections.Counter(name for name, _ in cells), columns.has_texts or {}
        kinds = {name: known.get(name, 2 * n_texts[name] > n) for name, n in n_cells.items()}
        if self._is_csv:
            self._has_texts = known | kinds
            self.columns = columns._replace(has_texts=self._has_texts)
        n = sum(kinds.values())
        found = f"{counted(len(kinds) - n, 'number')}, {counted(n, 'category', 'categories')}"
        if labels := {str(row.label) for row in rows if row.label is not None}:
            name = f' "{columns.target}"' if columns.target else ""
            found += f", target{name} with {counted(len(labels), 'value')} so far"
        self._found = found if kinds else ""

    def require_labels(self) -> None:
        """Raise ValueError if no row can have a label."""
        if self.form != Format.LIBSVM and self.columns.target is None:
            raise ValueError(f"{self.form} needs --target, the name of the label")
        if self.no_labels:
            raise ValueError(self.no_labels)

    def rows(self, lines: Iterable[str]) -> Iterator[Row]:
        """Return the rows of all lines, which are read one by one, and say what is taken as what."""
        if self._found:
            notes.info(self._found)
        if self.no_labels:
            notes.info(f"{self.no_labels}: no line has a label")
        return self._read(lines)

    def _absent(self, *names: str) -> str:
        """Return an error about the first name that the header, if there is one, lacks, or nothing."""
        lacking = [name for name in names if self.header and name not in self.header]
        return f"no column {lacking[0]!r}, only {', '.join(self.header)}" if lacking else ""

    def _csv(self, lines: Iterable[str]) -> Any:
        return csv.reader(lines, delimiter=self._delimiter, skipinitialspace=True)

    def _read(self, lines: Iterable[str]) -> Iterator[Row]:
        items: Any = self._csv(lines) if self._is_csv else iter(lines)
        if self._is_csv:
            next(items, None)
        for n in itertools.count(1):
            try:
                item = next(items)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(items.line_num, {}, None, {}, str(error))
                continue
            if self.form == Format.LIBSVM:
                item = item.partition("#")[0]
            if item if self._is_csv else item.strip():  # An empty line is none.
                yield self._row(items.line_num if self._is_csv else n, item)

    def _row(self, n: int, item: Any) -> Row:
        features, ignored = self.columns.features, self.columns.ignored or ()
        try:
            if self._is_csv:
                width = len(self.header)
                if len(item) != width:
                    raise ValueError(f"the header has {width} columns, this line {len(item)}")
                cells: dict[Any, Any] = dict(zip(self.header, map(_decoded, item), strict=True))
            else:
                cells = _json(item) if self.form == Format.JSONL else _libsvm(item)
            label = cells.pop(self._target, "")
            label = _known(_class(label) if self._is_csv else label)
            if label in INFINITE:
                raise ValueError(f"the label is {label}: expected a class")
            others = {name: cells.pop(name, None) for name in self.columns.others}
            x = {
                name: self._value(name, cell)
                for name, cell in cells.items()
                if name not in ignored and (features is None or name in features)
            }
            return Row(n, x, label, others)
        except ValueError as error:
            return Row(n, {}, None, {}, str(error))

    def _value(self, name: Any, cell: Any) -> Any:
        """Return the value of a feature, None if it is missing; raise ValueError if it is bad."""
        value = _known(parsed(cell) if self._is_csv else cell)
        is_text = isinstance(value, str)
        for pattern, advice in REFUSED.items():
            if is_text and re.fullmatch(pattern, value):
                raise ValueError(f"{value!r} in column {name!r} {advice.format(name)}")
        if value is None or self._has_texts is None:
            return value
        if self._has_texts.setdefault(name, is_text):
            return cell
        if is_text:
            raise ValueError(f"{cell!r} in column {name!r} is not a number")
        return value


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
        label, *pairs = _decoded(line).split()
        cells = {name: parsed(value) for name, value in (pair.rsplit(":", 1) for pair in pairs)}
        if len(cells) < len(pairs) or any(isinstance(v, str | bool) for v in cells.values()):
            raise ValueError
        return cells | {None: _class(label)}
    except ValueError:
        error = "not 'label name:value name:value ...', with each name once"
        raise ValueError(error) from None


def _decoded(text: str) -> str:
    """Return a text; raise ValueError if bytes of it were none."""
    if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
        raise ValueError("not text in the encoding that --encoding tells")
    return text


def parsed(text: str) -> Any:
    """Return the number or truth value that a text is, or the text: Python reads 1_0 as one, too."""
    if text.isascii() and "_" not in text:
        kind = int if text.strip().lstrip("+-").isdigit() else float
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"True": True, "False": False}.get(text, text)


def _class(text: str) -> Any:
    """Return the label that a text is: a finite number only if it is written as Python would."""
    value = parsed(text)
    is_plain = str(value) == text.strip().removeprefix("+") and value not in INFINITE
    return value if is_plain or value != value else text


def _known(value: Any) -> Any:
    return None if value in MISSING or value != value else value
