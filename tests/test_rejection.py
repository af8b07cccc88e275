from __future__ import annotations

import copy
import math
import pickle

import estimator_checks
import numpy as np
import pandas as pd
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
        with pytest.raises(ValueError, match="has no novelty_one: use doubt='entropy'"):
            rb.Reject(model)


@pytest.mark.parametrize("threshold", [2, -0.1, math.nan, "a", True])
def test_invalid_thresholds(threshold):
    with pytest.raises(ValueError, match="threshold must be a number from 0 to 1, got"):
        rb.Reject(rb.Forgetron(), threshold=threshold)


@pytest.mark.parametrize("doubt", ["margin", ["x"], None])
def test_invalid_kinds_of_doubt(doubt):
    with pytest.raises(ValueError, match="doubt must be one of"):
        rb.Reject(rb.Forgetron(), doubt=doubt)


class Told(base.Classifier):
    """It knows two labels, and is as doubtful as the example says: the entropy is near the number."""

    def learn_one(self, x, y, w=1.0):
        pass

    def predict_proba_one(self, x):
        return {"a": 1 - 0.5 * x["p"], "b": 0.5 * x["p"]}


def rejected_of(numbers, share):
    """Return whether each number of a stream was rejected, before it was learned."""
    model = rb.Reject(Told(), doubt="entropy", share=share)
    is_rejected = []
    for p in numbers.tolist():
        is_rejected.append(model.predict_one({"p": p}) is None)
        model.learn_one({"p": p}, "a")
    return np.array(is_rejected)


UNIFORM = np.random.default_rng(0).uniform(size=9_000)
DRIFT = {
    "none": UNIFORM,
    "tiny numbers": 1e-3 * UNIFORM,
    "trend": 0.6 * UNIFORM + np.linspace(0.0, 0.4, 9_000),
    "jumps": UNIFORM * np.repeat([0.6, 0.2, 1.0], 3_000),
    "half of them are equal": np.where(UNIFORM < 0.5, 0.0, UNIFORM),
}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("numbers", DRIFT.values(), ids=DRIFT)
def test_the_share_of_rejected_examples_stays_through_drift(numbers, share):
    is_rejected = rejected_of(numbers, share)
    assert is_rejected.mean() == pytest.approx(share, rel=0.3)
    # The last ones come long after the last jump.
    assert is_rejected[-500:].mean() == pytest.approx(share, rel=0.4)


def test_a_jump_is_followed_where_a_fixed_threshold_would_reject_most():
    numbers = np.concatenate([0.2 * UNIFORM[:2000], 0.5 + 0.2 * UNIFORM[:2000]])
    is_rejected = rejected_of(numbers, 0.05)
    assert is_rejected[2000:2100].mean() > 0.5
    assert is_rejected[3000:].mean() < 0.1


REJECTING = {
    "novelty": lambda: rb.Reject(rb.Forgetron(rb.RBF(gamma=1.0)), share=0.1),
    "novelty of KernelLDA": lambda: rb.Reject(rb.KernelLDA(20), share=0.1),
    "novelty of a calibrated Mnemotron": lambda: rb.Reject(
        rb.Calibrated(rb.Mnemotron(budget=5)), share=0.1
    ),
    "entropy": lambda: rb.Reject(
        rb.Calibrated(rb.Forgetron(rb.RBF(gamma=1.0))), doubt="entropy", share=0.1
    ),
    "around a pipeline": lambda: rb.Reject(
        preprocessing.StandardScaler() | rb.KernelLDA(20), share=0.1
    ),
    "in a pipeline": lambda: (
        preprocessing.StandardScaler() | rb.Reject(rb.KernelLDA(20), share=0.1, doubt="entropy")
    ),
}
each_rejecting = pytest.mark.parametrize("make", REJECTING.values(), ids=REJECTING)
ROWS = [({"a": math.sin(i), "b": math.cos(3 * i)}, "xyz"[i % 3]) for i in range(120)]


def learned(model, rows=ROWS):
    for x, y in rows:
        model.learn_one(x, y)
    return model


@each_rejecting
def test_copies_and_checkpoints_go_on_with_the_learned_threshold(make):
    model = learned(make(), ROWS[:60])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    others = [loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    expected = Chain(learned(model, ROWS[60:])).last
    assert 0 < expected.current_threshold < 1
    for other in others:
        found = Chain(learned(other, ROWS[60:])).last
        assert found._quantile == expected._quantile
        assert (found.threshold, found.share) == (None, 0.1)


@each_rejecting
def test_a_frame_is_learned_as_its_rows(make):
    rejecting = Chain(make()).last
    X = pd.DataFrame([x for x, _ in ROWS])
    batch = rejecting.clone()
    batch.learn_many(X, pd.Series([y for _, y in ROWS]))
    assert batch._quantile == learned(rejecting)._quantile
    assert batch.predict_proba_one(ROWS[0][0]) == rejecting.predict_proba_one(ROWS[0][0])


def test_a_frame_of_arrays_with_weights():
    model = rb.Reject(rb.KernelLDA(20, kernel=rb.RBF(0.5)), share=0.1)
    single = model.clone()
    vectors = np.random.default_rng(0).normal(size=(40, 6))
    labels, weights = [i % 2 for i in range(40)], [1.0, 0.0] * 20
    model.learn_many({"v": vectors}, labels, weights)
    for v, y, w in zip(vectors, labels, weights, strict=True):
        single.learn_one({"v": v}, y, w=w)
    # The examples of weight 0, which are those of a label, were not learned.
    assert model.model.classes == [0]
    assert model._quantile == single._quantile
    assert model._quantile.n == 19


@each_rejecting
def test_an_answer_is_learned_as_its_example(make):
    model = Chain(make()).last
    other = model.clone()
    for x, y in ROWS:
        model.learn(model.ask(x), y)
        other.learn_one(x, y)
    assert model._quantile == other._quantile


def test_only_examples_of_known_labels_move_the_threshold():
    model = rb.Reject(rb.KernelLDA(20, kernel=rb.RBF(1.0)), share=0.1)
    for i in range(10):
        model.learn_one({"a": float(i)}, i)
    assert (model._quantile.n, model.current_threshold) == (0, 1.0)
    model.learn_one({"a": 0.0}, 0)
    assert model._quantile.n == 1
    assert 0 < model.current_threshold < 1
    before = model._quantile
    for x, y in (({"a": math.inf}, 0), ({"a": 0.0}, None), ({"a": 0.0}, [1])):
        with pytest.raises(ValueError, match=r"feature|label"):
            model.learn_one(x, y)
    assert model._quantile == before


@pytest.mark.parametrize("share", [0, 1, -0.1, 0.0001, math.nan, "a", True])
def test_invalid_shares(share):
    with pytest.raises(ValueError, match=r"share must be a number from 0.001 to 0.5, got"):
        rb.Reject(rb.Forgetron(), share=share)


def test_a_threshold_and_a_share():
    with pytest.raises(ValueError, match="give a threshold or a share, and not both"):
        rb.Reject(rb.Forgetron(), threshold=0.5, share=0.05)
    assert rb.Reject(rb.Forgetron()).current_threshold == 0.5


@pytest.mark.parametrize(
    ("key", "value"), [("n", -1), ("value", 15.0), ("spread", math.nan), ("level", 3.0)]
)
def test_forged_thresholds(key, value):
    model = learned(rb.Reject(rb.Forgetron(), share=0.05))
    state = model.state()
    state["quantile"][key] = value
    with pytest.raises(ValueError, match=r".+"):
        model.clone().restore(state)
