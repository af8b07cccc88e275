"""Compilation with numba, cached on disk."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# The packages with compiled functions, and with the constants that they use.
COMPILED = ("kernels", "support", "perceptrons", "mnemotron", "calibration")

# The option of a function that takes arrays without counting their references, as do all that it
# calls with them. Numba counts atomically, which takes most of the time of a short function. Such a
# function can neither allocate an array nor return one, nor call one that returns an array, unless
# with `inline="always"`: the reference would never be released.
UNCOUNTED: dict[str, Any] = {"_nrt": False}

# The option of a function that passes much code on to few callers. With `forceinline`, it would be
# optimized once alone and again with each caller.
EMBEDDED: dict[str, Any] = {"inline": "always"}


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on first use and caches it on disk.

    Numba caches next to the source file, or in the cache directory of the user. If neither is
    writable, as in many containers, a private temporary directory is used, or no cache at all. A
    warning then recommends to set `NUMBA_CACHE_DIR`. The options are those of `numba.njit`.
    """

    # A function would take over the option of the first one that calls it.
    options = {"_nrt": True, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return _stamped(numba.njit(cache=True, error_model="numpy", **options)(function))
        except RuntimeError:  # no writable cache directory
            _cache_in_temporary_directory()
        try:
            return _stamped(numba.njit(cache=True, error_model="numpy", **options)(function))
        except (RuntimeError, OSError):
            return numba.njit(error_model="numpy", **options)(function)

    return decorate


def address_of(function: Any, signature: Any) -> int:
    """Return the address of a compiled function for a signature; see `function_at`."""
    result = function.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def function_at(signature: Any) -> Any:
    """Return a compiled function that converts an address to a function with a signature.

    A caller is compiled once for all functions with the signature, and without their code. An error
    cannot leave a function that is called by its address.
    """
    function_type = types.FunctionType(signature)

    @intrinsic
    def at(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = cgutils.create_struct_proxy(function_type)(context, builder)
            function.c_addr = builder.inttoptr(args[0], cgutils.voidptr_t)
            function.jit_addr = ir.Constant(cgutils.voidptr_t, None)
            function.py_addr = ir.Constant(cgutils.voidptr_t, None)
            return function._getvalue()  # noqa: SLF001 (the way of numba)

        return function_type(address), generate

    return at


def _stamped(dispatcher: Any) -> Any:
    """Let the cache of a function depend on every file whose functions it may inline.

    Numba compares the function's own file only. It reads the classes in an index, which may be gone,
    unless the version differs.
    """
    dispatcher._cache._cache_file._version = f"{numba.__version__} {_digest()}"  # noqa: SLF001 (no public name)
    return dispatcher


@functools.cache
def _digest() -> str:
    root = Path(__file__).parent
    files = [file for name in COMPILED for file in (root / name).glob("*.py")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


@functools.cache
def _cache_in_temporary_directory() -> None:
    """Set the cache directory of numba to a private temporary directory, and warn."""
    try:
        directory = _private_directory()
    except OSError:
        _warn("every process compiles all functions again")
        return
    # Child processes read the environment variable.
    os.environ["NUMBA_CACHE_DIR"] = str(directory)
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    _warn(f"compiled functions are cached in {directory}")


def _private_directory() -> Path:
    """Return a temporary directory that only this user can write to, since a cache is code."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    directory = Path(tempfile.gettempdir(), f"river_budget-{user}")
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if hasattr(os, "getuid") and (status.st_uid != user or status.st_mode & 0o022):
        raise PermissionError(f"{directory} is owned or writable by another user")
    return directory


def _warn(consequence: str) -> None:
    warnings.warn(
        "neither the package directory nor the user's cache directory is writable, so "
        f"{consequence}: set NUMBA_CACHE_DIR to a persistent directory",
        RuntimeWarning,
        stacklevel=2,
    )
