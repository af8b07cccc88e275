from __future__ import annotations

import math

import numpy as np
import pytest
from runs import mistakes_percent, orders
from traces import replay

import river_budget as rb
from benchmarks.reproduce import published
from benchmarks.reproduce.verdicts import verdict
from river_budget import synth
from river_budget.theory import bounds


def test_a_trace_by_hand():
    model = rb.ProjectronPlusPlus(rb.Linear(), eta=0.5)
    model.learn_one({"a": 0.8}, True)
    # A margin error on (1, 0.05): f = 0.8, loss = 0.2, ||Pk||^2 = 1, delta = 0.05, so
    # tau = min(0.2, 2 (0.2 - 0.1), 1) = 0.2, and the projection is 1.25 times the vector.
    model.learn_one({"a": 1.0, "b": 0.05}, True)
    assert model.coefficients == pytest.approx([1.25])
    # (0.5, 0.3): f = 0.5, loss = 0.5 < delta / eta = 0.6, so there is no update.
    model.learn_one({"a": 0.5, "b": 0.3}, True)
    assert model.coefficients == pytest.approx([1.25])
    # (0.5, 0.2): loss = 0.5, ||Pk||^2 = 0.25, tau = min(2, 0.8, 1) = 0.8, which adds 0.8 * 0.625.
    model.learn_one({"a": 0.5, "b": 0.2}, True)
    assert model.coefficients == pytest.approx([1.75])
    assert (model.n_mistakes, model.n_support) == (1, 1)


def test_the_bound_improvement_decides_with_a_norm_bound():
    for norm_bound, expected in [(1.9, 1.25), (2.1, 1.0)]:
        model = rb.ProjectronPlusPlus(rb.Linear(), norm_bound=norm_bound)
        model.learn_one({"a": 0.8}, True)
        # loss = 0.2, tau = 0.2: 2 * 0.2 - 0.2 * 1 - 2 U 0.05 is positive for U < 2.
        model.learn_one({"a": 1.0, "b": 0.05}, True)
        assert model.coefficients == pytest.approx([expected])


def test_with_eta_0_margin_errors_update_only_in_the_span():
    model = rb.ProjectronPlusPlus(rb.Linear(), eta=0.0)
    model.learn_one({"a": 0.5}, True)
    model.learn_one({"a": 1.0, "b": 0.01}, True)
    assert model.coefficients == pytest.approx([1.0])
    model.learn_one({"a": 1.0}, True)
    assert model.coefficients == pytest.approx([2.0])


def test_against_the_authors_library():
    model = rb.ProjectronPlusPlus(rb.RBF(gamma=1.0), norm_bound=bounds.forgetron_norm(1000))
    margins, sizes, trace = replay(model, "projectron_plus_plus_norm_bound")
    assert np.array_equal(sizes, trace["num_sv"])
    assert np.abs(margins - trace["margin"]).max() < 1e-7


@pytest.mark.slow
def test_adult9_beats_the_perceptron_with_fewer_vectors_than_the_projectron(adult9):
    kernel, norm_bound = rb.RBF(gamma=1 / 50), bounds.forgetron_norm(1500)
    models = [
        rb.ProjectronPlusPlus(kernel, norm_bound=norm_bound),
        rb.Projectron(kernel, norm_bound=norm_bound),
        rb.KernelPerceptron(kernel),
    ]
    errors = [mistakes_percent(model, adult9, orders(len(adult9))[0]) for model in models]
    assert errors[0] < errors[2]
    assert models[0].n_support < models[1].n_support


@pytest.mark.slow
# For a budget of 500, the paper reports 98.6 support vectors, and ours has 92.4. The paper
# contradicts itself: the text says that Projectron++ has fewer than the Projectron, the table has
# 98.6 for both.
@pytest.mark.parametrize(("forgetron", "support"), [(1000, "within"), (500, "better")])
def test_two_gaussians_as_published(forgetron, support):
    """Table 3 of the paper."""
    norm_bound = bounds.forgetron_norm(forgetron)
    models = [rb.ProjectronPlusPlus(rb.RBF(gamma=1.0), norm_bound=norm_bound) for _ in range(5)]
    errors = [
        mistakes_percent(model, list(synth.TwoGaussians(seed=seed)), range(10_000))
        for seed, model in enumerate(models)
    ]
    expected = published.projectron()["Synthetic", "ProjectronPlusPlus", forgetron]
    assert verdict(errors, expected["mistakes"]) == "within"
    assert verdict([model.n_support for model in models], expected["support"]) == support


def test_kernel_values_whose_squares_underflow():
    model = rb.ProjectronPlusPlus(rb.RBF(gamma=1.0), eta=0.5)
    model.learn_one({"u": 0.0}, True)
    model.learn_one({"u": 25.0}, True)
    assert math.isfinite(model.coefficients[0])
