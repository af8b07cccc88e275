"""KernelLDA follows its plain implementation, and order does not matter to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_lda import PlainLDA

import river_budget as rb

GAMMA = 0.3


def stream(n, n_labels, seed=0, has_arrays=False):
    """Return rows of three numbers, and an array, whose labels are the nearest of some centres."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(n_labels, 3))
    for _ in range(n):
        y = int(rng.integers(n_labels))
        x = dict(zip("abc", (centres[y] + rng.normal(size=3)).tolist(), strict=True))
        yield x | ({"v": 0.3 * rng.normal(size=5) + y} if has_arrays else {}), y


def first_labels(n_labels):
    """Return a row of each label: the plain implementation numbers labels as they come."""
    return [(dict(a=float(y), b=0.5, c=-1.0), y) for y in range(n_labels)]


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("has_arrays", [False, True])
@pytest.mark.parametrize("n_labels", [2, 5])
def test_it_follows_the_plain_implementation(forgetting, has_arrays, n_labels):
    model = rb.KernelLDA(22, forgetting, rb.RBF(GAMMA), seed=3, dtype="float64")
    plain = PlainLDA(22, forgetting, GAMMA, 3)
    rng = np.random.default_rng(1)
    for x, y in first_labels(n_labels) + list(stream(400, n_labels, has_arrays=has_arrays)):
        assert model.predict_proba_one(x) == pytest.approx(plain.probabilities(x), abs=1e-8)
        w = float(rng.choice([0.5, 1.0, 3.0]))
        model.learn_one(x, y, w)
        plain.learn(x, y, w)
    P, W, _, counts, beta = model._f.statistics
    np.testing.assert_allclose(P, np.linalg.inv(plain.A), atol=1e-8)
    np.testing.assert_allclose(W, np.linalg.solve(plain.A, plain.B), atol=1e-8)
    np.testing.assert_allclose(counts, plain.N, rtol=1e-8)
    assert beta == pytest.approx(plain.beta, rel=1e-8)
