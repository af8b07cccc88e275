"""Texts as values: each is a category, a feature of its own with the value 1."""

from __future__ import annotations

import enum
import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from algorithms import each_path
from refusals import refuses
from states import content

import river_budget as rb
from river_budget import _features, checkpoint, theory
from river_budget.kernels import Category, Scaled

COLORS = ("red", "green", "blue", "")

KERNELS = [
    rb.RBF(gamma=0.5), rb.Laplacian(gamma=0.5), rb.RationalQuadratic(gamma=0.5), rb.Linear(),
    rb.Polynomial(), rb.Cosine(), rb.Normalized(rb.Polynomial()),
    rb.AdditiveRationalQuadratic(gamma=0.5, names=("u", ("color", "red"), ("color", "green"))),
    Scaled(rb.RBF(gamma=0.5), scales=((("color", "red"), 2.0), ("u", 3.0))),
]  # fmt: skip


def stream(n=300, seed=1):
    rng = np.random.default_rng(seed)
    rows = [
        {"u": u, "color": COLORS[i], "size": ("S", "L")[j]}
        for u, i, j in zip(
            rng.normal(size=n).tolist(),
            rng.integers(4, size=n),
            rng.integers(2, size=n),
            strict=True,
        )
    ]
    return [(x, (x["color"] == "red") ^ (x["u"] > 0) ^ (rng.random() < 0.1)) for x in rows]


STREAM = stream()
FRAME, LABELS = pd.DataFrame([x for x, _ in STREAM]), pd.Series([y for _, y in STREAM])


def encoded(x):
    """Return an example with its texts encoded by hand."""
    return {
        (name, value) if isinstance(value, str) else name: 1.0 if isinstance(value, str) else value
        for name, value in x.items()
    }


def learned(model, examples=STREAM):
    for x, y in examples:
        model.learn_one(x, y)
    return model


@each_path
@pytest.mark.parametrize("kernel", [None, rb.RBF(gamma=0.3)], ids=str)
def test_a_text_is_a_feature_of_the_value_1(make, kernel):
    model, other = learned(make(kernel)), make(kernel)
    for x, y in STREAM:
        other.learn_one(encoded(x), y)
    assert content(model.state()) == content(other.state())
    for x, _ in STREAM[:20]:
        assert model.scores_one(x) == other.scores_one(encoded(x)) == other.scores_one(x)


@each_path
def test_support_vectors_have_texts_again(make):
    model = learned(make(None))
    given = [x for x, _ in STREAM]
    vectors = model.support_vectors
    assert vectors
    if isinstance(model, rb.BudgetedSGD):
        # What is merged has shares of categories, by the names of the features.
        vectors = [x for x in vectors if not any(type(name) is Category for name in x)]
    assert all(x in given for x in vectors)


@each_path
def test_checkpoints_and_pickles_hold_texts(make):
    model = learned(make(None))
    for copy in (checkpoint.loads(checkpoint.dumps(model)), pickle.loads(pickle.dumps(model))):
        assert copy.support_vectors == model.support_vectors
        assert content(copy.state()) == content(model.state())
        learned(copy, stream(50, seed=2))


FRAMES = {
    "pandas": lambda frame: frame,
    "categories": lambda frame: frame.astype({"color": "category", "size": "string"}),
    "polars": pl.DataFrame,
    "polars categories": lambda frame: pl.DataFrame(frame).with_columns(
        pl.col("color").cast(pl.Categorical)
    ),
    "pyarrow": pa.Table.from_pandas,
    "pyarrow categories": lambda frame: pa.Table.from_pandas(frame.astype({"color": "category"})),
    "arrays of objects": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "arrays of texts": lambda frame: {
        "u": frame["u"].to_numpy(),
        "color": np.array(frame["color"].tolist()),
        "size": frame["size"].tolist(),
    },
}
GIVEN = [rb.RBF(gamma=0.3), rb.FunctionKernel(rb.RBF(gamma=0.3))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "kernel"),
    [*((of, None) for of in FRAMES), *(("pandas", kernel) for kernel in GIVEN)],
    ids=str,
)
def test_frames_with_texts_are_learned_row_by_row(of, kernel):
    one, many = learned(rb.Forgetron(kernel, budget=20)), rb.Forgetron(kernel, budget=20)
    for rows in (FRAME[:100], FRAME[100:]):
        many.learn_many(FRAMES[of](rows.reset_index(drop=True)), LABELS[rows.index])
    assert many.support_vectors == one.support_vectors
    assert many.coefficients.tolist() == one.coefficients.tolist()
    predicted = list(np.array(many.predict_many(FRAMES[of](FRAME))))
    assert predicted == [one.predict_one(x) for x, _ in STREAM]


