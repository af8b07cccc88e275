"""Runs of models through streams, and what they come to."""

from __future__ import annotations

from .comparison import Comparison, Run, compare
from .life import Life, lifelong, recovery_time

__all__ = ["Comparison", "Life", "Run", "compare", "lifelong", "recovery_time"]
