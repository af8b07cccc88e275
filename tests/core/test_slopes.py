"""The mean squared slopes of a mixture, against differences of its mean at near points."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget._core.slopes import mean_squared_slopes

KERNELS = (
    rb.RBF(),
    rb.RationalQuadratic(),
    rb.AdditiveRationalQuadratic(),
    rb.RationalQuadratic(has_relevances=True),
    rb.Normalized(rb.Polynomial(degree=1)),
    rb.Cosine(),
)
FACTORS = (1.0, 5.0, 1.0, 0.3, 2.0, 1.0)


def learned(n_labels, share, n=300):
    """Return a model of six features, a share of which an example has."""
    rng, model = np.random.default_rng(0), rb.Mnemotron(8, KERNELS)
    for v in rng.normal(size=(n, 6)) * (rng.random((n, 6)) < share):
        x = {f"x{j}": float(FACTORS[j] * v[j]) for j in range(6) if v[j]}
        model.learn_one(x, int(v[0] * v[1] > 0) + int(n_labels > 2 and v[2] > 0.5))
    return model


def mean_of(model, x):
    """Return the mean of the scores under the hedge (columns,), by kernels that are called on dicts."""
    f, vectors = model._f, [model._f.store.vector(slot) for slot in range(model._f.n)]
    mean = 0.0
    for z, kernel in enumerate(model.resolved_kernels):
        shares = np.where(np.equal(f.posteriors.kernels, z), f.shares, 0.0)
        row = np.array([kernel(x, vector) for vector in vectors])
        mean = mean + f.posteriors.mean(shares, f.n) @ row
    return mean


def difference(model, vector, name, step):
    """Return the slope of the mean along a feature, per unit of the scaled feature."""
    unit = step / model._feature_scales.factors[name]
    value = vector.get(name, 0.0)
    above, below = ({**vector, name: value + sign * unit} for sign in (1, -1))
    return (mean_of(model, above) - mean_of(model, below)) / (2 * step)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("share", [1.0, 0.2], ids=["in columns", "in lists"])
def test_against_differences(n_labels, share):
    model = learned(n_labels, share)
    squares = mean_squared_slopes(model._f.posteriors, model._f.shares)
    assert set(squares) == {name for vector in model.support_vectors for name in vector}
    for name, square in squares.items():
        slopes = [difference(model, vector, name, 1e-5) for vector in model.support_vectors]
        assert square == pytest.approx(np.mean(np.square(slopes).sum(axis=1)), rel=1e-6)


def test_other_kernels_are_left_out():
    kernels = (rb.Laplacian(gamma=1.0), rb.Normalized(rb.Polynomial(degree=2)))
    model = rb.Mnemotron(10, kernels)
    for v in np.random.default_rng(0).normal(size=(50, 2)):
        model.learn_one({"a": v[0], "b": v[1]}, v[0] > 0)
    assert mean_squared_slopes(model._f.posteriors, model._f.shares) == {"a": 0.0, "b": 0.0}


def test_without_vectors():
    model = rb.Mnemotron(10)
    assert mean_squared_slopes(model._f.posteriors, model._f.shares) == {}
