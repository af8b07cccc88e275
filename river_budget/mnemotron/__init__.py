"""Mnemotron: experts of different memory and kernel on one budget."""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