@pytest.mark.parametrize("of", [dict, pl.DataFrame, pa.table])
def test_columns_of_texts_keep_each_value_as_it_is(of):
    """An array of these texts would cut the last character of the first one."""
    model = rb.KernelPerceptron()
    model.learn_many(of({"a": ["red\0", "red"], "b": [1.0, 2.0]}), ["p", "q"])
    assert [x["a"] for x in model.support_vectors] == ["red\0", "red"]


def test_a_number_among_texts_stays_one():
    model = rb.KernelPerceptron()
    model.learn_many({"a": [1, "red"]}, ["p", "q"])
    assert model.support_vectors == [{"a": 1.0}, {"a": "red"}]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_of_dicts_take_texts(kernel):
    x, z = {"u": 0.5, "color": "red", "size": "S"}, {"u": 1.5, "color": "green", "size": "S"}
    assert kernel(x, z) == kernel(encoded(x), encoded(z)) != kernel(x, x)
    if isinstance(kernel, Scaled):
        return
    model = rb.KernelPerceptron(kernel)
    model.learn_one(z, True)
    assert model.decision_function_one(x) == pytest.approx(kernel(x, z))


def test_a_function_gets_what_was_given():
    def are_equal(x, z):
        assert type(x["color"]) is str
        assert type(x["n"]) is int
        return float(x == z)

    model = rb.Stoptron(rb.FunctionKernel(are_equal))
    model.learn_one({"color": "red", "n": 1}, True)
    assert model.decision_function_one({"color": "red", "n": 1}) == 1.0
    assert model.decision_function_one({"color": "blue", "n": 1}) == 0.0


@each_path
def test_categories_that_never_repeat_do_not_grow_a_model(make):
    model = make(rb.RBF(gamma=0.3))

    def learn(start, n):
        for i in range(start, start + n):
            model.learn_one({"id": f"{i:08}x", "u": i % 7 / 3}, i % 2 == 0)

    learn(0, 600)
    before = model.memory_bytes
    learn(600, 1200)
    assert model.memory_bytes <= 1.1 * before


def test_long_texts_are_counted():
    model = rb.Stoptron()
    model.learn_one({"text": "a" * 10**6}, True)
    assert model.memory_bytes > 10**6


class Color(str, enum.Enum):  # noqa: UP042  (what is tested)
    RED = "red"


@pytest.mark.parametrize("value", [Color.RED, np.str_("red")])
def test_texts_of_subclasses_are_plain_texts(value):
    model = rb.Stoptron()
    model.learn_one({"color": value}, True)
    (vector,) = model.support_vectors
    assert vector == {"color": "red"}
    assert type(vector["color"]) is str
    assert checkpoint.loads(checkpoint.dumps(model)).support_vectors == [vector]


def test_a_name_that_is_a_tuple_stays_one():
    model = rb.Stoptron()
    model.learn_one({("color", "red"): 1.0}, True)
    copy = checkpoint.loads(checkpoint.dumps(model))
    for vector in model.support_vectors + copy.support_vectors:
        assert vector == {("color", "red"): 1.0}


def test_texts_that_read_as_numbers_are_categories_with_one_warning():
    model = rb.Forgetron()
    prices = ["1.5", "-2e3", "7", "abc", "1.5"]
    rows = [({"price": price, "version": "v1.5", "code": "12-34"}, True) for price in prices]

    def learn():
        for x, y in rows:
            model.learn_one(x, y)

    with pytest.warns(UserWarning, match="'price' has the text '1.5'.*convert it") as caught:
        learn()
    assert len(caught) == 1
    assert caught[0].lineno == learn.__code__.co_firstlineno + 2
    assert model.support_vectors[0] == {"price": "1.5", "version": "v1.5", "code": "12-34"}


