"""Explanations: what features and earlier examples add, in the names and units of the user."""

from __future__ import annotations

import html.parser
import json
import math
import pickle

import numpy as np
import pytest
from algorithms import each_perceptron
from river import (
    base,
    compose,
    ensemble,
    feature_extraction,
    linear_model,
    multiclass,
    preprocessing,
)

import river_budget as rb
from river_budget import synth


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def plane(n=60, seed=1):
    """Return examples with numbers, in units that differ, and a text, and one of two labels."""
    colours = {False: "red", True: "blue"}
    return [
        ({"u": x[0], "v": 1000 * x[1], "colour": colours[(t % 5 == 0) ^ y]}, y)
        for t, (x, y) in enumerate(synth.TwoGaussians(n, seed=seed))
    ]


def numbers(n=60, seed=1):
    return [({"u": x["u"], "v": x["v"]}, y) for x, y in plane(n, seed)]


def log_odds(model, x, label=True):
    p = model.ask(x).probabilities[label]
    return math.log(p / (1 - p))


def effects(explanation):
    return {feature.name: feature.effect for feature in explanation.features}


@pytest.fixture
def by_hand():
    """Return a model with f(x) = u - 2 v.

    The first example is a mistake, as f = 0, and so is the second one, as f = u = 0 there.
    """
    model = rb.KernelPerceptron(rb.Linear())
    return learned(model, [({"u": 1.0, "v": 0.0}, True), ({"u": 0.0, "v": 2.0}, False)])


# By hand.


def test_effects_of_features_are_those_that_were_computed_by_hand(by_hand):
    explanation = rb.explain(by_hand, {"u": 3.0, "v": 1.0})
    assert explanation.label is True
    assert explanation.log_odds == pytest.approx(1.0)
    assert explanation.probability == pytest.approx(1 / (1 + math.exp(-1.0)))
    # With v alone, f is -2. With u alone, it is 3.
    assert [feature[:2] for feature in explanation.features] == [("u", 3.0), ("v", 1.0)]
    assert effects(explanation) == {"u": pytest.approx(3.0), "v": pytest.approx(-2.0)}


def test_contributions_of_examples_are_those_that_were_computed_by_hand(by_hand):
    explanation = rb.explain(by_hand, {"u": 3.0, "v": 1.0})
    assert [tuple(example) for example in explanation.examples] == [
        ({"u": 1.0, "v": 0.0}, True, pytest.approx(3.0)),
        ({"u": 0.0, "v": 2.0}, False, pytest.approx(-2.0)),
    ]
    assert explanation.examples_for == explanation.examples[:1]
    assert explanation.examples_against == explanation.examples[1:]


def test_what_speaks_for_one_of_two_labels_speaks_against_the_other(by_hand):
    x = {"u": 3.0, "v": 1.0}
    one, other = (rb.explain(by_hand, x, label) for label in (True, False))
    assert other.label is False
    assert other.log_odds == pytest.approx(-one.log_odds)
    assert effects(other) == {name: pytest.approx(-e) for name, e in effects(one).items()}
    assert [e.contribution for e in other.examples] == [-e.contribution for e in one.examples]


def test_the_log_odds_of_one_of_three_labels_are_against_both_others():
    model = learned(rb.KernelPerceptron(rb.RBF(gamma=1.0)), [({"u": t}, t) for t in (0, 1, 2)])
    explanation = rb.explain(model, {"u": 0.5}, label=1)
    p = model.ask({"u": 0.5}).probabilities
    assert explanation.log_odds == pytest.approx(math.log(p[1] / (p[0] + p[2])))


def test_log_odds_are_not_rounded_where_a_probability_is_nearly_1():
    model = learned(rb.KernelPerceptron(rb.Linear()), [({"u": 10.0}, True), ({"u": -1.0}, False)])
    assert model.predict_proba_one({"u": 10.0})[True] == 1.0
    f = model.decision_function_one({"u": 10.0})
    assert rb.explain(model, {"u": 10.0}).features[0].effect == pytest.approx(f)


# What always holds.


