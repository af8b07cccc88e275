"""Transformers that River lacks."""

from __future__ import annotations

from .unit_norm import UnitNorm

__all__ = ["UnitNorm"]
