"""The two algorithms of Sutskever's unified analysis."""

from __future__ import annotations

import math

import numpy as np
import pytest

import river_budget as rb
from river_budget import synth


def test_the_simplified_forgetron_by_hand():
    """Orthogonal vectors and a budget of six: U^2 = 6 / (32 log2 48), and all margins are 0."""
    u_squared = 6 / (32 * math.log2(48))
    decay, radius, eta = 1 - 1 / (32 * u_squared), math.sqrt(u_squared) / 2, 1 / 32
    model = rb.SimplifiedForgetron(rb.Linear(), budget=6)
    weights = {}
    for t in range(9):
        if len(weights) == 6:
            del weights[min(weights, key=weights.get)]
        weights = {name: decay * weight for name, weight in weights.items()} | {t: eta}
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        weights = {name: weight * min(1, radius / norm) for name, weight in weights.items()}
        model.learn_one({t: 1.0}, True)
    assert [next(iter(x)) for x in model.support_vectors] == list(weights)
    assert model.coefficients == pytest.approx(list(weights.values()))
    assert model.norm == pytest.approx(min(norm, radius))


def test_the_modified_rbp_by_hand():
    """The slots to draw are given."""
    model = rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget=4)
    model._random = iter([0.0, 0.5, 0.25, 0.0, 0.75]).__next__
    held = []
    for name, expected in [("a", "a"), ("b", "ab"), ("c", "ac"), ("d", "cd"), ("e", "cde")]:
        model.learn_one({name: 1.0}, True)
        held = "".join(sorted(next(iter(x)) for x in model.support_vectors))
        assert held == expected
    assert model.coefficients == pytest.approx([1 / 16] * 3)
    assert model.norm == pytest.approx(math.sqrt(3) / 16)


MAKERS = {
    "SimplifiedForgetron": lambda: rb.SimplifiedForgetron(rb.RBF(gamma=1.0), budget=60),
    "ModifiedRandomizedBudgetPerceptron": lambda: rb.ModifiedRandomizedBudgetPerceptron(
        rb.RBF(gamma=1.0), budget=60, seed=1
    ),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each
def test_the_hypothesis_stays_in_its_ball(make):
    model = make()
    for x, y in synth.TwoGaussians(2000, flip=0.4, seed=1):
        model.learn_one(x, y)
        assert model.norm <= model._radius * (1 + 1e-12)
    assert model.n_mistakes > 600


@pytest.mark.slow
@each
def test_the_norm_does_not_drift(make):
    """20,000 updates: labels are random, so about half of the rounds are mistakes."""
    model, rng = make(), np.random.default_rng(1)
    for x in rng.normal(size=(42_000, 2)).tolist():
        model.learn_one(dict(enumerate(x)), rng.random() < 0.5)
    assert model.n_mistakes > 20_000
    assert model.norm == pytest.approx(model._f.norm, rel=1e-8)


def test_the_constants_of_the_theorems():
    forgetron = rb.SimplifiedForgetron(budget=512)
    u_squared = 512 / (32 * 12)
    assert forgetron._radius == pytest.approx(math.sqrt(u_squared) / 2)
    assert forgetron._decay == pytest.approx(1 - 1 / (32 * u_squared))
    assert rb.ModifiedRandomizedBudgetPerceptron(budget=64)._radius == 1.0


@pytest.mark.parametrize("learning_rate", [0.0, -1.0, math.inf, math.nan, "fast"])
def test_learning_rates_out_of_range(learning_rate):
    for make in [rb.SimplifiedForgetron, rb.ModifiedRandomizedBudgetPerceptron]:
        with pytest.raises(ValueError, match="learning_rate"):
            make(learning_rate=learning_rate)
