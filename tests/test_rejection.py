from __future__ import annotations

import math

import estimator_checks
import numpy as np
import pytest
from river import base, ensemble, linear_model, metrics, naive_bayes, preprocessing

import river_budget as rb
from river_budget import checkpoint
from river_budget.base import Chain
from tests.algorithms import each_path

KNOWN = [({"a": 0.1 * i, "b": 1.0}, i < 5) for i in range(10)]


def test_the_checks_of_river():
    estimator_checks.run(rb.Reject(rb.Forgetron()))


@pytest.mark.slow
def test_the_check_of_river_of_memory():
    estimator_checks.run_that_of_memory(rb.Reject(rb.Forgetron()))


@each_path
def test_novelty_is_a_share(make):
    model = make(rb.RBF(gamma=1.0))
    assert model.novelty_one({"a": 0.0}) == 1.0
    for x, y in KNOWN:
        model.learn_one(x, y)
        assert 0 <= model.novelty_one(x) <= 1
    assert model.novelty_one(model.support_vectors[0]) == pytest.approx(0.0, abs=1e-2)
    assert model.novelty_one({"a": 50.0, "b": 1.0}) == pytest.approx(1.0)


def test_novelty_from_the_nearest_vector():
    model = rb.KernelPerceptron(rb.Linear())
    assert model.novelty_one({}) == 0.0
    model.learn_one({"a": 2.0}, True)
    assert model.novelty_one({"a": 3.0, "b": 4.0}) == pytest.approx(16 / 25)


def test_novelty_from_the_span():
    model = rb.Projectron(rb.Linear(), eta=0.01)
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"a": 1.0, "b": 1.0, "c": 0.1}, False)
    assert model.n_support == 2
    nearest = rb.KernelPerceptron(rb.Linear())
    for s in model.support_vectors:
        nearest.learn_one(s, not nearest.predict_one(s))
    x = {"b": 1.0, "c": 0.1}
    assert model.novelty_one(x) == pytest.approx(0.0, abs=1e-9)
    assert nearest.novelty_one(x) > 0.4


def test_novelty_of_mnemotron_is_the_mean_over_the_kernels():
    kernels = rb.RBF(gamma=1.0), rb.RBF(gamma=0.1)
    model = rb.Mnemotron(kernels=kernels)
    model.learn_one({"a": 0.0}, True)
    # One vector: 1 - k^2 / (1 + jitter), with the weights of the experts of each kernel.
    weights = dict.fromkeys(kernels, 0.0)
    for (kernel, _, _), weight in model.expert_weights.items():
        weights[kernel] += weight
    expected = sum(w * (1 - kernel({"a": 1.0}, {}) ** 2 / 1.001) for kernel, w in weights.items())
    assert model.novelty_one({"a": 1.0}) == pytest.approx(expected)


def test_what_is_unlike_all_examples_is_not_answered():
    model = preprocessing.StandardScaler() | rb.Forgetron()
    rejecting = rb.Reject(model, threshold=0.9)
    for x, y in 20 * KNOWN:
        rejecting.learn_one(x, y)
    x, _ = KNOWN[4]
    assert rejecting.doubt_one(x) < 0.5
    assert rejecting.predict_one(x) == model.predict_one(x)
    assert rejecting.predict_one({"a": 1e3, "b": 1.0}) is None
    assert rejecting.predict_proba_one(x) == model.predict_proba_one(x)
    loaded = checkpoint.loads(checkpoint.dumps(rejecting))
    assert (loaded.threshold, loaded.doubt) == (0.9, "novelty")
    assert loaded.doubt_one(x) == rejecting.doubt_one(x)


def test_entropy_as_a_share_of_that_of_equal_probabilities():
    model = rb.Reject(rb.Forgetron(rb.RBF(gamma=1.0)), threshold=0.95, doubt="entropy")
    assert model.doubt_one({"a": 0.0}) == 1.0
    model.learn_one({"a": 0.0}, "x")
    assert model.doubt_one({"a": 0.0}) == 0.0
    model.learn_one({"a": 1.0}, "y")
    model.learn_one({"a": -1.0}, "z")
    p = model.predict_proba_one({"a": 0.5})
    expected = -sum(value * math.log(value) for value in p.values()) / math.log(3)
    assert model.doubt_one({"a": 0.5}) == pytest.approx(expected)
    assert model.predict_one({"a": 100.0}) is None


class Undecided(base.Classifier):
    """It is sure that one label of three is wrong, and knows nothing of the others."""

    def learn_one(self, x, y):
        pass

    def predict_proba_one(self, x):
        return {"x": 0.5, "y": 0.5, "z": 0.0}


def test_a_label_of_probability_0_counts_in_the_largest_entropy():
    model = rb.Reject(Undecided(), doubt="entropy")
    assert model.doubt_one({"a": 0.0}) == pytest.approx(math.log(2) / math.log(3))


