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
    assert g.scores([{"a": 0.0}])[0] == pytest.approx([0.5 - 2, 2 - 0.5])
    assert g.norm == pytest.approx(math.sqrt(4 + 1 - 2 * 2 * 0.5))
    stream = [({"a": 0.0}, True), ({"a": 1.0}, False), ({"a": 1.0}, True)]
    assert g.hinge_losses(stream) == pytest.approx([0.0, 1.0, 1.0])
    assert g.hinge_losses(stream).sum() == pytest.approx(2.0)


THREE = Comparator(
    rb.Linear(), [{"a": 1.0}, {"b": 2.0}], [[1.0, -1.0, 0.0], [0.0, -1.5, 0.5]], ["u", "v", "w"]
)


def test_three_labels_by_hand():
    assert THREE.scores([{"a": 1.0}, {"b": 1.0}, {"a": 1.0, "b": 1.0}]).tolist() == [
        [1.0, -1.0, 0.0], [0.0, -3.0, 1.0], [1.0, -4.0, 1.0],
    ]  # fmt: skip
    # g_u = a, g_v = -a - 3 b and g_w = b.
    assert THREE.norm == pytest.approx(math.sqrt((1 + 10 + 1) / 2))
    stream = [({"a": 1.0}, "u"), ({"a": 4.0}, "u"), ({"b": 1.0}, "u"), ({"b": 1.0}, "v")]
    assert THREE.hinge_losses(stream).tolist() == [0.5, 0.0, 1.5, 3.0]
    assert THREE.hinge_losses(stream).sum() == 5.0


def test_a_label_without_a_column_has_the_score_0():
    stream = [({"a": 1.0}, "x"), ({"a": -1.0, "b": -1.0}, "w")]
    # The scores are 1, -1, 0 and 0, then -1, 4, -1 and 0.
    assert THREE.hinge_losses(stream).tolist() == [1.5, 3.5]
    two = Comparator(rb.Linear(), [{"a": 1.0}], [1.0], ["u", "v"])
    # The scores are -1, 1 and 0.
    assert two.hinge_losses([({"a": 1.0}, "w"), ({"a": 1.0}, "v")]).tolist() == [1.5, 0.5]


def test_one_column_for_two_labels_is_short_for_two():
    vectors = [{"a": 1.0}, {"b": 1.0}]
    one = Comparator(rb.Linear(), vectors, [1.0, -2.0])
    two = Comparator(rb.Linear(), vectors, [[-1.0, 1.0], [2.0, -2.0]])
    x = {"a": 0.3, "b": 0.1}
    assert one.norm == two.norm == pytest.approx(math.sqrt(5))
    assert one.scores([x]).tolist() == two.scores([x]).tolist() == [pytest.approx([-0.1, 0.1])]
    stream = [(x, False), (x, True), (x, "more")]
    assert one.hinge_losses(stream).tolist() == two.hinge_losses(stream).tolist()


def test_a_constant_added_to_all_scores_changes_no_loss():
    matrix = THREE.coefficients - THREE.coefficients.mean(axis=1, keepdims=True)
    centered = Comparator(THREE.kernel, THREE.vectors, matrix, THREE.classes)
    stream = [({"a": 1.0, "b": 1.0}, label) for label in "uvw"]
    assert centered.hinge_losses(stream) == pytest.approx(THREE.hinge_losses(stream))
    assert centered.norm < THREE.norm


def test_labels_have_the_columns_that_a_model_assigns():
    g = Comparator(rb.Linear(), [{"a": 1.0}], [1.0])
    assert g.hinge_losses([({"a": 1.0}, "no"), ({"a": 1.0}, "yes")]).tolist() == [2.0, 0.0]
    assert g.hinge_losses([({"a": 1.0}, "yes"), ({"a": 1.0}, "no")]).tolist() == [2.0, 0.0]


def test_given_labels_keep_their_columns():
    g = Comparator(rb.Linear(), [{"a": 1.0}], [1.0], ["no", "yes"])
    assert g.hinge_losses([({"a": 1.0}, "yes"), ({"a": 1.0}, "no")]).tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="row 0: the label is None"):
        g.hinge_losses([({"a": 1.0}, None)]).sum()


def test_the_hypothesis_of_a_model():
    model = rb.Forgetron(budget=10)
    for x, y in synth.TwoGaussians(200, seed=1):
        model.learn_one(x, y)
    g = Comparator.of(model)
    assert g.norm == pytest.approx(model.norm)
    (scores,) = g.scores([x := {0: 0.3, 1: -0.2}])
    assert scores[1] == pytest.approx(model.decision_function_one(x))


