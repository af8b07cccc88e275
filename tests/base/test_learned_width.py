"""Scales of features and the width of the kernel, learned from the data."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from algorithms import each_algorithm, each_class, each_path, each_perceptron_path
from river import preprocessing
from states import content

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.kernels import Scaled


def raw_stream(n=400, seed=3):
    """Return two Gaussians in units of a thousandth and of a million, and a rare word."""
    rng = np.random.default_rng(seed)
    stream = []
    for x, y in synth.TwoGaussians(n, flip=0.1, seed=seed):
        u, v = x.values()
        word = {"word": 1.0} if rng.random() < 0.1 else {}
        stream.append(({"small": u / 1000, "large": 1e6 * v + 3e6, **word}, y))
    return stream


STREAM = raw_stream()


def learn(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


@each_class
def test_learn_many_is_learn_one(make):
    many, size = make(None), 7
    frame = pd.DataFrame([x for x, _ in STREAM]).fillna(0.0)
    labels = pd.Series([y for _, y in STREAM])
    one = learn(make(None), zip(frame.to_dict("records"), labels, strict=True))
    for start in range(0, len(frame), size):
        many.learn_many(frame[start : start + size], labels[start : start + size])
    assert content(one.state()) == content(many.state())


def test_names_that_come_in_the_middle_of_a_block():
    """The first kernel reads them from the next change of the width on, the last has no change."""
    kernels = rb.AdditiveRationalQuadratic(), rb.RationalQuadratic(gamma=1.0)
    one, many = (rb.Mnemotron(budget=10, kernels=kernels) for _ in range(2))
    rows = [
        ({"a": u, "b": v if t > 5 else 0.0}, u + v > 0)
        for t, (u, v) in enumerate(np.random.default_rng(2).normal(size=(300, 2)).tolist())
    ]
    learn(one, [({"a": rows[0][0]["a"]}, rows[0][1])])
    learn(many, [({"a": rows[0][0]["a"]}, rows[0][1])])
    learn(one, rows)
    many.learn_many(pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows]))
    assert set(one.resolved_kernels[0].kernel.names) == {"a", "b"}
    assert content(one.state()) == content(many.state())


@each_path
@pytest.mark.parametrize("n", [3, 130])
def test_copies_and_checkpoints_go_on_exactly(make, n):
    model = learn(make(None), STREAM[:n])
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    if "Function" not in repr(model):
        copies.append(checkpoint.loads(checkpoint.dumps(model)))
    learn(model, STREAM[n:])
    for other in copies:
        learn(other, STREAM[n:])
        for x, _ in STREAM[:50]:
            assert other.predict_proba_one(x) == model.predict_proba_one(x)


@each_path
def test_support_vectors_are_in_the_units_of_the_user(make):
    model = learn(make(None), STREAM)
    examples = [x for x, _ in STREAM]
    assert model.n_support > 0
    if isinstance(model, rb.BudgetedSGD):  # merged vectors are between examples
        for x in model.support_vectors:
            for name, value in x.items():
                values = [z.get(name, 0.0) for z in examples]
                assert min(values) <= value <= max(values)
    else:
        for x in model.support_vectors:
            assert any(x.keys() == z.keys() and x == pytest.approx(z, rel=1e-12) for z in examples)


@each_algorithm
def test_cached_quantities_are_computed_anew(make):
    """Whatever was computed from the kernel agrees with its values from scratch."""
    for n in (2, 4, 8, 64, 256):
        errors = learn(make(None), STREAM[:n]).numerical_errors()
        assert all(value < 1e-9 or what == "inverses" for what, value in errors.items())


@each_perceptron_path
def test_a_common_unit_does_not_matter(make):
    """Features in a unit that differs by a power of two give the same predictions."""
    model, other = make(None), make(None)
    for x, y in STREAM:
        z = {name: value * 2.0**20 for name, value in x.items()}
        if model.n_rounds > 8:
            assert other.predict_proba_one(z) == pytest.approx(model.predict_proba_one(x))
        model.learn_one(x, y)
        other.learn_one(z, y)


def test_units_of_single_features_matter_little():
    """Scales in other units are the same after some hundred examples, up to their rounding."""
    model, other = rb.Forgetron(budget=20), rb.Forgetron(budget=20)
    units = {"small": 2.0**20, "large": 2.0**-7}
    for x, y in STREAM:
        model.learn_one(x, y)
        other.learn_one({name: value * units.get(name, 1.0) for name, value in x.items()}, y)
    scales, others = dict(model.resolved_kernel.scales), dict(other.resolved_kernel.scales)
    ratios = [others[name] / (scales[name] * units.get(name, 1.0)) for name in scales]
    assert max(ratios) / min(ratios) <= 1.4


def test_the_resolved_kernel_tells_gamma_and_scales():
    model = learn(rb.RemoveOldestPerceptron(budget=20), STREAM)
    kernel = model.resolved_kernel
    assert isinstance(kernel, Scaled)
    scales = dict(kernel.scales)
    assert 0 < scales["small"] < 0.01 < 1e5 < scales["large"]
    x, z = (model.support_vectors[i] for i in (0, 1))
    f = sum(
        a * kernel(x, s) for a, s in zip(model.coefficients, model.support_vectors, strict=True)
    )
    assert model.decision_function_one(x) == pytest.approx(f)
    assert 0 < kernel(x, z) < 1


@pytest.mark.parametrize(
    "kernel", [rb.RBF(), rb.Laplacian(), rb.RationalQuadratic(), rb.AdditiveRationalQuadratic()]
)
def test_the_resolved_kernel_is_exact_for_time_stamps(kernel):
    rng = np.random.default_rng(1)
    examples = [
        ({"time": 1.7e9 + u, "u": 3.0 * v, "v": w}, bool(v > w))
        for u, v, w in rng.normal(size=(1000, 3)).tolist()
    ]
    model = learn(rb.Forgetron(kernel, budget=20), examples)
    terms = list(zip(model.coefficients, model.support_vectors, strict=True))
    for x, _ in examples[:50]:
        f = sum(a * model.resolved_kernel(x, s) for a, s in terms)
        assert model.decision_function_one(x) == pytest.approx(f, rel=0, abs=1e-12)


def test_the_resolved_kernel_takes_arrays_of_integers():
    model = rb.RemoveOldestPerceptron(budget=20)
    pixels = [np.array([i % 7, 250 - i % 11, i % 2], np.uint8) for i in range(60)]
    learn(model, [({"e": e}, i % 3 == 0) for i, e in enumerate(pixels)])
    terms = list(zip(model.coefficients, model.support_vectors, strict=True))
    for e in pixels:
        f = sum(a * model.resolved_kernel({"e": e}, s) for a, s in terms)
        assert model.decision_function_one({"e": e}) == pytest.approx(f)


def test_nothing_is_scaled_with_a_given_gamma():
    model = learn(rb.RemoveOldestPerceptron(gamma=0.5, budget=20), STREAM)
    assert model.resolved_kernel == rb.RBF(gamma=0.5)
    assert model.state()["feature_scales"] is None


def test_raw_units_are_as_good_as_a_scaler():
    raw, scaled = rb.Forgetron(), preprocessing.StandardScaler() | rb.Forgetron()
    right = {"raw": 0, "scaled": 0}
    for x, y in raw_stream(3000):
        for name, model in (("raw", raw), ("scaled", scaled)):
            right[name] += model.predict_one(x) == y
            model.learn_one(x, y)
    assert right["raw"] > right["scaled"] - 30


@pytest.mark.parametrize("first", ["", "hi", " ".join(f"w{i}" for i in range(200))])
def test_the_first_text_does_not_decide_on_the_width(first):
    rng = np.random.default_rng(1)
    vocabulary = [f"word{i}" for i in range(60)]
    model = rb.Forgetron(budget=50)
    model.learn_one(dict.fromkeys(first.split(), 1.0), False)
    right = 0
    for _ in range(600):
        y = bool(rng.random() < 0.5)
        words = rng.choice(vocabulary[:40] if y else vocabulary[20:], 12)
        x = dict.fromkeys(words.tolist(), 1.0)
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 510


def test_a_width_that_does_not_suit_the_data_is_told_once():
    rng = np.random.default_rng(0)
    for gamma in (1e-9, 1e9):
        values = rng.normal(size=400).tolist()
        with pytest.warns(UserWarning, match="above 0.99, or below 0.01") as told:
            learn(
                rb.RemoveOldestPerceptron(gamma=gamma, budget=10),
                [({"a": value}, value > 0) for value in values],
            )
        assert len(told) == 1
        assert told[0].filename == __file__
        assert told[0].lineno == learn.__code__.co_firstlineno + 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(rb.RemoveOldestPerceptron(budget=10), STREAM)


def warned_after(values):
    """Return the number of the examples, of one label, after which a width is told to be wrong."""
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    with warnings.catch_warnings(record=True, action="always") as told:
        for n, value in enumerate(values, start=1):
            model.learn_one({"a": value}, True)
            if told:
                return n
    return None


def test_a_width_is_wrong_after_100_flat_rows_among_the_first_128_examples():
    """The first example is the only support vector: kernel values are 1 at 0, and 0.37 at 1."""
    assert warned_after([0.0] * 300) == 100
    for last, expected in [(27, 127), (28, 128), (29, None)]:
        values = [0.0] * 300
        values[last - 1] = 1.0
        assert warned_after(values) == expected
