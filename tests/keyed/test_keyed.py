from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import functools
import itertools
import json
import math
import random
import re

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from pipelines import PIPELINES, rows
from refusals import refuses
from river import linear_model, multiclass, preprocessing

import river_budget as rb
from river_budget import checkpoint, keyed
from river_budget.keyed import Event
from river_budget.testing.moments import interrupted

KERNEL = rb.RBF(gamma=0.5)
FACTORIES = {
    "Tightest": lambda: rb.TightestPerceptron(KERNEL, budget=5),
    "Randomized": lambda: rb.RandomizedBudgetPerceptron(KERNEL, budget=5, seed=3),
    "scaled": lambda: preprocessing.StandardScaler() | rb.Projectron(KERNEL, budget=5),
}
each_factory = pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)


def events_of(key, n=24):
    """Return events of a key, with labels that a linear model cannot learn."""
    rng = random.Random(key)
    points = [{"u": rng.gauss(0, 1), "v": rng.gauss(0, 1)} for _ in range(n)]
    return [Event(key, t, x, x["u"] * x["v"] > 0) for t, x in enumerate(points)]


def interleaved(streams, seed):
    """Return streams as one, each in its own order."""
    rng = random.Random(seed)
    left = [collections.deque(events) for events in streams]
    stream = []
    while left := [events for events in left if events]:
        stream.append(rng.choice(left).popleft())
    return stream


def fold(learner, stream, states=None):
    """Return the states after a stream, and the predictions, with `step` alone."""
    states = {} if states is None else states
    predictions = []
    for event in stream:
        states[event.key], prediction = learner.step(states.get(event.key), event)
        predictions.append(prediction)
    return states, predictions


def content(state):
    """Return the content of a state, whose header may be in any order."""
    size = int.from_bytes(state[:8], "little")
    return json.loads(state[8 : 8 + size]), state[8 + size :]


def contents(states):
    return {key: content(state) for key, state in states.items()}


@each_factory
def test_a_stream_of_keys_equals_one_loop_for_each_key(factory):
    streams = [events_of(key) for key in "ab"]
    states, predictions = fold(keyed.KeyedLearner(factory), interleaved(streams, seed=1))
    for events in streams:
        model, n_right = factory(), 0
        expected = []
        for t, event in enumerate(events, 1):
            y_pred = model.predict_one(event.x)
            model.learn_one(event.x, event.y)
            n_right += y_pred == event.y
            expected.append((event.seq, y_pred, t, n_right / t))
        key = events[0].key
        assert content(checkpoint.dumps(checkpoint.loads(states[key]))) == content(
            checkpoint.dumps(model)
        )
        assert [
            (p.seq, p.y_pred, p.n_seen, p.accuracy) for p in predictions if p.key == key
        ] == expected


@pytest.mark.slow
@each_factory
@hypothesis.given(flushed=st.sets(st.integers(0, 44)), max_live=st.integers(1, 4))
@hypothesis.settings(max_examples=3)
def test_serializing_at_any_time_changes_nothing(factory, flushed, max_live):
    learner = keyed.KeyedLearner(factory)
    stream = interleaved([events_of(key, 15) for key in "abc"], seed=2)
    expected, predictions = fold(learner, stream)
    states = {}
    cache = keyed.ModelCache(learner, states.get, states.__setitem__, max_live)
    for t, event in enumerate(stream):
        assert cache.advance(event) == predictions[t]
        if t in flushed:
            cache.flush()
            cache = keyed.ModelCache(learner, states.get, states.__setitem__, max_live)
    cache.flush()
    assert contents(states) == contents(expected)


