"""What the public data sets have in common: downloads, checks, and the rows of their files."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import itertools
import shutil
import sys
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Collection, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from zipfile import BadZipFile, ZipFile

from river.datasets.base import BINARY_CLF, RemoteDataset

TIMEOUT = 60  # seconds without a byte from the server before a download fails

# By the name of a download or of a file unpacked from it; SHA-256 for texts. Each is certain: two or
# more projects without common code state it, or the text was regenerated from its values.
CHECKSUMS = {
    "a9a": "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "a9a.t": "sha256:1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
    "covtype.data.gz": "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    "ijcnn1.t.bz2": "md5:66433ab8089acee9e56dc61ac89a2fe2",
    "letter-recognition.data": "sha256:2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    "mnist": "sha256:c42b75fcb54dda11d97af9bd6e3950b41c93b4f44eeb9608aa115f79a5979e88",
    "mnist.t": "sha256:31ffc3cfb1824d0994d57172bb8ca68882e578859e1ee1bd9fc1f2f15bfd06a2",
    "pendigits.tra": "sha256:e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
    "pendigits.tes": "sha256:8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
    "usps.bz2": "md5:ec16c51db3855ca6c91edd34d0e9b197",
    "usps.t.bz2": "md5:8ea070ee2aca1ac39742fdd1ef5ed118",
}


# What ends the docstrings.
PARAMETERS = "\n\n    Parameters\n    ----------"
PART = '\n    part\n        "train" or "test".\n    '


class DatasetError(OSError):
    """A data set is not available. The message states the reason and a remedy."""


class File(NamedTuple):
    """A published text file with one example a line."""

    url: str  # of the download: the text file itself, or an archive
    n_rows: int
    members: tuple[str, ...] = ()  # nested files to unpack, from the outermost to the text file
    kept: slice = slice(None)  # the rows of a part that is in the same file as another one

    @property
    def names(self) -> list[str]:
        """Names of the download and of what is unpacked from it; the last is the text file."""
        return [self.url.rpartition("/")[-1], *self.members]


class PublishedDataset(RemoteDataset):
    """Base class of the data sets. A file is in LIBSVM's format, or CSV with the given columns.

    On first use, a file is downloaded and unpacked in a temporary directory, and moved into River's
    cache directory (`$RIVER_DATA`, or `~/river_data`). On every use, its number of rows is checked
    and, if one is certain, its published checksum.
    """

    files: ClassVar[dict[str, File]]  # by part
    n_features: int
    # One is called "class". Those that end with "=" are one-hot encoded; one without a name is left out.
    columns: ClassVar[tuple[str, ...]] = ()
    positive: Collection[Any]  # classes
    negative: Collection[Any] | None = None  # None: all other classes

    def __init_subclass__(cls) -> None:
        """Add the part to the docstring."""
        if "train" in cls.files:
            doc = (cls.__doc__ or "").rstrip()
            cls.__doc__ = doc + (PART if "Parameters" in doc else PARAMETERS + PART)

    def __init__(self, part: str = "train"):
        if part not in self.files:
            raise ValueError(f"part must be {' or '.join(map(repr, self.files))}, got {part!r}")
        self.part = part
        self._file = file = self.files[part]
        super().__init__(
            url=file.url,
            size=None,
            filename=file.names[-1],
            task=BINARY_CLF,
            n_features=self.n_features,
            n_samples=len(range(file.n_rows)[file.kept]),
            n_classes=2,
            sparse=not self.columns,
        )

    def _iter(self) -> Iterator[tuple[dict[str, float], bool]]:
        self.download()  # or check what is there
        with self.path.open() as text:
            lines = (line for line in text if not line.isspace())
            kept = itertools.islice(lines, self._file.kept.start, self._file.kept.stop)
            for x, y in self._csv_rows(kept) if self.columns else map(_libsvm_row, kept):
                if y in self.positive:
                    yield x, True
                elif self.negative is None or y in self.negative:
                    yield x, False

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[tuple[dict[str, float], str]]:
        for values in csv.reader(lines, skipinitialspace=True):
            row = dict(zip(self.columns, values, strict=True))
            row.pop("", None)
            y = row.pop("class")
            x = {name: float(value) for name, value in row.items() if not name.endswith("=")}
            yield x | {f"{n}{value}": 1.0 for n, value in row.items() if n.endswith("=")}, y

    @property
    def is_downloaded(self) -> bool:
        return self.path.is_file()

    @property
    def _repr_content(self) -> dict[str, str]:
        # River's remote data sets add a size, which nobody publishes for these files.
        content = super(RemoteDataset, self)._repr_content
        return content | {"URL": self.url, "Downloaded": str(self.is_downloaded)}

    def download(self, force: bool = False, verbose: bool = True) -> None:
        """Download the file unless it is in the cache directory or `force` is true, and check it.

        With `verbose`, the URL is printed on standard error. Raises DatasetError if the download
        fails, or the file is not the published one.
        """
        try:
            if self.is_downloaded and not force:
                _check_text(self.path, self._file.n_rows)
            else:
                self._install(force, verbose)
        except (HTTPException, OSError, ValueError) as error:
            raise DatasetError(
                f"{type(self).__name__}: {error}\nTry download(force=True), or install "
                f"{self._file.names[0]} by hand, from {self.url} into {self.path.parent}"
            ) from error

    def _install(self, force: bool, verbose: bool) -> None:
        """Move the parts that one download holds into the cache directory once they are checked."""
        directory, by_hand = self.path.parent, self.path.with_name(self._file.names[0])
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="download-", dir=directory) as scratch:
            download = Path(scratch, by_hand.name)
            if by_hand.is_file() and not force:
                shutil.copy(by_hand, download)
            else:
                if verbose:
                    print(f"Downloading {self.url}", file=sys.stderr)
                with urllib.request.urlopen(self.url, timeout=TIMEOUT) as response:
                    download.write_bytes(response.read())
            files = {f.members: f.n_rows for f in self.files.values() if f.url == self.url}
            for members, n_rows in files.items():
                text = _unpack(download, members)
                _check_text(text, n_rows)
                text.replace(directory / text.name)


def _libsvm_row(line: str) -> tuple[dict[str, float], float]:
    y, *pairs = line.split()
    return {name: float(value) for name, _, value in (p.partition(":") for p in pairs)}, float(y)


def _unpack(path: Path, members: tuple[str, ...]) -> Path:
    """Check and unpack nested archives beside a file, and return the last member."""
    for member in members:
        _check_sum(path)
        archive, path = path, path.with_name(member)
        try:
            with _opened(archive, member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        except (OSError, EOFError, KeyError, BadZipFile, tarfile.TarError, zlib.error) as error:
            raise ValueError(f"{archive.name} cannot be unpacked: {error}") from error
    return path


def _opened(archive: Path, member: str) -> Any:
    if archive.suffix == ".zip":
        return ZipFile(archive).open(member)
    if archive.name.endswith(".tar.gz"):
        return tarfile.open(archive).extractfile(member)
    return bz2.open(archive) if archive.suffix == ".bz2" else gzip.open(archive)


def _check_text(path: Path, n_rows: int) -> None:
    """Raise ValueError unless a text has its published checksum, if there is one, and number of rows."""
    _check_sum(path)
    with path.open("rb") as lines:
        found = sum(not line.isspace() for line in lines)
    if found != n_rows:
        raise ValueError(f"{path.name} has {found:,} rows, expected {n_rows:,}")


def _check_sum(path: Path) -> None:
    """Raise ValueError if another checksum of a file is published."""
    algorithm, _, expected = CHECKSUMS.get(path.name, "").partition(":")
    if expected:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, algorithm).hexdigest()
        if found != expected:
            error = f"{path.name} has the {algorithm} checksum {found}, expected {expected}"
            raise ValueError(error)
