"""Labels and their columns: the only label seen, and a label whose arrival is interrupted."""

from __future__ import annotations

import enum
import re

import narwhals.stable.v2 as narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from algorithms import CLASSES, PATHS, each_class
from refusals import refuses
from river import evaluate, metrics, multiclass
from runs import learned

import river_budget as rb
from river_budget import checkpoint, synth, testing
from river_budget.perceptrons import _dirichlet

KERNEL = rb.RBF(gamma=0.5)
STREAM = list(
    synth.ClassIncremental(n_classes=3, classes_per_task=3, separation=1.0, seed=1).take(60)
)


class Colour(enum.IntEnum):
    RED = 0
    BLUE = 2


@each_class
def test_a_new_model_knows_no_label(make):
    model, frame = make(KERNEL), pd.DataFrame([{"u": 0.5}] * 3, index=[5, 6, 7])
    assert model.classes == []
    assert model.predict_one({"u": 0.5}) is None
    assert model.predict_proba_one({"u": 0.5}) == model.scores_one({"u": 0.5}) == {}
    assert model.decision_function_one({"u": 0.5}) == 0.0
    predictions = model.predict_many(frame)
    assert predictions.tolist() == [None] * 3
    assert predictions.index.tolist() == [5, 6, 7]
    for answer in (model.predict_proba_many(frame), model.scores_many(frame)):
        assert answer.columns.tolist() == []
        assert answer.index.tolist() == [5, 6, 7]
    assert model.predict_many({"u": np.zeros(2)}).tolist() == [None] * 2
    assert model.predict_proba_many({"u": np.zeros(2)}) == {}


@each_class
def test_labels_come_at_any_time(make):
    testing.check_labels(make(KERNEL))


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pylist], ids=["polars", "pyarrow"])
def test_a_new_model_answers_frames_of_any_library(library):
    frame = library([{"u": 0.5}, {"u": 1.5}])
    predictions = rb.Forgetron().predict_many(frame)
    assert narwhals.from_native(predictions, series_only=True).to_list() == [None, None]
    assert narwhals.from_native(rb.Forgetron().predict_proba_many(frame)).columns == []


@pytest.mark.parametrize("labels", [["a\0", "b"], [2**63 + 1, 5]], ids=["text", "integer"])
def test_predictions_for_a_dict_of_arrays_are_the_labels_that_were_learned(labels):
    model, X = rb.KernelPerceptron(gamma=1.0), {"u": np.array([0.0, 5.0])}
    model.learn_many(X, labels)
    assert model.predict_many(X).tolist() == labels


@pytest.mark.parametrize("label", [False, True, 0, 1, -1, "a"], ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda: rb.Calibrated(rb.Forgetron(KERNEL)),
        lambda: rb.PredictionSets(rb.Forgetron(KERNEL)),
        lambda: rb.Reject(rb.Forgetron(KERNEL), threshold=1.0),
        lambda: rb.Reject(rb.Calibrated(rb.Mnemotron()), threshold=1.0, doubt="entropy"),
        lambda: multiclass.OneVsRestClassifier(rb.Forgetron(KERNEL)),
    ],
    ids=["Calibrated", "PredictionSets", "Reject", "entropy", "OneVsRest"],
)
def test_wrappers_know_no_label_before_the_first(make, label):
    model, x = make(), {"u": 0.5}
    assert model.predict_one(x) is None
    assert model.predict_proba_one(x) == {}
    model.learn_one(x, label)
    assert model.predict_one(x) == label
    assert model.predict_proba_one(x) == {label: 1.0}


def test_no_label_of_another_kind_is_counted_by_a_metric():
    """A phantom class would lower the mean recall, and a report that has None cannot be printed.

    `progressive_val_score` passes over None, the prediction of a new model.
    """
    stream = [({"u": float(t % 2)}, "ham" if t % 2 else "spam") for t in range(100)]
    for metric in (metrics.MacroRecall(), metrics.ClassificationReport()):
        evaluate.progressive_val_score(stream, rb.Forgetron(KERNEL), metric)
        assert sorted(metric.cm.classes) == ["ham", "spam"]
    assert re.search(r"(?m)^ +spam .* 49 *$", str(metric))


@pytest.mark.parametrize("name", ["Forgetron", "Mnemotron"])
@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([True, False], True), ([False, True], True), ([1, 0], 1), ([0, 1], 1), ([-1, 1], 1),
        ([1, -1], 1), ([1, "a"], 1), ([0, 5], 5), (["b", "a"], "a"), ([1.0, True, 3], 1.0),
    ],
    ids=str,
)  # fmt: skip
def test_the_second_label_takes_the_other_side(name, labels, positive):
    model = learned(PATHS[name](KERNEL), [({"u": 0.5}, label) for label in labels])
    *_, negative = (label for label in labels if label != positive)
    assert model.classes == list(model.scores_one({})) == [negative, positive]
    assert model.scores_one({"u": 0.5})[positive] == model.decision_function_one({"u": 0.5})


