"""What the sections `short` and `late` measure, on models and streams whose figures are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from constant import Constant

from benchmarks import late, picture, short, suite, tables
from benchmarks.ie_gp import IEGP
from river_budget.catalog import ALGORITHMS


def stream(*labels) -> list:
    return [({"place": float(i)}, label) for i, label in enumerate(labels)]


def test_the_figures_of_constant_probabilities():
    model = Constant({True: 0.25, False: 0.75})
    found = short.validated(model, stream(False, False, False, True), is_binary=True)
    assert found.accuracy == 75.0
    assert found.f1 == 0.0
    assert found.calibration_error == pytest.approx(0.0)
    assert found.log_loss == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4, abs=1e-5)


def test_f1_is_that_of_the_rarer_label_or_the_mean_over_labels():
    assert short.f1([True, False, False], [True, True, True], is_binary=True) == 0.5
    assert short.f1([True, True, False], [False, False, False], is_binary=True) == 0.5
    assert short.f1([True, True, False], [True, True, True], is_binary=True) == 0.0
    assert short.f1(["a", "b"], ["a", "a"], is_binary=False) == pytest.approx(1 / 3)


def test_an_unknown_label_has_the_smallest_probability():
    found = short.validated(Constant({}), stream(True), is_binary=False)
    assert found.log_loss == pytest.approx(-math.log(short.SMALLEST_PROBABILITY), abs=1e-5)
    assert found.accuracy == 0.0


def test_ranks_are_means_over_the_streams_that_all_models_have_and_ties_share_theirs():
    def row(**accuracies):
        return {name: {"accuracy": value} for name, value in accuracies.items()}

    found = {"x": row(a=90, b=80, c=90), "y": row(a=9, b=8, c=7), "z": row(a=1)}
    assert tables.ranks(found, ["a", "b", "c"]) == {"a": 1.25, "b": 2.5, "c": 2.25}


def test_every_class_is_measured_on_the_same_budget():
    for name, make in short.OURS.items():
        assert getattr(make(True), "budget", 100) in (100, None), name
    assert [*short.OURS] == [*ALGORITHMS]


@pytest.mark.parametrize("name", ["Phishing", "SEA, drift", "LED, drift (10)", "RarePositives"])
def test_streams_repeat_and_have_the_labels_they_promise(name):
    first, again = (suite.STREAMS[name](120) for _ in range(2))
    assert first == again
    assert len(first) == 120
    assert {type(y) for _, y in first} == ({bool} if name in suite.BINARY else {int})


def test_labels_in_runs_have_the_examples_of_the_stream_in_long_runs():
    examples = late.in_runs("Phishing", 400)
    original = {tuple(x.items()) for x, _ in suite.STREAMS["Phishing"](800)}
    assert {tuple(x.items()) for x, _ in examples} <= original
    labels = np.array([y for _, y in examples])
    n_runs = 1 + int((labels[1:] != labels[:-1]).sum())
    assert 400 / n_runs > 10


def test_a_label_that_is_late_is_not_known_before(monkeypatch):
    monkeypatch.setitem(late.READ, "alternating", lambda n: stream(*[True, False] * (n // 2)))

    class Last(Constant):
        def learn_one(self, x, y):
            self.probabilities = {y: 1.0}

    monkeypatch.setitem(late.MODELS, "last", lambda: Last({}))
    assert late.accuracy("alternating", "last", 0, 10) == 0.0
    assert late.accuracy("alternating", "last", 1, 10) == 80.0


def test_names_in_the_picture_keep_their_order_and_their_distance():
    places = picture.spread([0.9, 0.1, 0.11, 0.12])
    assert places[1] < places[2] < places[3] < places[0]
    assert min(np.diff(sorted(places))) >= picture.LEAST_DISTANCE - 1e-12


def test_random_features_learn_a_ring():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    labels = (np.square(X).sum(1) < 1.4).tolist()
    model, hits = IEGP(), []
    for (u, v), y in zip(X.tolist(), labels, strict=True):
        p = model.predict_proba_one({"u": u, "v": v})
        assert sum(p.values()) == pytest.approx(1.0)
        hits.append((p[True] > 0.5) == y)
        model.learn_one({"u": u, "v": v}, y)
    assert np.mean(hits[200:]) > 0.9
