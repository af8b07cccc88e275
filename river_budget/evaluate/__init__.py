"""Evaluate models on streams: side by side, or on a sequence of tasks."""

from __future__ import annotations

from .comparison import Comparison, Run, compare
from .continual import ContinualRun, lifelong

__all__ = ["Comparison", "ContinualRun", "Run", "compare", "lifelong"]