@each_perceptron
@pytest.mark.parametrize("labels", [2, 3])
def test_contributions_in_a_perceptron_add_up_to_the_score(make, labels):
    """Each is a coefficient times a kernel value."""
    kernel = rb.RBF(gamma=0.7)
    stream = [({"u": x["u"]}, "abc"[(t + y) % labels]) for t, (x, y) in enumerate(plane(60))]
    model = learned(make(kernel), stream)
    for x in ({"u": 0.3}, {"u": -1.0}):
        for label, score in model.scores_one(x).items():
            found = {
                example.x["u"]: example.contribution
                for example in rb.explain(model, x, label).examples
            }
            assert math.fsum(found.values()) == pytest.approx(score, abs=1e-6)
            assert len(found) == model.n_support
            for s, c in zip(model.support_vectors, coefficients_of(model, label), strict=True):
                assert found[s["u"]] == pytest.approx(c * kernel(s, x), abs=1e-6)


def coefficients_of(model, label):
    """Return the coefficients of the score of a label (n_support,)."""
    if model.coefficients.ndim == 2:
        return model.coefficients[:, model._labels.column[label]]
    return model.coefficients if label == model.classes[1] else -model.coefficients


@pytest.mark.parametrize("labels", [2, 3])
def test_contributions_in_a_mnemotron_are_those_of_the_mean_under_the_hedge(labels):
    rows = [(x, (t + y) % labels) for t, (x, y) in enumerate(numbers(150))]
    model = learned(rb.Mnemotron(budget=8), rows)
    x, f, n = {"u": 0.3, "v": 500.0}, model._f, model.n_support
    means = f.posteriors.moments(n, list(range(len(f.shares))))[1][:, :, f.store.by_age]
    for label in range(labels):
        column = model._labels.column[label] if labels > 2 else 0
        expected = [
            sum(
                share * means[e, column, i] * model.resolved_kernels[f.posteriors.kernels[e]](s, x)
                for e, share in enumerate(f.shares)
            )
            for i, s in enumerate(model.support_vectors)
        ]
        sign = -1 if labels == 2 and label == model.classes[0] else 1
        added = {tuple(e.x.values()): e.contribution for e in rb.explain(model, x, label).examples}
        for s, value in zip(model.support_vectors, expected, strict=True):
            assert added[tuple(s.values())] == pytest.approx(sign * value, abs=1e-6)


def test_a_mnemotron_knows_the_labels_of_its_examples():
    rows = plane(300)
    label_of = {(x["u"], x["v"]): y for x, y in rows}
    model = learned(rb.Mnemotron(budget=10, dtype="float64"), rows)
    examples = rb.explain(model, rows[0][0]).examples
    assert len(examples) == 10
    assert [e.label for e in examples] == [label_of[e.x["u"], e.x["v"]] for e in examples]


def test_the_largest_come_first():
    model = learned(rb.Mnemotron(budget=20), plane(200))
    explanation = rb.explain(model, plane()[0][0])
    for sizes in (
        [abs(feature.effect) for feature in explanation.features],
        [abs(example.contribution) for example in explanation.examples],
    ):
        assert len(sizes) > 2
        assert sizes == sorted(sizes, reverse=True)


def scaled(model):
    return compose.Select("u", "v") | preprocessing.StandardScaler() | model


MODELS = {
    "perceptron": lambda: rb.Forgetron(budget=10),
    "given width": lambda: rb.Projectron(gamma=1e-6, budget=10),
    "Mnemotron": lambda: rb.Mnemotron(budget=10),
    "regions and archive": lambda: rb.Mnemotron(budget=10, regions=2, archive=20),
    "KernelLDA": lambda: rb.KernelLDA(n_features=20),
    "Calibrated": lambda: rb.Calibrated(rb.Forgetron(budget=10)),
    "Reject": lambda: rb.Reject(rb.Mnemotron(budget=10)),
    "Query": lambda: rb.Query(rb.Mnemotron(budget=10), seed=1),
    "pipeline": lambda: scaled(rb.Forgetron(budget=10)),
    "pipeline of wrappers": lambda: scaled(rb.Query(rb.Calibrated(rb.Forgetron(budget=10)), seed=1)),
    "wrapper of a pipeline": lambda: rb.Reject(rb.Calibrated(scaled(rb.Mnemotron(budget=10)))),
    "River's wrapper": lambda: multiclass.OneVsRestClassifier(rb.Mnemotron(budget=10)),
    "River's ensemble": lambda: scaled(
        ensemble.BaggingClassifier(rb.Forgetron(budget=10), n_models=2, seed=1)
    ),
    "River's classifier": lambda: scaled(linear_model.LogisticRegression()),
}  # fmt: skip
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@each_model
def test_nothing_in_a_model_changes(make):
    model, x = learned(make(), plane()), {"u": 0.3, "v": 500.0, "colour": "red"}
    model.predict_one(x)  # Some models keep that an example waits for its label.
    before = pickle.dumps(model)
    rb.explain(model, x)
    rb.explain(model, {"u": 0.4, "v": 900.0, "colour": "green"}, label=True)
    assert pickle.dumps(model) == before