def late(stream, seed):
    """Return a stream in which some labels come later, in another order than their events."""
    rng = random.Random(seed)
    result, waiting = [], []
    for event in stream:
        if rng.random() < 0.5:
            result.append(event)
        else:
            result.append(event._replace(y=None))
            waiting.append(event._replace(x=None))
        if rng.random() < 0.3:
            rng.shuffle(waiting)
            result += [waiting.pop() for _ in range(len(waiting) // 2)]
    return result + waiting


@pytest.mark.slow
@each_factory
@hypothesis.given(
    crashes=st.lists(st.tuples(st.integers(0, 55), st.integers(0, 20)), max_size=3),
    seed=st.integers(0, 5),
)
@hypothesis.settings(max_examples=2)
def test_a_crash_and_a_replay_make_the_same_models(factory, crashes, seed):
    learner = keyed.KeyedLearner(factory)
    stream = late(interleaved([events_of(key, 14) for key in "abc"], seed), seed)
    expected, _ = fold(learner, stream)
    states, start = {}, 0
    for crash, repeated in sorted(crashes):
        fold(learner, stream[start:crash], states)
        # The states are stored, but not the position in the stream.
        start = max(0, crash - repeated)
    fold(learner, stream[start:], states)
    assert contents(states) == contents(expected)


@pytest.mark.slow
@each_factory
def test_events_that_all_come_twice_are_learned_once(factory):
    learner = keyed.KeyedLearner(factory)
    stream = late(events_of("a"), seed=4)
    states, _ = fold(learner, [event for event in stream for _ in range(2)])
    assert contents(states) == contents(fold(learner, stream)[0])


# Of each key, and the event that brings the third one.
LABELS = {
    "two": ([False, True], 99),
    "texts": (["ham", "spam", "eggs"], 9),
    "mixed": ([1, -1, ("a", 2), 0.5, "x"], 12),
}


def events_of_many_labels(key, n=24):
    rng, (labels, third) = random.Random(key), LABELS[key]
    events = []
    for t in range(n):
        c = t % 2 if t < third else third % 2 + 2 if t == third else rng.randrange(len(labels))
        c = min(c, len(labels) - 1)
        x = {"u": rng.gauss(2 * math.cos(c), 1), "v": rng.gauss(2 * math.sin(c), 1)}
        events.append(Event(key, t, x, labels[c]))
    return events


MANY_LABELS = interleaved([events_of_many_labels(key) for key in LABELS], seed=3)


@each_factory
def test_each_key_has_labels_of_its_own(factory):
    states, predictions = fold(keyed.KeyedLearner(factory), MANY_LABELS)
    for key, (labels, _) in LABELS.items():
        model, expected = factory(), []
        for event in events_of_many_labels(key):
            expected.append((event.seq, model.predict_one(event.x), margin_of(model, event.x)))
            model.learn_one(event.x, event.y)
        assert [(p.seq, p.y_pred, p.margin) for p in predictions if p.key == key] == expected
        loaded = checkpoint.loads(states[key])
        assert set(base_of(loaded).classes) == set(labels)
        assert content(checkpoint.dumps(loaded)) == content(checkpoint.dumps(model))


def margin_of(model, x):
    *transformers, classifier = model.steps.values() if hasattr(model, "steps") else [model]
    for transformer in transformers:
        x = transformer.transform_one(x)
    if len(classifier.classes) <= 2:
        return classifier.decision_function_one(x)
    second, first = sorted(classifier.scores_one(x).values())[-2:]
    return (first - second) / 2


@pytest.mark.slow
@each_factory
@pytest.mark.parametrize("max_live", [1, 2])
def test_models_of_many_labels_are_evicted_and_return(factory, max_live):
    learner, states = keyed.KeyedLearner(factory), {}
    expected, predictions = fold(learner, MANY_LABELS)
    cache = keyed.ModelCache(learner, states.get, states.__setitem__, max_live)
    assert [cache.advance(event) for event in MANY_LABELS] == predictions
    cache.flush()
    assert contents(states) == contents(expected)


@pytest.mark.slow
@each_factory
def test_late_labels_may_be_new_ones(factory):
    """The order in which labels arrive is that in which they are learned."""
    learner = keyed.KeyedLearner(factory)
    stream = [event for event in late(MANY_LABELS, seed=2) for _ in range(2)]
    states, predictions = fold(learner, stream)
    live = {}
    assert list(keyed.run_local(stream, learner, live, max_live=1)) == predictions
    assert contents(live) == contents(states)
    for key, (labels, _) in LABELS.items():
        record = learner.deserialize(states[key])
        assert (record.n_seen, record.n_labelled, record.pending) == (24, 24, {})
        order = [event.y for event in stream if event.key == key and event.y is not None]
        model = base_of(record.model)
        assert model.n_rounds == 24
        assert set(model.classes) == set(labels)
        assert model.classes[2:] == list(dict.fromkeys(order))[2:]


def test_the_prediction_of_a_pending_event_may_be_any_label():
    learner = forgetrons()
    state, labels = None, ["a", ("b", 1), 2.5]
    for t in range(9):
        state, _ = learner.step(state, Event("a", t, {"u": 3.0 * (t % 3)}, labels[t % 3]))
    for t in range(3):
        state, answer = learner.step(state, Event("a", 9 + t, {"u": 3.0 * t}))
        assert answer.y_pred == labels[t]
    for t in range(3):
        state, answer = learner.step(state, Event("a", 9 + t, None, labels[t]))
    assert answer.accuracy == learner.deserialize(state).n_right / 12
    model, n_right = rb.Forgetron(KERNEL, budget=20), 0
    for t in range(12):
        n_right += model.predict_one({"u": 3.0 * (t % 3)}) == labels[t % 3]
        model.learn_one({"u": 3.0 * (t % 3)}, labels[t % 3])
    assert learner.deserialize(state).n_right == n_right


def test_a_model_in_the_place_of_the_factory():
    with pytest.raises(ValueError, match=r"got Forgetron [^:]*: write lambda: and the model"):
        keyed.KeyedLearner(rb.Forgetron())


def test_a_label_too_many_is_refused_and_changes_nothing():
    learner = keyed.KeyedLearner(
        lambda: preprocessing.StandardScaler() | rb.Forgetron(KERNEL, budget=9, max_classes=3)
    )
    state = None
    for t in range(6):
        state, _ = learner.step(state, Event("a", t, {"u": float(t)}, t % 3))
    with pytest.raises(ValueError, match="max_classes"):
        learner.step(state, Event("a", 6, {"u": 9.0}, "fourth"))
    keyed_model = learner.deserialize(state)
    with pytest.raises(ValueError, match="max_classes"):
        learner.advance(keyed_model, Event("a", 6, {"u": 9.0}, "fourth"))
    assert content(learner.serialize(keyed_model)) == content(state)


def forgetrons(**options):
    return keyed.KeyedLearner(lambda: rb.Forgetron(KERNEL, budget=20), **options)


@pytest.mark.parametrize(
    "label",
    [datetime.date(2026, 1, 2), np.datetime64("2026-01-02"), 2**1030, b"x", ("a", b"x")],
    ids=["date", "time", "number", "bytes", "tuple"],
)
@pytest.mark.parametrize(
    "factory",
    [lambda: rb.Forgetron(KERNEL), lambda: multiclass.OneVsRestClassifier(rb.Forgetron(KERNEL))],
)
def test_a_label_that_cannot_be_stored_is_refused_for_its_own_event(label, factory):
    learner, states = keyed.KeyedLearner(factory), {}
    cache = cache_over(states, learner)
    cache.advance(Event("a", 0, {"u": 1.0}, "x"))
    cache.advance(Event("a", 1, {"u": 1.0}))
    before = content(learner.serialize(cache._model("a")))
    for event in (Event("a", 2, {"u": 1.0}, label), Event("a", 1, None, label)):
        with pytest.raises(ValueError, match=r"the label.*cannot be stored"):
            cache.advance(event)
    assert content(learner.serialize(cache._model("a"))) == before
    cache.advance(Event("a", 2, {"u": 1.0}, "x"))
    cache.flush()
    assert cache.refused == {}
    assert learner.deserialize(states["a"]).n_seen == 3


def test_a_key_has_no_prediction_before_its_first_label():
    """As in `river-budget learn`."""
    events = [Event("a", 0, {"u": 1.0}), Event("a", 1, {"u": 1.0}, 0), Event("a", 2, {"u": 1.0}, 0)]
    learner = forgetrons()
    answers = list(keyed.run_local([*events, events[0]._replace(x=None, y=0)], learner))
    assert [answer.y_pred for answer in answers] == [None, None, 0, 0]
    assert [answer.accuracy for answer in answers] == [None, 0.0, 0.5, 1 / 3]


@pytest.mark.parametrize("event", [{"key": "a", "seq": 0}, ("a", 0), None])
def test_what_is_no_event_is_refused(event):
    with pytest.raises(ValueError, match=r"expected a keyed\.Event, got"):
        forgetrons().step(None, event)


def test_a_late_label_counts_for_the_prediction_that_its_event_had():
    learner = forgetrons()
    state, _ = learner.step(None, Event("a", 0, {"u": 1.0}, y=True))
    state, first = learner.step(state, Event("a", 1, {"u": 1.0}))
    state, _ = learner.step(state, Event("a", 2, {"u": -1.0}, y=False))
    state, answer = learner.step(state, Event("a", 1, None, y=True))
    assert first.y_pred is True
    # The first prediction had no example to learn from, and the third only a positive one.
    assert (answer.n_seen, answer.accuracy) == (3, 1 / 3)
    model = checkpoint.loads(state)
    assert model.n_rounds == 3


def test_a_label_whose_event_is_not_known_is_not_learned():
    learner = forgetrons()
    state, _ = learner.step(None, Event("a", 5, {"u": 1.0}, y=True))
    after, answer = learner.step(state, Event("a", 3, None, y=False))
    assert content(after) == content(state)
    assert (answer.y_pred, answer.margin, answer.n_seen) == (None, None, 1)


def test_the_event_that_has_waited_longest_for_its_label_is_forgotten():
    learner = forgetrons(max_pending=2)
    state = None
    for t in range(3):
        state, _ = learner.step(state, Event("a", t, {"u": float(t)}))
    state, forgotten = learner.step(state, Event("a", 0, None, y=True))
    state, _ = learner.step(state, Event("a", 1, None, y=True))
    state, _ = learner.step(state, Event("a", 2, None, y=False))
    assert forgotten.margin is None
    assert checkpoint.loads(state).n_rounds == 2


def test_a_late_label_is_learned_with_the_features_of_its_event():
    """A source may use one dict, or one array, for all its events."""
    learner, live = forgetrons(), forgetrons().deserialize(None)
    x, e = {"u": 1.0}, np.ones(2)
    for seq in range(2):
        x["u"], e[:] = float(seq), seq
        learner.advance(live, Event("a", seq, x | {"e": e} if seq else x))
    x["u"], e[:] = 7.0, 7.0
    assert [x["u"] for x, *_ in live.pending.values()] == [0.0, 1.0]
    assert live.pending[1][0]["e"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [np.float32(1.5), None, "red"], ids=repr)
def test_features_that_wait_for_a_label_can_be_stored(value):
    learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=5))
    state, _ = learner.step(None, Event("a", 0, {"u": value, "v": 1.0}))
    ((x, *_),) = learner.deserialize(state).pending.values()
    assert x == {"u": value, "v": 1.0}
    learner.step(state, Event("a", 0, y=True))


