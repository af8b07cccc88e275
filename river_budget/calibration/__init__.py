"""Calibrated probabilities, learned online.

- `calibrated`: wrappers around a classifier.
- `calibrator`: the mixture of calibration maps.
"""

from __future__ import annotations

from .calibrated import Calibrated
from .calibrator import Calibrator

__all__ = ["Calibrated", "Calibrator"]
