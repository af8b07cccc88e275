"""Synthetic streams."""

from __future__ import annotations

from .checkerboards import NoisyCheckerboard, ShiftingCheckerboard
from .concepts import ClassIncremental, RecurringConcepts
from .gaussians import RarePositives, RotatingGaussians, TwoGaussians
from .router import Router
from .unit_vectors import UnitVectors

__all__ = [
    "ClassIncremental", "NoisyCheckerboard", "RarePositives", "RecurringConcepts", "RotatingGaussians",
    "Router", "ShiftingCheckerboard", "TwoGaussians", "UnitVectors",
]  # fmt: skip
