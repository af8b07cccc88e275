"""Readers of text files, and binary tasks made of their classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from river import stream

__all__ = ["Example", "binary", "csv_rows", "libsvm_rows"]

Example = tuple[dict[str, float], bool]


def libsvm_rows(path: Path) -> Iterator[tuple[dict[str, float], float]]:
    """Yield the rows of a LIBSVM file, separated by any amount of white space."""
    with path.open() as lines:
        clean = (" ".join(line.split()) for line in lines if not line.isspace())
        rows: Iterator[Any] = stream.iter_libsvm(clean)  # type: ignore[arg-type]
        yield from rows


def csv_rows(
    path: Path, names: Sequence[str], target: str, categorical: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rows of a CSV file without a header; columns are numeric by default.

    Parameters
    ----------
    path
        The file.
    names
        Names of all columns.
    target
        Name of the column with the class.
    categorical
        Names of the feature columns to keep as strings.

    """
    numbers: dict[Any, Any] = dict.fromkeys(set(names) - {target, *categorical}, float)
    with path.open() as lines:
        rows: Iterator[Any] = stream.iter_csv(
            (line for line in lines if not line.isspace()),  # type: ignore[arg-type]
            target=target,
            converters=numbers,
            fieldnames=names,
            skipinitialspace=True,
        )
        yield from rows


def binary(
    rows: Iterable[tuple[dict[str, float], Any]],
    positive: Collection[Any],
    negative: Collection[Any] | None = None,
) -> Iterator[Example]:
    """Yield the rows of two groups of classes; by default, every class is positive or negative."""
    for x, y in rows:
        if y in positive:
            yield x, True
        elif negative is None or y in negative:
            yield x, False
