from __future__ import annotations

import river_budget as rb
from river_budget import synth


def test_a_trace_by_hand():
    model = rb.RemoveOldestPerceptron(rb.Linear(), budget=2)
    trace = []
    for value, y in [(1.0, True), (3.0, False), (-1.0, False), (4.0, True), (1.0, False)]:
        trace.append(model.decision_function_one({"u": value}))
        model.learn_one({"u": value}, y)
    # w: 1, 1 - 3 = -2, without the first -3 + 1 = -2, without the second 1 + 4 = 5
    assert trace == [0.0, 3.0, 2.0, -8.0, 5.0]
    assert model.support_vectors == [{"u": 4.0}, {"u": 1.0}]
    assert model.coefficients.tolist() == [1.0, -1.0]


def test_it_keeps_the_last_mistakes():
    stream = list(synth.TwoGaussians(600, seed=3))
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=10)
    mistakes = []
    for x, y in stream:
        if model.decision_function_one(x) * (1 if y else -1) <= 0:
            mistakes.append((x, 1.0 if y else -1.0))
        model.learn_one(x, y)
    assert len(mistakes) > 50
    kept = list(zip(model.support_vectors, model.coefficients, strict=True))
    assert kept == mistakes[-10:]
