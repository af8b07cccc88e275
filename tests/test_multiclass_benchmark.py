"""What `benchmarks.multiclass` measures, on streams that are small enough to see the answers."""

from __future__ import annotations

import numpy as np
import pytest
from river import neighbors

from benchmarks import multiclass, streams
from benchmarks.streams import Task


def nearest(window: int) -> neighbors.KNNClassifier:
    return neighbors.KNNClassifier(1, engine=neighbors.LazySearch(window_size=window))


def tasks_of(*labels: str) -> list[Task]:
    """Return a task for each label: four examples at a place of its own."""
    examples = [[({"place": float(i)}, label)] * 4 for i, label in enumerate(labels)]
    return [Task(rows, rows) for rows in examples]


def test_a_model_that_keeps_the_last_task_only_forgets_the_others():
    figures = multiclass.continued(nearest(window=4), tasks_of("a", "b", "c", "d"), seconds=60.0)
    assert figures["accuracy (%)"] == "25.00"
    assert figures["forgetting"] == "100.00"
    assert figures["tasks"] == "4"


def test_a_model_that_keeps_everything_forgets_nothing():
    figures = multiclass.continued(nearest(window=16), tasks_of("a", "b", "c", "d"), seconds=60.0)
    assert figures["accuracy (%)"] == "100.00"
    assert figures["forgetting"] == "0.00"


def test_a_model_without_time_left_stops_and_says_what_it_did():
    figures = multiclass.continued(nearest(window=16), tasks_of("a", "b"), seconds=0.0)
    assert figures["tasks"] == "1"
    assert figures["forgetting"] == ""
    part = multiclass.Part([({"x": 1.0}, "a")] * 200, seconds=-1.0)
    assert list(part) == []
    assert len(part) == 0


def test_a_part_counts_all_examples_that_were_done():
    part = multiclass.Part([({"x": 1.0}, "a")] * 120, seconds=60.0)
    assert len(list(part)) == 120
    assert len(part) == 120


def test_each_task_of_intents_brings_fifteen_new_classes(tmp_path, monkeypatch):
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    labels = np.repeat(np.arange(30), 4)
    X = labels[:, None] * np.ones(3)
    np.savez(tmp_path / "clinc150_lsa384.npz", X_train=X, y_train=labels, X_test=-X, y_test=labels)
    first, second = streams.intents(n_tasks=2, n_learn=3, n_test=1)
    assert sorted(y for _, y in first.learn) == sorted([*range(15)] * 3)
    assert sorted(y for _, y in second.test) == [*range(15, 30)]
    assert all(x == dict.fromkeys(("f0", "f1", "f2"), float(y)) for x, y in second.learn)
    assert all(x == dict.fromkeys(("f0", "f1", "f2"), -float(y)) for x, y in first.test)


def test_pixels_that_are_zero_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    X = np.array([[0, 255, 51], [0, 0, 0]], np.uint8)
    np.savez(tmp_path / "mnist.npz", X_train=X, y_train=np.array([7, 2]))
    assert streams.labelled("MNIST") == [({"f1": 1.0, "f2": 0.2}, 7), ({}, 2)]


@pytest.mark.parametrize("name", multiclass.SETUPS)
def test_every_stream_has_models(name):
    setup, rows = multiclass.SETUPS[name], multiclass.models(name)
    assert {*setup.algorithms, *setup.others} <= {row.partition(", B=")[0] for row in rows}
