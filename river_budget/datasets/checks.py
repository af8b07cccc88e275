"""Checks of files against published and recorded checksums; a failed check is a ValueError."""

from __future__ import annotations

import hashlib
from pathlib import Path

from river_budget.datasets.files import CHECKSUMS

__all__ = ["check_published", "check_text"]


def check_published(path: Path) -> None:
    """Check a file against the published checksum of its name, if there is one."""
    algorithm, _, expected = CHECKSUMS.get(path.name, "").partition(":")
    if expected and (found := _digest(path, algorithm)) != expected:
        raise ValueError(f"{path.name} has the {algorithm} checksum {found}, expected {expected}")


def check_text(path: Path, rows: int, directory: Path) -> None:
    """Check a text file against the SHA-256 recorded in a directory.

    If there is no record yet, check the published checksum and number of rows, and record the
    SHA-256.
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
    check_published(path)
    with path.open("rb") as lines:
        found = sum(not line.isspace() for line in lines)
    if found != rows:
        raise ValueError(f"{path.name} has {found:,} rows, expected {rows:,}")
    record.write_text(f"{digest}  {path.name}\n")


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
