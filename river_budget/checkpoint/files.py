"""Checkpoints as bytes and as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from river_budget._checks import check_count
from river_budget._state import trusting
from river_budget.base.documented import describing
from river_budget.checkpoint import codec
from river_budget.checkpoint.disk import write
from river_budget.checkpoint.format import Tensors, pack, unpack

# The errors that reading a forged file can raise. All others, such as an interrupt or a lack of memory,
# tell nothing about the file, and are passed on.
INVALID = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, NotImplementedError,
    RecursionError, SafetensorError,
)  # fmt: skip

# What the arguments of the functions below are.
ARGUMENTS = {
    "model": "The model; see `save`.",
    "path": "The file.",
    "data": "The bytes.",
    "extra": "Plain values to store with the model, by name.",
    "compress": "Whether the bytes are compressed; see `save`.",
}

_described = describing(ARGUMENTS)


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or a model cannot be stored."""


def save(
    model: Any, path: str | Path, extra: Mapping[str, Any] | None = None, compress: bool = False
) -> None:
    """Write a model to a file, completely or not at all.

    After a crash, the file is either the old one or the new one. If several processes save to one file,
    the last one wins.

    Parameters
    ----------
    model
        A classifier of this package, also inside `Calibrated` or `Reject`, a policy, or a pipeline with
        parts of River that hold no functions or windows. Register other classes by `register`.
    path
        The file. If it is a symbolic link, its target is written, and the link stays.
    extra
        Plain values to store with the model, by name.
    compress
        Whether the file is compressed (zlib), which a reader need not know. That takes longer to save. A
        perceptron shrinks most if values are short or repeat, a Mnemotron, whose numbers look random, little.

    Raises
    ------
    CheckpointError
        If a part of the model cannot be stored, which the message names; or if the model takes more
        than 100 MB without its arrays, mostly for names of features.
    OSError
        If the file cannot be written.
    """
    write(path, dumps(model, extra, compress))


def load(path: str | Path) -> Any:
    """Return the model that `save` wrote. It continues bit for bit like the saved one.

    With another version of NumPy or another number of BLAS threads, large models differ in the last bits.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    CheckpointError
        If the file is damaged, was changed, is no checkpoint, or was written by a newer version.
    OSError
        If the file cannot be read.
    """
    return restore(path)[0]


@_described
def restore(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the model that `save` wrote, and its `extra`. Raises as `load`."""
    try:
        return restores(Path(path).read_bytes())
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


@_described
def dumps(model: Any, extra: Mapping[str, Any] | None = None, compress: bool = False) -> bytes:
    """Return a model as bytes, for a database or a message. Raises CheckpointError as `save`."""
    tensors: Tensors = {}
    try:
        encoded = codec.encode_object(model, tensors)
        beside = codec.encode(dict(extra or {}), tensors)
        return pack({"model": encoded, "extra": beside}, tensors, compress)
    except (ValueError, RecursionError, SafetensorError) as error:
        raise CheckpointError(f"the model cannot be stored: {error}") from None


@_described
def loads(data: bytes) -> Any:
    """Return the model that `dumps` turned into bytes. Raises CheckpointError as `load`."""
    return restores(data)[0]


@_described
def restores(data: bytes) -> tuple[Any, dict[str, Any]]:
    """Return the model that `dumps` turned into bytes, and its `extra`. Raises as `loads`."""
    try:
        parts, tensors, is_own = unpack(data)
        with trusting(is_own):
            model = codec.decode_object(parts["model"], tensors)
        return model, codec.decode(parts["extra"], tensors)
    except INVALID as error:
        raise CheckpointError(f"this is no valid checkpoint: {_reason(data, error)}") from None


class Checkpointer:
    """Saves a model regularly while a loop trains it.

    Processes that save into one directory take turns.

    Parameters
    ----------
    model
        The model; see `save`.
    path
        The file of the newest checkpoint, or a symbolic link to it. Older ones are beside it, with `.1`,
        `.2`, ... after the name.
    every
        Number of examples from one checkpoint to the next.
    keep
        Number of checkpoints to keep.

    Raises
    ------
    ValueError
        If a parameter is out of range. It is a CheckpointError if the model cannot be stored.

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

    @_described
    def step(self, extra: Mapping[str, Any] | None = None) -> None:
        """Count one more example, and save the model after each `every` of them. Raises as `save`."""
        self._n_steps += 1
        if self._n_steps % self.every == 0:
            self.save(extra)

    @_described
    def save(self, extra: Mapping[str, Any] | None = None) -> None:
        """Save the model now. Raises CheckpointError or OSError as the function `save`."""
        write(self.path, dumps(self.model, extra), self.keep)


def _reason(data: bytes, error: Exception) -> str:
    """Return why bytes are no checkpoint, given the error that reading them has raised."""
    if data.startswith(b"\x80") and data.endswith(b"."):
        return "it is a pickle; load that by pickle, and store the model by checkpoint.save"
    if isinstance(error, SafetensorError):
        return "it is damaged, or no file of checkpoint.save or river-budget learn --checkpoint"
    return str(error) if isinstance(error, ValueError) else repr(error)
