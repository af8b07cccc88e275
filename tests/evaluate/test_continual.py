from __future__ import annotations

import datetime
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import dummy, naive_bayes, neighbors, preprocessing

import river_budget as rb
from river_budget import evaluate, synth
from river_budget.evaluate.continual import recovery_time

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
        "chance_accuracy": np.full(len(accuracies[0]), 0.5), "classes": (True,),
        "class_accuracy_matrix": np.ones((len(accuracies), 1)), "class_first_steps": (0,),
        "wrong": np.zeros(10, bool), "drifts": (), "recovery_times": (),
        "support_sizes": np.zeros(0, int), "memory_bytes": 0, "microseconds_per_example": 1.0,
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
        "after   task 0  task 1  task 2  seen",
        "task 0    90.0    40.0    30.0  90.0",
        "task 1    60.0    80.0    50.0  70.0",
    ]


def test_accuracy_on_the_tasks_seen_by_hand():
    run = run_with(ACCURACIES, [0, 2, 2, 0])
    seen = [0.9, (0.6 + 0.5) / 2, (0.5 + 1.0) / 2, (0.8 + 0.7) / 2]
    assert run.accuracy_seen == pytest.approx(seen)
    assert run.accuracy_seen_avg == pytest.approx(sum(seen) / 4)
    assert run.to_dict()["accuracy_seen"] == pytest.approx(seen)


# Four classes over the tasks 0, 1, 2, 0; the fourth is in no task that is learned.
BY_CLASS = {
    "class_accuracy_matrix": np.array(
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.5, 0.9, 0.0, 0.0],
            [0.7, 0.4, 0.8, 0.1],
            [0.8, 0.6, 0.9, 0.0],
        ]
    ),
    "classes": ("a", "b", "c", "never learned"),
    "class_first_steps": (0, 1, 2, None),
}


def test_forgetting_of_each_class_by_hand():
    run = run_with(ACCURACIES, [0, 1, 2, 0], **BY_CLASS)
    drops = [1.0 - 0.8, 0.9 - 0.6, 0.8 - 0.9, np.nan]
    assert run.class_forgetting == pytest.approx(drops, nan_ok=True)
    assert run.class_forgetting_avg == pytest.approx((0.2 + 0.3 - 0.1) / 3)
    assert run.to_dict()["class_forgetting"] == pytest.approx([*drops[:3], None])


def test_a_class_of_the_last_step_has_nothing_to_forget_yet():
    by_class = BY_CLASS | {"class_accuracy_matrix": BY_CLASS["class_accuracy_matrix"][:3]}
    run = run_with(ACCURACIES[:3], [0, 1, 2], **by_class)
    assert run.class_forgetting == pytest.approx([0.3, 0.5, np.nan, np.nan], nan_ok=True)
    alone = run_with([[0.9]], [0])
    assert alone.to_dict()["class_forgetting"] == [None]
    assert alone.to_dict()["class_forgetting_avg"] is None


def constant(label, n=100):
    return [({"t": t}, label) for t in range(n)]


def test_a_model_that_predicts_the_last_label_forgets_everything():
    run = evaluate.lifelong(
        dummy.NoChangeClassifier(),
        [constant(True, 500), constant(False, 500)],
        task_sequence=[0, 1, 0],
        n_learn=200,
        n_test=10,
    )
    assert run.accuracy_matrix.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert np.flatnonzero(run.wrong).tolist() == [0, 200, 400]
    assert run.drifts == (200, 400)
    assert run.recovery_times == (0, 0)
    assert (run.backward_transfer, run.forgetting) == (-1, 1)
    assert run.chance_accuracy.tolist() == [1, 1]
    assert run.support_sizes.tolist() == []


def labelled(pattern, n=100):
    """Return a stream whose labels repeat a pattern."""
    return [({"t": t}, pattern[t % len(pattern)]) for t in range(n)]


def test_tasks_that_bring_new_labels():
    """The model predicts the last label: that of the step's last example, which is "b" or 7."""
    run = evaluate.lifelong(
        dummy.NoChangeClassifier(),
        [labelled(["a", "b", "b", "b"]), labelled([7, "a", 7, 7, 7])],
        n_learn=20,
        n_test=20,
    )
    assert run.classes == ("a", "b", 7)
    assert run.class_first_steps == (0, 0, 1)
    assert run.class_accuracy_matrix.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert run.accuracy_matrix.tolist() == [[0.75, 0], [0, 0.8]]
    assert run.accuracy_seen.tolist() == [0.75, 0.4]
    assert run.class_forgetting == pytest.approx([0, 1, np.nan], nan_ok=True)
    assert json.loads(json.dumps(run.to_dict()))["classes"] == ["a", "b", 7]


