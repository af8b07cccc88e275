"""Chains: what is around a model sees what it sees in River, once for each answer."""

from __future__ import annotations

import pickle
import random
import types

import pytest
from river import anomaly, compose, feature_extraction, feature_selection, preprocessing, stats
from river.ensemble import ADWINBaggingClassifier
from river.linear_model import LogisticRegression

import river_budget as rb
from river_budget.base import Chain, outline


def words(x):
    return {name: value for name, value in x.items() if isinstance(value, str)}


def squares(x):
    return {f"{name}^2": value * value for name, value in x.items() if isinstance(value, float)}


def numbers():
    return compose.SelectType(float)


PIPELINES = {
    "standard": lambda: [preprocessing.StandardScaler()],
    "min-max": lambda: [preprocessing.MinMaxScaler()],
    "max-abs": lambda: [preprocessing.MaxAbsScaler()],
    "robust": lambda: [preprocessing.RobustScaler()],
    "adaptive": lambda: [preprocessing.AdaptiveStandardScaler()],
    "normalizer": lambda: [preprocessing.Normalizer()],
    "binarizer": lambda: [preprocessing.Binarizer(threshold=0.5)],
    "two scalers": lambda: [preprocessing.StandardScaler(), preprocessing.MinMaxScaler()],
    "mean imputer": lambda: [preprocessing.StatImputer(("u", stats.Mean()))],
    "imputer, scaler": lambda: [
        preprocessing.StatImputer(("u", stats.Mean()), ("v", stats.Max())),
        preprocessing.StandardScaler(),
    ],
    "previous imputer": lambda: [preprocessing.PreviousImputer()],
    "select": lambda: [compose.Select("u", "v")],
    "discard": lambda: [compose.Discard("w")],
    "types": lambda: [numbers()],
    "types, scaler": lambda: [numbers(), preprocessing.StandardScaler()],
    "function": lambda: [compose.FuncTransformer(squares)],
    "renamer": lambda: [compose.Renamer({"u": "v2"})],
    "prefixer": lambda: [compose.Prefixer("p_")],
    "hasher": lambda: [preprocessing.FeatureHasher(n_features=8, seed=1)],
    "one-hot": lambda: [preprocessing.OneHotEncoder()],
    "ordinal": lambda: [preprocessing.OrdinalEncoder()],
    "polynomials": lambda: [numbers(), feature_extraction.PolynomialExtender(degree=2)],
    "fourier": lambda: [numbers(), feature_extraction.RBFSampler(n_components=5, seed=1)],
    "aggregate": lambda: [feature_extraction.Agg(on="u", by="text", how=stats.Mean())],
    "target aggregate": lambda: [feature_extraction.TargetAgg(by="text", how=stats.Mean())],
    "selector with labels": lambda: [
        numbers(), feature_selection.SelectKBest(stats.PearsonCorr(), k=2),
    ],
    "variance threshold": lambda: [numbers(), feature_selection.VarianceThreshold(0.1)],
    "union": lambda: [preprocessing.StandardScaler() + compose.FuncTransformer(squares)],
    "union with labels": lambda: [
        compose.FuncTransformer(squares) + feature_extraction.TargetAgg(by="text", how=stats.Mean())
    ],
    "nested union": lambda: [
        (numbers() | preprocessing.StandardScaler()) + (compose.Select("text") | preprocessing.OneHotEncoder())
    ],
    "nested pipeline": lambda: [compose.Pipeline(numbers(), preprocessing.StandardScaler())],
    "gaps": lambda: [
        compose.Select("u", "v"), preprocessing.StatImputer(("u", stats.Mean())),
        preprocessing.AdaptiveStandardScaler(),
    ],
}  # fmt: skip
WITH_TEXTS = {
    "types", "types, scaler", "function", "one-hot", "aggregate", "target aggregate", "nested union", "nested pipeline",
    "polynomials", "fourier", "selector with labels", "variance threshold", "union with labels",
}  # fmt: skip
WITH_GAPS = {"mean imputer", "imputer, scaler", "previous imputer", "gaps"}


def stream(name, n=40, seed=1):
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.random() < 0.5
        x = {key: rng.gauss(label, 1.0) for key in "uvw"}
        if name in WITH_TEXTS:
            x["text"] = rng.choice(["red", "green"])
        if name in WITH_GAPS and rng.random() < 0.2:
            x["u"] = None
        yield x, label


