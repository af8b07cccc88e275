"""Checkpoints that survive crashes and run no code.

A checkpoint is a safetensors file: arrays, and beside them one text of JSON with everything else.
Loading runs no code, whoever wrote the file: it builds a new model from its parameters, with all their
checks, and fills in what was learned, value by value, each of the kind and size that the model has. A
digest finds files that are torn or have changed. `save` tells which models can be stored.
"""

from __future__ import annotations

from .codec import CheckpointError
from .files import Checkpointer, dumps, load, loads, restore, restores, save
from .rivers import outline

__all__ = [
    "CheckpointError", "Checkpointer", "dumps", "load", "loads", "outline", "restore", "restores", "save",
]  # fmt: skip
