"""The classes of River that a checkpoint can hold."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from pipelines import PIPELINES, forgetron, logistic, numbers, rows
from river import (
    compose,
    feature_extraction,
    linear_model,
    multiclass,
    optim,
    preprocessing,
    stats,
    utils,
)

import river_budget as rb
from river_budget import checkpoint
from river_budget.checkpoint import CheckpointError

each_pipeline = pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
HERE = pathlib.Path(__file__).parent


def trained(model, n=60):
    for x, y in rows(n):
        model.learn_one(x, y)
    return model


def go_on(model):
    """Return what a model predicts while it learns more examples."""
    predictions = []
    for x, y in rows(120)[60:]:
        model.learn_one(x, y)
        predictions.append(model.predict_proba_one(x))
    return predictions


@each_pipeline
@pytest.mark.parametrize("n_learned", [0, 60])
def test_a_loaded_pipeline_goes_on_bit_for_bit(make, n_learned):
    model = trained(make(), n_learned)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    # Sets of strings may be in another order.
    assert sorted(repr(loaded)) == sorted(repr(model))
    assert go_on(loaded) == go_on(model)
    assert checkpoint.dumps(loaded) == checkpoint.dumps(model)


def test_a_seed_that_was_drawn_is_kept():
    model = preprocessing.FeatureHasher(n_features=1000)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.seed is None
    for x, _ in rows(9):
        assert loaded.transform_one(x) == model.transform_one(x)


LOAD = """
import sys
from test_rivers import go_on
from river_budget import checkpoint
for path in sys.argv[1:]:
    print(go_on(checkpoint.load(path)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_process_that_orders_sets_otherwise_goes_on_bit_for_bit(seed, tmp_path):
    paths, expected = [], []
    for name in ["StandardScaler", "OneHotEncoder with categories", "TFIDF"]:
        model = trained(PIPELINES[name]())
        checkpoint.save(model, tmp_path / name)
        paths.append(str(tmp_path / name))
        expected.append(repr(go_on(model)))
    environment = os.environ | {
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join(map(str, [HERE.parents[1], HERE.parent, HERE])),
    }
    command = [sys.executable, "-c", LOAD, *paths]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == expected


def test_labels_of_many_classes_are_kept():
    model = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(forgetron())
    examples = [({"u": float(t % 5)}, ["a", 2, None][t % 3] or "c") for t in range(40)]
    for x, y in examples[:20]:
        model.learn_one(x, y)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    for x, y in examples[20:]:
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        loaded.learn_one(x, y)
    assert list(loaded["OneVsRestClassifier"].classifiers) == ["a", 2, "c"]


def shout(text):
    return text.upper()


REFUSED = {
    "MinMaxScaler.*window_size": preprocessing.MinMaxScaler(window_size=5) | forgetron(),
    "StandardScaler.*window_size": preprocessing.StandardScaler(window_size=5) | forgetron(),
    "StatImputer: Quantile cannot be stored": preprocessing.StatImputer(("u", stats.Quantile()))
    | forgetron(),
    r"Pipeline: RobustScaler cannot be stored, .* checkpoint.register\(RobustScaler\)": preprocessing.RobustScaler()
    | forgetron(),
    "BagOfWords: method_descriptor cannot be stored": feature_extraction.BagOfWords(
        on="t", tokenizer=str.split
    )
    | forgetron(),
    "TFIDF: function cannot be stored": feature_extraction.TFIDF(on="t", preprocessor=shout)
    | forgetron(),
    "LogisticRegression.*Adam": linear_model.LogisticRegression(optimizer=optim.Adam()),
    "LogisticRegression.*InverseScaling": linear_model.LogisticRegression(
        optimizer=optim.SGD(optim.schedulers.InverseScaling(0.1))
    ),
    "LogisticRegression.*Hinge": linear_model.LogisticRegression(loss=optim.losses.Hinge()),
    "LogisticRegression.*Normal": linear_model.LogisticRegression(
        initializer=optim.initializers.Normal()
    ),
    "OneVsOneClassifier cannot be stored": multiclass.OneVsOneClassifier(forgetron()),
    "PAClassifier cannot be stored": multiclass.OneVsRestClassifier(linear_model.PAClassifier()),
    "FuncTransformer cannot be stored": compose.FuncTransformer(dict) + numbers() | forgetron(),
    "SelectType: type cannot be stored": compose.SelectType(bytearray) | forgetron(),
    "TargetStandardScaler cannot be stored": preprocessing.TargetStandardScaler(
        linear_model.LinearRegression()
    ),
    "Agg: Kurtosis cannot be stored": feature_extraction.Agg("u", "c", stats.Kurtosis())
    | forgetron(),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_checkpointer_names_at_once_what_it_cannot_store(message, tmp_path):
    with pytest.raises(CheckpointError, match=message):
        checkpoint.Checkpointer(REFUSED[message], tmp_path / "model")


def test_a_statistic_that_has_learned_is_kept():
    how = stats.Mean()
    how.update(3.0)
    model = feature_extraction.Agg("u", None, how)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.transform_one({"u": 1.0}) == model.transform_one({"u": 1.0}) == {"u_mean": 3.0}


def test_a_stored_class_of_river_is_exactly_that_class():
    class MyScaler(preprocessing.StandardScaler):
        pass

    with pytest.raises(CheckpointError, match="MyScaler cannot be stored"):
        checkpoint.dumps(MyScaler() | rb.Forgetron())


def test_missing_values_are_imputed_as_before():
    model = preprocessing.StatImputer(("u", stats.Mean()), ("c", stats.Mode()), ("w", "none"))
    for u, c in [(1.0, "a"), (None, "b"), (4.0, "b")]:
        model.learn_one({"u": u, "c": c, "w": None})
    loaded = checkpoint.loads(checkpoint.dumps(model))
    missing = dict.fromkeys(["u", "c", "w"])
    assert loaded.transform_one(missing) == {"u": 2.5, "c": "b", "w": "none"}
    loaded.learn_one({"u": 10.0, "c": "a", "w": None})
    assert loaded.transform_one(missing) == {"u": 5.0, "c": "a", "w": "none"}
    assert model.transform_one(missing)["u"] == 2.5


def test_the_optimizer_goes_on_from_its_step():
    model = trained(logistic())
    loaded = checkpoint.loads(checkpoint.dumps(model))
    learned = loaded["LogisticRegression"]
    assert learned.optimizer.n_iterations == 60
    assert isinstance(learned._weights, utils.VectorDict)
    assert learned.weights == model["LogisticRegression"].weights