def test_the_hypothesis_of_a_model_with_many_labels():
    rng = np.random.default_rng(1)
    stream = [
        (dict(enumerate(x)), "abcd"[i])
        for i, x in zip(rng.integers(4, size=150), rng.normal(size=(150, 2)).tolist(), strict=True)
    ]
    model = rb.Forgetron(rb.RBF(gamma=0.5), budget=20)
    for x, y in stream:
        model.learn_one(x, y)
    g = Comparator.of(model)
    assert g.classes == model.classes
    assert g.norm == pytest.approx(model.norm)
    xs = [x for x, _ in stream]
    scores = [model.scores_one(x) for x in xs]
    assert g.scores(xs) == pytest.approx(np.array([list(values.values()) for values in scores]))
    losses = [
        max(0, 1 - (values.pop(y) - max(values.values())) / 2)
        for values, (_, y) in zip(scores, stream, strict=True)
    ]
    assert g.hinge_losses(stream) == pytest.approx(losses)
    # In any order, in which the labels occur in another order.
    assert g.hinge_losses(stream[::-1]).sum() == pytest.approx(sum(losses))


def test_a_mixture_is_not_an_expansion():
    model = rb.Mnemotron()
    model.learn_one({"a": 1.0}, True)
    with pytest.raises(ValueError, match="Mnemotron is not a single kernel expansion"):
        Comparator.of(model)


def test_without_vectors_the_norm_is_0():
    assert Comparator(rb.Linear(), [], []).norm == 0


@pytest.mark.parametrize(
    ("vectors", "coefficients", "message"),
    [
        ([{"a": 1.0}], [1.0, 2.0], "1 vectors"),
        ([{"a": 1.0}], [[]], "shape"),
        ([{"a": 1.0}], [[[1.0, 2.0]]], "shape"),
        ([{"a": 1.0}], [math.nan], "finite"),
        ([{"a": math.inf}], [1.0], "'a'"),
    ],
)
def test_invalid_expansions(vectors, coefficients, message):
    with pytest.raises(ValueError, match=message):
        Comparator(rb.Linear(), vectors, coefficients)


def lowest_perceptron_bound(gram, columns, n_labels):
    """Return the lowest `||g||^2 + 2 L(g)`, by a quadratic program with the losses as variables."""
    n = len(gram)
    size = n * n_labels

    def bound(v):
        values = gram @ v[:size].reshape(n, n_labels)
        gradient = np.concatenate((values.ravel(), np.full(n, 2.0)))
        return 0.5 * v[:size] @ values.ravel() + 2 * v[size:].sum(), gradient

    rows = []
    for i, y in enumerate(columns):
        for rival in set(range(n_labels)) - {y}:
            row = np.zeros((n, n_labels))
            row[:, y], row[:, rival] = gram[i] / 2, -gram[i] / 2
            rows.append(np.concatenate((row.ravel(), np.eye(n)[i])))
    margins = np.array(rows)
    constraint = {"type": "ineq", "fun": lambda v: margins @ v - 1, "jac": lambda v: margins}
    found = minimize(
        bound, np.repeat([0.0, 1.0], [size, n]), jac=True, method="SLSQP",
        constraints=constraint, bounds=[(None, None)] * size + [(0, None)] * n,
        options={"maxiter": 1000, "ftol": 1e-12},
    )  # fmt: skip
    assert found.success
    return found.fun


@pytest.mark.slow
@given(st.integers(0, 1000), st.integers(2, 5))
@settings(max_examples=5)
def test_the_best_of_the_span_is_optimal(seed, n_labels):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    columns = [*range(n_labels), *rng.integers(n_labels, size=12 - n_labels).tolist()]
    stream = [(dict(enumerate(x)), "abcde"[y]) for x, y in zip(X.tolist(), columns, strict=True)]
    kernel = rb.RBF(gamma=0.5)
    gram = np.array([[kernel(a, b) for a, _ in stream] for b, _ in stream])
    g = Span(kernel, stream).best(lambda norm, loss: bounds.perceptron(norm, loss).mistakes)
    ours = bounds.perceptron(g.norm, g.hinge_losses(stream).sum()).mistakes
    theirs = lowest_perceptron_bound(gram, columns, n_labels)
    assert theirs * (1 - 1e-6) <= ours <= theirs * 1.005


@pytest.mark.slow
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


def test_long_streams_are_sampled(monkeypatch):
    monkeypatch.setattr(comparators, "N_VECTORS", 20)
    stream = list(synth.TwoGaussians(200, seed=1))
    g = Span(rb.RBF(gamma=1.0), stream).best(lambda norm, loss: norm**2 + 2 * loss)
    assert len(g.vectors) == 20
    assert {tuple(x.items()) for x in g.vectors} <= {tuple(x.items()) for x, _ in stream}


def test_a_span_of_an_empty_stream():
    with pytest.raises(ValueError, match="no examples"):
        Span(rb.RBF(), [])
