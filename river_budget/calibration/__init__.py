"""Calibrated probabilities, learned online.

- `calibrated`: wrappers around a classifier.
- `calibrator`: the mixture of calibration maps.
"""

from __future__ import annotations

from .calibrated import Calibrated, ClassifierWrapper, by_row, dicts_of
from .calibrator import Calibrator

__all__ = ["Calibrated", "Calibrator", "ClassifierWrapper", "by_row", "dicts_of"]