@each_model
def test_features_are_those_of_the_user(make):
    model, x = learned(make(), plane()), {"u": 0.3, "v": 500.0, "colour": "red"}
    explanation = rb.explain(model, x)
    assert {feature.name: feature.value for feature in explanation.features} == x
    assert all(math.isfinite(effect) for effect in effects(explanation).values())
    assert any(effects(explanation).values())


# What unknown means.


def test_an_unknown_number_is_the_mean_and_an_unknown_text_no_category():
    rows = plane()
    model, x = learned(rb.Forgetron(budget=10), rows), {"u": 0.3, "v": 500.0, "colour": "red"}
    found = effects(rb.explain(model, x, label=True))
    mean = sum(row["v"] for row, _ in rows) / len(rows)
    assert found["v"] == pytest.approx(log_odds(model, x) - log_odds(model, x | {"v": mean}))
    without = {"u": 0.3, "v": 500.0}
    assert found["colour"] == pytest.approx(log_odds(model, x) - log_odds(model, without))


def test_a_feature_is_left_out_if_the_width_is_given():
    model, x = learned(rb.Forgetron(gamma=1.0, budget=10), numbers()), {"u": 0.3, "v": 0.5}
    found = effects(rb.explain(model, x, label=True))
    assert found["u"] == pytest.approx(log_odds(model, x) - log_odds(model, {"u": 0.0, "v": 0.5}))


def test_a_feature_is_left_out_if_a_scaler_refuses_unknown_values():
    model = learned(preprocessing.StandardScaler() | rb.Forgetron(budget=10), numbers())
    x = {"u": 0.3, "v": 500.0}
    found = effects(rb.explain(model, x, label=True))
    p, q = (model.predict_proba_one(row)[True] for row in (x, {"u": 0.3}))
    assert found["v"] == pytest.approx(math.log(p / (1 - p)) - math.log(q / (1 - q)))


@pytest.mark.parametrize("make", [rb.Forgetron, lambda: rb.Calibrated(rb.Forgetron(gamma=1.0))])
def test_a_number_that_is_needed_has_the_value_that_a_scaler_makes_0_of(make):
    model = learned(scaled(make()), plane())
    x = {"u": 0.3, "v": 500.0, "colour": "red"}
    found = effects(rb.explain(model, x, label=True))
    mean = sum(row["v"] for row, _ in plane()) / len(plane())
    p, q = (model.predict_proba_one(row)[True] for row in (x, x | {"v": mean}))
    assert found["v"] == pytest.approx(math.log(p / (1 - p)) - math.log(q / (1 - q)))
    assert found["colour"] == 0.0


def test_a_constant_that_is_needed_has_no_effect():
    model = learned(scaled(rb.Forgetron()), [(x | {"u": 7.0}, y) for x, y in numbers()])
    assert effects(rb.explain(model, {"u": 7.0, "v": 1.0}))["u"] == 0.0


def test_examples_are_scaled_back_behind_a_scaler():
    """The scaler has learned nothing since the last support vector."""
    model = scaled(rb.KernelPerceptron(gamma=1.0))
    for x, y in numbers():
        model.learn_one(x, y)
        if model["KernelPerceptron"].n_support == 5:
            break
    added = [example.x for example in rb.explain(model, x).examples]
    assert len(added) == 5
    assert pytest.approx(x) in added


def test_examples_are_those_of_the_classifier_behind_other_transformers():
    model = preprocessing.Normalizer() | rb.KernelPerceptron(gamma=1.0)
    learned(model, numbers())
    vectors = model["KernelPerceptron"].support_vectors
    added = [example.x for example in rb.explain(model, numbers()[0][0]).examples]
    assert sorted(added, key=repr) == sorted(vectors, key=repr)


def test_an_array_is_one_feature():
    rng = np.random.default_rng(1)
    stream = [({"e": rng.normal(t % 2, 1.0, 4), "u": 0.0}, t % 2) for t in range(40)]
    model = learned(rb.Mnemotron(budget=10), stream)
    x = {"e": np.ones(4), "u": 0.0}
    explanation = rb.explain(model, x, label=1)
    assert explanation.features[0].name == "e"
    assert effects(explanation)["e"] == pytest.approx(
        log_odds(model, x, 1) - log_odds(model, {"u": 0.0}, 1)
    )


