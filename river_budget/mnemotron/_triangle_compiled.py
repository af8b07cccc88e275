"""Symmetric matrices as lower triangles in tiles, which take about half the memory and updates.

A tile is `LANES` rows of `LANES` elements. Row i starts at `row_start(i)` and ends with the tile on
the diagonal, a whole one, so that a matrix grows by a row without moving its elements. All beyond
the rows in use is 0, in matrices and in vectors but those that a matrix is multiplied by. A copy of
the diagonal follows the rows, its last tile first.

Functions take an array of matrices or vectors and the index of one, since to count a reference to a
view takes time. They work on `ROWS` rows at a time.
"""

from __future__ import annotations

from river_budget._compile import compiled
from river_budget.mnemotron._lanes import (
    LANES,
    add_difference,
    add_product,
    broadcast,
    load,
    store,
    subtract_product,
    total,
)

ROWS = 4

# Sums may be reordered, so that they are vectorized.
REORDERED = {"reassoc", "contract", "nsz"}


@compiled(fastmath=REORDERED)
def dot(a, i, b, j, n):
    """Return the inner product of row i of a and row j of b."""
    total = 0.0
    for k in range(n):
        total += a[i, k] * b[j, k]
    return total


@compiled(forceinline=True)
def row_start(i):
    """Return the offset of row i in a matrix: that of the first matrix element."""
    tile = i // LANES
    return LANES * (tile + 1) * (i - LANES // 2 * tile)


@compiled(forceinline=True)
def diagonal_tile(matrices, e, i):
    """Return the offset of the copy of the diagonal of matrix e from row i on, the first of a tile."""
    return (e + 1) * matrices.shape[1] - i - LANES


@compiled()
def multiply(matrices, e, vectors, z, n, products):
    """Compute the product of matrix e and vector z, as product e."""
    x, product = z * vectors.shape[1], e * products.shape[1]
    for i in range(0, n, ROWS):
        diagonal = LANES * (i // LANES)
        size = diagonal + LANES
        a = e * matrices.shape[1] + row_start(i)
        b, c, d = a + size, a + 2 * size, a + 3 * size
        s, t = broadcast(vectors[z, i]), broadcast(vectors[z, i + 1])
        u, v = broadcast(vectors[z, i + 2]), broadcast(vectors[z, i + 3])
        p = q = r = w = broadcast(0.0)
        for j in range(0, diagonal, LANES):
            row_a, row_b = load(matrices, a + j), load(matrices, b + j)
            row_c, row_d = load(matrices, c + j), load(matrices, d + j)
            column = add_product(add_product(load(products, product + j), row_a, s), row_b, t)
            store(products, product + j, add_product(add_product(column, row_c, u), row_d, v))
            x_j = load(vectors, x + j)
            p, q = add_product(p, row_a, x_j), add_product(q, row_b, x_j)
            r, w = add_product(r, row_c, x_j), add_product(w, row_d, x_j)
        x_j = load(vectors, x + diagonal)
        products[e, i] = total(add_product(p, load(matrices, a + diagonal), x_j))
        products[e, i + 1] = total(add_product(q, load(matrices, b + diagonal), x_j))
        products[e, i + 2] = total(add_product(r, load(matrices, c + diagonal), x_j))
        products[e, i + 3] = total(add_product(w, load(matrices, d + diagonal), x_j))


@compiled()
def subtract_and_multiply(matrices, e, changes, vectors, z, n, products):
    """Subtract `y y'` from matrix e for change y, e, and multiply it with vector z, in one pass."""
    x, y, product = z * vectors.shape[1], e * changes.shape[1], e * products.shape[1]
    for i in range(0, n, ROWS):
        diagonal = LANES * (i // LANES)
        size = diagonal + LANES
        a = e * matrices.shape[1] + row_start(i)
        b, c, d = a + size, a + 2 * size, a + 3 * size
        s, t = broadcast(vectors[z, i]), broadcast(vectors[z, i + 1])
        u, v = broadcast(vectors[z, i + 2]), broadcast(vectors[z, i + 3])
        y_a, y_b = broadcast(changes[e, i]), broadcast(changes[e, i + 1])
        y_c, y_d = broadcast(changes[e, i + 2]), broadcast(changes[e, i + 3])
        p = q = r = w = broadcast(0.0)
        for j in range(0, diagonal, LANES):
            y_j = load(changes, y + j)
            row_a = subtract_product(load(matrices, a + j), y_a, y_j)
            row_b = subtract_product(load(matrices, b + j), y_b, y_j)
            row_c = subtract_product(load(matrices, c + j), y_c, y_j)
            row_d = subtract_product(load(matrices, d + j), y_d, y_j)
            store(matrices, a + j, row_a)
            store(matrices, b + j, row_b)
            store(matrices, c + j, row_c)
            store(matrices, d + j, row_d)
            column = add_product(add_product(load(products, product + j), row_a, s), row_b, t)
            store(products, product + j, add_product(add_product(column, row_c, u), row_d, v))
            x_j = load(vectors, x + j)
            p, q = add_product(p, row_a, x_j), add_product(q, row_b, x_j)
            r, w = add_product(r, row_c, x_j), add_product(w, row_d, x_j)
        x_j, y_j = load(vectors, x + diagonal), load(changes, y + diagonal)
        row_a = subtract_product(load(matrices, a + diagonal), y_a, y_j)
        row_b = subtract_product(load(matrices, b + diagonal), y_b, y_j)
        row_c = subtract_product(load(matrices, c + diagonal), y_c, y_j)
        row_d = subtract_product(load(matrices, d + diagonal), y_d, y_j)
        store(matrices, a + diagonal, row_a)
        store(matrices, b + diagonal, row_b)
        store(matrices, c + diagonal, row_c)
        store(matrices, d + diagonal, row_d)
        products[e, i] = total(add_product(p, row_a, x_j))
        products[e, i + 1] = total(add_product(q, row_b, x_j))
        products[e, i + 2] = total(add_product(r, row_c, x_j))
        products[e, i + 3] = total(add_product(w, row_d, x_j))
    for i in range(0, n, LANES):
        place, y_i = diagonal_tile(matrices, e, i), load(changes, y + i)
        store(matrices, place, subtract_product(load(matrices, place), y_i, y_i))


@compiled()
def update(matrices, e, vectors, n):
    """Add `x x' - y y' - z z'` to matrix e for the rows x, y and z of an array, in one pass."""
    y, z = vectors.shape[1], 2 * vectors.shape[1]
    for i in range(0, n, ROWS):
        size = LANES * (i // LANES + 1)
        for k in range(i, i + ROWS):
            start = e * matrices.shape[1] + row_start(k)
            s, t, u = broadcast(vectors[0, k]), broadcast(vectors[1, k]), broadcast(vectors[2, k])
            for j in range(0, size, LANES):
                row, x_j, y_j = load(matrices, start + j), load(vectors, j), load(vectors, y + j)
                row = add_difference(row, s, x_j, t, y_j)
                store(matrices, start + j, subtract_product(row, u, load(vectors, z + j)))
    for i in range(0, n, LANES):
        place = diagonal_tile(matrices, e, i)
        s, t, u = load(vectors, i), load(vectors, y + i), load(vectors, z + i)
        diagonal = add_difference(load(matrices, place), s, s, t, t)
        store(matrices, place, subtract_product(diagonal, u, u))


@compiled()
def copy_column(matrices, e, j, n, columns, z):
    """Copy column j of matrix e to vector z."""
    start, end = row_start(j), LANES * (j // LANES + 1)
    for i in range(min(end, n)):
        columns[z, i] = matrices[e, start + i]
    for i in range(end, n):
        columns[z, i] = matrices[e, row_start(i) + j]


@compiled()
def copy_diagonal(matrices, e, n, diagonals, z):
    """Copy the diagonal of matrix e to vector z."""
    for i in range(0, n, LANES):
        store(diagonals, z * diagonals.shape[1] + i, load(matrices, diagonal_tile(matrices, e, i)))


@compiled()
def clear(matrices, e, j, n):
    """Set row and column j of matrix e with n rows to 0."""
    start, first = row_start(j), LANES * (j // LANES)
    for i in range(first + LANES):
        matrices[e, start + i] = 0.0
    for i in range(first, n):
        matrices[e, row_start(i) + j] = 0.0
    matrices[e, diagonal_tile(matrices, 0, first) + j - first] = 0.0
