"""Synthetic streams."""

from __future__ import annotations

from .checkerboards import NoisyCheckerboard, ShiftingCheckerboard
from .concepts import ClassIncremental, RecurringConcepts
from .gaussians import RarePositives, RotatingGaussians, TwoGaussians
from .unit_vectors import UnitVectors

__all__ = [
    "ClassIncremental", "NoisyCheckerboard", "RarePositives", "RecurringConcepts", "RotatingGaussians",
    "ShiftingCheckerboard", "TwoGaussians", "UnitVectors",
]  # fmt: skip