def test_a_text_before_a_vectorizer_is_one_feature():
    texts = [("free money now", True), ("lunch at noon", False)] * 10
    model = feature_extraction.TFIDF(on="text") | rb.Forgetron(budget=10)
    learned(model, [({"text": text}, y) for text, y in texts])
    explanation = rb.explain(model, {"text": "free lunch money"}, label=True)
    assert [feature[:2] for feature in explanation.features] == [("text", "free lunch money")]
    p, q = (model.predict_proba_one({"text": text})[True] for text in ("free lunch money", ""))
    assert effects(explanation)["text"] == pytest.approx(
        math.log(p / (1 - p)) - math.log(q / (1 - q))
    )


def test_a_value_that_is_unknown_already_has_no_effect():
    model = learned(rb.Forgetron(budget=10), plane())
    assert effects(rb.explain(model, {"u": None, "v": 500.0}))["u"] == 0.0


def test_relevances_are_those_of_the_model():
    model = learned(rb.Mnemotron(budget=10), plane(100))
    assert model.relevances_
    assert rb.explain(model, plane()[0][0]).relevances == model.relevances_
    wrapped = learned(rb.Calibrated(rb.Mnemotron(budget=10)), plane(100))
    assert rb.explain(wrapped, plane()[0][0]).relevances == wrapped.model.relevances_
    assert rb.explain(learned(rb.Forgetron(), plane()), plane()[0][0]).relevances == {}


def test_a_rejected_example_is_explained_by_the_most_probable_label():
    model = learned(rb.Reject(rb.Forgetron(gamma=1.0), threshold=0.0), numbers())
    x = {"u": 0.3, "v": 0.5}
    assert model.predict_one(x) is None
    probabilities = model.predict_proba_one(x)
    assert rb.explain(model, x).label == max(probabilities, key=probabilities.get)


def test_examples_are_those_of_the_model_inside_of_wrappers():
    inside = learned(rb.Forgetron(budget=10), numbers())
    x = {"u": 0.3, "v": 500.0}
    examples = rb.explain(inside, x, label=True).examples
    for wrapped in (rb.Calibrated(inside), rb.Reject(inside), rb.Query(inside, seed=1)):
        assert rb.explain(wrapped, x, label=True).examples == examples
    assert len(examples) == inside.n_support


@pytest.mark.parametrize("name", ["KernelLDA", "River's wrapper", "River's classifier"])
def test_models_without_support_vectors_have_no_examples(name):
    assert rb.explain(learned(MODELS[name](), plane()), plane()[0][0]).examples == []


# Errors.


def test_a_label_that_is_not_known_is_an_error(by_hand):
    def explain(label):
        rb.explain(by_hand, {"u": 1.0}, label)

    before = pickle.dumps(by_hand)
    with pytest.raises(ValueError, match=r"knows no label 'fraud', but \[False, True\]"):
        explain("fraud")
    with pytest.raises(ValueError, match=r"knows no label \[True\]"):
        explain([True])
    assert pickle.dumps(by_hand) == before


@pytest.mark.parametrize("n", [0, 1])
def test_a_model_with_fewer_than_two_labels_is_an_error(n):
    model = learned(rb.Calibrated(rb.Forgetron()), plane()[:n])
    with pytest.raises(
        ValueError, match="Forgetron has learned fewer than two: let it learn first"
    ):
        rb.explain(model, {"u": 1.0})


class Constant(base.Classifier):
    """Predicts a label, and no probabilities."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return True


def test_a_model_without_probabilities_is_an_error():
    with pytest.raises(ValueError, match="Constant predicts no probabilities"):
        rb.explain(scaled(Constant()), {"u": 1.0, "v": 0.0})


def test_an_example_that_the_model_refuses_is_an_error(by_hand):
    with pytest.raises(ValueError, match="feature 'u' has the value inf"):
        rb.explain(by_hand, {"u": math.inf})


def test_a_feature_that_a_kernel_cannot_do_without_is_named():
    def jaccard(x, z):
        return len(x["words"] & z["words"]) / len(x["words"] | z["words"])

    model = rb.KernelPerceptron(rb.FunctionKernel(jaccard))
    learned(model, [({"words": {"a"}}, True), ({"words": {"b"}}, False)])
    with pytest.raises(ValueError, match="cannot do without the feature 'words'"):
        rb.explain(model, {"words": {"a", "b"}})


# Texts.


class Tables(html.parser.HTMLParser):
    """The cells of the tables of a page, and the texts outside of them."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.texts, self.tags = [], [], []
        self.feed(page)
        assert self.tags == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.tags.pop() == tag

    def handle_data(self, data):
        (self.cells if self.tags[-1] == "td" else self.texts).append(data)


