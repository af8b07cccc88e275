"""Kernels as immutable values.

Radial kernels are functions of a distance. By default, a model learns their width and the scales of
the features. `Linear` and `Polynomial` are functions of the dot product, and `Cosine` is that of
embeddings. `Normalized` scales every example to norm 1 in feature space, and `FunctionKernel` wraps
any function of two dicts.
"""

from __future__ import annotations

from .base import Features, Kernel, VectorKernel, check_kernel
from .vector import RBF, AdditiveRationalQuadratic, Laplacian, Linear, Polynomial, RationalQuadratic
from .wrappers import Cosine, FunctionKernel, Normalized, Scaled

__all__ = [
    "RBF", "AdditiveRationalQuadratic", "Cosine", "Features", "FunctionKernel", "Kernel", "Laplacian",
    "Linear", "Normalized", "Polynomial", "RationalQuadratic", "Scaled", "VectorKernel", "check_kernel",
]  # fmt: skip
