"""Files that are written as a whole or not at all, and the versions before them.

A writer locks its temporary file while it lives, and the directory while it changes names.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks, and removes no file that is open
    fcntl = None  # type: ignore[assignment]


def write(places: Sequence[Path], data: bytes) -> None:
    """Write a file to the first place, and move others one on; an OSError leaves all as it was."""
    place, directory = places[0], places[0].parent
    temporary, spare = (directory / f".{place.name}.{secrets.token_hex(4)}.tmp" for _ in range(2))
    try:
        with contextlib.ExitStack() as stack:
            with _locked(directory):
                _sweep(place)
                file = stack.enter_context(open(temporary, "xb"))
                _lock(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(place, temporary)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            with _locked(directory) as names:
                file.close()
                _rotate([*places, spare], temporary, names)
    finally:
        for left in (temporary, spare):
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)


def _rotate(places: Sequence[Path], new: Path, names: int | None) -> None:
    """Move a file to the first place, and the files there, up to a gap, one place on."""
    moves = list(itertools.takewhile(lambda move: move[0].exists(), itertools.pairwise(places)))
    with contextlib.ExitStack() as undo:
        for place, older in reversed(moves[1:]):
            os.replace(place, older)
            undo.callback(os.replace, older, place)
        undo.callback(places[1 if moves else 0].unlink, missing_ok=True)
        if moves:
            # The first place is never empty: its file has two names, or a copy where it cannot.
            try:
                os.link(*places[:2])
            except OSError:
                shutil.copy2(*places[:2])
                with open(places[1], "rb") as file:
                    os.fsync(file.fileno())
            # Nothing is moved if both are names of the same file.
            undo.callback(os.replace, places[1], places[0])
        os.replace(new, places[0])
        if names is not None:
            os.fsync(names)  # forces the directory to the disk
        undo.pop_all()


def _sweep(place: Path) -> None:
    """Remove the temporary files of a place whose writers are gone."""
    for left in place.parent.glob(f".{glob.escape(place.name)}.{'[0-9a-f]' * 8}.tmp"):
        with contextlib.suppress(OSError):
            with open(left, "rb") as file:
                is_abandoned = _lock(file.fileno())
            if is_abandoned:
                left.unlink()


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[int | None]:
    """Keep other writers away from the names in a directory, and open it, where the system can."""
    if fcntl is None:
        yield None
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file until it is closed; return False if it cannot be locked at once."""
    with contextlib.suppress(OSError):
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
