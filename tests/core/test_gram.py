"""The Gram factor: its substitutions solve, whatever the lanes, and nothing reads past its rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from river_budget._core.gram import GramFactor
from river_budget._core.loops import use_lanes

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 100]


def gram_of(n, seed=1):
    """Return a well-conditioned Gram matrix (n, n)."""
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(-1)) + 0.01 * np.eye(n)


def factor_of(gram):
    factor = GramFactor()
    for i in range(len(gram)):
        z = factor.forward(gram[i, :i].copy())
        factor.append(z, np.sqrt(gram[i, i] - z @ z))
    return factor


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


@pytest.mark.parametrize("n", SIZES)
def test_it_is_the_cholesky_factor(n):
    gram = gram_of(n)
    expected = np.linalg.cholesky(gram) if n else gram
    assert factor_of(gram).matrix() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_both_substitutions_solve(n):
    gram, row = gram_of(n), np.random.default_rng(2).normal(size=n)
    factor = factor_of(gram)
    z = factor.forward(row)
    assert factor.matrix() @ z == pytest.approx(row, abs=1e-10)
    assert gram @ factor.backward(z) == pytest.approx(row, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_all_lanes_give_the_same_bits(lanes, n):
    gram, row = gram_of(n), np.random.default_rng(3).normal(size=n)
    results = {}
    for most in (2, 4, 8):
        used = lanes(most)
        z = factor_of(gram).forward(row)
        results[used] = z.tobytes(), factor_of(gram).backward(z).tobytes()
    assert len(set(results.values())) == 1


def test_the_lanes_are_at_most_those_asked_for(lanes):
    assert lanes(2) == 2
    assert lanes(5) in (2, 4)
    assert lanes(8) in (2, 4, 8)


@pytest.mark.parametrize("method", ["forward", "backward"])
@pytest.mark.parametrize("length", [0, 4, 6])
def test_another_length_is_refused(method, length):
    factor = factor_of(gram_of(5))
    with pytest.raises(ValueError, match=f"expected 5 values, got {length}"):
        getattr(factor, method)(np.zeros(length))


def test_a_row_of_another_length_is_not_appended():
    factor = factor_of(gram_of(5))
    with pytest.raises(ValueError, match="expected 5 values, got 3"):
        factor.append(np.zeros(3), 1.0)
    assert factor.n == 5


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_copy_goes_on_alone(twin_of):
    factor = factor_of(gram_of(5))
    before, twin = factor.state()["rows"], twin_of(factor)
    twin.append(np.zeros(5), 1.0)
    assert (factor.n, twin.n) == (5, 6)
    assert (factor.state()["rows"] == before).all()
    assert (twin.state()["rows"][:15] == before).all()


def test_a_state_of_another_size_or_a_singular_factor_is_refused():
    state = factor_of(gram_of(5)).state()
    for n in (4, 6, 10**9):
        with pytest.raises(ValueError, match="expected an array of float64 with shape"):
            GramFactor().restore(state, n)
    state["rows"][-1] = 0.0
    with pytest.raises(ValueError, match="the Gram factor is singular"):
        GramFactor().restore(state, 5)
