"""Synthetic streams."""

from __future__ import annotations

from .noisy_checkerboard import NoisyCheckerboard
from .two_gaussians import TwoGaussians
from .unit_vectors import UnitVectors

__all__ = ["NoisyCheckerboard", "TwoGaussians", "UnitVectors"]
