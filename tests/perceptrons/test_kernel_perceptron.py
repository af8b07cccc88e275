from __future__ import annotations

import numpy as np
from traces import replay

import river_budget as rb


def test_a_trace_by_hand():
    """With the linear kernel, f is determined by a single weight."""
    model = rb.KernelPerceptron(rb.Linear())
    trace = []
    for value, y in [(1.0, True), (2.0, True), (3.0, False), (-1.0, False), (-2.0, True)]:
        trace.append(model.decision_function_one({"u": value}))
        model.learn_one({"u": value}, y)
    # w: 0 +1 -> 1, correct; 3 is wrong -> 1 - 3 = -2, -1 is wrong -> -2 + 1 = -1; -2 is correct
    assert trace == [0.0, 2.0, 3.0, 2.0, 2.0]
    assert model.coefficients.tolist() == [1.0, -1.0, -1.0]
    assert model.support_vectors == [{"u": 1.0}, {"u": 3.0}, {"u": -1.0}]
    assert (model.n_rounds, model.n_mistakes, model.norm) == (5, 3, 1.0)


def test_a_margin_of_0_is_a_mistake():
    model = rb.KernelPerceptron(rb.Linear())
    model.learn_one({"u": 0.0}, False)
    assert model.predict_one({"u": 0.0}) is False
    assert model.n_mistakes == 1


def test_against_the_projectron_authors_library():
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    margins, sizes, trace = replay(model, "perceptron")
    assert np.array_equal(sizes, trace["num_sv"])
    assert np.abs(margins - trace["margin"]).max() < 1e-9
    assert np.array_equal(model.coefficients, trace["alpha"])
