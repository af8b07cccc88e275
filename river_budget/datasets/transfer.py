"""Downloads and archives. Only this module needs pooch; the first download imports it."""

from __future__ import annotations

import contextlib
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from river_budget.datasets.checks import check_published
from river_budget.datasets.files import CHECKSUMS

try:
    import pooch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"a download needs {error.name}: pip install 'river-budget[datasets]'", name=error.name
    ) from error

__all__ = ["fetch", "unpack"]

RETRIES = 2

# Seconds without a byte from the server before an attempt fails.
TIMEOUT = 60

# What reading a broken archive may raise.
BROKEN = (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error)


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """Silence pooch, which logs the temporary path of every step."""
    # Its level would not do: pooch's logger caches which levels are enabled and never clears that.
    logger = pooch.get_logger()
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


@_muted()
def fetch(url: str, path: Path, verbose: bool) -> None:
    """Download a file; try again if the connection breaks or the checksum is wrong."""
    if verbose:
        print(f"Downloading {url}", file=sys.stderr)
    pooch.create(
        path.parent,
        base_url="",
        registry={path.name: CHECKSUMS.get(path.name)},
        urls={path.name: url},
        retry_if_failed=RETRIES,
    ).fetch(path.name, downloader=pooch.HTTPDownloader(timeout=TIMEOUT))


@_muted()
def unpack(path: Path, members: Sequence[str]) -> Path:
    """Unpack nested archives beside a file, check each of them, and return the last member."""
    for member in members:
        check_published(path)
        _extract(path, member)
        path = path.with_name(member)
    return path


def _extract(archive: Path, member: str) -> None:
    if archive.name.endswith(".zip"):
        extract = pooch.Unzip([member], extract_dir=".")
    elif archive.name.endswith(".tar.gz"):
        extract = pooch.Untar([member], extract_dir=".")
    else:
        extract = pooch.Decompress(name=member)
    try:
        extract(str(archive), "download", None)
    except BROKEN as error:
        raise ValueError(f"{archive.name} cannot be unpacked: {error}") from error
    if not archive.with_name(member).is_file():
        raise ValueError(f"{archive.name} does not contain {member}")
