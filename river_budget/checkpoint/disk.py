"""Files that are written as a whole or not at all, and the versions before them."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]


def write(path: str | Path, data: bytes, keep: int = 1) -> None:
    """Write a file, and keep those before it as `.1`, `.2`, ...; an OSError leaves all as it was.

    Writers of one directory take turns, so a temporary file that is there is that of a killed one.
    """
    place = Path(os.path.realpath(path))
    older = [place.with_name(f"{place.name}.{age}") for age in range(1, keep)]
    temporary, spare = (
        place.with_name(f".{place.name}.checkpoint.{end}") for end in ("tmp", "old")
    )
    with _locked(place.parent) as directory:
        try:
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb") as file:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copymode(place, temporary)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _rotate([place, *older, spare], temporary, directory)
        finally:
            for left in (temporary, spare):
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)


def _rotate(places: Sequence[Path], new: Path, directory: int | None) -> None:
    """Move a file to the first place, and the files there, up to a gap, one place on."""
    moves = list(itertools.takewhile(lambda move: move[0].exists(), itertools.pairwise(places)))
    with contextlib.ExitStack() as undo:
        for place, older in reversed(moves[1:]):
            os.replace(place, older)
            undo.callback(os.replace, older, place)
        undo.callback(places[1 if moves else 0].unlink, missing_ok=True)
        if moves:
            # Copied, as the first place is never empty.
            shutil.copy2(*places[:2])
            with open(places[1], "rb") as file:
                os.fsync(file.fileno())
            undo.callback(os.replace, places[1], places[0])
        os.replace(new, places[0])
        if directory is not None:
            os.fsync(directory)  # forces the names to the disk
        undo.pop_all()


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[int | None]:
    """Keep other writers away from a directory, and open it, where the system can."""
    if fcntl is None:
        yield None
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        with contextlib.suppress(OSError):
            # Closing alone leaves it locked for a process that was forked meanwhile.
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
