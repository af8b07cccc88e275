"""The mistake bounds of the papers, their comparators, and certificates."""

from __future__ import annotations

from . import bounds, comparators
from .bounds import Guarantee
from .certify import Certificate, certify
from .comparators import Comparator, Span

__all__ = ["Certificate", "Comparator", "Guarantee", "Span", "bounds", "certify", "comparators"]
