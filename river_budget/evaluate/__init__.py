"""Runs of models through streams, and what they come to."""

from __future__ import annotations

from .certificate import Certificate, certify
from .comparison import Comparison, Run, compare
from .life import Life, lifelong, recovery_time

__all__ = [
    "Certificate",
    "Comparison",
    "Life",
    "Run",
    "certify",
    "compare",
    "lifelong",
    "recovery_time",
]
