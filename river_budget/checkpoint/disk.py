"""Files that are written as a whole or not at all, with the versions before them."""

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
    """Write a file, and keep up to `keep - 1` earlier versions as `.1`, `.2`, ... beside it.

    If this raises OSError, all files are as they were before. Writers into one directory take turns, so
    a temporary file that is found there is left over from a writer that was killed.
    """
    place = Path(os.path.realpath(path))
    older = [place.with_name(f"{place.name}.{age}") for age in range(1, keep)]
    new = place.with_name(f".{place.name}.checkpoint.tmp")
    copy = place.with_name(f".{place.name}.checkpoint.copy")
    oldest = place.with_name(f".{place.name}.checkpoint.old")
    temporary = [new, copy, oldest]

    with _locked(place.parent):
        try:
            for left in temporary:
                left.unlink(missing_ok=True)
            _write_new(new, data, mode_of=place)
            if older and place.exists():
                shutil.copy2(place, copy)
                with open(copy, "rb") as file:
                    os.fsync(file.fileno())
            _rename([copy, *older, oldest], new, place)
        finally:
            for left in temporary:
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)


def _write_new(new: Path, data: bytes, mode_of: Path) -> None:
    """Write a new file and force it to the disk, with the mode of another one if that exists."""
    with open(new, "xb") as file:
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(mode_of, new)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _rename(versions: list[Path], new: Path, place: Path) -> None:
    """Make each version the next older one, up to a gap, and give the new file its place.

    `versions` begins with a copy of the present file, and ends with a name for what is dropped. If a
    step fails, those before it are undone.
    """
    pairs = itertools.pairwise(versions)
    moves = [*itertools.takewhile(lambda pair: pair[0].exists(), pairs)]
    with contextlib.ExitStack() as undo:
        for source, target in reversed(moves):
            os.replace(source, target)
            undo.callback(os.replace, target, source)
        os.replace(new, place)
        undo.pop_all()  # The new file is in its place: nothing is undone any more.


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep other writers out of a directory, and then force its names to the disk.

    On a system without file locks, this does neither.
    """
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
            # Closing is not enough: a process that was forked meanwhile would keep the lock.
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