def test_names_that_never_repeat_are_warned_of_for_a_while_only():
    model = rb.Stoptron()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(300):
            model.predict_one({f"name {i}": "5"})
    assert len(caught) <= 100


def test_a_text_too_long_for_a_number_is_not_read_as_one():
    """A pattern that goes back on each digit would take time quadratic in the length of the text."""
    model = rb.Forgetron()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("1" * 30_000, "1" * 30_000 + "x", " " * 30_000 + "1"):
            model.predict_one({"digits": text})


@pytest.mark.parametrize("text", ["1", "+1.", " -.5", "1.5e-3", "12E5", "007.250"])
def test_texts_that_read_as_numbers(text, monkeypatch):
    monkeypatch.setattr(_features, "_WARNED", set())
    with pytest.warns(UserWarning, match="convert it"):
        rb.Forgetron().predict_one({f"name of {text}": text})


@pytest.mark.parametrize("text", ["", ".", "1e", "e5", "1.5.2", "1x", "1 ", "--1"])
def test_texts_that_do_not_read_as_numbers(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rb.Forgetron().predict_one({"text": text})


def test_a_warning_of_a_long_name_is_short(monkeypatch):
    monkeypatch.setattr(_features, "_WARNED", set())
    with pytest.warns(UserWarning, match="convert it") as caught:
        rb.Forgetron().predict_one({"n" * 10**5: "5"})
    assert len(str(caught[0].message)) < 1000


@pytest.mark.parametrize(
    "example",
    [
        lambda i: {"text": str(i % 10) * 10**5 + str(i)},
        lambda i: {str(i % 10) * 10**5 + str(i): "a"},
        lambda i: {(str(i), str(i % 10) * 10**5): "5"},
    ],
    ids=["texts", "names", "names with a warning"],
)
@pytest.mark.filterwarnings("ignore:feature")
def test_predictions_leave_no_long_text_behind(example):
    model = rb.Forgetron(budget=5)
    model.learn_one({"text": "a"}, True)
    tracemalloc.start()
    try:
        for i in range(50):
            model.predict_one(example(i))
        model.predict_one({"text": "b"})
        remaining, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remaining < 10**5  # one text


@each_path
def test_other_values_are_refused_still(make):
    model = learned(make(None), STREAM[:30])
    for value in (b"red", 1j, ["red"], np.datetime64("2020-01-01"), pd.Timestamp("2020"), ("a",)):
        for x in ({"color": value}, {"size": "S", "color": value}, {"color": value, "size": "S"}):
            refuses("'color' has the value .* number, a text or an array", model.learn_one, x, True)
        frame = pd.DataFrame({"size": ["S", "L"], "color": pd.Series(["red", value], dtype=object)})
        refuses("row 1: feature 'color'", model.learn_many, frame, pd.Series([True, False]))


def test_texts_and_large_numbers():
    model = rb.Forgetron()
    refuses(
        "'u' has the value 1e\\+200, which is too large", model.learn_one, {"c": "a", "u": 1e200}, 1
    )


def test_a_text_for_an_array_is_refused():
    model = rb.Stoptron()
    model.learn_one({"e": np.ones(3), "color": "red"}, True)
    assert model.decision_function_one({"e": np.ones(3), "color": "red"}) == 1.0
    refuses("'e' is an array .* or a number", model.learn_one, {"e": "red"}, False)


def test_comparators_take_texts():
    examples = STREAM[:60]
    span = theory.Span(rb.RBF(gamma=0.3), examples)
    model = learned(rb.KernelPerceptron(gamma=0.3), examples)
    certificate = theory.certify(model.clone(), examples, span=span)
    assert certificate.mistakes[-1] == model.n_mistakes
    comparator = theory.Comparator.of(model)
    assert comparator.vectors == model.support_vectors
