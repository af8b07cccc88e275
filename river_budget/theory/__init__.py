"""Mistake bounds: the theorems, the comparators that they hold against, and certificates of a run."""

from __future__ import annotations

from . import bounds, comparators
from .bounds import Guarantee
from .certify import Certificate, certify
from .comparators import Comparator, Span

__all__ = ["Certificate", "Comparator", "Guarantee", "Span", "bounds", "certify", "comparators"]
