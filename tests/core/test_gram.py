"""The Gram factor: its substitutions solve, whatever the lanes, and nothing reads past its rows."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget._core.expansion import Expansion
from river_budget._core.gram import appended, backward, forward_of
from river_budget._core.loops import use_lanes
from river_budget._core.store import Store
from river_budget.perceptrons._span import basis_of

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 100]


def gram_of(n, seed=1):
    """Return a well-conditioned Gram matrix (n, n)."""
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(-1)) + 0.01 * np.eye(n)


def forward(factor, row):
    """Return `forward_of` an example with a kernel row."""
    values = row.tolist()

    def kernel(x, z):
        return 1.0 if x == z else values[min(x["i"], z["i"])]

    f = Expansion(Store([rb.FunctionKernel(kernel)]))
    for i in range(len(row) + 1):
        f.store.evaluate({"i": i})
        if i < len(row):
            f.store.put(i)
    return forward_of(factor, f)


def factor_of(gram):
    factor = np.empty(0)
    for i in range(len(gram)):
        z = forward(factor, gram[i, :i].copy())
        factor = appended(factor, z, np.sqrt(gram[i, i] - z @ z))
    return factor


def matrix_of(factor, n):
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = factor[: n * (n + 1) // 2]
    return matrix


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


@pytest.mark.parametrize("n", SIZES)
def test_it_is_the_cholesky_factor(n):
    gram = gram_of(n)
    expected = np.linalg.cholesky(gram) if n else gram
    assert matrix_of(factor_of(gram), n) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_both_substitutions_solve(n):
    gram, row = gram_of(n), np.random.default_rng(2).normal(size=n)
    factor = factor_of(gram)
    z = forward(factor, row)
    assert matrix_of(factor, n) @ z == pytest.approx(row, abs=1e-10)
    assert gram @ backward(factor, z) == pytest.approx(row, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_all_lanes_give_the_same_bits(lanes, n):
    gram, row = gram_of(n), np.random.default_rng(3).normal(size=n)
    results = {}
    for most in (2, 4, 8):
        used = lanes(most)
        z = forward(factor_of(gram), row)
        results[used] = z.tobytes(), backward(factor_of(gram), z).tobytes()
    assert len(set(results.values())) == 1


def test_the_lanes_are_at_most_those_asked_for(lanes):
    assert lanes(2) == 2
    assert lanes(5) in (2, 4)
    assert lanes(8) in (2, 4, 8)


def test_rows_that_are_not_there_are_refused():
    factor = factor_of(gram_of(5))
    for act in (forward, backward, lambda *arguments: appended(*arguments, 1.0)):
        with pytest.raises(ValueError, match="a Gram factor has too few rows"):
            act(factor, np.zeros(len(factor)))


def test_a_row_that_is_not_in_use_is_written_again():
    gram = gram_of(5)
    factor = factor_of(gram)
    z = forward(factor, np.zeros(5))
    twice = appended(appended(factor, z + 1.0, 2.0), z, 1.0)
    assert (matrix_of(twice, 6)[5] == [0, 0, 0, 0, 0, 1]).all()
    assert (matrix_of(twice, 5) == matrix_of(factor, 5)).all()


@pytest.mark.parametrize("n", SIZES[1:])
def test_vectors_in_the_span_of_those_before_them_are_projected(n):
    rng = np.random.default_rng(4)
    points = rng.normal(size=(n, n + 2))
    mixed = np.concatenate((points, rng.normal(size=(3, n)) @ points))
    order = rng.permutation(n + 3)
    basis = basis_of(mixed @ mixed.T, order)
    assert basis.kept == order[:n].tolist()
    assert basis.others == sorted(order[n:].tolist())
    assert basis.weights @ mixed[basis.kept] == pytest.approx(mixed[basis.others])
    gram = mixed[basis.kept] @ mixed[basis.kept].T
    assert matrix_of(basis.factor, n) == pytest.approx(np.linalg.cholesky(gram))
    coefficients = rng.normal(size=n + 3)
    merged = basis.merged(coefficients)
    assert (merged[basis.others] == 0).all()
    assert merged @ mixed == pytest.approx(coefficients @ mixed)
