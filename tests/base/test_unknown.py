"""Unknown values: None, NaN and their like, in whose place a model takes the mean so far."""

from __future__ import annotations

import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from algorithms import each_path, each_perceptron_path
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from states import content

import river_budget as rb
from river_budget import checkpoint

UNKNOWN = [
    None, math.nan, np.float32("nan"), np.array(math.nan), decimal.Decimal("nan"), pd.NA, pd.NaT,
]  # fmt: skip


def stream(n=200, seed=1, share=0.2):
    """Return examples in which `a` is known, and about every fifth `b` and `c` unknown."""
    rng = np.random.default_rng(seed)
    rows = []
    for t, (a, b) in enumerate(rng.normal([5.0, 100.0], [1.0, 30.0], (n, 2)).tolist()):
        holes = rng.random(2) < share * (t > 0)
        c = ("red", "blue")[t % 3 == 0]
        x = {"a": a, "b": math.nan if holes[0] else b, "c": None if holes[1] else c}
        rows.append((x, (a > 5.0) ^ (b > 110.0)))
    return rows


STREAM = stream()


def learned(model, examples=STREAM):
    for x, y in examples:
        model.learn_one(x, y)
    return model


def sums_of(model):
    """Return the sums of each feature by names."""
    state = model._feature_scales.sums.state()
    return dict(zip(state["names"], state["sums"].tolist(), strict=True))


@pytest.mark.parametrize("unknown", UNKNOWN, ids=repr)
def test_the_mean_so_far_takes_the_place(unknown):
    model = rb.KernelPerceptron()
    model.learn_one({"a": 1.0, "b": unknown}, True)
    model.learn_one({"a": 4.0, "b": 2.0}, False)
    model.learn_one({"a": unknown, "b": 4}, True)
    model.learn_one({"a": 1.0, "b": unknown, "c": unknown}, False)
    assert model.support_vectors == [
        {"a": 1.0}, {"a": 4.0, "b": 2.0}, {"a": 2.5, "b": 4.0}, {"a": 1.0, "b": 3.0},
    ]  # fmt: skip


@given(st.lists(st.tuples(st.none() | st.integers(-8, 8), st.booleans()), min_size=1))
def test_an_absent_name_is_0_and_an_unknown_value_none(values):
    model, seen = rb.KernelPerceptron(rb.RationalQuadratic()), []
    for value, is_absent in [(4, False), *values]:
        model.learn_one({} if is_absent else {"a": value}, len(seen) % 2 == 0)
        seen += [0] if is_absent else [] if value is None else [value]
        mean = sum(seen) / len(seen)
        assert model.scores_one({"a": None}) == pytest.approx(model.scores_one({"a": mean}))


@each_path
def test_unknown_values_are_not_counted(make):
    model = learned(make(None))
    known = np.array([x["b"] for x, _ in STREAM if not math.isnan(x["b"])])
    since, reference, n_present, _, total, squares = sums_of(model)["b"]
    assert (since, n_present) == (len(STREAM) - len(known), len(known))
    assert reference == known[0]
    assert total == pytest.approx((known - reference).sum())
    assert squares == pytest.approx(((known - reference) ** 2).sum())
    assert model._feature_scales.sums.mean("b") == pytest.approx(known.mean())


FRAMES = {
    "pandas": pd.DataFrame,
    "categories": lambda rows: pd.DataFrame(rows).astype(
        {"c": "category"} if "c" in rows[0] else {}
    ),
    "NA": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "objects": lambda rows: pd.DataFrame(rows).astype(object),
    "polars": lambda rows: pl.DataFrame(rows),
    "polars nulls": lambda rows: pl.DataFrame(rows, nan_to_null=True).fill_nan(None),
    "pyarrow": lambda rows: pa.Table.from_pandas(pd.DataFrame(rows)),
    "arrays": lambda rows: {name: np.array([x[name] for x in rows]) for name in rows[0]},
}


