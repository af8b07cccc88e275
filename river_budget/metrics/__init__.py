"""Metrics that River lacks, for models that learn for as long as they live."""

from __future__ import annotations

from .fading_error import FadingError
from .hinge_loss import HingeLoss
from .mistakes import Mistakes

__all__ = ["FadingError", "HingeLoss", "Mistakes"]
