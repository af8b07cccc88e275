from __future__ import annotations

import math

import numpy as np
import pytest

import river_budget as rb
from river_budget import synth

# Two vectors of length 1 in the plane, and one across it.
U, V, X = {"a": 1.0}, {"a": 0.8, "b": 0.6}, {"c": 1.0}


def learned(examples, **parameters):
    model = rb.ProjectedGradient(rb.Linear(), **parameters)
    for x, y in examples:
        model.learn_one(x, y)
    return model


def test_the_steps_by_hand():
    """The steps are 1 / sqrt(3), 1 / sqrt(4) and so on; the fifth one leads out of the ball."""
    model = learned([({name: 1.0}, name != "b") for name in "abcde"], norm_bound=1.0)
    steps = np.array([1, -1, 1, 1, 1]) / np.sqrt(np.arange(3, 8))
    assert np.linalg.norm(steps[:4]) < 1 < np.linalg.norm(steps)
    assert model.coefficients == pytest.approx(steps / np.linalg.norm(steps))
    assert model.norm == pytest.approx(1.0)
    assert (model.gradients, model.residuals, model.excess_loss) == (5.0, 0.0, 0.0)


def test_a_projection_by_hand():
    """v is 0.6 from the span of u: its projection is 0.8 u, its squared gradient 0.64."""
    model = learned([(U, True), (V, False), (U, False)], eta=0.7, norm_bound=1.2)
    first, second = 1.2 / math.sqrt(3), 1.2 / math.sqrt(4)
    third = 1.2 / math.sqrt(4.64)
    assert model.support_vectors == [U]
    assert model.coefficients == pytest.approx([first - 0.8 * second - third])
    assert model.gradients == pytest.approx(1 + 0.64 + 1)
    assert model.residuals == pytest.approx(0.6)
    # Three mistakes with the margins 0, -0.8 f and -f.
    assert model.excess_loss == pytest.approx(0.8 * first + first - 0.8 * second)


def test_an_example_beyond_the_threshold_is_added():
    assert learned([(U, True), (V, False)], eta=0.5).support_vectors == [U, V]


def test_a_full_budget_projects_everything():
    model = learned([(U, True), (V, False), (X, False)], budget=2)
    assert model.support_vectors == [U, V]
    assert model.residuals == pytest.approx(1.0)


@pytest.mark.parametrize("eta", [0.0, 0.2])
def test_the_hypothesis_stays_in_its_ball(eta):
    model = rb.ProjectedGradient(rb.RBF(gamma=1.0), budget=40, eta=eta, norm_bound=3.0)
    for x, y in synth.TwoGaussians(1500, flip=0.3, seed=1):
        model.learn_one(x, y)
        assert model.norm <= 3.0 * (1 + 1e-12)
    assert model.numerical_errors()["squared norm"] < 1e-9


def test_more_budget_and_a_smaller_threshold_leave_less_out():
    def residuals(**parameters):
        model = rb.ProjectedGradient(rb.RBF(gamma=1.0), **parameters)
        for x, y in synth.TwoGaussians(800, seed=1):
            model.learn_one(x, y)
        return model.residuals

    sizes = [residuals(budget=5), residuals(budget=20), residuals(budget=100)]
    assert sizes == sorted(sizes, reverse=True)
    thresholds = [residuals(eta=eta) for eta in (0.5, 0.2, 0.01)]
    assert thresholds == sorted(thresholds, reverse=True)
    assert np.isfinite(sizes + thresholds).all()


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"budget": 0}, "budget"), ({"eta": -1.0}, "eta"), ({"norm_bound": 0.0}, "norm_bound")],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.ProjectedGradient(**parameters)
