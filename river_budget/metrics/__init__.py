"""Metrics for online classification that River lacks."""

from __future__ import annotations

from .calibration_error import Bin, CalibrationError
from .fading_error import FadingError
from .hinge_loss import HingeLoss
from .kappa import KappaM, KappaT
from .mistakes import Mistakes

__all__ = [
    "Bin", "CalibrationError", "FadingError", "HingeLoss", "KappaM", "KappaT", "Mistakes",
]  # fmt: skip