@pytest.mark.parametrize("value", [decimal.Decimal("1.5"), fractions.Fraction(3, 2), pd.NA])
def test_features_that_cannot_be_stored_are_refused(value):
    learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=5))
    for y in (None, True):
        with pytest.raises(ValueError, match=r"the features: \w+ cannot be stored"):
            learner.step(None, Event("a", 0, {"u": value, "v": 1.0}, y))


@pytest.mark.parametrize("name", [b"u", datetime.date(2026, 1, 1), frozenset([b"u"])])
@pytest.mark.parametrize("y", [None, True])
def test_names_that_cannot_be_stored_are_refused(name, y):
    learner = forgetrons()
    live = learner.deserialize(None)
    with pytest.raises(ValueError, match="cannot be stored"):
        learner.advance(live, Event("a", 0, {name: 1.0}, y))
    assert learner.serialize(live) == learner.serialize(learner.deserialize(None))


def test_a_late_label_needs_no_features():
    learner = forgetrons()
    state, _ = learner.step(None, Event("a", 0, {"u": 1.0}))
    state, answer = learner.step(state, Event("a", 0, y=True))
    assert (answer.n_seen, checkpoint.loads(state).n_rounds) == (1, 1)


@pytest.mark.parametrize("seq", [10**9, 2**53, 2**62, 10**400])
def test_a_number_that_jumps_too_far_is_refused_and_freezes_no_key(seq):
    learner = forgetrons()
    for state in [None, learner.step(None, Event("a", 0, {"u": 1.0}, True))[0]]:
        with pytest.raises(ValueError, match=r"comes after event (-1|0), .* max_jump=1000000000"):
            learner.step(state, Event("a", seq + 1, {"u": 1.0}, True))
    state, answer = learner.step(state, Event("a", 1, {"u": 1.0}, True))
    assert answer.n_seen == 2


