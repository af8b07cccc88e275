"""The classes of this package whose objects can be stored, except those whose import is slow."""

from __future__ import annotations

from typing import Any

from river_budget import kernels
from river_budget.catalog import ALGORITHMS
from river_budget.checkpoint.registry import register

KERNELS: list[Any] = [
    kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
    kernels.Linear, kernels.Polynomial, kernels.Normalized, kernels.Cosine,
]  # fmt: skip

CLASSES: list[Any] = [*(row.model for row in ALGORITHMS.values()), *KERNELS, kernels.Scaled]

# Files have the public names of the classes, so they stay readable if a module moves.
for kind in CLASSES:
    register(kind, name=f"river_budget.{kind.__name__}")
