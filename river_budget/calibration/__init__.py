"""Calibrated probabilities, learned online.

- `calibrated`: the wrapper around a classifier.
- `calibrator`: the mixture of calibration maps.
- `wrapper`: what wrappers share.
"""

from __future__ import annotations

from .calibrated import Calibrated
from .calibrator import Calibrator

__all__ = ["Calibrated", "Calibrator"]