def test_numbers_may_jump_as_far_as_the_learner_allows():
    learner = forgetrons(max_jump=2 * 10**18)
    state, _ = learner.step(None, Event("a", 1_790_000_000_000_000_000, {"u": 1.0}, True))
    assert learner.step(state, Event("a", 1_790_000_000_000_000_001, {"u": 1.0}))[1].n_seen == 2
    with pytest.raises(ValueError, match="max_jump"):
        forgetrons(max_jump=10**30).step(None, Event("a", 2**62, {"u": 1.0}))


@pytest.mark.parametrize("seq", [1.0, "1", True, None, math.nan])
def test_a_number_that_is_no_integer_is_refused(seq):
    with pytest.raises(ValueError, match=r"seq is .*: expected a whole number"):
        forgetrons().step(None, Event("a", seq, {"u": 1.0}, True))


def test_numbers_of_numpy_are_integers():
    state, _ = forgetrons().step(None, Event("a", np.int64(0), {"u": 1.0}))
    state, answer = forgetrons().step(state, Event("a", np.int64(1), {"u": 1.0}, True))
    assert answer.n_seen == 2


def labels_of(examples, model):
    """Return examples with labels that a model learns: those of many classes for one that can."""
    many = base_of(model)._multiclass
    return [(x, "abc"[t % 3] if many else y) for t, (x, y) in enumerate(examples)]


@pytest.mark.slow
@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_any_model_that_can_be_stored_runs_for_each_key(make):
    learner = keyed.KeyedLearner(make)
    examples = labels_of(rows(9), make())
    stream = [Event(key, t, x, y) for t, (x, y) in enumerate(examples) for key in "ab"]
    states, predictions = fold(learner, late(stream, seed=2))
    cached = {}
    assert list(keyed.run_local(late(stream, seed=2), learner, cached, 1)) == predictions
    assert contents(cached) == contents(states)
    model = learner.deserialize(states["a"])
    assert (model.n_seen, model.n_labelled) == (9, 9)
    has_margin = hasattr(base_of(make()), "decision_function_one")
    assert {type(p.margin) for p in predictions} == {float if has_margin else type(None)}


