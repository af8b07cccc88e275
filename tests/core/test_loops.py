"""The hot loops: exp is accurate, and all lanes get the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import river_budget as rb
from river_budget._core.loops import use_lanes
from river_budget._core.store import Store

KERNELS = [
    rb.RBF(gamma=0.3),
    rb.Laplacian(gamma=0.3),
    rb.RationalQuadratic(gamma=0.3),
    rb.AdditiveRationalQuadratic(gamma=0.3, names=(*range(30), "v")),
    rb.Polynomial(degree=3),
    rb.Cosine(),
]


def exp(x):
    """Return exp(x) as a kernel computes it."""
    store = Store([rb.Laplacian(gamma=1.0)])
    store.evaluate({"a": 0.0})
    store.put(0)
    store.evaluate({"a": x})
    return store.row()[0]


@given(st.floats(-707.9, 0.0))
def test_exp_is_accurate(x):
    assert abs(exp(x) - np.exp(x)) <= 2 * np.spacing(np.exp(x))


def test_exp_at_the_ends():
    assert exp(0.0) == 1.0
    assert exp(-710.0) == 0.0
    assert exp(-1e70) == 0.0


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


def examples(is_sparse, has_arrays, dtype):
    rng = np.random.default_rng(1)
    names = lambda: rng.permutation(30)[: rng.integers(1, 9)] if is_sparse else range(9)  # noqa: E731
    for _ in range(75):
        x = {int(name): float(rng.normal()) for name in names()}
        yield x | ({"v": rng.normal(size=13).astype(dtype)} if has_arrays else {})


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("arrays", [None, "float32", "float64"])
def test_the_same_bits_for_all_lanes(kernel, is_sparse, arrays, lanes):
    """A kernel that reads scaled features, and one that does not."""
    bits = set()
    for width in (2, 4, 8):
        lanes(width)
        store = Store([kernel, kernel], arrays or "float32", [True, False])
        store.rescale([kernel, kernel], {1: 0.75, 2: 3.0}, 1.25)
        for x in examples(is_sparse, arrays is not None, arrays):
            store.evaluate(x)
            store.put(store.n)
        bits.add(store.gram(0).tobytes() + store.gram(1).tobytes())
    assert len(bits) == 1
    assert np.isfinite(np.frombuffer(bits.pop())).all()
