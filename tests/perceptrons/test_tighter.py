from __future__ import annotations

import copy

import numpy as np
import plain
import pytest

import river_budget as rb
from river_budget import synth
from river_budget._features import as_given


def examples_of(model):
    """Return the examples of a validation set, in their order."""
    store = model._validation.store
    return [as_given(store.vector(i)) for i in range(store.n)]


def test_a_trace_by_hand():
    """Tighter^0 with the linear kernel in the plane and a budget of two."""
    model = rb.TighterPerceptron(rb.Linear(), budget=2)
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"b": 1.0}, True)
    # w = (1, 1). A mistake on (1, 0.5, -), f = 1.5: w' = (0, 0.5), f' = 0, 0.5, 0.25. Errors:
    # without (1, 0): w = (-1, 0.5), f = -1, 0.5, -0.75: one. Without (0, 1): w = (0, -0.5), f = 0,
    # -0.5, -0.25: two. Without the incoming one: w = (1, 1), f = 1, 1, 1.5: one. The oldest is
    # removed.
    model.learn_one({"a": 1.0, "b": 0.5}, False)
    assert model.support_vectors == [{"b": 1.0}, {"a": 1.0, "b": 0.5}]
    # w = (-1, 0.5). A mistake on (0.1, 0.1, +), f = -0.05. Without (0, 1): w = (-0.9, -0.4), errors
    # on (0, 1) and the incoming example. Without (1, 0.5): w = (0.1, 1.1), an error on (1, 0.5).
    # Without the incoming example: an error on itself alone. The older of the two is removed.
    model.learn_one({"a": 0.1, "b": 0.1}, True)
    assert model.support_vectors == [{"b": 1.0}, {"a": 0.1, "b": 0.1}]


@pytest.mark.parametrize("validation", ["support", 12, "all"])
@pytest.mark.parametrize("kernel", [rb.RBF(gamma=0.7), rb.Polynomial(degree=2)], ids=str)
def test_against_plain_loops(validation, kernel):
    rng = np.random.default_rng(4)
    model = rb.TighterPerceptron(kernel, budget=6, validation=validation, seed=3)
    reference = plain.TighterPerceptron(kernel, 6, validation, seed=3)
    for _ in range(100):
        x = dict(zip("abc", rng.normal(size=3).tolist(), strict=True))
        y = 1.0 if (x["a"] > 0) != (rng.random() < 0.2) else -1.0
        assert model.decision_function_one(x) == pytest.approx(
            reference.decision_function(x), abs=1e-8
        )
        model.learn_one(x, y > 0)
        reference.learn(x, y)
        assert model.support_vectors == reference.vectors
    assert model.n_mistakes > 25


def test_the_reservoir_against_plain_loops():
    model = rb.TighterPerceptron(rb.RBF(gamma=1.0), budget=6, validation=12, seed=3)
    reference = plain.TighterPerceptron(rb.RBF(gamma=1.0), 6, validation=12, seed=3)
    for x, y in synth.TwoGaussians(100, flip=0.2, seed=4):
        model.learn_one(x, y)
        reference.learn(x, 1.0 if y else -1.0)
    assert examples_of(model) == [x for x, _ in reference.reservoir.examples]


def test_the_reservoir_and_the_support_set_are_disjoint():
    model = rb.TighterPerceptron(rb.RBF(gamma=1.0), budget=10, validation=20, seed=1)
    for x, y in synth.TwoGaussians(500, flip=0.3, seed=1):
        model.learn_one(x, y)
        kept = examples_of(model)
        assert not [x for x in kept if x in model.support_vectors]
    assert len(kept) == 20


def test_more_validation_helps_on_noisy_labels():
    def mistakes(validation):
        model = rb.TighterPerceptron(rb.RBF(gamma=1.0), 30, validation=validation, seed=1)
        for x, y in synth.TwoGaussians(3000, flip=0.2, seed=1):
            model.learn_one(x, y)
        return model.n_mistakes

    assert mistakes("all") < mistakes("support")


@pytest.mark.parametrize("validation", ["none", 0, -3, 2.5, None, True])
def test_validations_out_of_range(validation):
    with pytest.raises(ValueError, match="validation"):
        rb.TighterPerceptron(validation=validation)


def test_every_example_is_offered_to_the_reservoir():
    calls = []

    def counted(x, z):
        calls.append((x, z))
        return x["u"] * z["u"]

    model = rb.TighterPerceptron(rb.FunctionKernel(counted), 10, validation=5, seed=1)
    for t in range(6):
        model.learn_one({"u": 1.0 + t}, True)
    kept = examples_of(model)
    assert kept == [{"u": 2.0 + t} for t in range(5)]
    for t in range(6, 100):
        calls.clear()
        model.learn_one({"u": 1.0 + t}, True)
        if examples_of(model) == kept:
            # k(x, s) for the one support vector s, and k(x, x).
            assert len(calls) == 2
        kept = examples_of(model)
    assert len(kept) == 5
    assert max(x["u"] for x in kept) > 20


@pytest.mark.parametrize("validation", ["support", 5, "all"])
def test_a_copy_with_a_function_goes_on_exactly(validation):
    kernel = rb.FunctionKernel(lambda x, z: (1.0 + x["u"] * z["u"] + x["v"] * z["v"]) ** 2)
    model = rb.TighterPerceptron(kernel, 6, validation=validation, seed=1)
    rng = np.random.default_rng(1)
    stream = [
        ({"u": u, "v": v}, u * v > rng.normal()) for u, v in rng.normal(size=(100, 2)).tolist()
    ]
    for x, y in stream[:60]:
        model.learn_one(x, y)
    twin = copy.deepcopy(model)
    for x, y in stream[60:]:
        model.learn_one(x, y)
    for x, y in stream[60:]:
        twin.learn_one(x, y)
    assert twin.support_vectors == model.support_vectors
    assert twin.coefficients.tolist() == model.coefficients.tolist()
    assert examples_of(twin) == examples_of(model)


def test_all_examples_are_kept():
    model = rb.TighterPerceptron(rb.RBF(gamma=1.0), budget=3, validation="all")
    examples = [x for x, _ in synth.TwoGaussians(50, flip=0.2, seed=1)]
    for x, y in synth.TwoGaussians(50, flip=0.2, seed=1):
        model.learn_one(x, y)
    assert examples_of(model) == examples