def base_of(model):
    return list(model.steps.values())[-1] if hasattr(model, "steps") else model


CHANGES = [
    ({"u": math.nan}, True), ({"new": math.inf}, True), ({"new": 1e200}, True), ({"u": None}, True),
    ({"v": 3j}, True), ({}, math.nan), ({}, [1]), ({"new": ["a", 3]}, False),
]  # fmt: skip


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_what_one_part_would_refuse_changes_no_other(make):
    learner = keyed.KeyedLearner(make)
    examples = labels_of(rows(6), make())
    (first, _), *_ = examples
    states, _ = fold(learner, [Event("a", t, *example) for t, example in enumerate(examples)])
    before, live = contents(states), learner.deserialize(states["a"])
    for x, y in CHANGES:
        event = Event("a", 6, {**first, **x}, y)
        refuses(r"feature|label", functools.partial(learner.step, states["a"]), event)
        assert contents(states) == before
        refuses(r"feature|label", functools.partial(learner.advance, live), event)
        assert content(learner.serialize(live)) == before["a"]


REFUSED = {
    "texts": (lambda: linear_model.LogisticRegression(), {"u": "red"}, True, "OneHotEncoder"),
    "no field": (lambda: PIPELINES["TFIDF"](), {"u": 1.0}, True, "KeyError.*text"),
    "no norm": (lambda: PIPELINES["Normalizer"](), {"u": 0.0, "v": 0, "w": 0.0}, True, "division"),
    "a text to scale": (
        lambda: PIPELINES["StandardScaler"](), {"u": "red", "v": 1.0, "w": 1.0}, True, "encode texts first",
    ),
    "no truth value": (
        lambda: linear_model.LogisticRegression(), {"u": 1.0}, "yes",
        "'yes' is neither False nor True.*OneVsRest",
    ),
    "no label": (
        lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()), {"u": 1.0}, [],
        "expected a class",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_model_cannot_take_is_a_value_error(name):
    make, x, y, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        keyed.KeyedLearner(make).step(None, Event("a", 0, x, y))


@pytest.mark.parametrize("wrap", [rb.Calibrated, multiclass.OneVsRestClassifier])
def test_a_wrapper_takes_the_features_that_its_model_takes(wrap):
    learner = keyed.KeyedLearner(lambda: wrap(rb.Forgetron(budget=5)))
    state, _ = learner.step(None, Event("a", 0, {"u": "red", "v": None}, True))
    assert learner.step(state, Event("a", 1, {"u": "red", "v": 1.0}))[1].n_seen == 2


def test_a_wrapper_refuses_the_labels_that_its_model_refuses():
    learner = keyed.KeyedLearner(
        lambda: preprocessing.StandardScaler() | rb.Calibrated(rb.Forgetron(max_classes=2))
    )
    state, _ = fold(learner, [Event("a", t, {"u": float(t)}, t) for t in range(2)])
    live = learner.deserialize(state["a"])
    with pytest.raises(ValueError, match="max_classes"):
        learner.advance(live, Event("a", 2, {"u": 9.0}, 2))
    assert content(learner.serialize(live)) == content(state["a"])


def test_a_new_feature_is_learned_behind_a_min_max_scaler():
    learner = keyed.KeyedLearner(lambda: preprocessing.MinMaxScaler() | rb.Forgetron(KERNEL))
    state = None
    for t in range(6):
        x = {"u": float(t)} if t < 3 else {"u": float(t), "new": float(t)}
        state, answer = learner.step(state, Event("a", t, x, t % 2 == 0))
    assert answer.n_seen == 6


@pytest.mark.parametrize("x", [[], "x", 1.0])
def test_features_that_are_no_dict_are_refused_as_such(x):
    learner = keyed.KeyedLearner(linear_model.LogisticRegression)
    with pytest.raises(ValueError, match="x must be a dict of features"):
        learner.step(None, Event("a", 0, x, y=True))


def test_a_transformer_is_no_classifier():
    with pytest.raises(ValueError, match=r"must return a classifier, .*got StandardScaler"):
        keyed.KeyedLearner(preprocessing.StandardScaler)
    with pytest.raises(ValueError, match="got FeatureHasher"):
        keyed.KeyedLearner(lambda: preprocessing.FeatureHasher(seed=1))


def test_what_cannot_be_stored_is_named_when_the_learner_is_made():
    with pytest.raises(checkpoint.CheckpointError, match="RobustScaler cannot be stored"):
        keyed.KeyedLearner(lambda: preprocessing.RobustScaler() | rb.Forgetron())


@pytest.mark.parametrize(
    "other",
    [
        lambda: rb.Stoptron(KERNEL, budget=5),
        lambda: preprocessing.StandardScaler() | rb.Forgetron(KERNEL, budget=5),
        lambda: multiclass.OneVsRestClassifier(rb.Forgetron(KERNEL, budget=5)),
    ],
    ids=["class", "pipeline", "many classes"],
)
def test_the_state_of_another_class_is_refused(other):
    states, _ = fold(keyed.KeyedLearner(other), events_of("a"))
    with pytest.raises(checkpoint.CheckpointError, match="but the factory returns a Forgetron"):
        forgetrons().step(states["a"], Event("a", 24, {"u": 1.0}))
    budget = keyed.KeyedLearner(lambda: rb.Forgetron(KERNEL, budget=9))
    states, _ = fold(budget, events_of("a"))
    assert forgetrons().step(states["a"], Event("a", 24, {"u": 1.0}))[1].n_seen == 25


@pytest.mark.parametrize(
    "forged",
    [
        {"n_seen": 10**400},
        {"n_seen": -1},
        {"n_right": 5},
        {"last_seq": 10**400},
        {"last_seq": 1.5},
        {"last_seq": -2},
        {"last_seq": True},
        {"pending": [1]},
        {"pending": {0: (None, True)}},
        {"pending": {0: 7}},
    ],
    ids=lambda forged: str(forged)[:30],
)
def test_a_forged_record_is_refused(forged):
    learner = forgetrons()
    live = learner.deserialize(fold(learner, events_of("a", 3))[0]["a"])
    with pytest.raises(checkpoint.CheckpointError):
        learner.deserialize(checkpoint.dumps(live.model, live.state() | forged))


def test_a_new_event_needs_features():
    with pytest.raises(ValueError, match="event 3 of 'ann' is new and has no features"):
        forgetrons().step(None, Event("ann", 3, None, y=True))


def test_an_invalid_state_is_refused():
    with pytest.raises(
        checkpoint.CheckpointError, match="this is no valid checkpoint: it is damaged"
    ):
        forgetrons().step(b"something else", Event("a", 0, {"u": 1.0}))


@each_factory
@pytest.mark.parametrize(
    ("x", "y"),
    [({"u": 1.0}, [1]), ({"u": float("nan")}, True), (None, True)],
    ids=["no label", "nan", "no features"],
)
def test_a_refused_event_changes_nothing(factory, x, y):
    learner = keyed.KeyedLearner(factory)
    states, _ = fold(learner, events_of("a"))
    before = dict(states)
    cache = keyed.ModelCache(learner, states.get, states.__setitem__)
    with pytest.raises(ValueError, match=r"label is|nan|no features"):
        cache.advance(Event("a", 24, x, y))
    cache.advance(Event("a", 23, {"u": 1.0}))
    cache.flush()
    assert contents(states) == contents(before)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e200, "red", [1.0], None, 10**400])
