"""A merged model is the model that has learned all examples, however they were divided."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from states import content

import river_budget as rb
from river_budget import checkpoint
from river_budget._arrays import unpacked

KERNEL = rb.RBF(0.3)


def stream(n, labels="abc", seed=0):
    """Return rows of two numbers, a text and an array, whose labels shift the numbers."""
    rng = np.random.default_rng(seed)
    centres = {label: 2 * rng.normal(size=2) for label in labels}
    rows = []
    for _ in range(n):
        y = labels[rng.integers(len(labels))]
        u, v = (centres[y] + rng.normal(size=2)).tolist()
        x = {"u": u, "v": 100 * v, "color": "red" if u > 0 else "blue", "e": rng.normal(size=3)}
        rows.append((x, y, float(rng.choice([0.5, 1.0, 3.0]))))
    return rows


def learned(rows, base=None, **parameters):
    """Return a model, or a copy of a base, that has learned rows."""
    given = {"n_features": 30, "dtype": "float64", **parameters}
    model = rb.KernelLDA(**given) if base is None else copy.deepcopy(base)
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def new(rows=(), **parameters):
    """Return a model with a given kernel, so that it needs no base."""
    return learned(rows, **{"kernel": KERNEL, **parameters})


@pytest.fixture(scope="module")
def base():
    """Return a model whose scales are fixed; it knows the labels a and b."""
    return learned(stream(256, "ab", seed=1))


def statistics(model):
    """Return P, W, K, counts and rounds, with sorted labels, and the number of rounds."""
    state = model.state()
    f, columns = state["hypothesis"], state["labels"]["columns"]
    order = [columns[label] for label in sorted(model.classes, key=repr)]
    P = f["scale"] * unpacked(f["inverse"], model.n_features)
    W, K = f["coefficients"][order], f["residuals"][np.ix_(order, order)]
    return P, W, K, f["counts"][order], f["rounds"][order], model.n_rounds


def same(model, other, rtol=1e-8):
    assert sorted(model.classes, key=repr) == sorted(other.classes, key=repr)
    for one, expected in zip(statistics(model), statistics(other), strict=True):
        scale = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(one, expected, rtol=0, atol=rtol * scale)


def same_temperature(model, other):
    one, expected = (m.state()["hypothesis"] for m in (model, other))
    assert one["beta"] == pytest.approx(expected["beta"], rel=1e-9)
    assert one["squares"] == pytest.approx(expected["squares"], rel=1e-9)


def beta_of(model):
    return model.state()["hypothesis"]["beta"]


def with_beta(model, beta):
    """Return a copy of a model that has another temperature."""
    copied, state = model.clone(), model.state()
    state["hypothesis"]["beta"] = beta
    copied.restore(state)
    return copied


SHARDS = {
    "two, by rows": (2, lambda i, y: i % 2),
    "eight, by rows": (8, lambda i, y: i % 8),
    "by labels": (3, lambda i, y: "abc".index(y)),
    "one has none": (2, lambda i, y: 0),
}
shards = pytest.mark.parametrize(("n", "shard"), SHARDS.values(), ids=SHARDS)


@shards
def test_it_is_the_model_of_all_rows(n, shard):
    rows = stream(300)
    parts = [new(r for i, r in enumerate(rows) if shard(i, r[1]) == k) for k in range(n)]
    same(rb.merge(parts), new(rows))


@shards
def test_a_base_counts_once(n, shard, base):
    rows = stream(300)
    parts = [
        learned((r for i, r in enumerate(rows) if shard(i, r[1]) == k), base) for k in range(n)
    ]
    merged = rb.merge(parts, base)
    same(merged, learned(rows, base))
    assert merged.n_rounds == 556
    assert merged.n_mistakes == sum(p.n_mistakes for p in parts) - (n - 1) * base.n_mistakes


def test_the_merged_model_goes_on_as_that_model(base):
    rows, more = stream(100), stream(100, "bcd", seed=1)
    merged = rb.merge([learned(rows[::2], base), learned(rows[1::2], base)], base)
    same(learned(more, merged), learned(rows + more, base))


@pytest.mark.slow
def test_in_single_precision_it_is_nearly_that_model():
    rows = stream(3_000)
    base = learned(rows[:256], dtype="float32")
    parts = [learned(rows[256 + k :: 4], base) for k in range(4)]
    merged, whole = rb.merge(parts, base), learned(rows[256:], base)
    assert merged.dtype == "float32"
    same(merged, whole, 1e-4)
    tuned = with_beta(merged, beta_of(whole))
    for x, _, _ in rows:
        assert tuned.predict_proba_one(x) == pytest.approx(whole.predict_proba_one(x), abs=1e-3)


def test_with_its_temperature_the_probabilities_are_those_of_that_model(base):
    rows = stream(300)
    merged = rb.merge([learned(rows[::2], base), learned(rows[1::2], base)], base)
    whole = learned(rows, base)
    tuned = with_beta(merged, beta_of(whole))
    for x, _, _ in rows:
        assert tuned.predict_proba_one(x) == pytest.approx(whole.predict_proba_one(x), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 99), st.lists(st.integers(0, 60), min_size=3, max_size=3), st.booleans())
def test_it_is_associative_and_commutative(seed, sizes, has_base):
    start = new(stream(5, "bd", seed)) if has_base else None
    labels = "ab", "bc", "acd"
    a, b, c = (
        learned(stream(n, names, seed + k), start) if has_base else new(stream(n, names, seed + k))
        for k, (n, names) in enumerate(zip(sizes, labels, strict=True))
    )
    merged = rb.merge([a, b, c], start)
    others = [
        rb.merge([rb.merge([a, b], start), c], start),
        rb.merge([a, rb.merge([b, c], start)], start),
        rb.merge([c, a, b], start),
    ]
    for other in others:
        same(other, merged)
        same_temperature(other, merged)
        for x, _, _ in stream(10, seed=seed):
            assert other.predict_proba_one(x) == pytest.approx(
                merged.predict_proba_one(x), abs=1e-6
            )


def test_labels_are_united_in_order_of_appearance():
    parts = [new(stream(20, labels)) for labels in (["b", 2], [1, True, "b"], [("c", 1.5)])]
    merged = rb.merge(parts)
    assert set(merged.classes) == {"b", 2, 1, ("c", 1.5)}
    assert merged.classes[:2] == parts[0].classes
    assert set(merged.predict_proba_one({"u": 1.0})) == set(merged.classes)


def test_of_two_labels_true_is_the_positive_one():
    merged = rb.merge([new(stream(5, [True])), new(stream(5, [False]))])
    assert merged.classes == [False, True]
    same(merged, new(stream(5, [True]) + stream(5, [False])))


@pytest.mark.parametrize("n", [1, 3])
def test_models_without_examples(n):
    merged = rb.merge([new() for _ in range(n)])
    assert merged.classes == []
    assert merged.predict_one({"u": 1.0}) is None
    same(merged, new())


def test_one_model_alone_is_that_model(base):
    model = learned(stream(50), base)
    same(rb.merge([model]), model)
    same_temperature(rb.merge([model], base), model)


def test_nothing_learned_since_the_base_is_the_base(base):
    merged = rb.merge([copy.deepcopy(base)] * 3, base)
    same(merged, base)
    same_temperature(merged, base)


def test_a_part_that_has_learned_more_counts_more_in_the_temperature():
    many, few = new(stream(300)), new(stream(30, seed=1))
    beta = beta_of(rb.merge([many, few]))
    assert abs(beta - beta_of(many)) < abs(beta - beta_of(few))


@pytest.mark.parametrize("beta", [1e-3, 10.0])
def test_the_temperature_stays_within_its_bounds(beta):
    parts = [with_beta(trained(), beta) for _ in range(3)]
    assert beta_of(rb.merge(parts)) == beta


def test_nothing_changes_in_the_models_and_the_merged_one_shares_nothing(base):
    parts = [learned(stream(30, seed=k), base) for k in range(2)]
    before = [content(m.state()) for m in (base, *parts)]
    merged = rb.merge(parts, base)
    learned_on = learned(stream(100), merged)
    assert [content(m.state()) for m in (base, *parts)] == before
    for x, y, w in stream(100):
        merged.learn_one(x, y, w)
    assert content(merged.state()) == content(learned_on.state())
    assert [content(m.state()) for m in (base, *parts)] == before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_checkpoints_are_merged_as_the_models(dtype):
    base = learned(stream(256), dtype=dtype)
    parts = [learned(stream(50, seed=k), base) for k in range(3)]
    merged = rb.merge(parts, base)
    states = [checkpoint.dumps(part) for part in parts]
    again = rb.merge(map(checkpoint.loads, states), checkpoint.loads(checkpoint.dumps(base)))
    assert content(again.state()) == content(merged.state())
    assert content(checkpoint.loads(checkpoint.dumps(merged)).state()) == content(merged.state())


def test_new_models_with_the_kernel_of_a_trained_one_need_no_base(base):
    kernel, rows = base.resolved_kernel, stream(200)
    parts = [new(rows[k::2], kernel=kernel) for k in range(2)]
    states = [checkpoint.dumps(part) for part in parts]
    whole = new(rows, kernel=kernel)
    same(rb.merge(parts), whole)
    same(rb.merge(map(checkpoint.loads, states)), whole)


def trained(**parameters):
    return new(stream(20), **parameters)


REFUSED = {
    "no model": ([], "no model"),
    "another class": ([trained(), rb.Mnemotron(10, archive=30)], r"models\[1\] .*Mnemotron.* scores"),
    "bytes": ([checkpoint.dumps(trained())], "bytes.*load checkpoints first"),
    "a wrapper": ([rb.Calibrated(trained())], "Calibrated.*inside"),
    "forgetting": ([trained(forgetting=0.999)], "forgetting=0.999.*forgetting=1"),
    "another seed": ([trained(), trained(seed=1)], r"models\[1\] has seed=1, and models\[0\] has 0"),
    "other features": ([trained(n_features=20), trained()], "n_features=30.* 20"),
    "another precision": ([trained(), trained(dtype="float32")], "dtype='float32'"),
    "another kernel": ([trained(), trained(kernel=rb.RBF(0.2))], "kernel=RBF.*0.2.*0.3"),
    "other weights": ([trained(class_weight={"a": 2.0}), trained()], "class_weight=None"),
    "scales that are not fixed": ([trained(kernel=None)], "20 examples.*256.*base.*resolved_kernel"),
    "other scales": (
        [learned(stream(256, seed=k)) for k in range(2)],
        r"models\[1\] has learned other scales.*copy one base.*resolved_kernel",
    ),
    "too many labels": (
        [new(stream(20, labels), max_classes=3) for labels in ("abc", "cde")],
        "at most 3.*max_classes",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("models", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_merged_is_refused_with_the_way_out(models, message):
    with pytest.raises(ValueError, match=message):
        rb.merge(models)


def test_a_model_whose_sums_are_lost_in_rounding_errors_is_refused():
    """In single precision, P may have lost its smallest eigenvalues, which are the largest of the sums."""
    model = new(dtype="float32")
    state = model.state()
    state["hypothesis"]["inverse"][-1] = -0.01
    lost = model.clone()
    lost.restore(state)
    with pytest.raises(ValueError, match=r"models\[1\] has lost its sums.*dtype='float64'"):
        rb.merge([model, lost])


def test_copies_of_a_model_need_it_as_base(base):
    with pytest.raises(ValueError, match="copies of one model: give it as base"):
        rb.merge([learned(stream(10), base), learned(stream(20), base)])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda base: trained(seed=1), "base has .*kernel"),
        (lambda base: learned(stream(300, "ab", seed=9)), "base has learned other scales"),
        (lambda base: learned(stream(100), base), r"116 examples of the label 'a', and the base 141"),
        (lambda base: learned(stream(9, "z"), base), r"models\[0\] has learned 0 .*'z', and the base 9"),
        (lambda base: rb.Forgetron(), "base is of the class Forgetron"),
    ],
)  # fmt: skip
def test_a_base_that_is_none_is_refused(wrong, message, base):
    with pytest.raises(ValueError, match=message):
        rb.merge([learned(stream(5), base), learned(stream(20), base)], wrong(base))


def test_a_base_with_rows_of_its_own_is_refused():
    """It has no more rounds of any label than the models, but subtracting its sums leaves negative ones."""
    heavy = new([(x, y, 50.0) for x, y, _ in stream(20, seed=3)])
    with pytest.raises(ValueError, match="give the model that was copied"):
        rb.merge([new(stream(60, seed=k)) for k in range(2)], heavy)
