"""Synthetic streams."""

from __future__ import annotations

from .class_incremental import ClassIncremental
from .noisy_checkerboard import NoisyCheckerboard
from .rare_positives import RarePositives
from .recurring_concepts import RecurringConcepts
from .rotating_gaussians import RotatingGaussians
from .shifting_checkerboard import ShiftingCheckerboard
from .two_gaussians import TwoGaussians
from .unit_vectors import UnitVectors

__all__ = [
    "ClassIncremental",
    "NoisyCheckerboard",
    "RarePositives",
    "RecurringConcepts",
    "RotatingGaussians",
    "ShiftingCheckerboard",
    "TwoGaussians",
    "UnitVectors",
]
