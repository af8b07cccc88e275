from __future__ import annotations

import json

import pytest
from river import preprocessing

import river_budget as rb
from river_budget import evaluate, synth


def test_a_run_counts_as_the_model_does():
    stream = list(synth.TwoGaussians(500, seed=1))
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=20)
    (run,) = evaluate.compare({"a": model}, stream, n_points=10).runs["a"]
    for x, y in stream:
        model.learn_one(x, y)
    assert (run.n_examples, run.n_mistakes, run.n_support) == (500, model.n_mistakes, 20)
    assert run.memory_bytes == model.memory_bytes
    assert run.examples == tuple(range(50, 501, 50))
    assert run.errors[-1] == model.n_mistakes / 500
    assert run.support_sizes[-1] == 20
    assert run.seconds > 0


def test_models_are_cloned_and_see_the_same_permutations():
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    comparison = evaluate.compare(
        {"a": model, "b": model.clone()}, synth.TwoGaussians(300, seed=1), permutations=3, seed=5
    )
    assert model.n_rounds == 0
    errors = {name: [run.errors for run in runs] for name, runs in comparison.runs.items()}
    assert errors["a"] == errors["b"]
    assert len(set(errors["a"])) == 3


def test_the_summary_by_hand():
    def run(n_mistakes):
        return evaluate.Run(200, n_mistakes, 7, 100, 0.002, (200,), (n_mistakes / 200,), (7,))

    figures = evaluate.Comparison({"a": [run(20), run(40)]}).summary()["a"]
    assert figures["mistakes_percent"] == (15.0, pytest.approx(50.0**0.5))
    assert figures["n_support"] == (7.0, 0.0)
    assert figures["microseconds_per_example"] == (pytest.approx(10.0), 0.0)


def test_pipelines_and_json():
    model = preprocessing.StandardScaler() | rb.Stoptron(budget=10)
    comparison = evaluate.compare({"a": model}, synth.NoisyCheckerboard(100, seed=1))
    assert json.loads(json.dumps(comparison.to_dict()))["a"]["runs"][0]["n_support"] == 10


def test_an_empty_stream():
    with pytest.raises(ValueError, match="no examples"):
        evaluate.compare({"a": rb.Stoptron()}, [])
