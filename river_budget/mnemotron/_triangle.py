"""Symmetric matrices as packed lower triangles, which take half the memory and half the updates.

Row i of a triangle starts at i (i + 1) / 2, so a matrix grows by a row without moving its elements.
Functions take an array of matrices or vectors and the index of one, since a view that is passed on
is counted as a reference, which takes time.

"""

from __future__ import annotations

from river_budget._compile import compiled

__all__ = ["REORDERED", "add_outer", "add_outers", "clear", "copy_column", "dot", "multiply"]


# Sums may be reordered, so that they are vectorized.
REORDERED = {"reassoc", "contract", "nsz"}


@compiled(fastmath=REORDERED)
def dot(a, i, b, j, n):
    """Return the inner product of row i of a and row j of b."""
    total = 0.0
    for k in range(n):
        total += a[i, k] * b[j, k]
    return total


@compiled(fastmath=REORDERED)
def multiply(triangles, e, vectors, z, n, products):
    """Compute the product of matrix e and vector z, as product e.

    Four rows and their transposes are taken at a time.

    """
    triangle, vector, product = triangles[e], vectors[z], products[e]
    for i in range(n):
        product[i] = 0.0
    for i in range(0, n - 3, 4):
        start = i * (i + 1) // 2
        a = triangle[start : start + i + 1]
        b = triangle[start + i + 1 : start + 2 * i + 3]
        c = triangle[start + 2 * i + 3 : start + 3 * i + 6]
        d = triangle[start + 3 * i + 6 : start + 4 * i + 10]
        t, u, v, w = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            product[j] += (a[j] * t + b[j] * u) + (c[j] * v + d[j] * w)
            p += a[j] * vector[j]
            q += b[j] * vector[j]
            r += c[j] * vector[j]
            s += d[j] * vector[j]
        product[i] = p + (a[i] * t + b[i] * u) + (c[i] * v + d[i] * w)
        product[i + 1] = q + (b[i] * t + b[i + 1] * u) + (c[i + 1] * v + d[i + 1] * w)
        product[i + 2] = r + (c[i] * t + c[i + 1] * u) + (c[i + 2] * v + d[i + 2] * w)
        product[i + 3] = s + (d[i] * t + d[i + 1] * u) + (d[i + 2] * v + d[i + 3] * w)
    for i in range(n - n % 4, n):
        row = triangle[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
        total = 0.0
        for j in range(i):
            product[j] += row[j] * vector[i]
            total += row[j] * vector[j]
        product[i] = total + row[i] * vector[i]


@compiled()
def copy_column(triangles, e, j, n, columns, z):
    """Copy column j of matrix e to vector z."""
    triangle, column = triangles[e], columns[z]
    for i in range(j):
        column[i] = triangle[j * (j + 1) // 2 + i]
    for i in range(j, n):
        column[i] = triangle[i * (i + 1) // 2 + j]


@compiled()
def clear(triangles, e, j, n):
    """Set row and column j of matrix e with n rows to 0."""
    triangle = triangles[e]
    for i in range(j):
        triangle[j * (j + 1) // 2 + i] = 0.0
    for i in range(j, n):
        triangle[i * (i + 1) // 2 + j] = 0.0


@compiled()
def add_outer(triangles, e, factor, vectors, n):
    """Add `factor x x'` to matrix e for vector e."""
    triangle, x = triangles[e], vectors[e]
    for i in range(n):
        row = triangle[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
        scaled = factor * x[i]
        for j in range(i + 1):
            row[j] += scaled * x[j]


@compiled()
def add_outers(triangles, e, a, x, b, y, c, z, n):
    """Add `a x x' + b y y' + c z z'` to matrix e in one pass."""
    triangle = triangles[e]
    for i in range(n):
        row = triangle[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
        s, t, u = a * x[i], b * y[i], c * z[i]
        for j in range(i + 1):
            row[j] += (s * x[j] + t * y[j]) + u * z[j]
