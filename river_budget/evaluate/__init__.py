"""Evaluate models on streams: side by side (`compare`), or on a sequence of tasks (`lifelong`)."""

from __future__ import annotations

from .comparison import Comparison, Run, compare
from .continual import ContinualRun, lifelong
from .delays import Delays

__all__ = ["Comparison", "ContinualRun", "Delays", "Run", "compare", "lifelong"]
