"""The wrapper that predicts sets of labels."""

from __future__ import annotations

import copy
import math
import pickle
import random

import estimator_checks
import numpy as np
import pandas as pd
import pytest
from pipelines import PIPELINES, rows
from river import base, linear_model, multiclass, preprocessing, tree

import river_budget as rb
from river_budget import checkpoint, prediction_sets
from river_budget.keyed import Event, KeyedLearner

LABELS = "abc"


class Given(base.Classifier):
    """Has the probabilities that an example says, and learns nothing."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return max(x, key=x.get, default=None)

    def predict_proba_one(self, x):
        return dict(x)


def drawn(rng, labels=LABELS):
    """Return random probabilities, and a label that has them."""
    odds = [math.exp(2.0 * rng.gauss(0.0, 1.0)) for _ in labels]
    x = {label: each / sum(odds) for label, each in zip(labels, odds, strict=True)}
    return x, rng.choices(labels, odds)[0]


def learned(model, examples):
    for x, y in examples:
        model.learn_one(x, y)
    return model


def gaussians(n, seed=1):
    """Return examples of three Gaussians."""
    rng = random.Random(seed)
    for _ in range(n):
        c = rng.randrange(3)
        yield (
            {"u": rng.gauss(math.cos(2 * c), 0.6), "v": rng.gauss(math.sin(2 * c), 0.6)},
            LABELS[c],
        )


WRAPPED = {
    "Forgetron": rb.Forgetron(),
    "logistic": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    "tree": tree.HoeffdingTreeClassifier(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
def test_the_checks_of_river(name):
    estimator_checks.run(rb.PredictionSets(WRAPPED[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
def test_the_check_of_river_of_memory(name):
    estimator_checks.run_that_of_memory(rb.PredictionSets(WRAPPED[name]))


def test_two_rounds_by_hand():
    model, x = rb.PredictionSets(Given(), coverage=0.9), {"a": 0.8, "b": 0.2}
    # All estimates begin at the logit 0.
    assert model.threshold == 0.5
    assert model.predict_set_one(x) == {"a"}
    model.learn_one(x, "a")
    assert model.excess == pytest.approx(-0.1)
    # The score log 4 is above all estimates, so those at the level 0.1 become 0.1 * 0.02 and 0.1 * 0.1, with a
    # mean of 0.006; those at 0.25 have the mean 0.015. The level is 0.1 (1 + 0.1 / sqrt(4000 * 0.09)).
    level = 0.1 + 0.01 / math.sqrt(360)
    logit = 0.006 + (level - 0.1) / 0.15 * 0.009
    assert model.threshold == pytest.approx(1 / (1 + math.exp(-logit)), rel=1e-12)
    model.learn_one(x, "b")
    assert model.excess == pytest.approx(0.8)
    # The score -log 4 is below all estimates. They fall by 0.9 steps, after losses of 0.9 (estimate + log 4).
    slow, fast = math.exp(-0.9 * 0.002), math.exp(-0.9 * 0.010)
    share = 0.999 * slow / (slow + fast) + 0.0005
    at_tenth = share * (0.002 - 0.018) + (1 - share) * (0.010 - 0.090)
    # At the odds 1 / 90 the level is 1 / 91.
    first, fall = 1 / 91, 90 / 91
    slow, fast = math.exp(-fall * first * 0.02), math.exp(-fall * first * 0.1)
    share = 0.999 * slow / (slow + fast) + 0.0005
    moved = first - fall
    at_first = share * 0.02 * moved + (1 - share) * 0.1 * moved
    level = 0.1 * math.exp(-(0.8**2) / 360)
    logit = at_first + (level - first) / (0.1 - first) * (at_tenth - at_first)
    assert model.threshold == pytest.approx(1 / (1 + math.exp(-logit)), rel=1e-12)


class Plain:
    """The rule as arrays (levels, steps), in as few lines as possible."""

    STEPS = np.array([0.02, 0.1])

    def __init__(self, coverage):
        self.miss_rate, self.excess = 1 - coverage, 0.0
        self.firm = np.sqrt(4000 * coverage * self.miss_rate)
        odds = np.array([0.1, 1, 3]) * self.miss_rate / coverage
        self.levels = (odds / (1 + odds))[:, None]
        self.q, self.w = np.zeros((3, 2)), np.full((3, 2), 0.5)

    def threshold(self):
        relative = self.excess / self.firm
        level = self.miss_rate * (np.exp(-(relative**2)) if relative > 0 else 1 - relative)
        values = np.maximum.accumulate((self.w * self.q).sum(axis=1))
        logit = np.interp(level, self.levels[:, 0], values)
        logit -= 0.1 * np.sign(self.excess) * max(0, abs(self.excess) - 4 * self.firm)
        if abs(logit) >= 12:
            return 0.0 if logit < 0 else 2.0
        return 1 / (1 + np.exp(-logit))

    def learn(self, p_now, is_missed):
        score = np.log(p_now / (1 - p_now))
        below = score < self.q
        losses = np.where(
            below, (1 - self.levels) * (self.q - score), self.levels * (score - self.q)
        )
        odds = self.w * np.exp(-losses)
        self.w = 0.999 * odds / odds.sum(axis=1, keepdims=True) + 0.0005
        self.q = self.q + self.STEPS * (self.levels - below)
        self.excess += is_missed - self.miss_rate


@pytest.mark.parametrize(("coverage", "delay"), [(0.9, 0), (0.7, 30)])
def test_it_is_a_plain_second_implementation(coverage, delay):
    rng, model, plain = random.Random(1), rb.PredictionSets(Given(), coverage), Plain(coverage)
    waiting = []
    for t in range(600):
        x, y = drawn(rng)
        if t > 300:  # A concept whose labels the model finds improbable.
            y = min(x, key=x.get)
        assert model.threshold == pytest.approx(plain.threshold(), rel=1e-9)
        answer = model.ask(x)
        assert model.set_of(answer) == {label for label, p in x.items() if p >= plain.threshold()}
        waiting.append((answer, y, y not in model.set_of(answer)))
        if len(waiting) > delay:
            answer, y, is_missed = waiting.pop(0)
            model.learn(answer, y)
            plain.learn(answer.x[y], is_missed)


def bound(model):
    """Return how far the misses can be from the target: from there on, sets have all labels or none."""
    far = prediction_sets.FAR * model._firm
    return far + 2 * prediction_sets.LARGEST_ESTIMATE / prediction_sets.PUSH + 1


ADVERSARIES = {
    "against the set": lambda t, x, labels: min(set(x) - labels, default="a"),
    "for the set": lambda t, x, labels: min(labels, default="a"),
    "in turn": lambda t, x, labels: (
        min(set(x) - labels, default="a") if t // 500 % 2 else min(labels, default="a")
    ),
    "the least probable": lambda t, x, labels: min(x, key=x.get),
    "the most probable": lambda t, x, labels: max(x, key=x.get),
}


@pytest.mark.parametrize("kind", ["drawn", "the same", "certain"])
@pytest.mark.parametrize("adversary", ADVERSARIES.values(), ids=ADVERSARIES)
def test_the_long_run_coverage_on_adversarial_sequences(adversary, kind):
    rng, model = random.Random(1), rb.PredictionSets(Given(), coverage=0.5)
    n_missed, furthest = 0, 0.0
    for t in range(1500):
        x = drawn(rng)[0] if kind == "drawn" else {"a": 0.5, "b": 0.3, "c": 0.2}
        if kind == "certain":
            x = {"a": 1.0, "b": 0.0, "c": 0.0}
        labels = model.predict_set_one(x)
        y = adversary(t, x, labels)
        n_missed += y not in labels
        model.learn_one(x, y)
        furthest = max(furthest, abs(n_missed - 0.5 * (t + 1)))
    assert furthest <= bound(model)
    assert model.excess == pytest.approx(n_missed - 0.5 * 1500)


@pytest.mark.parametrize("adversary", ["against the set", "for the set", "in turn"])
def test_the_long_run_coverage_with_late_labels(adversary):
    delay, model, x = 60, rb.PredictionSets(Given(), coverage=0.5), {"a": 0.5, "b": 0.3, "c": 0.2}
    waiting, furthest = [], 0.0
    for t in range(1500):
        answer = model.ask(x)
        labels = model.set_of(answer)
        waiting.append((answer, ADVERSARIES[adversary](t, x, labels)))
        if len(waiting) > delay:
            model.learn(*waiting.pop(0))
        furthest = max(furthest, abs(model.excess))
    assert furthest <= bound(model) + delay


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_the_coverage_of_right_probabilities(coverage):
    rng, model = random.Random(2), rb.PredictionSets(Given(), coverage)
    metric = rb.metrics.SetCoverage()
    for _ in range(3000):
        x, y = drawn(rng)
        metric.update(y, model.predict_set_one(x))
        model.learn_one(x, y)
    assert metric.get() == pytest.approx(coverage, abs=0.01)


def test_equal_probabilities_need_no_randomness():
    """The model is certain, and right in 97 % of the rounds: one set in fourteen or so is empty."""
    rng, model, metric = random.Random(3), rb.PredictionSets(Given()), rb.metrics.SetCoverage()
    for _ in range(3000):
        x, y = {"a": 1.0, "b": 0.0}, "a" if rng.random() < 0.97 else "b"
        metric.update(y, model.predict_set_one(x))
        model.learn_one(x, y)
    assert metric.get() == pytest.approx(0.9, abs=0.01)


def test_a_late_label_is_compared_with_the_set_of_its_time():
    model, x = rb.PredictionSets(Given()), {"a": 0.45, "b": 0.55}
    answer, other = model.ask(x), model.ask(x)
    assert model.set_of(answer) == {"b"}
    learned(model, [(x, "a")] * 20)
    assert model.predict_set_one(x) == {"a", "b"}
    excess = model.excess
    model.learn(answer, "a")
    assert model.excess == pytest.approx(excess + 0.9)
    model.learn(pickle.loads(pickle.dumps(other)), "b")
    assert model.excess == pytest.approx(excess + 0.8)


def test_an_answer_of_the_model_inside_is_refused():
    model = rb.PredictionSets(rb.Forgetron())
    answer = model.model.ask({"u": 1.0})
    for act in (model.set_of, lambda answer: model.learn(answer, "a")):
        with pytest.raises(ValueError, match="ask the one with sets"):
            act(answer)


def test_an_unknown_label_is_a_miss_and_a_model_without_labels_counts_nothing():
    model = rb.PredictionSets(rb.Forgetron())
    assert model.predict_set_one({"u": 0.0}) == set()
    model.learn_one({"u": 0.0}, "a")
    assert model.excess == 0.0
    model.learn_one({"u": 1.0}, "b")
    assert model.excess == pytest.approx(0.9)


def test_predictions_are_those_of_the_model_alone():
    alone, model = rb.Mnemotron(budget=10), rb.PredictionSets(rb.Mnemotron(budget=10))
    for x, y in gaussians(60):
        assert model.predict_one(x) == alone.predict_one(x)
        assert model.predict_proba_one(x) == alone.predict_proba_one(x)
        assert model.ask(x).novelty == alone.ask(x).novelty
        for each in (model, alone):
            each.learn_one(x, y)


def test_a_predicted_set_marks_a_late_label_as_one():
    """Mnemotron learns from late labels in its own way, so it has to know of the prediction."""
    asked, plain = rb.PredictionSets(rb.Mnemotron(budget=5)), rb.Mnemotron(budget=5)
    examples = list(gaussians(60))
    for t in range(10, 60):
        asked.predict_set_one(examples[t][0])
        plain.predict_one(examples[t][0])
        for each in (asked, plain):
            each.learn_one(*examples[t - 10])
    assert asked.model.n_pending == plain.n_pending > 0
    assert asked.model.expert_weights == plain.expert_weights


@pytest.mark.parametrize(
    "make",
    [
        lambda: preprocessing.StandardScaler() | rb.Forgetron(budget=10),
        lambda: rb.Calibrated(rb.Forgetron(budget=10)),
        lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
        lambda: rb.PredictionSets(rb.Forgetron(budget=10)),
    ],
    ids=["pipeline", "Calibrated", "OneVsRest", "PredictionSets"],
)
def test_what_it_wraps(make):
    model, coverage = rb.PredictionSets(make()), rb.metrics.SetCoverage()
    for x, y in gaussians(500):
        coverage.update(y, model.predict_set_one(x))
        model.learn_one(x, y)
    assert coverage.get() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("value", [math.nan, 0.0, 1.0, math.inf])
def test_odd_probabilities_of_a_model(value):
    model = learned(rb.PredictionSets(Given()), [({"a": value, "b": value}, "a")] * 500)
    assert math.isfinite(model.excess)
    assert 0.0 <= model.threshold <= 2.0


@pytest.mark.parametrize(
    ("x", "y"), [({"u": math.inf}, "a"), ({"u": 1.0}, None), ({"u": 1.0}, ["a"])]
)
def test_a_refused_example_changes_nothing(x, y):
    model = learned(rb.PredictionSets(rb.Forgetron(budget=5)), gaussians(20))
    before = checkpoint.dumps(model)
    with pytest.raises(ValueError, match=r"'u'|label"):
        model.learn_one(x, y)
    assert checkpoint.dumps(model) == before


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1e-300, -0.1, 1.1, math.nan, "a", None])
def test_coverages_out_of_range(coverage):
    with pytest.raises(ValueError, match="coverage"):
        rb.PredictionSets(rb.Forgetron(), coverage)


@pytest.mark.parametrize("coverage", [prediction_sets.RAREST, 1 - prediction_sets.RAREST])
def test_the_most_extreme_coverages(coverage):
    model = learned(rb.PredictionSets(rb.Forgetron(budget=5), coverage), gaussians(50))
    assert 0.0 <= model.threshold <= 2.0
    assert math.isfinite(model.excess)


def test_only_classifiers_are_wrapped():
    with pytest.raises(ValueError, match="model must be a classifier"):
        rb.PredictionSets(preprocessing.StandardScaler())


def test_a_frame_is_learned_row_by_row():
    examples = list(gaussians(80))
    frame, y = pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples])
    many, one = (rb.PredictionSets(rb.Forgetron(budget=10)) for _ in range(2))
    many.learn_many(frame[:50], y[:50])
    many.learn_many({name: frame[name][50:].to_numpy() for name in frame}, y[50:])
    learned(one, examples)
    assert checkpoint.dumps(many) == checkpoint.dumps(one)
    with pytest.raises(ValueError, match="row 1: the label"):
        many.learn_many(frame[:2], ["a", None])


@pytest.mark.parametrize(
    "again",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: model.clone(include_attributes=True),
        lambda model: checkpoint.loads(checkpoint.dumps(model)),
    ],
    ids=["copy", "pickle", "clone", "checkpoint"],
)
def test_copies_go_on_on_their_own(again):
    model = learned(rb.PredictionSets(rb.Forgetron(budget=20)), gaussians(100))
    before = checkpoint.dumps(model)
    other = again(model)
    learned(other, gaussians(50, seed=2))
    assert checkpoint.dumps(model) == before
    learned(model, gaussians(50, seed=2))
    assert checkpoint.dumps(model) == checkpoint.dumps(other)
    assert model.threshold == other.threshold


def test_a_clone_has_learned_nothing():
    clone = learned(rb.PredictionSets(rb.Forgetron(), coverage=0.8), gaussians(50)).clone()
    assert (clone.coverage, clone.excess, clone.threshold) == (0.8, 0.0, 0.5)
    assert clone.predict_set_one({}) == set()


@pytest.mark.parametrize("name", ["StandardScaler", "LogisticRegression", "OneVsRestClassifier"])
def test_checkpoints_of_pipelines_go_on_bit_for_bit(name):
    model = learned(rb.PredictionSets(PIPELINES[name]()), rows(60))
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert checkpoint.outline(loaded) == f"PredictionSets({checkpoint.outline(model.model)})"
    for x, y in rows(60, seed=2):
        assert loaded.predict_set_one(x) == model.predict_set_one(x)
        learned(loaded, [(x, y)])
        learned(model, [(x, y)])
    assert checkpoint.dumps(loaded) == checkpoint.dumps(model)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("estimates", np.full((3, 2), 13.0)),
        ("estimates", np.full((3, 2), math.nan)),
        ("estimates", np.zeros((2, 2))),
        ("trust", np.array([0.5, 1.0, 0.5])),
        ("trust", np.array([0.5, 0.0, 0.5])),
        ("trust", np.full(2, 0.5)),
    ],
)
def test_forged_quantiles_are_refused(name, value):
    model = rb.PredictionSets(rb.Forgetron())
    state = model.state()
    state["quantiles"][name] = value
    with pytest.raises(ValueError, match=r"array|weight"):
        model.restore(state)


@pytest.mark.parametrize("excess", [1e300, -1e300, math.nan, 3])
def test_a_forged_excess_is_refused(excess):
    model = rb.PredictionSets(rb.Forgetron())
    with pytest.raises(ValueError, match="is not"):
        model.restore(model.state() | {"excess": excess})


def test_its_state_is_small_and_does_not_grow():
    model = learned(rb.PredictionSets(rb.Forgetron(budget=5)), gaussians(100))
    own = model.memory_bytes - model.model.memory_bytes
    saved = sum(array.nbytes for array in model.state()["quantiles"].values())
    learned(model, gaussians(500, seed=2))
    assert saved < 200
    assert model.memory_bytes - model.model.memory_bytes <= own < 2500


def test_a_key_keeps_the_set_of_an_event_until_its_label_comes():
    learner = KeyedLearner(lambda: rb.PredictionSets(rb.Forgetron(budget=5)))
    model, state = rb.PredictionSets(rb.Forgetron(budget=5)), None
    examples = list(gaussians(30))
    answers = []
    for t, (x, _) in enumerate(examples):
        state, _ = learner.step(state, Event("key", t, x))
        answers.append(model.ask(x))
        if t >= 5:
            y = examples[t - 5][1]
            state, _ = learner.step(state, Event("key", t - 5, None, y=y))
            model.learn(answers[t - 5], y)
    assert learner.deserialize(state).model.state()["excess"] == model.excess
