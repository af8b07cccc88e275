"""Checkpoints that survive crashes and run no code: safetensors files, with one JSON text and a digest."""

from __future__ import annotations

from river_budget.base import outline

from .files import Checkpointer, CheckpointError, dumps, load, loads, restore, restores, save
from .registry import register

__all__ = [
    "CheckpointError", "Checkpointer", "dumps", "load", "loads", "outline", "register", "restore", "restores", "save",
]  # fmt: skip
