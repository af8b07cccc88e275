from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import river_budget as rb
from river_budget import synth
from river_budget.theory import bounds, comparators
from river_budget.theory.comparators import Comparator, Span


def test_an_expansion_by_hand():
    kernel = rb.RBF(gamma=math.log(2))
    g = Comparator(kernel, [{"a": 0.0}, {"a": 1.0}], [2.0, -1.0])
    assert g.decision_function_one({"a": 0.0}) == pytest.approx(2 - 0.5)
    assert g.norm == pytest.approx(math.sqrt(4 + 1 - 2 * 2 * 0.5))
    stream = [({"a": 0.0}, True), ({"a": 1.0}, False), ({"a": 1.0}, True)]
    assert g.hinge_losses(stream) == pytest.approx([0.0, 1.0, 1.0])
    assert g.hinge_loss(stream) == pytest.approx(2.0)


def test_labels_have_the_signs_that_a_model_assigns():
    g = Comparator(rb.Linear(), [{"a": 1.0}], [1.0])
    assert g.hinge_losses([({"a": 1.0}, "no"), ({"a": 1.0}, "yes")]).tolist() == [2.0, 0.0]


def test_the_hypothesis_of_a_model():
    model = rb.Forgetron(budget=10)
    for x, y in synth.TwoGaussians(200, seed=1):
        model.learn_one(x, y)
    g = Comparator.of(model)
    assert g.norm == pytest.approx(model.norm)
    assert g.decision_function_one({0: 0.3, 1: -0.2}) == pytest.approx(
        model.decision_function_one({0: 0.3, 1: -0.2})
    )


def test_a_mixture_is_not_an_expansion():
    model = rb.Mnemotron()
    model.learn_one({"a": 1.0}, True)
    with pytest.raises(ValueError, match="Mnemotron is not a single kernel expansion"):
        Comparator.of(model)


def test_distances_and_path_length():
    a, b, c = (
        Comparator(rb.Linear(), [{"u": u, "v": v}], [1.0]) for u, v in [(0, 0), (3, 4), (3, 0)]
    )
    assert a.distance(b) == pytest.approx(5.0)
    assert comparators.path_length([a, b, c]) == pytest.approx(9.0)
    assert comparators.path_length([a]) == 0


@pytest.mark.parametrize(
    ("vectors", "coefficients", "message"),
    [
        ([{"a": 1.0}], [1.0, 2.0], "1 vectors"),
        ([{"a": 1.0}], [math.nan], "finite"),
        ([{"a": math.inf}], [1.0], "'a'"),
    ],
)
def test_invalid_expansions(vectors, coefficients, message):
    with pytest.raises(ValueError, match=message):
        Comparator(rb.Linear(), vectors, coefficients)


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_the_best_of_the_span_is_optimal(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    stream = [(dict(enumerate(x)), bool(rng.random() < 0.5)) for x in X.tolist()]
    kernel = rb.RBF(gamma=0.5)
    gram = np.array([[kernel(a, b) for a, _ in stream] for b, _ in stream])
    signs = np.array([1.0 if y else -1.0 for _, y in stream])

    def bound(coefficients):
        values = gram @ coefficients
        loss = np.maximum(0, 1 - signs * values).sum()
        return coefficients @ values + 2 * loss

    g = Span(kernel, stream).best(lambda norm, loss: bounds.perceptron(norm, loss).mistakes)
    ours = bounds.perceptron(g.norm, g.hinge_loss(stream)).mistakes
    starts = [rng.normal(size=12), signs / 2]
    theirs = min(minimize(bound, x0, method="Powell", tol=1e-8).fun for x0 in starts)
    assert ours <= theirs * 1.005


def test_the_best_of_the_span_reaches_the_norm_bound():
    stream = list(synth.TwoGaussians(300, seed=1))
    span = Span(rb.RBF(gamma=1.0), stream)
    free = span.best(lambda norm, loss: bounds.perceptron(norm, loss).mistakes)
    bound = free.norm / 2
    kept = span.best(lambda norm, loss: bounds.projectron_norm_bound(norm, loss, bound).mistakes)
    assert 0.9 * bound < kept.norm <= bound


def test_zero_is_the_best_if_all_other_bounds_are_infinite():
    span = Span(rb.RBF(gamma=1.0), list(synth.TwoGaussians(50, seed=1)))
    g = span.best(lambda norm, loss: loss if norm == 0 else math.inf)
    assert g.norm == 0


def test_long_streams_are_sampled():
    stream = list(synth.TwoGaussians(200, seed=1))
    g = Span(rb.RBF(gamma=1.0), stream, n_vectors=20).best(lambda norm, loss: norm**2 + 2 * loss)
    assert len(g.vectors) == 20
    assert {tuple(x.items()) for x in g.vectors} <= {tuple(x.items()) for x, _ in stream}


def test_a_span_of_an_empty_stream():
    with pytest.raises(ValueError, match="no examples"):
        Span(rb.RBF(), [])