def test_the_area_under_the_curve_of_unknown_examples():
    rng = np.random.default_rng(1)
    model, area = rb.Reject(rb.Projectron(rb.RBF(gamma=0.5))), metrics.ROCAUC()
    for _ in range(200):
        angle = rng.uniform(0, 2)
        model.learn_one({"a": math.cos(angle), "b": math.sin(angle)}, angle < 1)
    for _ in range(200):
        is_unknown, angle = bool(rng.random() < 0.5), rng.uniform(0, 2)
        angle += 3.0 * is_unknown
        novelty = model.doubt_one({"a": math.cos(angle), "b": math.sin(angle)})
        area.update(is_unknown, {True: novelty, False: 1 - novelty})
    assert area.get() > 0.99


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: rb.Calibrated(model),
        lambda model: preprocessing.StandardScaler() | rb.Calibrated(model),
        lambda model: rb.Calibrated(preprocessing.StandardScaler() | model),
    ],
    ids=["alone", "last step", "around a pipeline"],
)
def test_doubt_about_a_calibrated_model(wrap):
    novelty = rb.Reject(wrap(rb.Forgetron(rb.RBF(gamma=1.0))))
    entropy = rb.Reject(wrap(rb.Forgetron(rb.RBF(gamma=1.0))), doubt="entropy")
    for x, y in 20 * KNOWN:
        novelty.learn_one(x, y)
        entropy.learn_one(x, y)
    x, _ = KNOWN[4]
    assert novelty.doubt_one(x) < 0.5 < novelty.doubt_one({"a": 100.0, "b": 1.0})
    p = entropy.model.predict_proba_one(x)
    expected = -sum(value * math.log2(value) for value in p.values())
    assert entropy.doubt_one(x) == pytest.approx(expected)


def test_entropy_of_a_classifier_of_river():
    model = rb.Reject(naive_bayes.GaussianNB(), threshold=0.5, doubt="entropy")
    assert model.doubt_one({"a": 0.0}) == 1.0
    assert model.predict_one({"a": 0.0}) is None
    for t in range(40):
        model.learn_one({"a": float(t % 20)}, t % 20 < 10)
    assert model.predict_one({"a": 0.0}) is True
    assert model.predict_one({"a": 9.5}) is None


@pytest.mark.parametrize("wrap", [lambda model: model, rb.Calibrated], ids=["alone", "calibrated"])
def test_a_clone_with_all_attributes_is_an_equal_trained_copy(wrap):
    model = rb.Reject(wrap(preprocessing.StandardScaler() | rb.Forgetron(budget=5)))
    for x, y in KNOWN:
        model.learn_one(x, y)
    before = checkpoint.dumps(model)
    clone = model.clone(include_attributes=True)
    assert checkpoint.dumps(clone) == before
    for x, _ in KNOWN:
        assert clone.predict_one(x) == model.predict_one(x)
    for x, y in KNOWN:
        clone.learn_one(x, not y)
    assert checkpoint.dumps(clone) != before
    assert checkpoint.dumps(model) == before
    assert model.clone().doubt_one(KNOWN[0][0]) == 1.0


@pytest.mark.parametrize("inner", [rb.Forgetron(budget=20), naive_bayes.GaussianNB()], ids=str)
def test_the_memory_of_wrappers_is_little_more_than_that_of_the_model(inner):
    for t in range(100):
        inner.learn_one({"a": t % 7, "b": t % 5}, t % 3)
    calibrated = rb.Calibrated(inner)
    rejecting = rb.Reject(calibrated, doubt="entropy")
    sizes = [Chain(model).memory_bytes for model in (inner, calibrated, rejecting)]
    assert sizes == sorted(sizes)
    assert sizes[2] < sizes[0] + 5000


def test_models_that_give_no_such_doubt():
    with pytest.raises(ValueError, match="model must be a classifier, got"):
        rb.Reject(linear_model.LinearRegression())
    bagged = ensemble.BaggingClassifier(rb.Forgetron())
    others = linear_model.LogisticRegression(), rb.Calibrated(naive_bayes.GaussianNB())
    for model in (bagged, rb.active.Query(rb.Forgetron()), *others):
        with pytest.raises(
            ValueError, match="keeps no examples, so there is no novelty: use doubt="
        ):
            rb.Reject(model)


@pytest.mark.parametrize("threshold", [2, -0.1, math.nan, "a", None, True])
def test_invalid_thresholds(threshold):
    with pytest.raises(ValueError, match="threshold must be a number from 0 to 1, got"):
        rb.Reject(rb.Forgetron(), threshold=threshold)


@pytest.mark.parametrize("doubt", ["margin", ["x"], None])
def test_invalid_kinds_of_doubt(doubt):
    with pytest.raises(ValueError, match="doubt must be one of"):
        rb.Reject(rb.Forgetron(), doubt=doubt)