def test_a_new_feature_that_is_no_number_does_not_reach_the_scaler(value):
    learner = keyed.KeyedLearner(lambda: preprocessing.StandardScaler() | rb.Forgetron(budget=5))
    states = {}
    cache = keyed.ModelCache(learner, states.get, states.__setitem__)
    for t in range(5):
        cache.advance(Event("a", t, {"u": float(t)}, t % 2 == 0))
    with pytest.raises(ValueError, match="feature 'new' has the value"):
        cache.advance(Event("a", 5, {"u": 1.0, "new": value}, True))
    cache.advance(Event("a", 5, {"u": 1.0, "new": 2.0}, True))
    cache.flush()
    assert learner.deserialize(states["a"]).n_seen == 6


def wide(seq):
    """Return an event whose features alone make a state of more than 20,000 bytes."""
    return Event("wide", seq, {f"feature-{j}": 1.0 for j in range(3000)}, True)


def narrow(key, seq=0):
    return Event(key, seq, {"u": 1.0}, True)


def cache_over(states, learner, max_live=3):
    return keyed.ModelCache(learner, states.get, states.__setitem__, max_live)


def test_a_model_that_is_too_large_to_evict_refuses_no_other_key_and_does_not_stay_live():
    cache = cache_over({}, forgetrons(max_state_bytes=20_000))
    cache.advance(wide(0))
    for i in range(200):
        assert cache.advance(narrow(f"key-{i}")).n_seen == 1
        assert len(cache) <= 3
    assert list(cache.refused) == ["wide"]


@pytest.mark.parametrize("max_live", [1, 100], ids=["evicted", "flushed"])
def test_a_model_that_is_too_large_is_dropped_and_its_stored_state_stays(max_live):
    states = {}
    cache = cache_over(states, forgetrons(max_state_bytes=20_000), max_live)
    cache.advance(narrow("wide"))
    cache.flush()
    stored = states["wide"]
    cache.advance(wide(1))
    cache.advance(narrow("other"))
    cache.flush()
    assert len(cache) == 1
    for seq in (2, -1):
        with pytest.raises(ValueError, match=r"model of 'wide': .*20,000 are allowed: .*would fit"):
            cache.advance(narrow("wide", seq))
    cache.flush()
    assert states["wide"] == stored