def test_the_text_of_an_explanation_can_be_read(by_hand):
    explanation = rb.explain(by_hand, {"u": 3.0, "v": 1.0})
    assert repr(explanation) == (
        "True: probability 0.7311, log odds +1.00\n"
        "what each feature adds to the log odds:\n"
        "  +3.00  u  3\n"
        "  -2.00  v  1\n"
        "earlier examples that speak for it:\n"
        "  +3.00  True  u=1, v=0\n"
        "earlier examples that speak against it:\n"
        "  -2.00  False  u=0, v=2"
    )


def test_a_notebook_shows_the_same_as_tables(by_hand):
    page = Tables(rb.explain(by_hand, {"u": 3.0, "v": 1.0})._repr_html_())
    assert page.cells == [
        "+3.00", "u", "3", "-2.00", "v", "1",
        "+3.00", "True", "u=1, v=0",
        "-2.00", "False", "u=0, v=2",
    ]  # fmt: skip
    assert page.texts[0] == "True: probability 0.7311, log odds +1.00"


def test_names_and_values_are_no_html():
    rows = [({"<b>": "<script>"}, "<i>"), ({"<b>": "&amp;"}, "no")]
    explanation = rb.explain(learned(rb.KernelPerceptron(), rows), {"<b>": "<script>"}, "<i>")
    page = Tables(explanation._repr_html_())
    assert {"<b>", "<script>", "'<i>'"} <= set(page.cells)


def test_long_explanations_are_shortened():
    rng = np.random.default_rng(1)
    stream = [
        ({f"f{j}": rng.normal(t % 2, 1.0) for j in range(30)} | {"text": 500 * "x"}, t % 2)
        for t in range(100)
    ]
    explanation = rb.explain(learned(rb.Mnemotron(budget=50), stream), stream[0][0])
    text = repr(explanation)
    assert "the 10 largest of 31" in text
    n = len(explanation.examples_for)
    assert n > 3
    assert f"{n - 3} more" in text
    assert max(map(len, text.splitlines())) < 130
    assert len(text.splitlines()) < 30


def test_values_are_texts_of_one_line():
    values = {"a": "one\ntwo", "b": np.float32(0.5), "c": np.int64(3), "d": True, "e": None}
    rows = [({"a": "one\ntwo", "b": 1.0}, True), ({"a": "no", "b": 0.0}, False)]
    lines = repr(rb.explain(learned(rb.KernelPerceptron(), rows), values)).splitlines()
    cells = {tuple(line.split(maxsplit=2)[1:]) for line in lines[2:7]}
    assert cells == {("a", "one two"), ("b", "0.5"), ("c", "3"), ("d", "True"), ("e", "None")}


def test_the_largest_relevances_are_the_end_of_the_text():
    model = learned(rb.Mnemotron(budget=10), plane(100))
    title, *lines = repr(rb.explain(model, plane()[0][0])).splitlines()[-5:]
    assert title == "most relevant to the model (1 in the mean):"
    shown = {line.split()[1]: float(line.split()[0]) for line in lines}
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
    name_of = {("colour", text): f"colour={text}" for text in ("red", "blue")}
    expected = {name_of.get(name, name): value for name, value in model.relevances_.items()}
    assert shown == pytest.approx(expected, abs=0.005)


def test_a_dict_of_an_explanation_can_be_written_as_json():
    stream = [
        ({"e": np.full(3, t % 2, np.float32), "u": np.float64(t % 3)}, t % 2) for t in range(90)
    ]
    explanation = rb.explain(learned(rb.Mnemotron(budget=5), stream), stream[1][0])
    read = json.loads(json.dumps(explanation.to_dict()))
    assert read["label"] == explanation.label
    assert read["probability"] == explanation.probability
    assert [row["effect"] for row in read["features"]] == [e.effect for e in explanation.features]
    assert {"name": "e", "value": [1.0, 1.0, 1.0]}.items() <= next(
        row.items() for row in read["features"] if row["name"] == "e"
    )
    assert len(read["examples"]) == 5
    assert set(read["examples"][0]) == {"x", "label", "contribution"}
    assert {row["name"]: row["relevance"] for row in read["relevances"]} == explanation.relevances