def test_a_class_counts_with_its_examples_of_all_tasks():
    """The last label is "b" after both steps: 3 of 4 examples of one task, 1 of 5 of the other."""
    tasks = [labelled(["a", "b", "b", "b"]), labelled(["c", "c", "a", "a", "b"])]
    run = evaluate.lifelong(dummy.NoChangeClassifier(), tasks, n_learn=20, n_test=20)
    assert run.classes == ("a", "b", "c")
    assert run.class_accuracy_matrix.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert run.accuracy_seen == pytest.approx([15 / 20, (15 + 4) / 40])


def test_classes_stand_in_the_order_in_which_the_tasks_bring_them():
    tasks = [labelled([3, 2]), labelled([9, 8]), labelled([2, 1])]
    run = evaluate.lifelong(
        dummy.NoChangeClassifier(), tasks, task_sequence=[1, 0], n_learn=20, n_test=20
    )
    assert run.classes == (8, 9, 2, 3, 1)
    assert run.class_first_steps == (0, 0, 1, 1, None)


def test_labels_of_numpy_and_objects_become_plain():
    tasks = [labelled([np.int64(3), np.int64(4)]), labelled([datetime.date(2026, 1, 2)])]
    run = evaluate.lifelong(dummy.NoChangeClassifier(), tasks, n_learn=20, n_test=20)
    assert json.loads(json.dumps(run.to_dict()))["classes"] == [3, 4, "2026-01-02"]


def test_tasks_with_the_same_labels_bring_no_new_ones():
    tasks = [labelled([True, False]), labelled([False, True])]
    run = evaluate.lifelong(dummy.NoChangeClassifier(), tasks, n_learn=20, n_test=20)
    assert run.classes == (False, True)
    assert run.class_first_steps == (0, 0)


def test_a_model_of_rivers_learns_classes_one_task_after_the_other():
    stream = synth.ClassIncremental(n_classes=6, clusters_per_class=1, seed=1)
    run = evaluate.lifelong(naive_bayes.GaussianNB(), stream.tasks, n_learn=300, n_test=200)
    assert run.accuracy_seen.min() > 0.95
    assert np.nanmax(run.class_forgetting) < 0.1
    assert run.class_accuracy_matrix[0].tolist()[2:] == [0, 0, 0, 0]


def test_test_examples_are_never_learned():
    learned = []

    class Recorder(dummy.NoChangeClassifier):
        def learn_one(self, x, y):
            learned.append(x["t"])

    evaluate.lifelong(Recorder(), [constant(True)], task_sequence=[0, 0], n_learn=20, n_test=10)
    assert learned == list(range(10, 50))


def test_pipelines_are_cloned_and_run():
    model = preprocessing.StandardScaler() | rb.Forgetron(budget=7)
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(model, tasks, n_learn=100, n_test=50)
    assert model["Forgetron"].n_rounds == 0
    assert run.support_sizes.max() == 7
    assert 0 < run.memory_bytes < 10_000
    assert json.loads(json.dumps(run.to_dict()))["task_sequence"] == [0, 1]


def test_the_support_vectors_of_a_wrapped_model_count():
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(rb.Calibrated(rb.Forgetron(budget=7)), tasks, n_learn=50, n_test=50)
    assert run.support_sizes.max() == 7


def test_any_river_classifier_runs():
    tasks = [synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0, 2)]
    run = evaluate.lifelong(neighbors.KNNClassifier(), tasks, n_learn=50, n_test=50)
    assert run.memory_bytes > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_sequence": []}, "task_sequence must have at least one task"),
        ({"task_sequence": [0, -1]}, "numbers of tasks from 0 to 0, got .0, -1."),
        ({"n_learn": 0}, "n_learn"),
        ({"n_test": 0}, "n_test"),
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
    assert recovery_time(before + after, drift=4, window=2, tolerance=0.0) == time


def test_a_window_longer_than_the_remaining_run():
    wrong = [0] * 10 + [1, 0, 1, 0, 1]
    assert recovery_time(wrong, drift=10, window=6, tolerance=0.05) is None
    assert recovery_time(wrong, drift=10, window=100, tolerance=0.05) is None


def test_recovery_within_a_tolerance():
    wrong = [0] * 10 + [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    assert recovery_time(wrong, drift=10, window=4, tolerance=0.25) == 3
    assert recovery_time(wrong, drift=10, window=4, tolerance=0.5) == 2


@given(st.lists(st.booleans(), min_size=20, max_size=60), st.integers(5, 15), st.integers(1, 8))
def test_recovery_is_the_first_window_that_is_good_enough(wrong, drift, window):
    time = recovery_time(wrong, drift, window, tolerance=0.1)
    level = np.mean(wrong[max(0, drift - window) : drift]) + 0.1 + 1e-9
    after = wrong[drift:]
    good = [t for t in range(len(after) - window + 1) if np.mean(after[t : t + window]) <= level]
    assert time == (good[0] if good else None)
