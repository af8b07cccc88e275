"""Files that are written as a whole or not at all, and the versions before them."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]


def write(path: str | Path, data: bytes, keep: int = 1) -> None:
    """Write a file, and keep those before it as `.1`, `.2`, ...; an OSError leaves all as they were.

    Writers of one directory take turns, so a temporary file that is there is that of a killed one.
    """
    place = Path(os.path.realpath(path))
    older = [place.with_name(f"{place.name}.{age}") for age in range(1, keep)]
    new, copy, oldest = others = [
        place.with_name(f".{place.name}.checkpoint.{end}") for end in ("tmp", "copy", "old")
    ]
    with _locked(place.parent):
        try:
            for left in others:
                left.unlink(missing_ok=True)
            with open(new, "xb") as file:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copymode(place, new)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if older and place.exists():
                shutil.copy2(place, copy)
                with open(copy, "rb") as file:
                    os.fsync(file.fileno())
            # All is on the disk. Now each file up to a gap takes the name of the next older one.
            pairs = itertools.pairwise([copy, *older, oldest])
            moves = [*itertools.takewhile(lambda pair: pair[0].exists(), pairs)]
            with contextlib.ExitStack() as undo:
                for source, target in reversed(moves):
                    os.replace(source, target)
                    undo.callback(os.replace, target, source)
                os.replace(new, place)  # There is no way back, and none is needed.
                undo.pop_all()
        finally:
            for left in others:
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep other writers away from a directory, and at last force its names to the disk, where possible."""
    if fcntl is None:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
        os.fsync(handle)
    finally:
        with contextlib.suppress(OSError):
            # Closing alone leaves it locked for a process that was forked meanwhile.
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
