"""Kernels as immutable values.

Radial kernels are functions of a distance. By default, a model learns their width and the scales of
the features. `Linear` and `Polynomial` are functions of a dot product; `Cosine` is for embeddings.
`Normalized` scales examples to norm 1 in feature space; `FunctionKernel` wraps a function of dicts.
"""

from __future__ import annotations

from .base import Features, Kernel, check_kernel
from .vector import RBF, AdditiveRationalQuadratic, Laplacian, Linear, Polynomial, RationalQuadratic
from .wrappers import Cosine, FunctionKernel, Normalized, Scaled

__all__ = [
    "RBF", "AdditiveRationalQuadratic", "Cosine", "Features", "FunctionKernel", "Kernel", "Laplacian",
    "Linear", "Normalized", "Polynomial", "RationalQuadratic", "Scaled", "check_kernel",
]  # fmt: skip
