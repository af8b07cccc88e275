# cython: language_level=3
"""Symmetric matrices as lower triangles, and the hot loops of `symmetric.h`."""

import numpy as np


def use_lanes(int most):
    return choose_symmetric_lanes(loops, most)


use_lanes(8)


def unpacked(triangles, n):
    """Return the symmetric matrices of packed rows (matrices, n, n)."""
    rows, columns = np.tril_indices(n)
    matrices = np.empty((len(triangles), n, n))
    matrices[:, rows, columns] = matrices[:, columns, rows] = triangles
    return matrices
