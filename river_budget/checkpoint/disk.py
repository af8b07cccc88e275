"""Files that are written as a whole or not at all, and the versions before them.

A writer locks its temporary file until it is in place, so others can tell that it still lives. It
locks the directory while it changes names. Both locks vanish with their process.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

try:
    import fcntl
except ImportError:  # there are no such locks on Windows
    fcntl = None  # type: ignore[assignment]

# Where there are no locks, a temporary file of this age in seconds belongs to nobody.
ABANDONED_AFTER = 86_400.0


def write(places: Sequence[Path], data: bytes) -> None:
    """Write a file to the first of some places in a directory, and move the files there one place on.

    The new file has the permissions of the one before, and the file in the last place is lost. If
    this fails with an OSError, all files are as they were.
    """
    directory = places[0].parent
    temporary, spare = _temporary(places[0]), _temporary(places[0])
    try:
        with _locked(directory):
            _sweep(places[0])
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            file = os.fdopen(handle, "wb")
            _lock(handle, wait=False)
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(places[0], temporary)
        with file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            with _locked(directory) as names:
                file.close()
                _rotate([*places, spare], temporary, names)
    finally:
        for left in (temporary, spare):
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)


def _rotate(places: Sequence[Path], new: Path, names: int | None) -> None:
    """Move a file to the first place, and the files there, up to a gap, one place on.

    Their directory, if the system has it as an open file, is forced to the disk.
    """
    pairs = itertools.pairwise(places)
    moves = list(itertools.takewhile(lambda move: move[0].exists(), pairs))
    with contextlib.ExitStack() as undo:
        for place, older in reversed(moves[1:]):
            os.replace(place, older)
            undo.callback(os.replace, older, place)
        for place, older in moves[:1]:
            # The first place is never empty.
            undo.callback(older.unlink, missing_ok=True)
            _copy(place, older)
            # Nothing is moved if both are names of the same file.
            undo.callback(os.replace, older, place)
        if not moves:
            undo.callback(places[0].unlink, missing_ok=True)
        os.replace(new, places[0])
        if names is not None:
            os.fsync(names)
        undo.pop_all()


def _copy(place: Path, other: Path) -> None:
    """Give a file a second name, or copy it where it can have only one."""
    try:
        os.link(place, other)
    except OSError:
        shutil.copy2(place, other)
        with open(other, "rb") as file:
            os.fsync(file.fileno())


def _temporary(place: Path) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")


def _sweep(place: Path) -> None:
    """Remove the temporary files of a place whose writers are gone."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{8}}\.tmp")
    for entry in place.parent.iterdir():
        if pattern.fullmatch(entry.name):
            with contextlib.suppress(OSError):
                if _is_abandoned(entry):
                    entry.unlink()


def _is_abandoned(temporary: Path) -> bool:
    if fcntl is None:
        return time.time() - temporary.stat().st_mtime > ABANDONED_AFTER
    with open(temporary, "rb") as file:
        return _lock(file.fileno(), wait=False)


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[int | None]:
    """Keep other writers away from the names in a directory, and open it, where the system can."""
    if fcntl is None:
        yield None
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        _lock(handle, wait=True)
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, wait: bool) -> bool:
    """Lock a file until it is closed; return False if it cannot be locked, or not at once."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