TIME = "2026-01-02 03:04:05.000006"
TIMES = [pd.Timestamp(TIME), np.datetime64(TIME), np.datetime64(TIME, "ns")]
NANOSECONDS = [pd.Timestamp(TIME + "007"), np.datetime64(TIME + "007")]
DAYS = [pd.Timestamp("2026-01-02"), np.datetime64("2026-01-02"), np.datetime64("2026-01-02", "s")]


@pytest.mark.parametrize("times", [TIMES, NANOSECONDS, DAYS], ids=["µs", "ns", "days"])
@pytest.mark.parametrize("start", [0, 1])
def test_equal_times_of_numpy_and_pandas_are_one_label(times, start):
    x, first = {"u": 0.5}, times[start]
    model = learned(rb.Forgetron(KERNEL), [(x, first)])
    columns = [
        lambda time: pd.Series([time]), lambda time: np.array([time]),
        lambda time: [time], lambda time: np.array([time], object),
    ]  # fmt: skip
    for time in times:
        model.learn_one(x, time)
        for column in columns:
            model.learn_many(pd.DataFrame([x]), column(time))
    assert len(model.classes) == 1
    assert model.predict_one(x) == first


@each_class
def test_the_only_label_has_its_own_score(make):
    """The first label is the positive one only if it is 1."""
    x = {"u": 0.5}
    for label in [True, False, 0, 1, -1, 1.0, "a", 2, Colour.RED]:
        model = learned(make(KERNEL), [(x, label)])
        sign = 1.0 if label == 1 else -1.0
        score = sign * model.decision_function_one(x)
        assert score > 0, label
        assert model.scores_one(x) == {label: score}
        assert model.scores_many(pd.DataFrame([x])).to_dict("records") == [{label: score}]
        assert model.predict_one(x) == label
        assert model.predict_proba_one(x) == {label: 1.0}
        assert model.predict_proba_many(pd.DataFrame([x])).to_dict("records") == [{label: 1.0}]


def test_the_only_label_has_its_own_average_score():
    model = learned(rb.KernelPerceptron(KERNEL), [({"u": 0.5}, 1)])
    assert model.averaged_scores_one({"u": 0.5}) == {1: 1.0}


def test_a_block_checks_a_new_label_once(monkeypatch):
    """And not that of each row, as a check takes longer than the rest of a round."""
    checked = []
    monkeypatch.setattr("river_budget.base.labels.check_class", checked.append)
    rows = pd.DataFrame({"u": np.arange(60.0)}), pd.Series(["a", "b", "c"] * 20)
    rb.Forgetron(KERNEL, budget=5).learn_many(*rows)
    assert checked == ["a", "b", "c"]


def test_blocks_compute_no_posterior_twice(monkeypatch):
    """Only a new label changes the posteriors of all support vectors."""
    n_rows = []

    def counted(parameters, largest_share=_dirichlet.largest_share):
        n_rows.append(len(parameters))
        return largest_share(parameters)

    monkeypatch.setattr(_dirichlet, "largest_share", counted)
    learned(rb.TightestPerceptron(KERNEL, budget=5), STREAM)
    alone = sum(n_rows)
    n_rows.clear()
    model = rb.TightestPerceptron(KERNEL, budget=5)
    for x, y in STREAM:
        model.learn_many(pd.DataFrame([x]), pd.Series([y]))
    assert sum(n_rows) == alone > 0


def nested(depth):
    label = "a"
    for _ in range(depth):
        label = (label,)
    return label


HUGE = {"int": 10**5000, "in a tuple": ("a", 10**5000), "large": 2**1000 + 1, "deep": nested(2000)}


@pytest.mark.parametrize("label", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("name", CLASSES)
def test_a_label_that_cannot_be_stored_is_refused_by_name(name, label):
    model = CLASSES[name](None)
    model.learn_one({"a": 1.0}, "b")
    refuses("^the label .* cannot be stored", model.learn_one, {"a": 2.0}, label)
    refuses("^the label .* cannot be stored", model.check_label, label)
    refuses("^row 1: the label ", model.learn_many, {"a": [1.0, 2.0]}, ["b", label])


def test_labels_may_be_large_and_deep():
    model = rb.Forgetron(budget=5)
    for t, label in enumerate([2**1000, nested(50)]):
        model.learn_one({"a": float(t)}, label)
        loaded = checkpoint.loads(checkpoint.dumps(model))
        assert loaded.predict_one({"a": float(t)}) == label
