"""Binary classification tasks on the files in the table."""

from __future__ import annotations

import csv
import inspect
import itertools
import shutil
import tempfile
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

from river.datasets.base import BINARY_CLF, RemoteDataset

from river_budget.datasets import transfer
from river_budget.datasets.table import TABLE, Row


class DatasetError(OSError):
    """A data set is not available. The message states the reason and a remedy."""


class PublishedDataset(RemoteDataset):
    """Base class of the data sets in the table; a subclass has the row of its name.

    On first use, a file is downloaded, unpacked and checked in a temporary directory: its number of
    rows and, where one is certain, its published checksum. Then it is moved into River's cache
    directory (`$RIVER_DATA`, or `~/river_data`), which so never has an incomplete file. Its SHA-256
    is recorded beside it (`a9a.sha256`) and checked on every later use.

    Attributes
    ----------
    is_downloaded
        Whether the file is in the cache directory.
    """

    row: ClassVar[Row]
    positive: Collection[Any]
    negative: Collection[Any] | None = None  # None: all other classes

    def __init_subclass__(cls) -> None:
        if row := TABLE.get(cls.__name__):
            cls.row, cls.positive, cls.__doc__ = row, row.positive, _docstring(row)

    def __init__(self, part: str = "train"):
        files = self.row.files
        if part not in files:
            raise ValueError(f"part must be {' or '.join(map(repr, files))}, got {part!r}")
        self.part = part
        self._file = files[part]
        super().__init__(
            url=self._file.url,
            size=None,
            filename=self._file.names[-1],
            task=BINARY_CLF,
            n_features=self.row.n_features,
            n_samples=len(range(self._file.n_rows)[self._file.kept]),
            n_classes=2,
            sparse=not self.row.columns,
        )

    def __iter__(self) -> Iterator[tuple[dict[str, float], bool]]:
        self.download()
        yield from self._iter()

    def _iter(self) -> Iterator[tuple[dict[str, float], bool]]:
        with self.path.open() as text:
            lines = (line for line in text if not line.isspace())
            rows = self._csv_rows(lines) if self.row.columns else _libsvm_rows(lines)
            for x, y in itertools.islice(rows, self._file.kept.start, self._file.kept.stop):
                if y in self.positive:
                    yield x, True
                elif self.negative is None or y in self.negative:
                    yield x, False

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[tuple[dict[str, float], str]]:
        for values in csv.reader(lines, skipinitialspace=True):
            row = dict(zip(self.row.columns, values, strict=True))
            row.pop(self.row.unused, None)
            y = row.pop("class")
            categories = {name: row.pop(name) for name in self.row.categories}
            x = {name: float(value) for name, value in row.items()}
            yield x | {f"{name}={value}": 1.0 for name, value in categories.items()}, y

    @property
    def is_downloaded(self) -> bool:
        """Whether the file is in the cache directory."""
        return self.path.is_file()

    @property
    def _repr_content(self) -> dict[str, str]:
        # River's remote data sets add a size, which nobody publishes for these files.
        content = super(RemoteDataset, self)._repr_content
        return content | {"URL": self.url, "Downloaded": str(self.is_downloaded)}

    def download(self, force: bool = False, verbose: bool = True) -> None:
        """Download the file unless it is in the cache directory or `force` is true, and check it.

        With `verbose`, the URL is printed on standard error. Raises DatasetError if the download
        fails, or the file is not the published or recorded one.
        """
        try:
            if self.is_downloaded and not force:
                self._check_cached()
            else:
                self._install(force, verbose)
        except (ModuleNotFoundError, OSError, ValueError) as error:
            raise DatasetError(
                f"{type(self).__name__}: {error}\nTo install {self._file.names[0]} by hand, "
                f"download it from {self.url} into {self.path.parent}"
            ) from error

    def _check_cached(self) -> None:
        try:
            transfer.check_text(self.path, self._file.n_rows, self.path.parent)
        except ValueError as error:
            rejected = self.path.replace(f"{self.path}.rejected")
            raise ValueError(f"{error}; the file was renamed to {rejected.name}") from error

    def _install(self, force: bool, verbose: bool) -> None:
        """Move the parts that one download holds into the cache directory once they are checked."""
        directory = self.path.parent
        directory.mkdir(parents=True, exist_ok=True)
        by_hand = directory / self._file.names[0]
        with tempfile.TemporaryDirectory(prefix="download-", dir=directory) as scratch:
            download = Path(scratch, by_hand.name)
            if by_hand.is_file() and not force:
                shutil.copy(by_hand, download)
            else:
                transfer.fetch(self.url, download, verbose)
            files = [file for file in self.row.files.values() if file.url == self.url]
            for names, n_rows in {tuple(file.names): file.n_rows for file in files}.items():
                text = transfer.unpack(download, names[1:])
                transfer.check_text(text, n_rows, directory)
                text.replace(directory / text.name)


def _libsvm_rows(lines: Iterator[str]) -> Iterator[tuple[dict[str, float], float]]:
    for line in lines:
        y, *pairs = line.split()
        x = (pair.split(":") for pair in pairs)
        yield {name: float(value) for name, value in x}, float(y)


def _docstring(row: Row) -> str:
    """Return what the table says of a data set, indented as in the source of a class."""
    part = 'part\n    "train" or "test".' if "train" in row.files else ""
    sections = {
        "Parameters": "\n".join(filter(None, [row.parameters, part])),
        "Raises": part and "ValueError\n    If a parameter is not one of these.",
        "References": "\n".join(f"[^{n}]: {text}" for n, text in enumerate(row.references, 1)),
    }
    parts = [inspect.cleandoc(row.about)]
    parts += [f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items() if text]
    return textwrap.indent("\n\n".join(parts), "    ").lstrip() + "\n\n    "
