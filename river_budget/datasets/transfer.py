"""Downloads, archives and checksums. Only a download needs pooch."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from river_budget.datasets.table import CHECKSUMS

RETRIES = 2
TIMEOUT = 60  # seconds without a byte from the server before an attempt fails


def fetch(url: str, path: Path, verbose: bool) -> None:
    """Download a file; try again if the connection breaks or the checksum is wrong."""
    try:
        import pooch
    except ModuleNotFoundError as error:
        message = "a download needs pooch: pip install pooch"
        raise ModuleNotFoundError(message, name=error.name) from error
    if verbose:
        print(f"Downloading {url}", file=sys.stderr)
    registry = pooch.create(
        path.parent,
        base_url="",
        registry={path.name: CHECKSUMS.get(path.name)},
        urls={path.name: url},
        retry_if_failed=RETRIES,
    )
    # Pooch logs the temporary path. Setting its level is not enough: the logger caches it.
    logger = pooch.get_logger()
    disabled, logger.disabled = logger.disabled, True
    try:
        registry.fetch(path.name, downloader=pooch.HTTPDownloader(timeout=TIMEOUT))
    finally:
        logger.disabled = disabled


def unpack(path: Path, members: Sequence[str]) -> Path:
    """Unpack nested archives beside a file, check each of them, and return the last member."""
    for member in members:
        _check_published(path)
        try:
            with _opened(path, member) as source, path.with_name(member).open("wb") as target:
                shutil.copyfileobj(source, target)
        except KeyError as error:
            raise ValueError(f"{path.name} does not contain {member}") from error
        except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
            raise ValueError(f"{path.name} cannot be unpacked: {error}") from error
        path = path.with_name(member)
    return path


def _opened(archive: Path, member: str) -> Any:
    if archive.suffix == ".zip":
        return zipfile.ZipFile(archive).open(member)
    if archive.name.endswith(".tar.gz"):
        return tarfile.open(archive).extractfile(member)
    return bz2.open(archive) if archive.suffix == ".bz2" else gzip.open(archive)


def check_text(path: Path, n_rows: int, directory: Path) -> None:
    """Check a text file against the SHA-256 recorded in a directory.

    If there is no record yet, check the published checksum and number of rows, and record the
    SHA-256. A failed check is a ValueError.
    """
    record = directory / f"{path.name}.sha256"
    digest = _digest(path, "sha256")
    if record.exists():
        if digest not in record.read_text():
            raise ValueError(
                f"{path.name} does not have the checksum recorded in {record.name} "
                "(delete this record to accept the file)"
            )
        return
    _check_published(path)
    with path.open("rb") as lines:
        found = sum(not line.isspace() for line in lines)
    if found != n_rows:
        raise ValueError(f"{path.name} has {found:,} rows, expected {n_rows:,}")
    record.write_text(f"{digest}  {path.name}\n")


def _check_published(path: Path) -> None:
    algorithm, _, expected = CHECKSUMS.get(path.name, "").partition(":")
    if expected and (found := _digest(path, algorithm)) != expected:
        raise ValueError(f"{path.name} has the {algorithm} checksum {found}, expected {expected}")


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
