from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import dummy, neighbors, preprocessing

import river_budget as rb
from river_budget import evaluate, synth

# Accuracies on three tasks after learning the tasks 0, 1, 2, 0.
ACCURACIES = [
    [0.9, 0.4, 0.3],
    [0.6, 0.8, 0.5],
    [0.5, 0.7, 1.0],
    [0.8, 0.6, 0.7],
]


def run_with(accuracies, task_sequence, **others):
    values = {
        "task_sequence": tuple(task_sequence), "accuracy_matrix": np.array(accuracies),
        "chance_accuracy": np.full(len(accuracies[0]), 0.5), "wrong": np.zeros(10, bool),
        "drifts": (), "recovery_times": (), "support_sizes": np.zeros(0, int), "memory_bytes": 0,
        "microseconds_per_example": 1.0,
    }  # fmt: skip
    return evaluate.ContinualRun(**(values | others))


def test_each_task_once_by_hand():
    run = run_with(ACCURACIES[:3], [0, 1, 2])
    assert run.accuracy_final == pytest.approx((0.5 + 0.7 + 1.0) / 3)
    assert run.backward_transfer == pytest.approx(((0.5 - 0.9) + (0.7 - 0.8)) / 2)
    assert run.forward_transfer == pytest.approx(((0.4 - 0.5) + (0.5 - 0.5)) / 2)
    assert run.forgetting == pytest.approx(((0.9 - 0.5) + (0.8 - 0.7)) / 2)


def test_a_recurring_task_by_hand():
    run = run_with(ACCURACIES, [0, 1, 2, 0])
    assert run.accuracy_final == pytest.approx((0.8 + 0.6 + 0.7) / 3)
    assert run.backward_transfer == pytest.approx(((0.6 - 0.8) + (0.7 - 1.0)) / 2)
    assert run.forward_transfer == pytest.approx(((0.4 - 0.5) + (0.5 - 0.5)) / 2)
    assert run.forgetting == pytest.approx(((0.8 - 0.6) + (1.0 - 0.7)) / 2)


def test_one_task_has_no_transfer():
    run = run_with([[0.9]], [0])
    assert run.accuracy_final == 0.9
    for name in ["backward_transfer", "forward_transfer", "forgetting", "mean_recovery_time"]:
        assert np.isnan(getattr(run, name))
        assert run.to_dict()[name] is None


def test_without_recovery_the_time_until_the_next_drift_counts():
    run = run_with(ACCURACIES[:3], [0, 1, 2], drifts=(3, 7), recovery_times=(None, 1))
    assert run.mean_recovery_time == (4 + 1) / 2


def test_the_table():
    assert run_with(ACCURACIES[:2], [0, 1]).table().splitlines() == [
        "   after  task 0  task 1  task 2",
        "  task 0    90.0    40.0    30.0",
        "  task 1    60.0    80.0    50.0",
    ]


def constant(label, n=100):
    return [({"t": t}, label) for t in range(n)]


def test_a_model_that_predicts_the_last_label_forgets_everything():
    run = evaluate.lifelong(
        dummy.NoChangeClassifier(),
        [constant(True), constant(False)],
        task_sequence=[0, 1, 0],
        n_learn=20,
        n_test=10,
        window=5,
    )
    assert run.accuracy_matrix.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert np.flatnonzero(run.wrong).tolist() == [0, 20, 40]
    assert run.drifts == (20, 40)
    assert run.recovery_times == (1, 1)
    assert (run.backward_transfer, run.forgetting) == (-1, 1)
    assert run.chance_accuracy.tolist() == [1, 1]
    assert run.support_sizes.tolist() == []


def test_test_examples_are_never_learned():
    learned = []

    class Recorder(dummy.NoChangeClassifier):
        def learn_one(self, x, y):
            learned.append(x["t"])

    evaluate.lifelong(Recorder(), [constant(True)], task_sequence=[0, 0], n_learn=20, n_test=10)
    warm_up, run = learned[:10], learned[10:]
    assert warm_up == list(range(10))
    assert run == list(range(10, 50))


def test_pipelines_are_cloned_and_run():
    model = preprocessing.StandardScaler() | rb.Forgetron(budget=7)
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(model, tasks, n_learn=100, n_test=50)
    assert model["Forgetron"].n_rounds == 0
    assert run.support_sizes.max() == 7
    assert 0 < run.memory_bytes < 10_000
    assert json.loads(json.dumps(run.to_dict()))["task_sequence"] == [0, 1]


def test_any_river_classifier_runs():
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(neighbors.KNNClassifier(), tasks, n_learn=50, n_test=50)
    assert run.memory_bytes > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_sequence": []}, "task_sequence must have at least one task"),
        ({"task_sequence": [0, 2]}, "task_sequence contains 2, which is not a task index"),
        ({"n_learn": 0}, "n_learn"),
        ({"n_test": 0}, "n_test"),
        ({"window": 0}, "window"),
        ({"tolerance": -1}, "tolerance"),
        ({"n_learn": 95, "n_test": 10}, "task 0 is too short: 5 more examples"),
    ],
)
def test_invalid_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate.lifelong(dummy.NoChangeClassifier(), [constant(True)], **options)


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
    """The last two examples before the drift are right, so a window of two must be right too."""
    before = [1, 1, 0, 0]
    assert evaluate.recovery_time(before + after, drift=4, window=2, tolerance=0.0) == time


def test_a_window_longer_than_the_remaining_run():
    wrong = [0] * 10 + [1, 0, 1, 0, 1]
    assert evaluate.recovery_time(wrong, drift=10, window=6) is None
    assert evaluate.recovery_time(wrong, drift=10, window=100) is None


@pytest.mark.parametrize(
    "options", [{"drift": 0}, {"drift": 3, "window": 0}, {"drift": 3, "tolerance": -1}]
)
def test_invalid_recovery_parameters(options):
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
