from __future__ import annotations

import json

import pytest
from river import linear_model, metrics, preprocessing, tree

import river_budget as rb
from river_budget import evaluate, synth


def test_a_run_counts_as_the_model_does():
    stream = list(synth.TwoGaussians(500, seed=1))
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=20)
    (run,) = evaluate.compare({"a": model}, stream, n_points=10).runs["a"]
    for x, y in stream:
        model.learn_one(x, y)
    assert run.memory_bytes == model.memory_bytes
    assert run.examples == tuple(range(50, 501, 50))
    assert run.mistakes[-1] == model.n_mistakes
    assert run.support_sizes[-1] == 20
    assert run.seconds > 0


def test_the_support_vectors_of_a_wrapped_model_count():
    model = rb.Calibrated(rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=20))
    (run,) = evaluate.compare({"a": model}, synth.TwoGaussians(300, seed=1)).runs["a"]
    assert run.support_sizes[-1] == 20


def test_models_are_cloned_and_see_the_same_permutations():
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    comparison = evaluate.compare(
        {"a": model, "b": model.clone()}, synth.TwoGaussians(300, seed=1), permutations=3, seed=5
    )
    assert model.n_rounds == 0
    mistakes = {name: [run.mistakes for run in runs] for name, runs in comparison.runs.items()}
    assert mistakes["a"] == mistakes["b"]
    assert len(set(mistakes["a"])) == 3


def test_the_summary_by_hand():
    def run(n_mistakes):
        return evaluate.Run((200,), (n_mistakes,), (7,), 100, 0.002)

    figures = evaluate.Comparison({"a": [run(20), run(40)]}).summary()["a"]
    assert figures["mistakes_percent"] == (15.0, pytest.approx(50.0**0.5))
    assert figures["n_support"] == (7.0, 0.0)
    assert figures["microseconds_per_example"] == (pytest.approx(10.0), 0.0)


def test_the_text_is_a_table():
    def run(n_mistakes):
        return evaluate.Run((200,), (n_mistakes,), (7,), 4321, 0.002)

    one = evaluate.Comparison({"a": [run(20)], "longer": [run(1)]})
    assert repr(one) == str(one)
    assert repr(one).splitlines() == [
        "model   mistakes %  support  bytes  µs/example",
        "longer        0.50        7  4,321       10.00",
        "a            10.00        7  4,321       10.00",
    ]
    assert "15.00 ± 7.07" in repr(evaluate.Comparison({"a": [run(20), run(40)]}))


def test_the_verdict():
    runs = {
        name: [evaluate.Run((200,), (n_mistakes,), (7,), 100, 0.002)]
        for name, n_mistakes in [("wrong", 70), ("close", 25), ("best", 20), ("closer", 22)]
    }
    assert evaluate.Comparison(runs).verdict() == (
        "best has the fewest mistakes. Within chance of it (6.00 points): closer, close."
    )
    del runs["close"], runs["closer"]
    assert evaluate.Comparison(runs).verdict() == "best has the fewest mistakes."


def test_a_metric_sorts_models_and_the_baseline_comes_first():
    def run(n_mistakes, auc, loss):
        scores = {"AUC": auc, "loss": loss}
        return [evaluate.Run((200,), (n_mistakes,), (7,), 100, 0.002, scores)]

    runs = {"few": run(5, 0.5, 0.3), "base": run(9, 0.5, 0.2), "best": run(90, 0.9, 0.1)}
    auc, loss = metrics.ROCAUC(), metrics.LogLoss()
    comparison = evaluate.Comparison(runs, {"AUC": auc, "loss": loss}, "base")
    assert [*comparison.summary()] == ["base", "best", "few"]
    assert (comparison.verdict(), comparison.no_better()) == ("best has the best AUC.", ["few"])
    assert repr(comparison).splitlines()[0].endswith("µs/example     AUC    loss")
    assert [*evaluate.Comparison(runs, {"loss": loss}).summary()] == ["best", "base", "few"]
    by_mistakes = evaluate.Comparison(runs, baseline="base")
    assert (by_mistakes.verdict(), by_mistakes.no_better()) == (
        "few has the fewest mistakes.",
        ["best"],
    )
    assert evaluate.Comparison(runs).no_better() == []


