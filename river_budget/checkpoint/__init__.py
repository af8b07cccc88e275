"""Checkpoints that survive crashes and run no code: safetensors files, with one JSON text and a digest."""

from __future__ import annotations

from .codec import outline
from .files import Checkpointer, CheckpointError, dumps, load, loads, restore, restores, save

__all__ = [
    "CheckpointError", "Checkpointer", "dumps", "load", "loads", "outline", "restore", "restores", "save",
]  # fmt: skip
