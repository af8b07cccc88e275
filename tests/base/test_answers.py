"""What is learned follows from the sequence of learned examples alone; answers are learned later."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from algorithms import each_algorithm, each_class, each_path
from river import compose, preprocessing

import river_budget as rb
from river_budget import checkpoint, testing
from river_budget.rejection import Reject

WRAPPERS = {
    "calibrated": lambda model: rb.Calibrated(model),
    "with sets": lambda model: rb.PredictionSets(model),
    "rejecting": lambda model: Reject(model),
    "pipeline": lambda model: preprocessing.StandardScaler() | model,
    "both": lambda model: compose.Pipeline(preprocessing.StandardScaler(), rb.Calibrated(model)),
}


def stream(n, seed=1):
    """Yield examples with labels in runs of five, so that the last label is a hint."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        label = "abc"[t // 5 % 3]
        yield {"u": float(rng.normal(t // 5 % 3)), "v": float(rng.normal())}, label


def disturb(model, rng):
    """Return a model, or a copy of it, after questions and copies that should leave no trace."""
    other = {"u": rng.gauss(0.0, 1.0), "v": 1.0}
    inner = getattr(model, "model", model)
    for _ in range(rng.randrange(3)):
        rng.choice([model.predict_one, model.predict_proba_one])(other)
        if hasattr(inner, "novelty_one"):
            inner.novelty_one(other)
            inner.ask(other)
    copies = [
        lambda: model,
        lambda: copy.deepcopy(model),
        lambda: pickle.loads(pickle.dumps(model)),
        lambda: checkpoint.loads(checkpoint.dumps(model)),
    ]
    copied = rng.choice(copies)()
    checkpoint.dumps(model)
    return copied


@pytest.mark.slow
@each_algorithm
def test_copies_and_questions_change_nothing_that_is_learned(make):
    testing.check_disturbances(make(None), seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@each_path
def test_they_change_nothing_of_wrapped_models(make, wrap):
    model, undisturbed, rng = wrap(make(None)), wrap(make(None)), random.Random(1)
    for x, label in stream(90):
        for each in (model, undisturbed):
            each.predict_one(x)
        model = disturb(model, rng)
        for each in (model, undisturbed):
            each.learn_one(x, label)
    x, _ = next(stream(1, seed=2))
    assert model.predict_proba_one(x) == undisturbed.predict_proba_one(x)


@each_class
def test_learning_answers_is_learning_examples(make):
    testing.check_answers(make(None))


@each_path
def test_the_margin_of_an_answer(make):
    model = make(None)
    for x, label in stream(40):
        if len(model.classes) == 2:
            assert model.ask(x).margin == model.decision_function_one(x)
        model.learn_one(x, label)
    scores = sorted(model.scores_one(x).values())
    assert model.ask(x).margin == 0.5 * (scores[-1] - scores[-2])


def test_an_answer_keeps_its_example():
    model, x = rb.Forgetron(budget=5), {"u": 1.0, "array": np.ones(2)}
    answer = model.ask(x)
    x["u"], x["array"][:] = 5.0, 7.0
    model.learn(answer, "a")
    model.learn_one({"u": 0.0}, "b")
    first = model.support_vectors[0]
    assert first["u"] == 1.0
    assert first["array"].tolist() == [1.0, 1.0]


def test_an_answer_is_learned_once_by_its_model():
    model, other = rb.Forgetron(budget=5), rb.Forgetron(budget=5)
    answer = model.ask({"u": 1.0})
    with pytest.raises(ValueError, match="the answer is that of another model"):
        other.learn(answer, "a")
    with pytest.raises(ValueError, match="the label is None"):
        model.learn(answer, None)
    model.learn(answer, "a")
    with pytest.raises(ValueError, match="the answer was learned before: ask again"):
        model.learn(answer, "a")
    assert (model.n_rounds, other.n_rounds) == (1, 0)
    from_future = pickle.loads(pickle.dumps(model.ask({"u": 1.0})))
    with pytest.raises(ValueError, match="another model"):
        other.learn(from_future, "a")


def test_the_novelty_of_an_answer_is_that_of_its_time():
    model = rb.Forgetron(budget=5)
    answer = model.ask({"u": 1.0})
    model.learn_one({"u": 2.0}, "a")
    with pytest.raises(ValueError, match="is read before its model learns"):
        answer.novelty  # noqa: B018
