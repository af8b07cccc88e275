"""Kernels, as small immutable values.

Radial kernels are functions of a distance, and take their width from the first example unless they
are given one; the others are functions of the dot product. `Normalized` gives every example norm 1,
and `FunctionKernel` takes any function of two dicts.

"""

from __future__ import annotations

from .base import Features, Kernel, VectorKernel, check_kernel
from .dot_product import Linear, Polynomial
from .radial import RBF, AdditiveRationalQuadratic, Laplacian, RationalQuadratic
from .wrappers import FunctionKernel, Normalized

__all__ = [
    "RBF",
    "AdditiveRationalQuadratic",
    "Features",
    "FunctionKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalized",
    "Polynomial",
    "RationalQuadratic",
    "VectorKernel",
    "check_kernel",
]