def test_a_refused_key_that_is_allowed_again_continues_from_its_stored_state():
    cache = cache_over({}, forgetrons(max_state_bytes=20_000))
    cache.advance(narrow("wide"))
    cache.flush()
    cache.advance(wide(1))
    cache.flush()
    del cache.refused["wide"]
    assert cache.advance(narrow("wide", 1)).n_seen == 2


@pytest.mark.parametrize("max_live", [3, 1000], ids=["evicted", "flushed"])
def test_run_local_serves_all_other_keys_and_names_the_refused_ones_at_the_end(max_live):
    ordinary = [f"key-{i}" for i in range(200)]
    events = [wide(0), wide(0)._replace(key="too"), *(narrow(key) for key in ordinary)]
    learner = forgetrons(max_state_bytes=20_000)
    states = {}
    predictions = keyed.run_local(events, learner, states, max_live)
    served = [prediction.key for prediction in itertools.islice(predictions, len(events))]
    with pytest.raises(ValueError, match=r"'wide', 'too'.*20,000 are allowed"):
        next(predictions)
    assert served == ["wide", "too", *ordinary]
    assert sorted(states) == sorted(ordinary)


def test_run_local_stops_at_an_event_of_a_refused_key():
    events = [wide(0), narrow("a"), wide(1), narrow("b")]
    states, learner = {}, forgetrons(max_state_bytes=20_000)
    with pytest.raises(ValueError, match=r"model of 'wide': .*20,000 are allowed"):
        list(keyed.run_local(events, learner, states, max_live=1))
    assert sorted(states) == ["a"]


class UnreliableStates(dict):
    """States that cannot be written while `fails` is set."""

    fails = False

    def __setitem__(self, key, state):
        if self.fails:
            raise OSError("the disk is full")
        super().__setitem__(key, state)


def test_a_write_that_fails_loses_nothing():
    learner = forgetrons()
    stream = interleaved([events_of(key) for key in "abcde"], seed=5)
    expected, predictions = fold(learner, stream)
    states = UnreliableStates()
    cache = cache_over(states, learner, max_live=2)
    n_failed = 0
    for event, prediction in zip(stream, predictions, strict=True):
        states.fails = True
        try:
            answer = cache.advance(event)
        except OSError:
            n_failed += 1
            assert len(cache) == 2
            states.fails = False
            answer = cache.advance(event)
        assert answer == prediction
    states.fails = True
    with pytest.raises(OSError, match="disk is full"):
        cache.flush()
    states.fails = False
    cache.flush()
    assert n_failed > 0
    assert contents(states) == contents(expected)


def test_what_was_learned_before_a_refused_event_is_stored():
    learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=5))
    states = {}
    events = [Event("a", 0, {"u": 1.0}, True), Event("a", 1, None)]
    with pytest.raises(ValueError, match="has no features"):
        list(keyed.run_local(events, learner, states))
    assert learner.deserialize(states["a"]).n_seen == 1


def test_a_negative_number_is_a_query():
    learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=5))
    state, _ = learner.step(None, Event("a", 0, {"u": 1.0}, True))
    after, prediction = learner.step(state, Event("a", -1, {"u": 1.0}, False))
    assert prediction.y_pred is True
    assert after == state


def noise(n_labels=2, n=150):
    rng = random.Random(1)
    for t in range(n):
        x = {f"feature-{j}": rng.gauss(0, 1) for j in range(10)}
        yield Event("a", t, x, None if t < 5 or t % 9 == 0 else t % n_labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "n_labels", "limit", "scaled"),
    [
        (rb.Forgetron, 2, 8000, False),
        (rb.TightestPerceptron, 2, 12_000, True),
        (rb.Projectron, 8, 8000, True),
        (rb.Stoptron, 8, 8000, False),
    ],
)
def test_a_state_that_is_too_large_names_a_budget_that_fits(algorithm, n_labels, limit, scaled):
    def learner(budget):
        def factory():
            model = algorithm(KERNEL, budget=budget)
            return preprocessing.StandardScaler() | model if scaled else model

        return keyed.KeyedLearner(factory, max_state_bytes=limit, max_pending=5)

    with pytest.raises(ValueError, match=f"and {limit:,} are allowed") as refused:
        fold(learner(1000), noise(n_labels))
    (named,) = re.findall(r"a budget of (\d+) would fit", str(refused.value))
    states, _ = fold(learner(int(named)), noise(n_labels))
    assert limit / 2 < len(states["a"]) <= limit


def test_a_model_without_a_budget_is_asked_to_have_one():
    learner = keyed.KeyedLearner(lambda: rb.KernelPerceptron(KERNEL), max_state_bytes=3000)
    with pytest.raises(ValueError, match="are allowed: use a model that has a budget"):
        fold(learner, noise())