@pytest.mark.parametrize("of", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_frames_with_holes_are_learned_row_by_row(of, names):
    rows = [{name: x[name] for name in names} for x, _ in STREAM]
    labels = [y for _, y in STREAM]
    one, many = rb.Forgetron(budget=20), rb.Forgetron(budget=20)
    learned(one, zip(rows, labels, strict=True))
    for start in (0, 120):
        many.learn_many(of(rows[start : start + 120]), pd.Series(labels[start : start + 120]))
    assert content(many.state()) == content(one.state())
    predicted = list(np.array(many.predict_many(of(rows))))
    assert predicted == [one.predict_one(x) for x in rows]


@each_path
def test_blocks_with_holes_make_the_model_of_single_examples(make):
    many = make(None)
    for rows in (STREAM[:120], STREAM[120:]):
        many.learn_many(pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows]))
    assert content(many.state()) == content(learned(make(None)).state())


def test_a_frame_of_whole_numbers_and_nulls():
    X = pl.DataFrame({"a": [2, None, 4], "b": [True, None, False]})
    model = rb.KernelPerceptron()
    model.learn_many(X, pl.Series([True, False, True]))
    assert model.support_vectors[1] == {"a": 2.0, "b": 1.0}


@each_path
def test_predictions_change_nothing(make):
    model = learned(make(None))
    before = checkpoint.dumps(model)
    for x, _ in STREAM[:30]:
        assert model.ask(x).probabilities == model.ask(dict(x)).probabilities
    assert checkpoint.dumps(model) == before


@each_perceptron_path
def test_a_given_width_refuses_unknown_values(make):
    model = make(rb.RBF(gamma=0.5))
    model.learn_one({"a": 1.0, "c": "red"}, True)
    for unknown in UNKNOWN:
        for x in ({"a": unknown}, {"c": "red", "a": unknown}, {"b": 1.0, "a": unknown, "c": "x"}):
            message = "'a' has the value .* unknown: leave out gamma.*StatImputer"
            refuses(message, model.learn_one, x, False)
            refuses(message, model.predict_one, x)
    block = pd.DataFrame({"b": [1.0, 2.0], "a": [1.0, math.nan]})
    refuses("row 1: feature 'a'", model.learn_many, block, pd.Series([True, False]))


def test_a_function_gets_what_was_given():
    given = []

    def kernel(x, z):
        given.append(x["a"])
        return 1.0

    model = rb.Stoptron(rb.FunctionKernel(kernel))
    for unknown in UNKNOWN[:2]:
        model.learn_one({"a": unknown}, True)
        assert repr(given.pop()) == repr(unknown)


def test_other_values_are_refused_beside_unknown_ones():
    model = learned(rb.Forgetron())
    for value in (math.inf, 1e300, b"x", 1j):
        refuses("'b' has the value", model.learn_one, {"a": None, "b": value}, True)
    model = rb.Forgetron()
    model.learn_one({"e": np.ones(3), "a": 1.0}, True)
    refuses("'e' is an array .* or a number", model.learn_one, {"e": None}, True)
    assert model.scores_one({"e": np.ones(3), "a": None}) == model.scores_one(
        {"e": np.ones(3), "a": 1}
    )


@each_path
def test_means_are_kept_when_the_scales_are_final(make):
    model = learned(make(None), STREAM[:40])
    mean = model._feature_scales.sums.mean("b")
    model._feature_scales.sums.clear()
    copy = checkpoint.loads(checkpoint.dumps(model))
    for each in (model, copy):
        assert each._feature_scales.sums.state()["means"].keys() == {"a", "b"}
        assert each.scores_one({"a": 5.0, "b": None}) == each.scores_one({"a": 5.0, "b": mean})


@pytest.mark.slow
def test_sums_end_at_8192_examples():
    model = learned(rb.Forgetron(budget=10), stream(8200))
    known = [x["b"] for x, _ in stream(8200)[:8192] if not math.isnan(x["b"])]
    assert model._feature_scales.sums.mean("b") == pytest.approx(np.mean(known))


def test_a_mean_of_the_largest_values_is_bounded():
    model = rb.KernelPerceptron()
    model.learn_one({"a": 1e70, "b": 1.0}, True)
    model.learn_one({"a": None, "b": 9e74}, False)
    assert model.support_vectors[1] == {"a": 1e60, "b": 9e74}
