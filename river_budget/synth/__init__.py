"""Synthetic streams."""

from __future__ import annotations

from .concepts import ClassIncremental, RecurringConcepts
from .streams import (
    NoisyCheckerboard,
    RarePositives,
    RotatingGaussians,
    Router,
    ShiftingCheckerboard,
    TwoGaussians,
    UnitVectors,
)

__all__ = [
    "ClassIncremental", "NoisyCheckerboard", "RarePositives", "RecurringConcepts", "RotatingGaussians",
    "Router", "ShiftingCheckerboard", "TwoGaussians", "UnitVectors",
]  # fmt: skip
