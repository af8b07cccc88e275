"""The wrapper around a classifier."""

from __future__ import annotations

import copy
import math
import pickle
import random

import estimator_checks
import numpy as np
import pytest
from pipelines import PIPELINES, rows
from river import (
    base,
    datasets,
    dummy,
    evaluate,
    forest,
    linear_model,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from river import metrics as river_metrics

import river_budget as rb
from river_budget import checkpoint, metrics, synth

KERNEL = rb.RBF(gamma=1.0)
LETTERS = "abcd"

# Models of this package and of River, as users wrap them.
MODELS = {
    "Forgetron": lambda: rb.Forgetron(budget=20),
    "Projectron++": lambda: rb.ProjectronPlusPlus(budget=20),
    "Mnemotron": lambda: rb.Mnemotron(budget=20),
    "a pipeline": lambda: preprocessing.StandardScaler() | rb.Forgetron(budget=20),
    "GaussianNB": naive_bayes.GaussianNB,
    "HoeffdingTree": tree.HoeffdingTreeClassifier,
    "ARF": lambda: forest.ARFClassifier(n_models=2, seed=1),
    "KNN": neighbors.KNNClassifier,
    "no probabilities before the first label": dummy.NoChangeClassifier,
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def stream(n, seed=1):
    return [
        ({str(name): value for name, value in x.items()}, y)
        for x, y in synth.TwoGaussians(n, seed=seed)
    ]


def many_labels(n, seed=1):
    """Return examples of four Gaussians whose labels are letters; the last comes late."""
    rng = random.Random(seed)
    examples = []
    for t in range(n):
        c = rng.randrange(4 if t > n // 2 else 3)
        x = {"u": rng.gauss(math.cos(2 * c), 0.6), "v": rng.gauss(math.sin(2 * c), 0.6)}
        examples.append((x, LETTERS[c]))
    return examples


def learned(model, examples):
    for x, y in examples:
        model.learn_one(x, y)
    return model


WRAPPED = {
    "Forgetron": rb.Forgetron(),
    "logistic": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    "tree": tree.HoeffdingTreeClassifier(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
def test_the_checks_of_river(name):
    estimator_checks.run(rb.Calibrated(WRAPPED[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
def test_the_check_of_river_of_memory(name):
    estimator_checks.run_that_of_memory(rb.Calibrated(WRAPPED[name]))


@each_model
def test_predictions_are_those_of_the_model_alone(make):
    alone, calibrated = make(), rb.Calibrated(make())
    for x, y in many_labels(60) if alone._multiclass else stream(60):
        assert calibrated.predict_one(x) == alone.predict_one(x)
        assert calibrated.predict_proba_one(x).keys() == alone.predict_proba_one(x).keys()
        alone.learn_one(x, y)
        calibrated.learn_one(x, y)


@each_model
def test_probabilities_are_finite_and_sum_to_one(make):
    calibrated = rb.Calibrated(make())
    for x, y in many_labels(60) if calibrated._multiclass else stream(60):
        calibrated.learn_one(x, y)
        p = calibrated.predict_proba_one(x)
        assert all(0.0 <= value <= 1.0 for value in p.values())
        assert sum(p.values()) == pytest.approx(1.0)


def test_it_learns_from_the_score_before_the_label():
    calibrated, model = rb.Calibrated(rb.KernelPerceptron(KERNEL)), rb.KernelPerceptron(KERNEL)
    by_hand = copy.deepcopy(calibrated.calibrator)
    for x, y in stream(50):
        scores = model.scores_one(x)
        top = max(scores.values(), default=0.0)
        gaps = {label: (top - score) / 2 for label, score in scores.items()}
        assert calibrated.predict_proba_one(x) == by_hand.probabilities(gaps)
        by_hand.learn(gaps, y)
        model.learn_one(x, y)
        calibrated.learn_one(x, y)


class Overconfident(base.Classifier):
    """Gives the logit 5 u, where 0.5 u is right, of three labels if there are as many features."""

    def learn_one(self, x, y):
        pass

    def predict_proba_one(self, x):
        odds = {label: math.exp(5 * u) for label, u in x.items()}
        return {label: value / sum(odds.values()) for label, value in odds.items()}


@pytest.mark.parametrize("labels", ["ab", "abcde"])
def test_an_overconfident_model_is_mended(labels):
    rng, model = random.Random(1), rb.Calibrated(Overconfident())
    raw, calibrated = metrics.CalibrationError(), metrics.CalibrationError()
    for _ in range(4000):
        x = {label: rng.gauss(0, 2) for label in labels}
        y = rng.choices(labels, [math.exp(0.5 * u) for u in x.values()])[0]
        raw.update(y, model.model.predict_proba_one(x))
        calibrated.update(y, model.predict_proba_one(x))
        model.learn_one(x, y)
    assert raw.get() > 0.2
    assert calibrated.get() < 0.03


class Constant(base.Classifier):
    """Gives two labels the same probabilities, whatever they are."""

    def __init__(self, p, q):
        self.p = p
        self.q = q

    def learn_one(self, x, y):
        pass

    def predict_proba_one(self, x):
        return {False: self.p, True: self.q}


@pytest.mark.parametrize(
    "probabilities", [(1.0, 0.0), (0.0, 0.0), (math.nan, math.nan), (0.0, math.inf)]
)
def test_odd_probabilities_of_a_model(probabilities):
    calibrated, rng = rb.Calibrated(Constant(*probabilities)), random.Random(1)
    for _ in range(1000):
        calibrated.learn_one({}, rng.random() < 0.3)
    assert calibrated.predict_proba_one({})[True] == pytest.approx(0.3, abs=0.1)


def test_huge_scores():
    calibrated = rb.Calibrated(rb.KernelPerceptron(rb.Linear()))
    rng = random.Random(1)
    for _ in range(1000):
        y = rng.random() < 0.5
        calibrated.learn_one({"u": rng.gauss(1e70 if y else -1e70, 1e70)}, y)
    assert calibrated.predict_proba_one({"u": 2e70})[True] > 0.8
    assert calibrated.predict_proba_one({"u": -2e70})[True] < 0.2


@pytest.mark.parametrize("label", [True, "a"])
def test_one_label_only(label):
    calibrated = learned(rb.Calibrated(rb.Forgetron()), [({"u": 1.0}, label)] * 50)
    assert calibrated.predict_proba_one({"u": 1.0})[label] > 0.9


@pytest.mark.parametrize(
    ("x", "y"), [({"u": math.inf}, True), ({"u": [1.0]}, True), ({"u": 1.0}, None)]
)
def test_a_refused_example_changes_nothing(x, y):
    calibrated = learned(
        rb.Calibrated(rb.Forgetron(budget=5)), [({"u": 1.0}, True), ({"u": 0.0}, False)]
    )
    before = checkpoint.dumps(calibrated)
    with pytest.raises(ValueError, match=r"'u'|label"):
        calibrated.learn_one(x, y)
    assert checkpoint.dumps(calibrated) == before


@pytest.mark.parametrize("model", [linear_model.LinearRegression(), preprocessing.StandardScaler()])
def test_only_classifiers_are_wrapped(model):
    with pytest.raises(ValueError, match="model must be a classifier"):
        rb.Calibrated(model)


class Weighted(dummy.PriorClassifier):
    """Keeps the weights that it is given."""

    def __init__(self):
        super().__init__()
        self.given = []

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y)
        self.given.append(w)


def test_weights_are_passed_to_the_model():
    calibrated = rb.Calibrated(Weighted())
    calibrated.learn_one({}, True, w=2.0)
    calibrated.learn_one({}, True)
    assert calibrated.model.given == [2.0, 1.0]


def test_in_a_pipeline_and_around_one():
    scaler = preprocessing.StandardScaler
    inside = scaler() | rb.Calibrated(rb.Forgetron(KERNEL, budget=50))
    around = rb.Calibrated(scaler() | rb.Forgetron(KERNEL, budget=50))
    alone = scaler() | rb.Forgetron(KERNEL, budget=50)

    def scores(model):
        pair = river_metrics.Accuracy() + metrics.CalibrationError()
        labels = evaluate.progressive_val_score(
            datasets.Bananas().take(2000), model, river_metrics.Accuracy()
        )
        errors = evaluate.progressive_val_score(datasets.Bananas().take(2000), model.clone(), pair)
        return labels.get(), errors[1].get()

    accuracy, error = scores(alone)
    for model in (inside, around):
        found = scores(model)
        assert found[0] == accuracy
        assert found[1] < 0.5 * error


def test_a_clone_has_learned_nothing():
    calibrated = learned(rb.Calibrated(rb.Forgetron()), stream(50))
    clone = calibrated.clone()
    assert clone.model is not calibrated.model
    assert clone.calibrator.weights == [1 / 2, 1 / 6, 1 / 6, 1 / 6]
    assert calibrated.calibrator.weights != clone.calibrator.weights


@each_model
def test_a_clone_with_all_attributes_is_an_equal_trained_copy(make):
    calibrated = rb.Calibrated(make())
    examples = many_labels(60) if calibrated._multiclass else stream(60)
    learned(calibrated, examples)
    clone = calibrated.clone(include_attributes=True)
    # A copy of River's KNN adds up in another order.
    before = [pytest.approx(calibrated.predict_proba_one(x)) for x, _ in examples]
    assert [clone.predict_proba_one(x) for x, _ in examples] == before
    learned(clone, examples)
    assert [calibrated.predict_proba_one(x) for x, _ in examples] == before


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_on_their_own(again):
    calibrated = learned(rb.Calibrated(rb.Forgetron(budget=20)), many_labels(100))
    other = again(calibrated)
    for x, y in many_labels(50, seed=2):
        assert other.predict_proba_one(x) == calibrated.predict_proba_one(x)
        other.learn_one(x, y)
        calibrated.learn_one(x, y)
    before = other.calibrator.state()
    learned(calibrated, many_labels(10))
    assert np.array_equal(other.calibrator.state()["maps"], before["maps"])


@pytest.mark.parametrize("name", ["StandardScaler", "LogisticRegression", "OneVsRestClassifier"])
def test_checkpoints_go_on_bit_for_bit(name):
    calibrated = learned(rb.Calibrated(PIPELINES[name]()), rows(60))
    loaded = checkpoint.loads(checkpoint.dumps(calibrated))
    assert checkpoint.outline(loaded) == checkpoint.outline(calibrated)
    for x, y in rows(60, seed=2):
        assert loaded.predict_proba_one(x) == calibrated.predict_proba_one(x)
        loaded.learn_one(x, y)
        calibrated.learn_one(x, y)
    assert checkpoint.dumps(loaded) == checkpoint.dumps(calibrated)


def test_a_calibrated_last_step_is_stored():
    model = preprocessing.StandardScaler() | rb.Calibrated(rb.TightestPerceptron(budget=5))
    learned(model, many_labels(60))
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.predict_proba_one({"u": 0.1, "v": 0.2}) == model.predict_proba_one(
        {"u": 0.1, "v": 0.2}
    )
    assert checkpoint.outline(model) == "StandardScaler | Calibrated(TightestPerceptron)"


def test_its_memory_does_not_grow_with_the_stream():
    calibrated = learned(rb.Calibrated(rb.Forgetron(budget=5)), stream(200))
    size, reported = len(pickle.dumps(calibrated.calibrator)), calibrated.calibrator.nbytes
    learned(calibrated, stream(2000, seed=2))
    assert len(pickle.dumps(calibrated.calibrator)) <= size + 8
    assert calibrated.calibrator.nbytes == reported


def test_its_memory_is_that_of_the_model_and_of_the_maps():
    calibrated = learned(rb.Calibrated(rb.Forgetron(budget=5)), many_labels(100))
    arrays = sum(a.nbytes for a in calibrated.calibrator.state().values() if hasattr(a, "nbytes"))
    assert calibrated.memory_bytes > calibrated.model.memory_bytes + arrays
    assert calibrated.memory_bytes < calibrated.model.memory_bytes + arrays + 5000


@pytest.mark.parametrize("is_learned", [False, True])
def test_the_maps_learn_what_the_model_has_learned_before_an_interrupt(is_learned, monkeypatch):
    examples = stream(30)
    model = learned(rb.Calibrated(rb.Forgetron(budget=5)), examples[:-1])
    expected, learn_one = copy.deepcopy(model), rb.Forgetron.learn_one
    learned(expected, examples[-1:] if is_learned else [])

    def interrupted(self, x, y):
        if is_learned:
            learn_one(self, x, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(rb.Forgetron, "learn_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(*examples[-1])
    assert checkpoint.dumps(model) == checkpoint.dumps(expected)


@pytest.mark.parametrize("delay", [0, 20])
def test_late_labels_leave_the_predictions_of_the_model_alone(delay):
    """Scoring an example just before it is learned must not look like a prediction in time."""
    rng, label, examples = random.Random(3), True, []
    for _ in range(400):
        label ^= rng.random() > 0.95
        examples.append(({"a": rng.gauss(1.0 if label else -1.0, 1.0)}, label))
    alone, inside = rb.Mnemotron(budget=10), rb.Calibrated(rb.Mnemotron(budget=10))
    for t in range(len(examples) + delay):
        if t < len(examples):
            assert inside.predict_one(examples[t][0]) == alone.predict_one(examples[t][0])
        if t >= delay:
            alone.learn_one(*examples[t - delay])
            inside.learn_one(*examples[t - delay])
    assert inside.model.expert_weights == alone.expert_weights
