from __future__ import annotations

import numpy as np

import river_budget as rb
from river_budget import synth


def test_a_trace_by_hand():
    """The vector with the largest margin without itself is removed."""
    model = rb.FixedBudgetPerceptron(rb.Linear(), budget=2)
    model.learn_one({"u": 1.0}, True)
    model.learn_one({"u": 3.0}, False)
    # w = 1 - 3 = -2. The third: w' = -2 + 2 = 0 with (2, +). Margins without themselves:
    # (1, +): -1; (3, -): -(3 * 3) = -9; (2, +): 2 * -2 = -4. The first one is removed.
    model.learn_one({"u": 2.0}, True)
    assert model.support_vectors == [{"u": 3.0}, {"u": 2.0}]
    # w = -1. The fourth: (-1, -), f = 1: w' = -1 + 1 = 0. Margins: (3, -): -(3 * 3) = -9;
    # (2, +): 2 * -2 = -4; (-1, -): -(-1 * -1) = -1. The incoming example is removed.
    model.learn_one({"u": -1.0}, False)
    assert model.support_vectors == [{"u": 3.0}, {"u": 2.0}]
    assert (model.n_mistakes, model.decision_function_one({"u": 1.0})) == (4, -1.0)


def test_the_oldest_is_removed_among_ties():
    model = rb.FixedBudgetPerceptron(rb.Linear(), budget=2)
    for name in ["a", "b", "c", "d"]:
        model.learn_one({name: 1.0}, True)
    assert model.support_vectors == [{"c": 1.0}, {"d": 1.0}]


def test_cached_values_agree_with_values_from_scratch():
    for kernel in [rb.RBF(gamma=1.0), rb.Polynomial(degree=2), rb.Normalized(rb.Linear())]:
        model = rb.FixedBudgetPerceptron(kernel, budget=20)
        for x, y in synth.TwoGaussians(3000, flip=0.3, seed=2):
            model.learn_one(x, y)
        scores = [model.decision_function_one(model._f.store.vector(slot)) for slot in range(20)]
        errors = model._validation.scores_of_examples[:, 1] - scores
        assert np.abs(errors).max() < 1e-8 * (1 + np.abs(scores).max())


def test_an_exact_tie_removes_the_oldest():
    """With a budget of one, both margins without their own terms are -k(x, z), or 0."""
    rng = np.random.default_rng(1)
    for a, b, c, d in rng.normal(size=(30, 4)).tolist():
        x, z = {"a": a, "b": b}, {"a": c, "b": d}
        for kernel in [rb.RBF(gamma=0.7), rb.Polynomial(degree=2)]:
            model = rb.FixedBudgetPerceptron(kernel, budget=1)
            model.learn_one(x, True)
            model.learn_one(z, False)
            assert model.n_mistakes == 1 or model.support_vectors == [z]
