"""Probabilities that mean what they say, learned online.

- `calibrated`: the wrapper around a classifier.
- `calibrator`: the mixture of calibration maps that it learns.
- `wrapper`: what wrappers share, and the rows of mini-batches as examples.
"""

from __future__ import annotations

from .calibrated import Calibrated
from .calibrator import Calibrator

__all__ = ["Calibrated", "Calibrator"]
