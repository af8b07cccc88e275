from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import mistakes_percent, orders
from traces import replay

import river_budget as rb
from benchmarks.reproduce import published
from benchmarks.reproduce.verdicts import verdict
from river_budget import synth
from river_budget.perceptrons.forgetron import _largest_phi, _psi


def test_a_trace_by_hand():
    """A budget of one and the linear kernel: f is determined by a single number."""
    model = rb.Forgetron(rb.Linear(), budget=1)
    model.learn_one({"u": 1.0}, True)
    assert (model.last_shrink_factor, model.removal_damage, model.n_mistakes) == (1.0, 0.0, 1)
    # The second mistake: f' = 1 - 0.5 = 0.5 at u = 1, so mu = 0.5, sigma = 1, M = 2, and
    # psi(phi) = phi^2 + 2 phi (1 - phi / 2) = 2 phi <= 15/16 gives phi = 15/32.
    model.learn_one({"u": 0.5}, False)
    assert model.last_shrink_factor == pytest.approx(15 / 32)
    assert model.removal_damage == pytest.approx(15 / 16)
    assert model.support_vectors == [{"u": 0.5}]
    assert model.coefficients == pytest.approx([-15 / 32])
    # The third: f = -15/64 u, sigma = 15/32; at the old vector f' = -15/128 + 0.5 = 49/128, so
    # mu = -49/128 and psi(phi) = (s^2 + 2 s 49/128) phi^2 + 2 s phi <= 15/32 3 - 15/16 = 15/32.
    model.learn_one({"u": 1.0}, True)
    s = 15 / 32
    a, b, c = s**2 + 2 * s * 49 / 128, 2 * s, 15 / 32
    phi = (-b + math.sqrt(b**2 + 4 * a * c)) / (2 * a)
    assert model.last_shrink_factor == pytest.approx(phi)
    assert model.coefficients == pytest.approx([phi])


positive = st.floats(1e-6, 1.0)


@given(sigma=positive, mu=st.floats(-5, 5), slack=st.floats(1e-6, 3))
def test_phi_is_the_largest_that_is_allowed(sigma, mu, slack):
    phi = _largest_phi(sigma, mu, slack)
    assert 0 < phi <= 1
    assert _psi(sigma, phi, mu) <= slack * (1 + 1e-9)
    for larger in np.linspace(phi, 1, 50)[1:] if phi < 1 else []:
        assert _psi(sigma, larger, mu) > slack * (1 - 1e-9)


def test_no_shrinking_if_phi_1_is_allowed_beyond_a_root():
    """The parabola opens downwards: it exceeds the slack and falls below it again before 1."""
    assert max(_psi(1.0, phi, 3.0) for phi in np.linspace(0, 1, 99)) > 0.1
    assert _largest_phi(1.0, 3.0, 0.1) == 1.0


@pytest.mark.parametrize("budget", [20, 50, 100, 200])
def test_against_the_projectron_authors_library(budget):
    model = rb.Forgetron(rb.RBF(gamma=1.0), budget)
    margins, sizes, trace = replay(model, f"forgetron_{budget}")
    assert np.array_equal(sizes, trace["num_sv"])
    assert np.abs(margins - trace["margin"]).max() < 1e-8
    assert model.removal_damage == pytest.approx(trace["Q"].item(), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [1500, 3000])
def test_adult9_as_published(adult9, budget):
    errors = [
        mistakes_percent(rb.Forgetron(rb.RBF(gamma=1 / 50), budget), adult9, order)
        for order in orders(len(adult9))
    ]
    expected = published.projectron()["Adult9", "Forgetron", budget]
    assert verdict(errors, expected["mistakes"]) == "within"


def round_the_cone(n_points, n_rounds=600):
    """Return points on a circle of the unit sphere, in order and repeatedly.

    Every second point and its label are negated. The axis of the circle separates all points with a
    margin of 0.3.

    """
    for t in range(n_rounds):
        angle, sign = 2 * math.pi * t / n_points, 1 if t % 2 else -1
        radius = sign * math.sqrt(1 - 0.3**2)
        yield {0: sign * 0.3, 1: radius * math.cos(angle), 2: radius * math.sin(angle)}, sign > 0


@pytest.mark.parametrize(("budget", "n_points"), [(4, 6), (5, 6), (6, 7)])
def test_shrinking_converges_where_removal_alone_does_not(budget, n_points):
    """Without shrinking, every removal causes a mistake, which causes the next removal."""
    forgetron = rb.Forgetron(rb.Linear(), budget)
    removal = rb.RemoveOldestPerceptron(rb.Linear(), budget)
    for x, y in round_the_cone(n_points):
        forgetron.learn_one(x, y)
        removal.learn_one(x, y)
    assert forgetron.n_mistakes < 30
    assert removal.n_mistakes > 570


def test_the_invariant_of_the_mistake_bound():
    model = rb.Forgetron(rb.RBF(gamma=1.0), budget=10)
    for x, y in synth.TwoGaussians(3000, flip=0.4, seed=1):
        model.learn_one(x, y)
        assert model.removal_damage <= 15 / 32 * model.n_mistakes + 1e-9
    assert model.n_mistakes > 1000


def test_the_common_factor_does_not_underflow():
    """Every mistake shrinks; the product of all factors is far below the smallest double."""
    model, logarithm = rb.Forgetron(rb.RBF(gamma=1.0), budget=2), 0.0
    for t in range(3000):
        x = {"u": float(t % 5)}
        model.learn_one(x, model.decision_function_one(x) <= 0)
        logarithm += math.log(model.last_shrink_factor)
    assert logarithm < -800
    assert 0 < abs(model.coefficients[-1]) <= 1
    assert model.removal_damage <= 15 / 32 * model.n_mistakes
