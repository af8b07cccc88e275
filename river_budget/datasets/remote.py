"""Data sets in files that their publishers serve."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget.datasets.checks import check_text
from river_budget.datasets.errors import DatasetError
from river_budget.datasets.files import File

__all__ = ["PublishedDataset"]


class PublishedDataset(datasets.base.RemoteDataset):
    """Base class of the binary classification tasks on published files.

    On first use, a file is downloaded, unpacked and checked in a temporary directory. Only then is
    it moved into River's cache directory (`$RIVER_DATA`, or `~/river_data`), so that the directory
    never has an incomplete file.

    The number of rows is checked first, and the published checksum where one is certain. Then the
    SHA-256 of the file is recorded beside it (`a9a.sha256`) and checked on every later use.

    Parameters
    ----------
    files
        The published files, by part.
    part
        The part to use.
    n_features
        The number of features.
    sparse
        Whether features that are 0 are left out.

    Attributes
    ----------
    is_downloaded
        Whether the file is in the cache directory.

    """

    def __init__(self, files: dict[str, File], part: str, n_features: int, sparse: bool = False):
        if part not in files:
            raise ValueError(f"part must be {' or '.join(map(repr, files))}, got {part!r}")
        file = files[part]
        super().__init__(
            url=file.url,
            size=None,
            filename=file.text,
            task=BINARY_CLF,
            n_features=n_features,
            n_samples=file.rows,
            n_classes=2,
            sparse=sparse,
        )
        self.part = part
        self._file = file
        # One download may hold several parts; all of them are unpacked.
        self._files = dict.fromkeys(other for other in files.values() if other.url == file.url)

    def __iter__(self) -> Iterator[tuple[dict[str, float], bool]]:
        self.download()
        yield from self._iter()

    @property
    def is_downloaded(self) -> bool:
        """Whether the file is in the cache directory."""
        return self.path.is_file()

    @property
    def _repr_content(self) -> dict[str, str]:
        # River's remote data sets add a size, which nobody publishes for these files.
        content = super(datasets.base.RemoteDataset, self)._repr_content
        return content | {"URL": self.url, "Downloaded": str(self.is_downloaded)}

    def download(self, force: bool = False, verbose: bool = True) -> None:
        """Download the file unless it is in the cache directory, and check it in either case.

        Parameters
        ----------
        force
            Whether to download the file even if it is in the cache directory.
        verbose
            Whether to print the URL of a download on standard error.

        Raises
        ------
        DatasetError
            If the download fails or the file is not the published or recorded one.

        """
        try:
            if self.is_downloaded and not force:
                self._check_cached()
            else:
                self._install(force, verbose)
        except (ModuleNotFoundError, OSError, ValueError) as error:
            raise DatasetError(
                f"{type(self).__name__}: {error}\nTo install {self._file.download} by hand, "
                f"download it from {self.url} into {self.path.parent}"
            ) from error

    def _check_cached(self) -> None:
        try:
            check_text(self.path, self._file.rows, self.path.parent)
        except ValueError as error:
            rejected = self.path.replace(f"{self.path}.rejected")
            raise ValueError(f"{error}; the file was renamed to {rejected.name}") from error

    def _install(self, force: bool, verbose: bool) -> None:
        """Download and unpack the file, and move it into the cache directory once it is checked."""
        from river_budget.datasets import transfer

        directory = self.path.parent
        directory.mkdir(parents=True, exist_ok=True)
        by_hand = directory / self._file.download
        with tempfile.TemporaryDirectory(prefix="download-", dir=directory) as scratch:
            download = Path(scratch, by_hand.name)
            if by_hand.is_file() and not force:
                shutil.copy(by_hand, download)
            else:
                transfer.fetch(self.url, download, verbose)
            for file in self._files:
                text = transfer.unpack(download, file.members)
                check_text(text, file.rows, directory)
                text.replace(directory / text.name)
