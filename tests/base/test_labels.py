"""Labels and their columns: the only label seen, and a label whose arrival is interrupted."""

from __future__ import annotations

import enum

import numpy as np
import pandas as pd
import pytest
from algorithms import each_algorithm

import river_budget as rb
from river_budget import synth
from river_budget.perceptrons import _posterior

KERNEL = rb.RBF(gamma=0.5)
STREAM = list(
    synth.ClassIncremental(n_classes=3, classes_per_task=3, separation=1.0, seed=1).take(60)
)


def learned(model, examples):
    for x, y in examples:
        model.learn_one(x, y)
    return model


class Colour(enum.IntEnum):
    RED = 0
    BLUE = 2


@each_algorithm
def test_the_only_label_has_its_own_score(make):
    """The first label is the positive one only if it is 1."""
    x = {"u": 0.5}
    for label in [1, 1.0, "a", 2, Colour.RED]:
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


@each_algorithm
def test_a_label_is_registered_after_its_column_is_there(make, monkeypatch):
    model = learned(make(KERNEL), STREAM[:40])
    classes = model.classes

    def interrupt(model, n_labels):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "_widen", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(STREAM[40][0], "new")
    assert model.classes == classes
    learned(model, [(STREAM[40][0], "new")])
    expected = learned(make(KERNEL), [*STREAM[:40], (STREAM[40][0], "new")])
    assert model.coefficients.tolist() == expected.coefficients.tolist()
    assert model.classes == expected.classes


def test_blocks_compute_no_posterior_twice(monkeypatch):
    """Only a new label changes the posteriors of all support vectors."""
    n_rows = []

    def counted(weights, counts, n, prior, renew=_posterior.renew):
        n_rows.append(np.isnan(weights[:n, 0]).sum())
        return renew(weights, counts, n, prior)

    monkeypatch.setattr(_posterior, "renew", counted)
    learned(rb.TightestPerceptron(KERNEL, budget=5), STREAM)
    alone = sum(n_rows)
    n_rows.clear()
    model = rb.TightestPerceptron(KERNEL, budget=5)
    for x, y in STREAM:
        model.learn_many(pd.DataFrame([x]), pd.Series([y]))
    assert sum(n_rows) == alone > 0
