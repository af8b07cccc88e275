"""The lines of a file or of standard input: compressed or not, text or parquet."""

from __future__ import annotations

import contextlib
import csv
import gzip
import importlib
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from river_budget.cli.app import CommandError

__all__ = ["UNREADABLE", "name_of", "opened"]

# What reading a broken file may raise.
UNREADABLE = (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile, zlib.error)

GZIP, ZIP, PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"


def name_of(file: str) -> str:
    """Return what messages call a file."""
    return "standard input" if file == "-" else file


@contextlib.contextmanager
def opened(file: str, encoding: str = "utf-8-sig") -> Iterator[Iterator[str]]:
    """Open a file, or standard input, which is -, and yield its lines.

    Its first bytes tell whether it is compressed, or parquet, whose rows become lines of JSON. Bytes
    that are no text come as surrogates, so that one bad line is not the end of the file.

    """
    with contextlib.ExitStack() as stack:
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
    for batch in parquet.ParquetFile(data).iter_batches():
        for row in batch.to_pylist():
            yield json.dumps(row, default=str) + "\n"
