"""What all published data sets share: how a file is downloaded, checked and kept."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import hashlib
import itertools
import shutil
import sys
import tarfile
import urllib.error
import zipfile
import zlib
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib import request

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget.datasets.errors import DatasetError
from river_budget.datasets.files import CHECKSUMS, File

__all__ = ["PublishedDataset"]

# Seconds without a byte before a download is given up.
PATIENCE = 60

# What reading a broken archive may raise.
BROKEN = (OSError, EOFError, LookupError, zipfile.BadZipFile, tarfile.TarError, zlib.error)


class PublishedDataset(datasets.base.RemoteDataset):
    """Base class of the binary tasks on files that their publishers serve.

    A file is downloaded on first use to River's cache folder: the folder that `$RIVER_DATA` names,
    or `~/river_data`. While it is on its way its name ends in `.part`, and an attempt that was cut
    off is taken up where it ended if the server knows how. A file gets its own name once it is
    unpacked, checked and whole, so that there is never half a file under that name.

    A file is checked against its published checksum where one is certain. For the others none could
    be obtained, so they must unpack without an error and have the published number of examples.
    Every file's SHA-256 is recorded beside it on first use (`a9a.sha256`), and the file is checked
    against that record on every later use.

    Parameters
    ----------
    files
        The published files, by part.
    part
        Which of them to take.
    n_features
        Number of features.
    sparse
        Whether features that are 0 are left out.

    Raises
    ------
    ValueError
        If there is no such part.

    """

    def __init__(
        self,
        files: dict[str, File],
        part: str,
        n_features: int,
        sparse: bool = False,
    ):
        if part not in files:
            raise ValueError(f"part must be {' or '.join(map(repr, files))}, got {part!r}")
        file = files[part]
        super().__init__(
            url=file.url,
            size=None,
            filename=file.names[-1],
            task=BINARY_CLF,
            n_features=n_features,
            n_samples=file.rows,
            n_classes=2,
            sparse=sparse,
        )
        self.part = part
        self._file = file
        # What comes in the same download is unpacked with it.
        self._files = {other for other in files.values() if other.url == file.url}

    def __iter__(self) -> Iterator[tuple[dict[str, float], bool]]:
        self.download()
        yield from self._iter()

    @property
    def is_downloaded(self) -> bool:
        """Whether the file is there. What is there is whole."""
        return self.path.is_file()

    @property
    def _folder(self) -> Path:
        return self.path.parent

    @property
    def _repr_content(self) -> dict[str, str]:
        # Not River's for remote files, which states a size in advance.
        content = super(datasets.base.RemoteDataset, self)._repr_content
        return content | {"URL": self.url, "Downloaded": str(self.is_downloaded)}

    def download(self, force: bool = False, verbose: bool = True) -> None:
        """Download the file unless it is there, and check it in any case.

        Parameters
        ----------
        force
            Whether to download it even if it is there.
        verbose
            Whether to tell on standard error what is downloaded.

        Raises
        ------
        DatasetError
            If the file cannot be had, or is not the one that was published or recorded.

        """
        if self.is_downloaded and not force:
            self._check_kept()
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        published = self._folder / self._file.names[0]
        if published.exists() and not force:
            self._unpack(published)
            return
        download = _part(published)
        if verbose:
            print(f"Downloading {self.url}", file=sys.stderr)
        try:
            _fetch(self.url, download)
        except (OSError, HTTPException) as error:
            reason = error.reason if type(error) is urllib.error.URLError else error
            raise self._error(str(reason)) from error
        try:
            self._unpack(download)
        finally:
            download.unlink(missing_ok=True)

    def _check_kept(self) -> None:
        """Check the file that is there; a wrong one loses its name."""
        fault = self._fault(self.path, self._file)
        if fault:
            aside = self.path.with_name(f"{self.path.name}.rejected")
            self.path.replace(aside)
            raise self._error(f"{fault}. It is called {aside.name} from now on")

    def _unpack(self, download: Path) -> None:
        """Make text files of a download, and give them their names once they are right."""
        for file in self._files:
            unpacked = [_part(self._folder / name) for name in file.inside]
            try:
                self._unpack_file(file, [download, *unpacked])
            finally:
                for path in unpacked:
                    path.unlink(missing_ok=True)

    def _unpack_file(self, file: File, paths: list[Path]) -> None:
        named = zip(file.names, paths, strict=True)
        for (name, path), (inner, inner_path) in itertools.pairwise(named):
            fault = _known_fault(path, name)
            if fault:
                raise self._error(fault)
            try:
                with _opened(path, name, inner) as source, inner_path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except BROKEN as error:
                raise self._error(f"{name} cannot be unpacked: {error}") from error
        fault = self._fault(paths[-1], file)
        if fault:
            raise self._error(fault)
        paths[-1].replace(self._folder / file.names[-1])

    def _fault(self, path: Path, file: File) -> str | None:
        """Return what is wrong with a text file; record the checksum of a right one."""
        name = file.names[-1]
        digest = _digest(path, "sha256")
        record = self._folder / f"{name}.sha256"
        if record.exists():
            if digest in record.read_text():
                return None
            return f"{name} is not what {record.name} recorded; delete the record if it is right"
        fault = _known_fault(path, name)
        if fault:
            return fault
        with path.open("rb") as lines:
            rows = sum(not line.isspace() for line in lines)
        if rows != file.rows:
            return f"{name} has {rows:,} examples and not {file.rows:,}"
        record.write_text(f"{digest}  {name}\n")
        return None

    def _error(self, reason: str) -> DatasetError:
        return DatasetError(
            f"{type(self).__name__}: {reason}. Its file {self._file.names[0]} comes from {self.url} "
            f"and can be put into {self._folder} by hand"
        )


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _fetch(url: str, path: Path) -> None:
    """Write to a file what a server has, or what is missing of it."""
    done = path.stat().st_size if path.exists() else 0
    headers = {"User-Agent": "river-budget"}
    if done:
        headers["Range"] = f"bytes={done}-"
    try:
        response = request.urlopen(request.Request(url, headers=headers), timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        if not done or error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        path.unlink()
        _fetch(url, path)
        return
    with response:
        goes_on = response.status == HTTPStatus.PARTIAL_CONTENT
        with path.open("ab" if goes_on else "wb") as file:
            start = file.tell()
            shutil.copyfileobj(response, file)
            got = file.tell() - start
    expected = int(response.headers.get("Content-Length", got))
    if got < expected:
        raise ConnectionError(
            f"the connection was cut after {start + got:,} of {start + expected:,} bytes "
            "(the next attempt goes on from there)"
        )


@contextlib.contextmanager
def _opened(path: Path, name: str, inner: str) -> Iterator[Any]:
    """Open what is inside a file of that name."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as zipped, zipped.open(inner) as file:
            yield file
    elif name.endswith(".tar.gz"):
        with tarfile.open(path) as tarred:
            yield tarred.extractfile(inner)
    else:
        with {".bz2": bz2, ".gz": gzip}[Path(name).suffix].open(path) as file:
            yield file


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        new = functools.partial(hashlib.new, algorithm, usedforsecurity=False)
        return hashlib.file_digest(file, new).hexdigest()


def _known_fault(path: Path, name: str) -> str | None:
    """Return how a file differs from the published one of its name, as far as that is known."""
    algorithm, _, published = CHECKSUMS.get(name, "").partition(":")
    if not published:
        return None
    digest = _digest(path, algorithm)
    if digest == published:
        return None
    return f"{name} has the {algorithm} checksum {digest}, the published one {published}"