def test_a_model_that_cannot_be_stored_is_refused_at_once():
    with pytest.raises(checkpoint.CheckpointError, match="FunctionKernel"):
        keyed.KeyedLearner(lambda: rb.Forgetron(rb.FunctionKernel(min)))


@pytest.mark.parametrize("name", ["max_state_bytes", "max_pending"])
def test_parameters_are_checked(name):
    with pytest.raises(ValueError, match=name):
        forgetrons(**{name: 0})


@pytest.mark.slow
@each_factory
@pytest.mark.parametrize("max_live", [2, 100])
def test_run_local_continues_from_its_states(factory, max_live):
    learner = keyed.KeyedLearner(factory)
    stream = late(interleaved([events_of(key, 14) for key in "abcde"], seed=3), seed=3)
    expected, predictions = fold(learner, stream)
    states = {}
    first = list(keyed.run_local(stream[:60], learner, states, max_live))
    second = list(keyed.run_local(stream[60:], learner, states, max_live))
    assert first + second == predictions
    assert contents(states) == contents(expected)


def test_only_what_has_changed_is_written():
    written = []
    learner = forgetrons()
    states, _ = fold(learner, [*events_of("a", 3), *events_of("b", 3)])
    cache = keyed.ModelCache(learner, states.get, lambda key, state: written.append(key))
    cache.advance(Event("a", 3, {"u": 1.0}, True))
    cache.flush()
    cache.flush()
    assert written == ["a"]


@pytest.mark.parametrize("wrap", [lambda model: model, rb.Calibrated], ids=["alone", "calibrated"])
def test_an_event_is_late_if_another_was_learned_since_it_was_predicted(wrap):
    learner = keyed.KeyedLearner(lambda: wrap(rb.Mnemotron(budget=10)))
    held = learner.deserialize(None)

    def n_counted():
        """Return how much the labels counted as hints to the next one."""
        model = getattr(held.model, "model", held.model)
        return model._f.repeats.state()["counts"][:, :22].sum()

    learner.advance(held, keyed.Event("a", 0, {"v": 1.0}, y="x"))
    learner.advance(held, keyed.Event("a", 1, {"v": 2.0}))
    learner.advance(held, keyed.Event("a", 1, y="x"))
    assert n_counted() == 1.0
    learner.advance(held, keyed.Event("a", 2, {"v": 1.5}))
    learner.advance(held, keyed.Event("a", 3, {"v": 2.5}))
    learner.advance(held, keyed.Event("a", 3, y="x"))
    assert n_counted() == 2.0
    learner.advance(held, keyed.Event("a", 2, y="x"))
    assert n_counted() == 2.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["with a label", "without a label", "late label"])
def test_an_interrupted_event_comes_again(kind):
    """It is learned once, also if the model is stored in between."""
    learner = keyed.KeyedLearner(FACTORIES["Tightest"], max_pending=2)
    unlabelled = [event._replace(y=None) for event in events_of("a", 11)[8:10]]
    states, _ = fold(learner, [*events_of("a", 8), *unlabelled])
    new = events_of("a", 11)[10]
    event = {
        "with a label": new, "without a label": new._replace(y=None),
        "late label": Event("a", 8, y=True),
    }[kind]  # fmt: skip
    expected, _ = fold(learner, [event], dict(states))

    def cache():
        stored = dict(states)
        live = keyed.ModelCache(learner, stored.get, stored.__setitem__)
        live.advance(Event("a", -1, new.x))  # A query loads the model.
        return stored, live

    for stored, live in interrupted(cache, lambda made: made[1].advance(event)):
        live.flush()
        again, _ = fold(learner, [event], stored)
        assert contents(again) == contents(expected)


@pytest.mark.parametrize("key", [[1], ("a", [1]), {"a": 1}])
def test_a_key_that_is_not_hashable_is_refused_by_name(key):
    learner = keyed.KeyedLearner(FACTORIES["Tightest"])
    cache = keyed.ModelCache(learner, {}.get, {}.__setitem__)
    with pytest.raises(ValueError, match=f"^the key {re.escape(repr(key))} is not hashable"):
        cache.advance(Event(key, 0, {"u": 1.0}))
    assert len(cache) == 0


def test_keys_and_numbers_without_a_text_are_in_no_error_of_python():
    """Python makes no text of an integer with so many digits."""
    huge = 10**5000
    learner = keyed.KeyedLearner(FACTORIES["Tightest"])
    [answer] = keyed.run_local([Event(huge, 0, {"u": 1.0})], learner)
    assert answer.key == huge
    for event, message in [
        (Event("a", huge, {"u": 1.0}), "event <int, too large to show> of 'a' comes after"),
        (Event(huge, 5), "event 5 of <int, too large to show> is new"),
    ]:
        with pytest.raises(ValueError, match=message):
            learner.step(None, event)
