from __future__ import annotations

import river_budget as rb
from river_budget import synth


def test_it_stops_when_it_is_full():
    model = rb.Stoptron(rb.Linear(), budget=2)
    for value, y in [(1.0, True), (3.0, False), (-1.0, False), (-2.0, False), (-5.0, False)]:
        model.learn_one({"u": value}, y)
    # w: 1, then 1 - 3 = -2; the other three mistakes are not learned
    assert model.support_vectors == [{"u": 1.0}, {"u": 3.0}]
    assert model.coefficients.tolist() == [1.0, -1.0]
    assert (model.n_rounds, model.n_mistakes) == (5, 5)
    assert model.decision_function_one({"u": 1.0}) == -2.0


def test_it_is_the_perceptron_until_it_is_full():
    stream = list(synth.TwoGaussians(400, seed=3))
    perceptron, stopped = (
        rb.KernelPerceptron(rb.RBF(gamma=1.0)),
        rb.Stoptron(rb.RBF(gamma=1.0), budget=30),
    )
    for x, y in stream:
        if perceptron.n_support == 30:
            break
        perceptron.learn_one(x, y)
        stopped.learn_one(x, y)
    assert stopped.support_vectors == perceptron.support_vectors
