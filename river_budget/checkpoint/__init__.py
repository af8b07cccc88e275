"""Models as files that survive crashes and run no code when they are loaded.

A checkpoint is a safetensors file: arrays, one JSON text for all else, and a digest of both.
"""

from __future__ import annotations

from river_budget.base import outline

from .files import Checkpointer, CheckpointError, dumps, load, loads, restore, restores, save
from .registry import register

__all__ = [
    "CheckpointError", "Checkpointer", "dumps", "load", "loads", "outline", "register", "restore", "restores", "save",
]  # fmt: skip
