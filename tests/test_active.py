"""A wrapper that asks for labels."""

from __future__ import annotations

import copy

import pytest
from refusals import refuses
from river import active, datasets, preprocessing

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.active import BURST


def asked(model, stream, delay=0):
    """Return which rounds ask for a label, with answers that come some rounds late."""
    asks, waiting = [], []
    for t, (x, y) in enumerate(stream):
        if model.predict_one(x)[1]:
            asks.append(t)
            waiting.append((t, x, y))
        while waiting and waiting[0][0] + delay <= t:
            model.learn_one(*waiting.pop(0)[1:])
    return asks


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("delay", [0, 30])
def test_no_window_asks_for_more_labels_than_its_share(rate, delay):
    stream = synth.TwoGaussians(1500, seed=1)
    asks = asked(rb.active.Query(rb.Forgetron(budget=20), rate, seed=1), stream, delay)
    for first, start in enumerate(asks):
        for n, stop in enumerate(asks[first:], start=1):
            assert n <= rate * (stop - start + 1) + BURST + 1e-9
    assert len(asks) > 0.5 * rate * 1500


def test_nothing_is_asked_without_a_budget():
    assert asked(rb.active.Query(rb.Forgetron(), rate=0.0), synth.TwoGaussians(300, seed=1)) == []


def test_it_asks_where_the_model_is_in_doubt():
    model = rb.active.Query(rb.Mnemotron(budget=30), rate=0.1, seed=1)
    asks = set(asked(model, stream := list(synth.TwoGaussians(2000, flip=0.0, seed=1))))
    distances = [abs(x[0]) for x, _ in stream]
    mean = sum(distances) / len(distances)
    late = [t for t in asks if t > 500]
    assert sum(distances[t] for t in late) / len(late) < 0.6 * mean


def test_it_is_one_of_rivers():
    model = preprocessing.StandardScaler() | rb.Mnemotron(budget=10)
    query = rb.active.Query(model, seed=1)
    assert isinstance(query, active.base.ActiveLearningClassifier)
    assert query.predict_one({"a": 1.0}) == (None, True)
    query.learn_one({"a": 1.0}, "yes", w=2.0)
    assert query.predict_one({"a": 1.0})[0] == "yes"
    assert query.clone().predict_one({"a": 1.0}) == (None, True)


def test_a_copy_asks_the_same():
    stream = list(datasets.Phishing().take(300))
    model = rb.active.Query(rb.Forgetron(budget=20), 0.2, seed=3)
    asked(model, stream[:150])
    assert asked(copy.deepcopy(model), stream[150:]) == asked(model, stream[150:])


def test_a_loaded_one_goes_on_exactly():
    stream = list(datasets.Phishing().take(300))
    query = rb.active.Query(rb.Forgetron(budget=20), 0.2, seed=3)
    asked(query, stream[:150])
    loaded = checkpoint.loads(checkpoint.dumps(query))
    assert asked(loaded, stream[150:]) == asked(query, stream[150:])
    assert checkpoint.dumps(loaded) == checkpoint.dumps(query)


@pytest.mark.parametrize("rate", [-0.1, 1.1, "often"])
def test_a_rate_out_of_range(rate):
    refuses("rate", rb.active.Query, rb.Forgetron(), rate)


def test_a_model_that_is_no_classifier():
    refuses("model must be a classifier", rb.active.Query, preprocessing.StandardScaler())
