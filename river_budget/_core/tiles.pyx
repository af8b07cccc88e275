# cython: language_level=3, wraparound=False, infer_types=True
"""Products and updates of a symmetric matrix with many vectors at a time, in the layout of `symmetric.h`.

Rows are unpacked into tiles, whole blocks of so many of them, for the products of matrices in BLAS, which NumPy calls.
"""

from libc.string cimport memcpy, memset

import numpy as np

ROWS = 256                             # of a tile

# The elements of a square below its diagonal, and those with it.
BELOW = np.tri(ROWS, k=-1, dtype=np.float32)
UP_TO = np.tri(ROWS, dtype=np.float32)


cdef class Tiles:
    """The tiles of a matrix M, and room for what is computed with them.

    What is in use while M changes is there before: then nothing can fail, and no code of Python runs.
    """

    cdef object tile, product, square  # (ROWS, width), the same, and (ROWS, ROWS)
    cdef char *elements                # those of M
    cdef char *own                     # those of the tile
    cdef Py_ssize_t n_rows, width, item

    def __init__(self, M, Py_ssize_t n_rows, Py_ssize_t width):
        self.n_rows, self.width, self.item = n_rows, width, M.itemsize
        self.elements = <char *> <size_t> M.ctypes.data
        self.tile, self.product = np.zeros((ROWS, width), M.dtype), np.zeros((ROWS, width), M.dtype)
        self.own = <char *> <size_t> self.tile.ctypes.data
        self.square = np.zeros((ROWS, ROWS), M.dtype)

    cdef char *row_of(self, Py_ssize_t row) noexcept:
        """Return the address of a row of M, which has the elements up to its block on the diagonal."""
        cdef Py_ssize_t group = row // 8
        return self.elements + 8 * (group + 1) * (row - 4 * group) * self.item

    cdef object unpack(self, Py_ssize_t first):
        """Return the tile of the rows from one on, with zeros beyond their elements."""
        cdef Py_ssize_t row, n_bytes, row_bytes = self.width * self.item
        cdef char *to = self.own
        stop = min(self.n_rows, first + ROWS)
        for row in range(first, stop):
            n_bytes = 8 * (row // 8 + 1) * self.item
            memcpy(to, self.row_of(row), n_bytes)
            memset(to + n_bytes, 0, row_bytes - n_bytes)
            to += row_bytes
        return self.tile[: stop - first]

    cdef void pack(self, Py_ssize_t first, Py_ssize_t n):
        """Give M so many rows of the tile, from one on."""
        cdef Py_ssize_t row
        cdef char *own = self.own
        for row in range(first, first + n):
            memcpy(self.row_of(row), own, 8 * (row // 8 + 1) * self.item)
            own += self.width * self.item

    cdef object symmetric(self, tile, Py_ssize_t first):
        """Make the square of a tile on the diagonal of M exactly symmetric, and return it."""
        n = len(tile)
        square, own = self.square[:n, :n], tile[:, first : first + n]
        np.multiply(own, BELOW[:n, :n], square)
        np.multiply(own, UP_TO[:n, :n], own)
        np.add(own, square.T, own)
        return own

    def times(self, X):
        """Return the products (vectors, width) of M with the rows of X (vectors, width)."""
        products = np.zeros_like(X)
        for first in range(0, self.n_rows, ROWS):
            tile = self.unpack(first)
            square, before, own = self.symmetric(tile, first), tile[:, :first], slice(first, first + len(tile))
            products[:, own] += np.matmul(X[:, own], square)
            products[:, own] += np.matmul(X[:, :first], before.T)
            products[:, :first] += np.matmul(X[:, own], before)
        return products

    def subtract(self, V):
        """Subtract V' V from M for V (vectors, width). No code of Python runs meanwhile."""
        for first in range(0, self.n_rows, ROWS):
            tile = self.unpack(first)
            n, stop = len(tile), first + len(tile)
            product = self.product[:n, :stop]
            np.matmul(V[:, first:stop].T, V[:, :stop], product)
            np.subtract(tile[:, :stop], product, tile[:, :stop])
            self.symmetric(tile, first)
            self.pack(first, n)
