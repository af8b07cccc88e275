"""Mnemotron: Gaussian process experts with different kernels and forgetting factors."""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
