"""Checkpoints as bytes and as files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

from river_budget._checks import check_count
from river_budget._state import require
from river_budget.checkpoint import codec
from river_budget.checkpoint.codec import Tensors
from river_budget.checkpoint.disk import write

# The names of the text, in the metadata, and of the digest of all else, among the tensors.
FORMAT, DIGEST = "river_budget checkpoint", "sha256"
# The version of the format. The states of classes have versions of their own.
VERSION = 1

# What reading a forged file raises. Anything else, such as an interrupt, the exception of a signal's
# handler or a lack of memory, tells nothing about the file, and passes.
INVALID = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, NotImplementedError,
    RecursionError, SafetensorError,
)  # fmt: skip


class CheckpointError(ValueError):
    """A checkpoint is invalid, or a model cannot be stored."""


def save(model: Any, path: str | Path, extra: Mapping[str, Any] | None = None) -> None:
    """Write a model to a file, all of it or nothing.

    After a crash, the file is the old one or the new one. Of several processes, the last one wins.

    Parameters
    ----------
    model
        A classifier of this package, also in `Calibrated` or `Reject`, a policy, or a pipeline with
        parts of River that have no functions or windows. Objects of other classes can be stored after
        `register`.
    path
        The file. A symbolic link stays, and its target is written.
    extra
        Other names and plain values to keep.

    Raises
    ------
    CheckpointError
        If a part of the model, which the message names, cannot be stored, or if the model takes more
        than 100 MB without its arrays, mostly for names of features.
    OSError
        If the file cannot be written.
    """
    write(path, dumps(model, extra))


def load(path: str | Path) -> Any:
    """Return the model that `save` wrote. It continues bit for bit like the saved one.

    With another NumPy or number of threads of BLAS, large models differ in the last bits.

    Raises CheckpointError if the file is damaged, changed, foreign, or newer than this version, and
    OSError if it cannot be read.
    """
    return restore(path)[0]


def restore(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the model that `save` wrote, and its `extra`. Raises as `load`."""
    try:
        return restores(Path(path).read_bytes())
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def dumps(model: Any, extra: Mapping[str, Any] | None = None) -> bytes:
    """Return a model as bytes; see `save`."""
    tensors: Tensors = {}
    try:
        stored = codec.written_object(model, tensors)
        kept = codec.written(dict(extra or {}), tensors)
        text = json.dumps({"version": VERSION, "model": stored, "extra": kept})
        return write_tensors(tensors | {DIGEST: _digest(text, tensors)}, {FORMAT: text})
    except (ValueError, RecursionError, SafetensorError) as error:
        raise CheckpointError(f"the model cannot be stored: {error}") from None


def loads(data: bytes) -> Any:
    """Return the model that `dumps` turned into bytes. Raises CheckpointError as `load`."""
    return restores(data)[0]


def restores(data: bytes) -> tuple[Any, dict[str, Any]]:
    """Return the model that `dumps` turned into bytes, and its `extra`. Raises as `loads`."""
    try:
        tensors, metadata = read_tensors(data), _metadata(data)
        require(FORMAT in metadata, "it is of another program")
        content = json.loads(metadata[FORMAT])
        _check_version(content["version"])
        is_whole = np.array_equal(tensors.pop(DIGEST), _digest(metadata[FORMAT], tensors))
        require(is_whole, "it has changed since it was written")
        return codec.read_object(content["model"], tensors), codec.read(content["extra"], tensors)
    except INVALID as error:
        reason = error if isinstance(error, ValueError) else repr(error)
        raise CheckpointError(f"this is no valid checkpoint: {reason}") from None


class Checkpointer:
    """Saves a model every `every` examples of a loop.

    Processes that save in one directory take turns.

    Parameters
    ----------
    model
        The model; see `save`.
    path
        The newest checkpoint, or a symbolic link to it. Older ones are beside it, with `.1`, `.2`,
        ... after the name.
    every, keep
        Number of examples from one checkpoint to the next, and of checkpoints that are kept.

    Raises
    ------
    ValueError
        If a parameter is out of range, or, as CheckpointError, if the model cannot be stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import river_budget as rb

    >>> model, path = rb.Forgetron(budget=10), pathlib.Path(tempfile.mkdtemp(), "model.safetensors")
    >>> checkpointer = rb.checkpoint.Checkpointer(model, path, every=40, keep=2)
    >>> for x, y in rb.synth.TwoGaussians(100, seed=1):
    ...     model.learn_one(x, y)
    ...     checkpointer.step()
    >>> rb.checkpoint.load(path).n_rounds
    80
    """

    def __init__(self, model: Any, path: str | Path, every: int = 1000, keep: int = 1) -> None:
        check_count("every", every)
        check_count("keep", keep)
        dumps(model)
        self.model = model
        self.path = Path(path)
        self.every = every
        self.keep = keep
        self._n_steps = 0

    def step(self, extra: Mapping[str, Any] | None = None) -> None:
        """Count one more example, and save the model if it is due."""
        self._n_steps += 1
        if self._n_steps % self.every == 0:
            self.save(extra)

    def save(self, extra: Mapping[str, Any] | None = None) -> None:
        """Save the model now."""
        write(self.path, dumps(self.model, extra), self.keep)


def _check_version(found: Any) -> None:
    """Raise ValueError unless a format can be read."""
    is_newer = type(found) is int and found > VERSION
    writer = "was written by a newer version of river_budget, with" if is_newer else "has"
    is_known = type(found) is int and found == VERSION
    require(is_known, f"it {writer} the format {found!r:.20}, and only {VERSION} can be read")


def _metadata(data: bytes) -> dict[str, str]:
    """Return the texts in the head of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]).get("__metadata__", {})


def _digest(text: str, tensors: Tensors) -> NDArray[np.uint8]:
    """Return a digest of everything in a checkpoint."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return np.frombuffer(digest.digest(), np.uint8)
