"""Rows of text files as dicts, and binary tasks of their classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from river import stream

__all__ = ["Example", "binary", "columns", "libsvm"]

Example = tuple[dict[str, float], bool]


def libsvm(path: Path) -> Iterator[tuple[dict[str, float], float]]:
    """Yield the rows of a file in LIBSVM's format; its blanks may be of any length."""
    with path.open() as lines:
        clean = (" ".join(line.split()) for line in lines if not line.isspace())
        rows: Iterator[Any] = stream.iter_libsvm(clean)  # type: ignore[arg-type]
        yield from rows


def columns(
    path: Path, names: Sequence[str], target: str, texts: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rows of a file of values with commas, which has no heading.

    Parameters
    ----------
    path
        The file.
    names
        The names of all columns.
    target
        The name of the column with the class.
    texts
        The names of the columns that hold no numbers.

    """
    numbers: dict[Any, Any] = dict.fromkeys(set(names) - {target, *texts}, float)
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
    """Yield the rows of two groups of classes; by default all that are not positive are negative."""
    for x, y in rows:
        if y in positive:
            yield x, True
        elif negative is None or y in negative:
            yield x, False
