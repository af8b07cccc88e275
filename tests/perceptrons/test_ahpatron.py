from __future__ import annotations

import math
import random

import numpy as np
import pytest

import river_budget as rb
from river_budget import synth, theory

# Three vectors of length 1 in the plane, and two across it.
U, V, W, X, Y = {"a": 1.0}, {"a": 0.8, "b": 0.6}, {"b": 1.0}, {"c": 1.0}, {"d": 1.0}


def learned(examples, **parameters):
    model = rb.Ahpatron(rb.Linear(), **parameters)
    for x, y in examples:
        model.learn_one(x, y)
    return model


def test_a_removal_by_hand():
    """Coefficients of 1/4 on u, v, x and -1/4 on w. Then y comes, and u and v are kept.

    The projection of w onto their plane is itself, (v - 0.8 u) / 0.6, and that of x is 0. So f is
    (0.45, -0.1) in the plane and is scaled to its norm before that.
    """
    model = learned([(U, True), (V, True), (W, False), (X, True), (Y, True)], budget=4)
    assert model.support_vectors == [U, V, Y]
    plane = np.array([0.25 + 0.25 * 0.8, 0.25 * 0.6 - 0.25])
    growth = math.hypot(*plane, 0.25) / math.hypot(*plane)
    u, v = 0.25 + 0.25 * 0.8 / 0.6, 0.25 - 0.25 / 0.6
    assert model.coefficients == pytest.approx([growth * u, growth * v, 0.25])
    assert model.removal_displacement == pytest.approx(math.hypot(*(growth - 1) * plane, 0.25))
    assert model.norm == pytest.approx(math.hypot(*growth * plane, 0.25))


def test_the_bound_holds_where_removals_increase_margins():
    """A stream that contradicts the model in each round, on three points with a budget of two."""
    rng = random.Random(471)
    points = [{"a": rng.uniform(-2, 2)} for _ in range(3)]
    model, stream = rb.Ahpatron(rb.RBF(gamma=1.0), budget=2), []
    for _ in range(60):
        x = rng.choice(points)
        stream.append((x, not model.predict_one(x)))
        model.learn_one(*stream[-1])
    certificate = theory.certify(model.clone(), stream)
    assert certificate.mistakes[-1] == 60
    assert certificate.bounds[-1] >= 60


def test_the_larger_half_is_kept():
    """The weights of the examples multiply their coefficients."""
    model = rb.Ahpatron(rb.Linear(), budget=4, epsilon=0.1, norm_bound=9.0)
    for x, w in [(U, 1.0), (V, 3.0), (W, 1.0), (X, 2.0)]:
        model.learn_one(x, True, w)
    assert model.coefficients == pytest.approx([0.25, 0.75, 0.25, 0.5])
    model.learn_one(Y, True)
    assert model.support_vectors == [V, X, Y]


def test_margins_of_at_least_one_minus_epsilon_are_enough():
    """With steps of 1/4, the margins of u are 0, 1/4, 1/2."""
    assert learned([(U, True)] * 5, epsilon=0.5).n_support == 2
    assert learned([(U, True)] * 5, epsilon=0.45).n_support == 3


def test_the_hypothesis_stays_in_its_ball():
    model = learned([(U, True), (X, True), (Y, False)], norm_bound=0.3)
    assert model.norm == pytest.approx(0.3)
    a, b = 0.25 * 0.3 / math.hypot(0.25, 0.25), 0.25
    norm = math.hypot(a, a, b)
    assert model.coefficients == pytest.approx([a * 0.3 / norm, a * 0.3 / norm, -b * 0.3 / norm])


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_small_and_odd_budgets(budget):
    model = rb.Ahpatron(rb.RBF(gamma=1.0), budget)
    for x, y in synth.TwoGaussians(300, seed=1):
        model.learn_one(x, y)
        assert model.n_support <= budget
    assert model.n_rounds == 300
    assert model.numerical_errors()["squared norm"] < 1e-12


def test_support_vectors_that_repeat():
    """Kept vectors that are equal have a singular Gram matrix."""
    model, rng = rb.Ahpatron(rb.RBF(gamma=1.0), budget=8), np.random.default_rng(1)
    for i in rng.integers(3, size=400).tolist():
        model.learn_one({"a": float(i)}, bool(rng.random() < 0.5))
    assert np.isfinite(model.coefficients).all()
    assert model.norm <= math.sqrt(8) / 2 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"norm_bound": 0.0}, "norm_bound"),
        ({"budget": 0}, "budget"),
    ],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.Ahpatron(**parameters)


def test_a_huge_norm_bound_limits_nothing():
    examples = [(U, True), (W, False), (V, False), (X, True)]
    huge, large = (learned(examples, norm_bound=bound) for bound in (1e308, 1e6))
    assert huge.coefficients.tolist() == large.coefficients.tolist()