def described(value, seen=()):
    """Return what an object of River has learned, as plain values that can be compared."""
    if isinstance(value, dict):
        return [(repr(key), described(item, seen)) for key, item in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return [described(item, seen) for item in value]
    if isinstance(value, types.FunctionType) or not hasattr(value, "__dict__") or id(value) in seen:
        return repr(value) if isinstance(value, int | float | str) else type(value).__name__
    return type(value).__name__, described(vars(value), (*seen, id(value)))


@pytest.mark.parametrize("name", PIPELINES)
def test_rivers_transformers_learn_as_in_rivers_pipeline(name):
    steps, others = PIPELINES[name](), PIPELINES[name]()
    expected = compose.Pipeline(*steps, rb.Forgetron(budget=5))
    model = compose.Pipeline(*others, rb.Forgetron(budget=5))
    chain = Chain(model)
    for x, label in stream(name):
        given = dict(x)
        answer = chain.ask(x)
        assert x == answer.x == given
        assert answer.label == expected.predict_one(dict(x))
        assert answer.probabilities == expected.predict_proba_one(dict(x))
        chain.learn(answer.x, label, answer.asked)
        expected.learn_one(dict(x), label)
        assert answer.x == given
    own, rivers = list(model.steps.values()), list(expected.steps.values())
    assert described(own[:-1]) == described(rivers[:-1])
    assert own[-1].n_mistakes == rivers[-1].n_mistakes
    assert own[-1].support_vectors == rivers[-1].support_vectors


def test_a_chain_knows_its_parts():
    inner = rb.Forgetron()
    chain = Chain(preprocessing.StandardScaler() | rb.Reject(rb.Calibrated(inner)))
    assert isinstance(chain.last, rb.Reject)
    assert chain.source is chain.classifier is inner
    assert chain.has_novelty
    assert chain.asks
    assert not chain.has_scores
    assert outline(chain.model) == "StandardScaler | Reject(Calibrated(Forgetron))"
    assert not Chain(LogisticRegression()).asks
    river = Chain(ADWINBaggingClassifier(inner))
    assert river.classifier is inner
    assert river.source is river.last
    assert not river.has_novelty


class Counting(preprocessing.StandardScaler):
    """A scaler that counts how often it transforms."""

    n_transforms = 0

    def transform_one(self, x):
        self.n_transforms += 1
        return super().transform_one(x)


each_wrapper = pytest.mark.parametrize(
    "wrap",
    [rb.Calibrated, rb.PredictionSets, rb.Reject],
    ids=["calibrated", "with sets", "rejecting"],
)


@each_wrapper
def test_an_answer_transforms_an_example_once(wrap):
    scaler = Counting()
    model = wrap(scaler | rb.Forgetron(budget=5))
    answer = model.ask({"u": 1.0})
    assert scaler.n_transforms == 1
    model.learn(answer, True)
    assert scaler.n_transforms == 2  # A scaler learns the example before it transforms it.


@pytest.mark.parametrize(("threshold", "n_learned"), [(0.0, 0), (2.0, 1)], ids=["all", "none"])
def test_a_filter_may_keep_an_example_from_the_classifier(threshold, n_learned):
    inner = rb.Forgetron(budget=5)
    odd = anomaly.ThresholdFilter(anomaly.HalfSpaceTrees(seed=1), threshold)
    model = rb.Calibrated(compose.Pipeline(odd, inner))
    model.learn(model.ask({"u": 1.0}), True)
    assert inner.n_rounds == n_learned


@each_wrapper
def test_answers_of_wrappers(wrap):
    model, other = (wrap(preprocessing.StandardScaler() | rb.Forgetron(budget=5)) for _ in range(2))
    for x, label in stream("types"):
        del x["text"]
        answer = model.ask(x)
        assert answer.label == other.predict_one(x)
        assert answer.probabilities == other.predict_proba_one(x)
        model.learn(answer, label)
        other.learn_one(x, label)
    with pytest.raises(ValueError, match="the answer was learned before: ask again"):
        model.learn(answer, label)
    with pytest.raises(ValueError, match="the answer is that of another model"):
        model.learn(other.ask(x), label)


def test_the_maps_learn_from_no_answer_of_the_model_inside():
    inner = rb.Forgetron(budget=5)
    model = rb.Calibrated(inner)
    with pytest.raises(
        ValueError, match="the answer is that of the model inside: ask the calibrated"
    ):
        model.learn(inner.ask({"u": 1.0}), True)
    assert inner.n_rounds == 0


def test_an_answer_of_a_model_of_river_is_pickled_with_its_probabilities():
    model = rb.Reject(LogisticRegression(), doubt="entropy")
    for x, label in stream("standard"):
        answer = model.ask(x)
        restored = pickle.loads(pickle.dumps(answer))
        assert restored.probabilities == model.predict_proba_one(x)
        assert (restored.x, restored.label) == (x, model.predict_one(x))
        model.learn(restored, label)


def test_answers_of_models_of_river():
    model = rb.Calibrated(LogisticRegression())
    for x, label in stream("standard"):
        answer = model.ask(x)
        assert answer.label == model.predict_one(x)
        model.learn(answer, label)
    with pytest.raises(ValueError, match="LogisticRegression has no scores, but probabilities"):
        answer.scores  # noqa: B018
