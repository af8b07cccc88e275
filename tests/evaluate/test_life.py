from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import base, neighbors, preprocessing

import river_budget as rb
from river_budget import evaluate, synth

# Accuracies on three concepts after visits to 0, 1, 2, 0.
TOY = [
    [0.9, 0.4, 0.3],
    [0.6, 0.8, 0.5],
    [0.5, 0.7, 1.0],
    [0.8, 0.6, 0.7],
]


def life(accuracy, visits, **others):
    values = {
        "chance": np.full(len(accuracy[0]), 0.5), "wrong": np.zeros(10, bool), "drifts": (),
        "recovery_times": (), "support_sizes": np.zeros(0, int), "memory_bytes": 0,
        "microseconds_per_example": 1.0,
    }  # fmt: skip
    return evaluate.Life(visits=tuple(visits), accuracy=np.array(accuracy), **(values | others))


def test_each_concept_once_by_hand():
    toy = life(TOY[:3], [0, 1, 2])
    assert toy.average_accuracy == pytest.approx((0.5 + 0.7 + 1.0) / 3)
    assert toy.backward_transfer == pytest.approx(((0.5 - 0.9) + (0.7 - 0.8)) / 2)
    assert toy.forward_transfer == pytest.approx(((0.4 - 0.5) + (0.5 - 0.5)) / 2)
    assert toy.forgetting == pytest.approx(((0.9 - 0.5) + (0.8 - 0.7)) / 2)


def test_a_concept_that_comes_back_by_hand():
    toy = life(TOY, [0, 1, 2, 0])
    assert toy.average_accuracy == pytest.approx((0.8 + 0.6 + 0.7) / 3)
    assert toy.backward_transfer == pytest.approx(((0.6 - 0.8) + (0.7 - 1.0)) / 2)
    assert toy.forward_transfer == pytest.approx(((0.4 - 0.5) + (0.5 - 0.5)) / 2)
    assert toy.forgetting == pytest.approx(((0.8 - 0.6) + (1.0 - 0.7)) / 2)


def test_one_visit_transfers_nothing():
    toy = life([[0.9]], [0])
    assert toy.average_accuracy == 0.9
    for name in ["backward_transfer", "forward_transfer", "forgetting", "mean_recovery_time"]:
        assert np.isnan(getattr(toy, name))
        assert toy.to_dict()[name] is None


def test_no_recovery_counts_until_the_next_drift():
    toy = life(TOY[:3], [0, 1, 2], drifts=(3, 7), recovery_times=(None, 1))
    assert toy.mean_recovery_time == (4 + 1) / 2


def test_the_table():
    assert life(TOY[:2], [0, 1]).table().splitlines() == [
        "  after   on 0   on 1   on 2",
        "      0   90.0   40.0   30.0",
        "      1   60.0   80.0   50.0",
    ]


class Parrot(base.Classifier):
    """Predicts the label that it heard last."""

    def __init__(self):
        self._last = False

    def learn_one(self, x, y):
        self._last = y

    def predict_one(self, x):
        return self._last


def constant(label, n=100):
    return [({"t": t}, label) for t in range(n)]


def test_a_parrot_forgets_all():
    toy = evaluate.lifelong(
        Parrot(),
        [constant(True), constant(False)],
        visits=[0, 1, 0],
        n_learn=20,
        n_test=10,
        window=5,
    )
    assert toy.accuracy.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert np.flatnonzero(toy.wrong).tolist() == [0, 20, 40]
    assert toy.drifts == (20, 40)
    assert toy.recovery_times == (1, 1)
    assert (toy.backward_transfer, toy.forgetting) == (-1, 1)
    assert toy.chance.tolist() == [1, 1]
    assert toy.support_sizes.tolist() == []


def test_what_is_tested_on_is_never_learned():
    heard = []

    class Listener(Parrot):
        def learn_one(self, x, y):
            heard.append(x["t"])

    evaluate.lifelong(Listener(), [constant(True)], visits=[0, 0], n_learn=20, n_test=10)
    warm_up, life = heard[:10], heard[10:]
    assert warm_up == list(range(10))
    assert life == list(range(10, 50))


def test_the_model_is_cloned_and_pipelines_live():
    model = preprocessing.StandardScaler() | rb.Forgetron(budget=7)
    concepts = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    toy = evaluate.lifelong(model, concepts, n_learn=100, n_test=50)
    assert model["Forgetron"].n_rounds == 0
    assert toy.support_sizes.max() == 7
    assert 0 < toy.memory_bytes < 10_000
    assert json.loads(json.dumps(toy.to_dict()))["visits"] == [0, 1]


def test_any_classifier_of_river_lives():
    concepts = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    toy = evaluate.lifelong(neighbors.KNNClassifier(), concepts, n_learn=50, n_test=50)
    assert toy.memory_bytes > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"visits": []}, "visits must be at least one"),
        ({"visits": [0, 2]}, "visits has concept 2, but there are 1"),
        ({"n_learn": 0}, "n_learn"),
        ({"n_test": 0}, "n_test"),
        ({"window": 0}, "window"),
        ({"tolerance": -1}, "tolerance"),
        ({"n_learn": 95, "n_test": 10}, "concept 0 ended: 5 more examples were needed"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate.lifelong(Parrot(), [constant(True)], **options)


@pytest.mark.parametrize(
    ("after", "time"),
    [
        ([0, 0, 0, 0], 0),
        ([1, 0, 0, 0], 1),
        ([1, 1, 0, 1, 0, 0], 4),
        ([0, 1, 0, 1, 0, 1], None),
        ([0], None),
    ],
)
def test_recovery_from_a_constructed_drift(after, time):
    """The window of two has to be as good as the last two examples before the drift: no mistake."""
    before = [1, 1, 0, 0]
    assert evaluate.recovery_time(before + after, drift=4, window=2, tolerance=0.0) == time


def test_a_window_longer_than_what_is_left():
    wrong = [0] * 10 + [1, 0, 1, 0, 1]
    assert evaluate.recovery_time(wrong, drift=10, window=6) is None
    assert evaluate.recovery_time(wrong, drift=10, window=100) is None


@pytest.mark.parametrize(
    "options", [{"drift": 0}, {"drift": 3, "window": 0}, {"drift": 3, "tolerance": -1}]
)
def test_recovery_from_nothing(options):
    with pytest.raises(ValueError, match=list(options)[-1]):
        evaluate.recovery_time([0, 1, 0, 1], **options)


def test_recovery_within_a_tolerance():
    wrong = [0] * 10 + [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    assert evaluate.recovery_time(wrong, drift=10, window=4, tolerance=0.25) == 3
    assert evaluate.recovery_time(wrong, drift=10, window=4, tolerance=0.5) == 2


@given(st.lists(st.booleans(), min_size=20, max_size=60), st.integers(5, 15), st.integers(1, 8))
def test_recovery_is_the_first_window_that_is_good_enough(wrong, drift, window):
    time = evaluate.recovery_time(wrong, drift, window, tolerance=0.1)
    level = np.mean(wrong[max(0, drift - window) : drift]) + 0.1 + 1e-9
    after = wrong[drift:]
    good = [t for t in range(len(after) - window + 1) if np.mean(after[t : t + window]) <= level]
    assert time == (good[0] if good else None)
