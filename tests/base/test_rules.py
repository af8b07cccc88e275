"""Algorithms with a compiled rule learn the same one by one, in blocks, and as Python runs them."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreted import interpret
from states import content

import river_budget as rb
from river_budget.base import RulePerceptron
from river_budget.catalog import ALGORITHMS
from river_budget.support import _rule_compiled
from river_budget.support.sums import Sums

RULES = {name: row for name, row in ALGORITHMS.items() if issubclass(row.model, RulePerceptron)}
each = pytest.mark.parametrize("name", RULES)

KERNELS = {
    "given": rb.RBF(gamma=0.5),
    "learned": None,
    "polynomial": rb.Polynomial(degree=2),
    "Manhattan": rb.Laplacian(gamma=0.5),
    "selective": rb.AdditiveRationalQuadratic(gamma=1.0, names=("a", "c")),
    "function": rb.FunctionKernel(lambda x, z: 1 / (1 + sum((x[i] - z[i]) ** 2 for i in x))),
}


def stream(n, n_labels, seed, noise=0.2):
    """Return rows and labels; a label is first seen after 40 more rows than the one before it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2] * (rng.random((n, 3)) < 0.8)
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 1) + 4 * (X[:, 2] > 0.1)
    y = np.where(rng.random(n) < noise, rng.integers(0, n_labels, n), y % n_labels)
    y = np.minimum(y, np.arange(n) // 40)
    return pd.DataFrame(X, columns=list("abc")), y.tolist()


def one_by_one(model, X, y, weights=None):
    for i, (x, label) in enumerate(zip(X.to_dict("records"), y, strict=True)):
        if weights is None:
            model.learn_one(x, label)
        else:
            model.learn_one(x, label, weights[i])
    return model


def in_blocks(model, X, y, cuts, weights=None):
    edges = [0, *sorted(cuts), len(y)]
    for start, stop in itertools.pairwise(edges):
        w = None if weights is None else weights[start:stop]
        model.learn_many(X[start:stop], pd.Series(y[start:stop]), w)
    return model


@each
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_labels", [2, 5])
@given(seed=st.integers(0, 10**6), cuts=st.sets(st.integers(1, 399), max_size=6), data=st.data())
@settings(max_examples=4)
def test_blocks_cut_anywhere_give_the_model_of_learn_one(name, kernel, n_labels, seed, cuts, data):
    X, y = stream(400, n_labels, seed)
    weights = data.draw(st.sampled_from([None, np.random.default_rng(seed).random(400) + 0.5]))
    balanced = data.draw(st.sampled_from([None, "balanced"]))
    model = RULES[name].model(KERNELS[kernel], budget=12, class_weight=balanced)
    one = one_by_one(copy.deepcopy(model), X, y, weights)
    many = in_blocks(copy.deepcopy(model), X, y, cuts, weights)
    assert one.n_mistakes > 30
    assert (many.n_mistakes, many.n_rounds) == (one.n_mistakes, one.n_rounds)
    assert many.support_vectors == one.support_vectors
    assert np.array_equal(many.coefficients, one.coefficients)
    if kernel != "function":
        assert content(many.state()) == content(one.state())


@each
@pytest.mark.parametrize("kernel", ["given", "polynomial", "function"])
@pytest.mark.parametrize("n_labels", [2, 5])
def test_the_compiled_rule_is_the_one_that_python_runs(monkeypatch, name, kernel, n_labels):
    X, y = stream(300, n_labels, seed=1)
    model = RULES[name].build(KERNELS[kernel], budget=12, seed=3)
    compiled = one_by_one(copy.deepcopy(model), X, y)
    interpret(monkeypatch)
    interpreted = one_by_one(copy.deepcopy(model), X, y)
    assert interpreted.n_mistakes == compiled.n_mistakes > 30
    assert interpreted.support_vectors == compiled.support_vectors
    assert interpreted.coefficients == pytest.approx(compiled.coefficients, rel=1e-9)


@each
def test_examples_with_other_names_take_the_place_of_vectors(name):
    """Rows of frames with other columns and sparse dicts alternate, so no two layouts agree."""
    models = [RULES[name].build(rb.RBF(gamma=0.5), budget=8, seed=1) for _ in range(2)]
    rng = np.random.default_rng(2)
    for _ in range(40):
        names = rng.permutation(list("abcdef"))[: rng.integers(1, 6)].tolist()
        X = pd.DataFrame(rng.normal(size=(5, len(names))), columns=names)
        y = (rng.random(5) < 0.5).tolist()
        one_by_one(models[0], X, y)
        in_blocks(models[1], X, y, [])
    assert models[0].n_mistakes > 50
    assert content(models[1].state()) == content(models[0].state())


def interrupted(function):
    """Return a function after which Python raises KeyboardInterrupt, and so drops its result."""

    def run(*args):
        function(*args)
        raise KeyboardInterrupt

    return run


@each
def test_an_interrupt_at_the_end_of_a_compiled_block_loses_nothing(monkeypatch, name):
    X, y = stream(200, 2, seed=4)
    model = in_blocks(RULES[name].build(rb.Polynomial(degree=2), budget=8, seed=1), X, y, [])
    expected = in_blocks(copy.deepcopy(model), X, y, [])
    monkeypatch.setattr(_rule_compiled, "learn", interrupted(_rule_compiled.learn))
    with pytest.raises(KeyboardInterrupt):
        in_blocks(model, X, y, [])
    assert content(model.state()) == content(expected.state())


@each
def test_a_model_is_valid_after_an_interrupt_at_the_end_of_a_compiled_update(monkeypatch, name):
    X, y = stream(200, 2, seed=4)
    model = in_blocks(RULES[name].build(rb.RBF(gamma=0.5), budget=8, seed=1), X, y, [])
    with monkeypatch.context() as patch:
        patch.setattr(_rule_compiled, "update", interrupted(_rule_compiled.update))
        with pytest.raises(KeyboardInterrupt):
            one_by_one(model, X, y)
    restored = RULES[name].build(rb.RBF(gamma=0.5), budget=8, seed=1)
    restored.restore(model.state())
    assert restored.support_vectors == model.support_vectors
    assert all(error < 1e-9 for error in one_by_one(model, X, y).numerical_errors().values())


@each
def test_a_largest_self_value_is_known_after_an_interrupted_block(monkeypatch, name):
    X, y = stream(100, 2, seed=4)
    model = RULES[name].build(rb.Polynomial(degree=2), budget=8, seed=1)
    expected = in_blocks(copy.deepcopy(model), X, y, [])
    in_blocks(expected, 100 * X, y, [])
    in_blocks(model, X, y, [])
    monkeypatch.setattr(_rule_compiled, "learn", interrupted(_rule_compiled.learn))
    with pytest.raises(KeyboardInterrupt):
        in_blocks(model, 100 * X, y, [])
    assert model.state()["largest_self_value"] == expected.state()["largest_self_value"] > 1e4


@each
def test_scales_learn_from_each_row_once_after_an_interrupt(monkeypatch, name):
    """The interrupt comes between the rounds of examples and their observation."""
    X, y = stream(100, 2, seed=4)
    model = RULES[name].build(None, budget=8, seed=1)
    model.learn_many(X[:80], pd.Series(y[:80]))
    with monkeypatch.context() as patch:
        patch.setattr(_rule_compiled, "learn", interrupted(_rule_compiled.learn))
        with pytest.raises(KeyboardInterrupt):
            model.learn_many(X[80:], pd.Series(y[80:]))
    assert model._feature_scales.sums.n_observed == model.n_rounds > 80
    observed, observe = [], Sums.observe_rows
    monkeypatch.setattr(
        Sums, "observe_rows", lambda *args: observed.extend(args[2].tolist()) or observe(*args)
    )
    model.learn_many(X[:10], pd.Series(y[:10]))
    assert observed == X[:10].to_numpy().tolist()


@each
@pytest.mark.parametrize("kind", [bool, int, np.float32])
def test_a_function_kernel_may_return_any_real_number(name, kind):
    kernels = [lambda x, z: float(x["a"] == z["a"]), lambda x, z: kind(x["a"] == z["a"])]
    models = [RULES[name].build(rb.FunctionKernel(f), budget=3, seed=1) for f in kernels]
    for model in models:
        for t in range(40):
            model.learn_one({"a": t % 7}, t % 2 == 0)
    assert models[1].n_mistakes == models[0].n_mistakes > 10
    assert models[1].coefficients.tolist() == models[0].coefficients.tolist()


class FlakyKernel:
    """A Gaussian kernel that raises after a number of calls."""

    calls_left = math.inf

    def __call__(self, x, z):
        self.calls_left -= 1
        if self.calls_left < 0:
            raise OSError("no answer")
        return math.exp(-((x["a"] - z["a"]) ** 2))


@each
@pytest.mark.parametrize("n_labels", [2, 3])
def test_an_update_that_fails_keeps_the_hypothesis(name, n_labels):
    rng, flaky, n_failures = np.random.default_rng(2), FlakyKernel(), 0
    model = RULES[name].build(rb.FunctionKernel(flaky), budget=3, seed=1)
    for t in range(40):
        x, y = {"a": rng.normal()}, t if t < n_labels else int(rng.integers(n_labels))
        for n_calls in itertools.count():
            before = content([model.support_vectors, model.coefficients.T])
            model._store.forget_query()
            flaky.calls_left = n_calls
            try:
                model.learn_one(x, y)
                break
            except OSError:
                n_failures += 1
            finally:
                flaky.calls_left = math.inf
            if t >= n_labels:
                assert content([model.support_vectors, model.coefficients.T]) == before
    assert model.n_support == 3
    assert n_failures > 100


def test_a_third_label_before_the_first_support_vector():
    """A block with three labels that is interrupted at its first row leaves labels and no vector."""
    model = rb.Forgetron(gamma=1.0, budget=4)
    model._labels.columns(list("abc"))
    model._widen(3)
    model.learn_one({"a": 1.0}, "c")
    assert model.predict_one({"a": 1.0}) == "c"
