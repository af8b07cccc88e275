"""Copies, parameters, labels and blocks of every classifier."""

from __future__ import annotations

import decimal
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from algorithms import each_class, each_path
from refusals import refuses
from river import preprocessing

import river_budget as rb
from river_budget import synth, testing

STREAM = list(synth.TwoGaussians(80, seed=1))


def learned(model, examples=STREAM):
    for x, y in examples:
        model.learn_one(x, y)
    return model


@each_class
def test_training_a_copy_does_not_change_the_original(make):
    testing.check_copies(make(None))


@each_class
def test_parameters_are_set_once(make):
    model = make(None)
    for name, value in model._get_params().items():
        with pytest.raises(AttributeError, match=f"{name} cannot be changed: make a new model"):
            setattr(model, name, value)
        assert getattr(model, name) is value
    assert repr(model.clone()) == repr(model)


NO_LABELS = [
    None, math.nan, np.float64("nan"), pd.NA, pd.NaT, decimal.Decimal("NaN"),
    decimal.Decimal("sNaN"), [1], np.array([1]), {"a"}, np.datetime64("NaT"),
    ("a", math.nan), ("a", ("b", None)), (pd.NA, 1), frozenset([math.nan]),
]  # fmt: skip


@each_class
def test_missing_and_unhashable_labels_are_refused(make):
    x = {0: 0.5, 1: 0.5}
    for n_learned in [0, 1, 80]:
        model = learned(make(None), STREAM[:n_learned])
        for label in NO_LABELS:
            refuses("the label is", model.check_label, label)
            refuses("the label is", model.learn_one, x, label)
            y = pd.Series([True, label], dtype=object)
            refuses("row 1: the label is", model.learn_many, pd.DataFrame([x, x]), y)


@each_path
def test_checking_a_label_does_not_change_the_model(make):
    model = make(None)
    before = pickle.dumps(model)
    model.check_label("spam")
    assert pickle.dumps(model) == before


@each_path
def test_the_error_of_a_refused_block_names_the_row(make):
    model = make(None)
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, math.inf, 1.0]})
    for call in [model.predict_many, lambda X: model.learn_many(X, pd.Series([True] * 4))]:
        with pytest.raises(ValueError, match="row 2: feature 'b' has the value inf"):
            call(X)
    with pytest.raises(ValueError, match="row 3: the label is None"):
        model.learn_many(X[["a"]], pd.Series(["a", "b", "a", None], dtype=object))


def test_a_scaler_learns_a_block_before_the_classifier_does():
    """So `learn_many` of a pipeline differs from `learn_one` on its rows, as in all of River."""
    X, y = (
        pd.DataFrame([{"u": x[0], "v": x[1]} for x, _ in STREAM]),
        pd.Series([y for _, y in STREAM]),
    )
    many, one = (preprocessing.StandardScaler() | rb.Forgetron(budget=5) for _ in range(2))
    many.learn_many(X, y)
    learned(one, zip(X.to_dict("records"), y, strict=True))
    assert many["Forgetron"].support_vectors != one["Forgetron"].support_vectors
    scaled = preprocessing.StandardScaler()
    scaled.learn_many(X)
    alone = rb.Forgetron(budget=5)
    alone.learn_many(scaled.transform_many(X), y)
    assert many["Forgetron"].coefficients.tolist() == alone.coefficients.tolist()
