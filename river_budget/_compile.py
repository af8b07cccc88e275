"""How functions are compiled: by numba, once for each machine."""

from __future__ import annotations

import functools
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on first use and caches it on disk.

    Numba caches beside the source file, or in the user's cache directory. Where neither can be
    written to, as in many containers, a directory of the user's own for temporary files is taken,
    or there is no cache. A warning then names `NUMBA_CACHE_DIR`.

    Parameters
    ----------
    options
        Options of `numba.njit`.

    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no place for a cache
            _cache_in_temporary_directory()
        try:
            return numba.njit(cache=True, **options)(function)
        except (RuntimeError, OSError):
            return numba.njit(**options)(function)

    return decorate


@functools.cache
def _cache_in_temporary_directory() -> None:
    """Let numba cache in a temporary directory that nobody else can write to."""
    try:
        directory = _private_directory()
    except OSError:
        _warn("functions are compiled anew by each process")
        return
    # Child processes find the same cache by the environment.
    os.environ["NUMBA_CACHE_DIR"] = str(directory)
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    _warn(f"compiled functions are cached in {directory}")


def _private_directory() -> Path:
    """Return the user's own directory, since a cache is code; raise OSError if there can be none."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    directory = Path(tempfile.gettempdir(), f"river_budget-{user}")
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if hasattr(os, "getuid") and (status.st_uid != user or status.st_mode & 0o022):
        raise PermissionError(f"{directory} belongs to somebody else, or others can write to it")
    return directory


def _warn(what: str) -> None:
    warnings.warn(
        f"neither the package nor the user's cache directory can be written to, so {what}: "
        "set NUMBA_CACHE_DIR to a directory that lasts",
        RuntimeWarning,
        stacklevel=2,
    )
