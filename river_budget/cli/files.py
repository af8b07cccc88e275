"""The rows of a file or of standard input: csv, libsvm, JSON lines or parquet, compressed or not."""

from __future__ import annotations

import codecs
import collections
import contextlib
import csv
import gzip
import hashlib
import importlib
import io
import itertools
import json
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from river_budget._state import require
from river_budget.cli import formats
from river_budget.cli.app import CommandError, counted, notes

# So many lines of a file tell which columns of csv have texts. Of a pipe, only the first one does, because
# others may come late.
N_FIRST = 1000

# How files begin. Those of PACKED are zip, bzip2, xz and zstd.
GZIP, PARQUET, UTF_16 = b"\x1f\x8b", b"PAR1", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
PACKED = (b"PK\x03\x04", b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")


# Texts have no zero byte. So many bytes of an input are looked at.
N_PEEKED = 1024
NO_TEXT = (
    "this is no text: expected csv, libsvm, JSON lines or parquet; if it is UTF-16, give --encoding"
)


class Row(NamedTuple):
    """A row of the input."""

    line: int  # Its number, or that of the last one if it has several.
    x: dict[Any, Any]
    label: Any  # None if it is missing.
    others: dict[str, Any]  # The cells of `Columns.others`.
    error: str = ""  # What is wrong with it, if anything.


class Columns(NamedTuple):
    """What the options say about columns."""

    target: str | None  # The column of the label.
    features: Collection[str] | None = None  # By default, all columns without another use.
    ignored: Collection[str] | None = None
    delimiter: str | None = None  # By default, it follows from the header.
    decimal: str = "."  # The decimal mark of numbers in csv.
    others: tuple[str, ...] = ()  # They are neither features nor label, and read as they are.
    has_texts: dict[str, bool] | None = None  # Which columns of csv have texts, as far as is known.


class Lines:
    """The lines of an input, and how a later run knows them again."""

    def __init__(self, lines: Iterable[str], name: str = "") -> None:
        self.name = name
        self.n = 0  # The number of lines that were read.
        # Of the first 1, 2, 4, 8, ... lines. Other input soon has different ones.
        self.digests: list[str] = []
        self._lines = lines
        self._hash = hashlib.sha256()
        self.done()

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            # The last line of a file may still lack its end.
            self._hash.update(line.rstrip("\r\n").encode() + b"\n")
            self.n += 1
            if self.n.bit_count() == 1:
                self.digests.append(self._hash.hexdigest())
            yield line

    def done(self) -> None:
        """Note as the `place` that the rows of all lines that were read are done."""
        digests = [*self.digests, self._hash.hexdigest()]
        self.place: dict[str, Any] = {"name": self.name, "n_lines": self.n, "digests": digests}


@contextlib.contextmanager
def opened(
    file: str, columns: Columns, encoding: str = "utf-8-sig"
) -> Iterator[tuple[Reader, Lines]]:
    """Open a file, or standard input if it is `-`, and yield a reader for its format and all its lines.

    Rows of parquet become lines of JSON. Bytes that are no text are read as escapes, such as \\xff.
    Errors name the file, also those of later reads.
    """
    with blaming(file), contextlib.ExitStack() as stack:
        if file == "-" and sys.stdin is None:
            raise CommandError("standard input is closed")
        data: Any = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        is_file, is_parquet = data.seekable(), data.peek(4).startswith(PARQUET)
        if is_parquet:
            header, lines = _read_parquet(data if is_file else io.BytesIO(data.read()))
        else:
            header, lines = [], stack.enter_context(_text_of(data, encoding))

        first = [*itertools.islice(lines, 1)]
        parse = formats.parser_of("".join(first), columns.target)
        # In csv, the header comes before the first row.
        first += itertools.islice(lines, N_FIRST if is_file else int(parse is formats.parse_csv))
        all_lines = Lines(itertools.chain(first, lines), Path(file).name)
        yield Reader(parse, columns, first, header), all_lines


@contextlib.contextmanager
def blaming(file: str) -> Iterator[None]:
    """Turn errors of opening, reading or writing a file into a CommandError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
        raise CommandError(f"{'standard input' if file == '-' else file}: {error}") from None


def _text_of(data: Any, encoding: str) -> io.TextIOWrapper:
    """Return the text of an input, compressed by gzip or not. Raises ValueError if it is not text."""
    magic = data.peek(4)
    is_wide = magic.startswith(UTF_16) and encoding == "utf-8-sig"
    require(not is_wide, "this is UTF-16: convert it, or give learn --encoding utf-16")
    require(not magic.startswith(PACKED), "packed, but not by gzip: unpack it first")
    if magic.startswith(GZIP):
        data = gzip.GzipFile(fileobj=data)
    is_binary = b"\0" in data.peek(N_PEEKED) and encoding == "utf-8-sig"
    require(not is_binary, NO_TEXT)
    try:
        return io.TextIOWrapper(data, encoding, "backslashreplace", newline="")
    except LookupError as error:  # The encoding is unknown.
        raise ValueError(error) from None


def _read_parquet(data: IO[bytes]) -> tuple[list[str], Iterator[str]]:
    """Return the columns, and the rows as lines of JSON."""
    table = importlib.import_module("pyarrow.parquet").ParquetFile(data)
    require(table.metadata.num_rows, "the table has no rows")
    rows = itertools.chain.from_iterable(batch.to_pylist() for batch in table.iter_batches())
    written = json.JSONEncoder(default=lambda v: float(v) if isinstance(v, Decimal) else str(v))
    return table.schema_arrow.names, (written.encode(row) + "\n" for row in rows)


class Reader:
    """Reads lines of a format as examples, as the options and the first lines tell."""

    def __init__(self, parse: Any, columns: Columns, first: list[str], header: list[str]) -> None:
        self._parse = parse
        self._columns = columns
        self._is_csv = parse is formats.parse_csv
        self._parsed = formats.parsed if columns.decimal == "." else formats.parsed_with_comma
        if self._is_csv:
            self._delimiter = columns.delimiter or formats.delimiter_of("".join(first[:1]))
            header = [*(self._reader(first).fieldnames or [])]
        self.header = header  # Empty if rows may have any columns.
        self._check_header()

        # Why no row can have a label; empty if rows can.
        self.no_labels = self._absent([columns.target]) if columns.target else ""
        if columns.target is None and parse is not formats.parse_libsvm:
            self.no_labels = "no --target names the label"

        # Whether each column of csv has texts, which is not known yet when the first rows are read.
        self.has_texts: dict[str, bool] | None = None
        rows = [*self._read(Lines(first))]
        kinds = self._kinds_of(rows)
        if self._is_csv:
            self.has_texts = (columns.has_texts or {}) | kinds
        self._found = self._description(rows, kinds) if kinds else ""

        # How many rows tell what the columns are if there is no header, and the names of the features.
        self.n_first = len(rows)
        self.names = [*filter(self.takes, header)] if header else self._names_of(rows)

    def takes(self, name: Any) -> bool:
        """Return whether a column of this name, if there is one, is a feature."""
        target, features, ignored, _, _, others, _ = self._columns
        is_other = name == target or name in others or name in (ignored or ())
        return not is_other and (features is None or name in features)

    def _names_of(self, rows: list[Row]) -> list[str]:
        """Return the names of the features that at least half of the rows have. Libsvm has only some."""
        if self._parse is formats.parse_libsvm:
            return []
        n_rows = collections.Counter(name for row in rows for name in row.x)
        return [name for name, n in n_rows.items() if 2 * n >= len(rows)]

    def _check_header(self) -> None:
        """Raise ValueError if the header lacks a column, has one twice, or seems to be a single one."""
        header = self.header
        is_single = self._is_csv and len(header) == 1 and not self._columns.delimiter
        if is_single and re.search(r"\W", header[0]):
            raise ValueError(f"the header is one column, {header[0]!r}: give --delimiter")
        for name, n in collections.Counter(header).items():
            require(n == 1, f"the header has the column {name!r} twice")
        absent = self._absent([*(self._columns.features or ()), *self._columns.others])
        require(not absent, absent)

    def _kinds_of(self, rows: list[Row]) -> dict[str, bool]:
        """Return whether each column has texts: as is known, or as most of its cells in rows are."""
        cells = [cell for row in rows for cell in row.x.items() if cell[1] is not None]
        n_cells = collections.Counter(name for name, _ in cells)
        n_texts = collections.Counter(
            name for name, value in cells if isinstance(value, str | list)
        )
        known = self._columns.has_texts or {}
        return {name: known.get(name, 2 * n_texts[name] > n) for name, n in n_cells.items()}

    def _description(self, rows: list[Row], kinds: dict[str, bool]) -> str:
        """Return a text that says how many numbers, categories and labels were found."""
        n = sum(kinds.values())
        arrays = {k for row in rows for k, value in row.x.items() if isinstance(value, np.ndarray)}
        n_numbers = len(kinds) - n - len(arrays)
        found = f"{counted(n_numbers, 'number')}, {counted(n, 'category', 'categories')}"
        found += f", {counted(len(arrays), 'array')}" if arrays else ""
        labels = {str(row.label) for row in rows if row.label is not None}
        if labels:
            name = f' "{self._columns.target}"' if self._columns.target else ""
            found += f", target{name} with {counted(len(labels), 'value')} so far"
        return found

    def rows(self, lines: Lines) -> Iterator[Row]:
        """Return the rows of all lines, which are read one by one, and note what was found."""
        if self._found:
            notes.info(self._found)
        if self.no_labels:
            notes.info(f"{self.no_labels}: no line has a label")
        return self._read(lines)

    def _absent(self, names: Iterable[str]) -> str:
        """Return an error about the first name that the header, if there is one, lacks, or nothing."""
        lacking = [name for name in names if self.header and name not in self.header]
        return f"no column {lacking[0]!r}, only {', '.join(self.header)}" if lacking else ""

    def _reader(self, lines: Iterable[str]) -> csv.DictReader[str]:
        reader = csv.DictReader(lines, delimiter=self._delimiter, skipinitialspace=True)
        if reader.fieldnames:
            reader.fieldnames = [name.strip() for name in reader.fieldnames]
        return reader

    def _read(self, lines: Lines) -> Iterator[Row]:
        """Yield the rows of lines, without empty ones; a row may have an error."""
        items: Iterator[Any]
        if self._is_csv:
            items = self._reader(lines)
        else:
            end = "#" if self._parse is formats.parse_libsvm else "\n"
            items = (line.partition(end)[0].strip() for line in lines)
        while True:
            try:
                for item in items:
                    if item:  # Empty lines are not rows.
                        yield self._row(lines.n, item)
                return
            except csv.Error as error:
                yield Row(lines.n, {}, None, {}, str(error))

    def _row(self, n: int, item: Any) -> Row:
        """Return the row that ends at line n, given its text or, in csv, its cells."""
        try:
            cells = self._parse(item)
            label = cells.pop(self._columns.target, "")
            others = {name: cells.pop(name, None) for name in self._columns.others}
            x = {name: self._value(name, cell) for name, cell in cells.items() if self.takes(name)}
            return Row(n, x, formats.class_of(label, self._is_csv), others)
        except ValueError as error:
            return Row(n, {}, None, {}, str(error))

    def _value(self, name: Any, cell: Any) -> Any:
        """Return the value of a feature; None if it is missing. Raises ValueError if it is bad."""
        value = formats.none_if_missing(self._parsed(cell) if self._is_csv else cell)
        is_text = isinstance(value, str)
        if is_text:
            formats.check_text(value, name, self._is_csv)
        if value is None or self.has_texts is None:
            return formats.array_or_same(value)
        if self.has_texts.setdefault(name, is_text):
            return cell
        require(not is_text, f"{cell!r} in column {name!r} is not a number")
        return value
