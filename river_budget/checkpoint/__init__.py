"""Checkpoints that survive crashes and run no code.

A checkpoint is a safetensors file: arrays, and one JSON text with everything else. Loading runs no
code: it builds a new model from its parameters, with all their checks, and fills in what was
learned, checking kind and size of every value. A digest detects damaged and changed files. `save`
lists the models that can be stored.
"""

from __future__ import annotations

from .codec import CheckpointError, outline
from .files import Checkpointer, dumps, load, loads, restore, restores, save

__all__ = [
    "CheckpointError", "Checkpointer", "dumps", "load", "loads", "outline", "restore", "restores", "save",
]  # fmt: skip