def test_metrics_are_those_of_a_loop():
    stream = list(synth.TwoGaussians(300, seed=1))
    model, auc, kappa = rb.Forgetron(budget=20), metrics.ROCAUC(), metrics.CohenKappa()
    given = {"AUC": metrics.ROCAUC(), "kappa": metrics.CohenKappa()}
    comparison = evaluate.compare({"a": model, "b": model}, stream, metrics=given)
    for x, y in stream:
        if model.n_rounds:
            kappa.update(y, model.predict_one(x))
            auc.update(y, model.predict_proba_one(x))
        model.learn_one(x, y)
    for name in "ab":
        (run,) = comparison.runs[name]
        assert run.scores == {"AUC": auc.get(), "kappa": kappa.get()}
    assert given["kappa"].get() == 0.0


def test_progress_is_told_while_a_model_runs():
    told = []
    evaluate.compare(
        {"a": rb.Stoptron(), "b": rb.Stoptron()}, synth.TwoGaussians(30, seed=1), permutations=2,
        seed=1, n_points=3, after_examples=lambda *told_now: told.append(told_now),
    )  # fmt: skip
    assert told == 2 * (3 * [("a", 10)] + 3 * [("b", 10)])


def test_pipelines_and_json():
    model = preprocessing.StandardScaler() | rb.Stoptron(budget=10)
    comparison = evaluate.compare({"a": model}, synth.NoisyCheckerboard(100, seed=1))
    assert json.loads(json.dumps(comparison.to_dict()))["a"]["runs"][0]["support_sizes"][-1] == 10


def many_labels(n):
    """Return a stream of which the last third brings a third label."""
    return [({"u": float(t % 3), "v": t / n}, t % 3 if 3 * t > 2 * n else t % 2) for t in range(n)]


def test_any_number_of_labels_is_counted_as_the_model_does():
    stream = many_labels(300)
    models = {
        "removing": rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), budget=20),
        "validated": preprocessing.StandardScaler() | rb.TightestPerceptron(budget=10),
    }
    comparison = evaluate.compare(models, stream, permutations=2, seed=1)
    assert json.loads(json.dumps(comparison.to_dict())).keys() == models.keys()
    (run,) = evaluate.compare({"a": models["removing"]}, stream).runs["a"]
    model = models["removing"].clone()
    for x, y in stream:
        model.learn_one(x, y)
    assert model.classes == [0, 1, 2]
    assert run.mistakes[-1] == model.n_mistakes
    assert run.memory_bytes == model.memory_bytes


def test_any_classifier_is_compared():
    stream = [({"u": float(t % 2), "v": t / 100}, t % 2) for t in range(100)]
    models = {
        "logistic": linear_model.LogisticRegression(),
        "tree": preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier(),
        "calibrated": rb.Calibrated(rb.Forgetron(budget=10)),
        "rejecting": rb.Reject(rb.Forgetron(rb.RBF(gamma=1.0), budget=10), threshold=0.1),
    }
    comparison = evaluate.compare(models, stream, n_points=7)
    assert json.loads(json.dumps(comparison.to_dict())).keys() == models.keys()
    for name, model in models.items():
        other, n_wrong = model.clone(), 0
        for x, y in stream:
            n_wrong += other.predict_one(x) != y
            other.learn_one(x, y)
        (run,) = comparison.runs[name]
        assert run.mistakes[-1] == n_wrong
        assert (run.support_sizes[-1] > 0) == (name in {"calibrated", "rejecting"})
        assert run.examples[-1] == 100
        assert run.memory_bytes > 0


def test_a_model_of_two_labels_refuses_a_third():
    with pytest.raises(ValueError, match="the label 2 is one class too many"):
        evaluate.compare({"a": rb.Forgetron(budget=5, max_classes=2)}, many_labels(60))


def test_an_empty_stream():
    with pytest.raises(ValueError, match="no examples"):
        evaluate.compare({"a": rb.Stoptron()}, [])


def test_models_without_names():
    for models in ([rb.Stoptron()], synth.TwoGaussians(30, seed=1)):
        with pytest.raises(ValueError, match="models must be a dict of classifiers by name"):
            evaluate.compare(models, {"a": rb.Stoptron()})


@pytest.mark.parametrize("options", [{"permutations": 0}, {"permutations": 1.5}, {"n_points": 0}])
def test_numbers_out_of_range(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        evaluate.compare({"a": rb.Stoptron()}, synth.TwoGaussians(30, seed=1), **options)
