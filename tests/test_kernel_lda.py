"""KernelLDA follows its plain implementation, and order does not matter to it."""

from __future__ import annotations

import copy
import math
import pickle
import re
import tracemalloc

import estimator_checks
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_lda import PlainLDA
from states import content

import river_budget as rb
from river_budget import checkpoint
from river_budget._arrays import unpacked
from river_budget._core.loops import use_lanes
from river_budget._frequencies import frequencies_of, text_of
from river_budget.base.frames import frame_of
from river_budget.base.scales import Scales
from river_budget.kernels import Category, Scaled
from river_budget.testing.moments import interrupted

GAMMA = 0.3


def stream(n, n_labels, seed=0, has_arrays=False):
    """Return rows of three numbers, and an array, whose labels are the nearest of some centres."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(n_labels, 3))
    for _ in range(n):
        y = int(rng.integers(n_labels))
        x = dict(zip("abc", (centres[y] + rng.normal(size=3)).tolist(), strict=True))
        yield x | ({"v": 0.3 * rng.normal(size=5) + y} if has_arrays else {}), y


def first_labels(n_labels):
    """Return a row of each label: the plain implementation numbers labels as they come."""
    return [({"a": float(y), "b": 0.5, "c": -1.0}, y) for y in range(n_labels)]


@pytest.mark.slow
@pytest.mark.parametrize("forgetting", [1.0, 0.99, 0.9])
@pytest.mark.parametrize("has_arrays", [False, True])
@pytest.mark.parametrize("n_labels", [2, 5])
def test_it_follows_the_plain_implementation(forgetting, has_arrays, n_labels):
    model = rb.KernelLDA(22, forgetting, rb.RBF(GAMMA), seed=3, dtype="float64")
    plain = PlainLDA(22, forgetting, GAMMA, 3)
    rng = np.random.default_rng(1)
    for x, y in first_labels(n_labels) + list(stream(120, n_labels, has_arrays=has_arrays)):
        assert model.predict_proba_one(x) == pytest.approx(plain.probabilities(x), abs=1e-8)
        assert model.novelty_one(x) == pytest.approx(plain.novelty(x), abs=1e-8)
        w = float(rng.choice([0.5, 1.0, 3.0]))
        model.learn_one(x, y, w)
        plain.learn(x, y, w)
    P, W, _, counts = statistics(model)
    np.testing.assert_allclose(P, np.linalg.inv(plain.A), atol=1e-8)
    np.testing.assert_allclose(W, np.linalg.solve(plain.A, plain.B), atol=1e-8)
    np.testing.assert_allclose(counts, plain.N, rtol=1e-8)
    assert model._f.own_state()["beta"] == pytest.approx(plain.beta, rel=1e-8)


def statistics(model):
    """Return P (features, features), W (features, labels), K (labels, labels) and counts (labels,)."""
    state = model._f.own_state()
    P = state["scale"] * unpacked(state["inverse"], model.n_features)
    return P, state["coefficients"].T, state["residuals"], state["counts"]


def test_what_is_unlike_all_examples_is_novel():
    model = rb.KernelLDA(100, kernel=rb.RBF(GAMMA))
    assert model.novelty_one({"a": 0.0}) == 1.0
    examples = list(stream(500, 4))
    for x, y in examples:
        model.learn_one(x, y)
    known = np.array([model.novelty_one(x) for x, _ in examples])
    far = np.array([model.novelty_one({"a": 10.0 + i, "b": -10.0, "c": 10.0}) for i in range(50)])
    assert 0 <= known.min() < known.mean() < 0.7
    assert 0.9 < far.min() <= far.max() <= 1
    with pytest.raises(ValueError, match="'a' has the value inf"):
        model.novelty_one({"a": math.inf})


def learned(examples, **parameters):
    model = rb.KernelLDA(**{"n_features": 20, **parameters})
    for x, y, *w in examples:
        model.learn_one(x, y, *w)
    return model


def close(model, other, examples, tolerance=1e-8):
    for x, *_ in examples:
        assert model.predict_proba_one(x) == pytest.approx(
            other.predict_proba_one(x), abs=tolerance
        )


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_order_does_not_matter(random, n_labels):
    examples = list(stream(80, n_labels, seed=random.randrange(100)))
    first, ordered = examples[:1], sorted(examples[1:], key=lambda example: example[1])
    random.shuffle(shuffled := list(ordered))
    parameters = {"kernel": rb.RBF(GAMMA), "dtype": "float64"}
    model, other = (learned(first + rest, **parameters) for rest in (ordered, shuffled))
    P, W, K, counts = statistics(model)
    columns = [other.classes.index(label) for label in model.classes]
    others = statistics(other)
    np.testing.assert_allclose(P, others[0], atol=1e-8)
    np.testing.assert_allclose(W, others[1][:, columns], atol=1e-8)
    np.testing.assert_allclose(K, others[2][np.ix_(columns, columns)], rtol=1e-6)
    assert counts.tolist() == others[3][columns].tolist()


@pytest.mark.parametrize("has_arrays", [False, True])
def test_with_the_resolved_kernel_of_another_model_it_becomes_that_model(has_arrays):
    examples = [
        ({**x, "a": 1000 * x["a"], "b": "high" if x["b"] > 0 else "low"}, y)
        for x, y in stream(300, 3, has_arrays=has_arrays)
    ]
    model = learned(examples)
    assert isinstance(model.resolved_kernel, Scaled)
    other = learned(examples, kernel=model.resolved_kernel)
    stored = checkpoint.loads(checkpoint.dumps(other))
    for one in (other, stored, copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert one.resolved_kernel == model.resolved_kernel
        assert one.scores_one(examples[0][0]) == model.scores_one(examples[0][0])
    with pytest.raises(ValueError, match="'a' has the value None"):
        other.learn_one({"a": None}, 0)


def test_order_of_names_and_batches_do_not_matter():
    examples = list(stream(400, 3))
    model = learned(examples)
    backward = learned([(dict(reversed(x.items())), y) for x, y in examples])
    close(model, backward, examples, 1e-3)
    batch = rb.KernelLDA(n_features=20)
    X = pd.DataFrame([x for x, _ in examples])
    batch.learn_many(X, pd.Series([y for _, y in examples]))
    assert content(batch.state()) == content(model.state())
    many = batch.predict_proba_many(X).to_dict("records")
    assert many[0] == pytest.approx(model.predict_proba_one(examples[0][0]))
    assert batch.predict_many(X).tolist() == [model.predict_one(x) for x, _ in examples]


def close_in_state(model, other, tolerance):
    """Check that two models have learned the same but for rounding errors."""
    state, expected = model._f.state(), other._f.state()
    for key in ("inverse", "coefficients", "residuals", "counts", "scale", "beta", "squares"):
        np.testing.assert_allclose(state[key], expected[key], rtol=tolerance, atol=tolerance)
    assert state["rounds"].tolist() == expected["rounds"].tolist()
    assert model.n_mistakes == other.n_mistakes


@pytest.mark.slow
@pytest.mark.parametrize("has_arrays", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-8), ("float32", 2e-3)])
def test_a_wide_model_learns_rows_together_as_if_one_after_the_other(dtype, tolerance, has_arrays):
    """Labels that appear within a block, weights of 0 among others, and rows that come twice."""
    examples = list(stream(150, 4, has_arrays=has_arrays)) + list(
        stream(80, 7, seed=1, has_arrays=has_arrays)
    )
    examples += examples[:30]
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 5.0], size=len(examples)).tolist()
    parameters = {"n_features": 500, "kernel": rb.RBF(GAMMA), "dtype": dtype}
    one = learned([(x, y, w) for (x, y), w in zip(examples, weights, strict=True)], **parameters)
    many = rb.KernelLDA(**parameters)
    X = {name: np.array([x[name] for x, _ in examples]) for name in examples[0][0]}
    many.learn_many(X, [y for _, y in examples], weights)
    assert many._f.takes_blocks
    assert many.classes == one.classes
    close_in_state(many, one, tolerance)
    close(many, one, examples[:20], tolerance)


@pytest.mark.parametrize("weight", [1.0, 1e4, 1e12])
def test_a_wide_model_learns_many_equal_rows(weight):
    """The variance of all but the first is nearly lost in rounding errors."""
    parameters = {"n_features": 500, "kernel": rb.RBF(GAMMA)}
    many = rb.KernelLDA(**parameters)
    for _ in range(5):
        many.learn_many({"a": np.ones(100)}, [1, 0] * 50, weight)
    stays_whole(many, [({"a": 1.0},), ({"a": 2.0},)])
    assert many.predict_proba_one({"a": 1.0})[1] == pytest.approx(0.5, abs=0.05)


def test_a_refused_row_of_a_wide_model_changes_nothing():
    model = rb.KernelLDA(500, kernel=rb.RBF(GAMMA), max_classes=2)
    model.learn_many({"a": np.arange(20.0)}, [0, 1] * 10)
    before = content(model.state())
    with pytest.raises(ValueError, match="row 19: the label"):
        model.learn_many({"a": np.arange(20.0)}, [0] * 19 + [None])
    with pytest.raises(ValueError, match="one class too many"):
        model.learn_many({"a": np.arange(20.0)}, [0] * 19 + [5])
    with pytest.raises(ValueError, match="row 3: feature 'a'"):
        model.learn_many({"a": [0.0] * 3 + [1e200] * 17}, [0] * 20)
    assert content(model.state()) == before


def test_checkpoints_of_a_wide_model_that_learned_blocks_go_on_exactly():
    """For that, its inverse is exactly symmetric."""
    model = rb.KernelLDA(500, kernel=rb.RBF(GAMMA))
    X, y = {"a": np.sin(np.arange(300.0))}, [i % 3 for i in range(300)]
    model.learn_many(X, y)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    for one in (model, loaded):
        one.learn_one({"a": 0.3}, 1)
        one.learn_many({"a": np.cos(np.arange(50.0))}, [i % 4 for i in range(50)])
    assert content(loaded.state()) == content(model.state())


@pytest.mark.slow
def test_an_interrupt_of_a_wide_model_leaves_whole_blocks():
    """Python's code for an array's address, for one, would let an interrupt in between two tiles."""
    frame = frame_of({"v": np.random.default_rng(0).normal(size=(10, 4))})

    def new_model():
        return rb.KernelLDA(500, kernel=rb.RBF(GAMMA))

    def learn(model):
        block = model._f.block(frame.columns, frame.rows)
        block.begin(np.arange(10) % 2, np.ones(10))
        model._f.scan(block, 0.0)

    def learned_by(model):
        state = model._f.learned()
        return [state[key].tobytes() for key in ("rounds", "inverse", "coefficients", "residuals")]

    before, after = new_model(), new_model()
    learn(after)
    expected = [learned_by(before), learned_by(after)]
    found = [learned_by(model) for model in interrupted(new_model, learn)]
    assert all(state in expected for state in found)
    assert expected[1] in found


def test_before_the_scale_is_fixed_it_is_the_model_of_the_kept_rows():
    examples = [({"a": 1000 * x["a"], "b": x["b"]}, y) for x, y in stream(256, 3)]
    model = learned(examples)
    again = rb.KernelLDA(20, kernel=rb.RBF(model._gamma))
    factors, pooled = model._feature_scales.factors, model._feature_scales.pooled
    for x, y in examples:
        scaled = {name: factors.get(name, pooled) * v for name, v in x.items()}
        again.learn_one(scaled, y)
    assert again.predict_proba_one(scaled) == pytest.approx(model.predict_proba_one(x), abs=1e-3)
    assert factors["a"] < 0.01 * factors["b"]
    assert model._f.store.n == 0


@pytest.mark.slow
@pytest.mark.parametrize("has_arrays", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3, 100, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_checkpoints_and_copies_go_on_exactly(n, has_arrays, dtype):
    examples = list(stream(400, 4, has_arrays=has_arrays))
    model = learned(examples[:n], forgetting=0.999, class_weight="balanced", dtype=dtype)
    text = checkpoint.dumps(model)
    others = [checkpoint.loads(text), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    assert len(text) < 100_000
    for x, y in examples[n:]:
        for one in (model, *others):
            one.learn_one(x, y)
    for other in others:
        assert content(other.state()) == content(model.state())
        assert other.predict_proba_one(examples[0][0]) == model.predict_proba_one(examples[0][0])


def test_labels_names_and_weights_at_any_time():
    model = rb.KernelLDA(n_features=20)
    assert (model.predict_one({"a": 1.0}), model.predict_proba_one({})) == (None, {})
    model.learn_one({"a": 1.0}, "x", 0.0)
    assert model.classes == []
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_proba_one({"b": 5.0}) == {"x": 1.0}
    for t in range(300):
        model.learn_one({"a": 1.0, f"new {t}": 2.0}, ("y", 1))
    model.learn_one({"z": 1.0}, 2.5)
    assert model.classes == ["x", ("y", 1), 2.5]
    assert model.predict_one({"a": 1.0, "new": 2.0}) == ("y", 1)
    assert model.n_rounds == 302


def test_an_example_with_a_weight_of_two_is_two_examples():
    examples = list(stream(60, 3))
    twice = learned([e for e in examples for _ in range(2)], kernel=rb.RBF(GAMMA), dtype="float64")
    weighted = learned([(*e, 2.0) for e in examples], kernel=rb.RBF(GAMMA), dtype="float64")
    for one, other in zip(statistics(twice), statistics(weighted), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_frequencies_follow_from_names_that_are_equal():
    sets = frozenset([0, 8]), frozenset([8, 0])  # with other orders
    for name, other in [
        (1, 1.0),
        (1, True),
        ((1, "a"), (np.int64(1), "a")),
        ("a", np.str_("a")),
        sets,
    ]:
        assert text_of(name) == text_of(other)
    texts = [frequencies_of(0, name, 8).tobytes() for name in ("1", 1, None, "None", (1,), 1.5, "")]
    assert len({*texts, frequencies_of(1, 1, 8).tobytes()}) == 8
    assert abs(frequencies_of(0, "a", 10_000).std() - 1) < 0.03
    # The same on any machine: what a checkpoint has learned is worth nothing with others.
    assert frequencies_of(7, "a", 2).tolist() == pytest.approx([1.23739624, -0.25923672])


def test_names_of_scales_are_counted():
    model = rb.KernelLDA(n_features=20)
    for t in range(300):
        model.learn_one({f"{t % 200:05000}": float(t)}, t % 2)
    assert model.memory_bytes > 200 * 5000


@pytest.mark.slow
def test_memory_is_bounded_when_names_never_repeat():
    model = rb.KernelLDA(n_features=20)
    sizes = []
    for t in range(4000):
        model.learn_one({f"a{t:04}": 1.0, "b": float(t % 7)}, t % 2)
        sizes.append(model.memory_bytes)
    assert max(sizes[2000:]) <= max(sizes[:2000])
    large = {str(j): 1.0 for j in range(5000)}
    p = model.predict_proba_one(large)
    model.predict_one({"b": 1.0})
    assert model.predict_proba_one(large) == p
    model.predict_one({"b": 1.0})
    assert model.memory_bytes <= max(sizes[:2000])


LONG_ONES = {
    "names": lambda i: {str(i % 10) * 10**5 + str(i): 1.0},
    "texts": lambda i: {"text": str(i % 10) * 10**5 + str(i)},
    "arrays": lambda i: {f"array {i}": np.ones(2**17)},
    "names of arrays": lambda i: {str(i % 10) * 10**5 + str(i): np.ones(3)},
}


@pytest.mark.parametrize("example", LONG_ONES.values(), ids=LONG_ONES)
def test_no_cache_keeps_long_names_or_projections_of_long_arrays(example):
    model = rb.KernelLDA(20, kernel=rb.RBF(GAMMA))
    model.learn_one({"a": 1.0}, 0)
    p = model.predict_proba_one(example(0))
    tracemalloc.start()
    try:
        for i in range(20):
            model.predict_proba_one(example(i))
        assert model.predict_proba_one(example(0)) == p
        model.predict_one({"a": 1.0})
        remaining, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remaining < 10**5  # one name


@pytest.mark.parametrize("name", ["a", 1, 1.5, ("a", 2), Category(("color", "red"))], ids=repr)
def test_projections_of_short_names_are_cached(name):
    model = rb.KernelLDA(20, seed=17)
    model.predict_one({name: 1.0})
    before = frequencies_of.cache_info().hits
    model.predict_one({"b": 1.0})
    model.predict_one({name: 1.0})
    assert frequencies_of.cache_info().hits > before


@pytest.mark.parametrize(
    "bad", [{"a": math.inf}, {"a": [1.0]}, {"a": 1e200}, {"v": np.array([1.0, np.inf])}]
)
@pytest.mark.parametrize("n", [0, 10, 300])
def test_bad_input_changes_nothing(bad, n):
    model = learned(stream(n, 2))
    before = content(model.state())
    for act in (model.predict_one, model.predict_proba_one, lambda x: model.learn_one(x, "new")):
        with pytest.raises(ValueError, match="feature"):
            act(bad)
    with pytest.raises(ValueError, match="label"):
        model.learn_one({"a": 1.0}, None)
    assert content(model.state()) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features", 0), ("n_features", 11), ("n_features", 20_000), ("forgetting", 0.0),
        ("forgetting", 1e-3), ("forgetting", 0.89), ("forgetting", 1 - 1e-6), ("forgetting", 1.1), ("kernel", rb.Linear()),
        ("kernel", Scaled(rb.RBF())), ("kernel", Scaled(rb.Laplacian(0.1))), ("seed", None), ("seed", np.array([1, 2])),
        ("dtype", "int8"),
    ],
)  # fmt: skip
def test_parameters_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        rb.KernelLDA(**{name: value})


FORGED = [
    ("inverse", lambda a: -a),
    ("coefficients", lambda a: a[:, 1:]),
    ("residuals", lambda a: a * np.nan),
    ("counts", lambda a: -a),
    ("scale", lambda scale: 0.0),
    ("beta", lambda beta: math.inf),
    ("squares", lambda squares: -1.0),
    ("rounds", lambda n: n + 1),
    ("n_mistakes", lambda n: 10**6),
    ("kept", lambda a: 10 * a),
    ("kept", lambda a: -a),
    ("kept", lambda a: a[:, :1]),
]


@pytest.mark.parametrize(("key", "forged"), FORGED)
def test_forged_states(key, forged):
    model = learned(stream(50, 3))
    state = model.state()
    state["hypothesis"][key] = forged(state["hypothesis"][key])
    with pytest.raises(ValueError, match=r".+"):
        model.clone().restore(state)


def test_the_same_bits_for_all_lanes():
    states = set()
    try:
        for width in (2, 4, 8):
            use_lanes(width)
            model = learned(stream(300, 4, has_arrays=True), n_features=50, forgetting=0.999)
            states.add(repr(content(model.state())))
    finally:
        use_lanes(8)
    assert len(states) == 1


def test_interrupts_while_scales_are_learned(monkeypatch):
    examples = list(stream(20, 3))
    model, other = learned(examples[:15]), learned(examples[:16])
    update, calls = Scales.update, iter([KeyboardInterrupt])

    def interrupted(scales, names):
        changed = update(scales, names)
        for error in calls:
            raise error
        return changed

    monkeypatch.setattr(Scales, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(*examples[15])
    assert content(model.state()) == content(other.state())


def test_rivers_checks():
    estimator_checks.run(rb.KernelLDA(n_features=20))


@pytest.mark.slow
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_single_precision_stays_near_double(forgetting):
    single, double = (
        rb.KernelLDA(100, forgetting, rb.RBF(0.1), dtype=d) for d in ("float32", "float64")
    )
    hits = {single: 0, double: 0}
    for t, (x, y) in enumerate(stream(30_000, 4)):
        for model in hits:
            hits[model] += t >= 20_000 and model.predict_one(x) == y
            model.learn_one(x, y)
    assert abs(hits[single] - hits[double]) <= 20
    assert min(hits.values()) > 7_800


def test_the_inverse_stays_exactly_symmetric():
    """With forgetting, a difference of two rounded elements would grow by 1 / forgetting in each round."""
    model = rb.KernelLDA(20, 0.99, rb.RBF(0.1))
    for x, y in stream(2_000, 4):
        model.learn_one(x, y)
    K = statistics(model)[2]
    assert (K == K.T).all()
    assert np.linalg.eigvalsh(K).min() > 0


def test_forgetting_follows_a_concept_of_two_features():
    """They excite few directions, and all of them must forget."""
    right = {1.0: 0, 0.995: 0}
    for forgetting in right:
        model = rb.KernelLDA(100, forgetting)
        for t, (x, y) in enumerate(rb.synth.RotatingGaussians(4_000, speed=1 / 1000, seed=1)):
            right[forgetting] += t >= 2_000 and model.predict_one(x) == y
            model.learn_one(x, y)
    assert right[0.995] > 1_700 > 1_200 > right[1.0]


@pytest.mark.parametrize("forgetting", [0.9, 0.99, 0.999])
def test_directions_without_data_keep_a_bounded_variance(forgetting):
    model = rb.KernelLDA(100, forgetting, rb.RBF(0.1))
    for value in np.random.default_rng(0).normal(size=3_000).tolist():
        model.learn_one({"a": value}, value > 0)
    variances = np.linalg.eigvalsh(statistics(model)[0])
    assert variances.min() > 0
    assert variances.max() < 500


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_features_that_take_more_memory_than_there_is(monkeypatch, dtype):
    def lacking(*_):
        raise MemoryError

    taken = rb.KernelLDA(n_features=1000, dtype=dtype).memory_bytes
    monkeypatch.setattr("river_budget.kernel_lda.Discriminant", lacking)
    with pytest.raises(MemoryError, match="n_features=1000 takes about") as caught:
        rb.KernelLDA(n_features=1000, dtype=dtype)
    n_bytes = int(re.search(r"about ([\d,]+) bytes", str(caught.value))[1].replace(",", ""))
    assert n_bytes == pytest.approx(taken, rel=0.05)


WEIGHTS = {
    "large": lambda t, rng: 1e12,
    "a million": lambda t, rng: 1e6,
    "tiny": lambda t, rng: 1e-90,
    "tiny first": lambda t, rng: 1e-30 if t < 2 else 1.0,
    "tiny first, then large": lambda t, rng: 1e-90 if t < 2 else 1e12,
    "of any size": lambda t, rng: 10.0 ** rng.uniform(-100, 12),
}


def stays_whole(model, examples):
    """Check that a model has finite probabilities, and can be saved and loaded."""
    p = np.array([list(model.predict_proba_one(x).values()) for x, *_ in examples])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert content(checkpoint.loads(checkpoint.dumps(model)).state()) == content(model.state())


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1e12, 1: 1e-12}], ids=str)
@pytest.mark.parametrize("forgetting", [1.0, 0.99999, 0.99, 0.9])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_of_any_size(dtype, forgetting, class_weight, weight):
    rng = np.random.default_rng(5)
    model = rb.KernelLDA(30, forgetting, class_weight=class_weight, dtype=dtype)
    examples = [(x, y, weight(t, rng)) for t, (x, y) in enumerate(stream(300, 10))]
    for n, example in enumerate(examples, 1):
        model.learn_one(*example)
        if n in (5, 100, 300):
            stays_whole(model, examples[:5])


@pytest.mark.parametrize("first", [1e-30, 1.0])
def test_more_labels_than_features_fade(first):
    """Each waits for its floor until its turn comes, after as many rounds as there are labels."""
    model = rb.KernelLDA(10, 0.9, rb.RBF(GAMMA), max_classes=300)
    for y in range(300):
        model.learn_one({"a": float(y % 7)}, y, first)
    for x, y in stream(500, 3):
        model.learn_one(x, y)
    stays_whole(model, list(stream(5, 3)))
    assert statistics(model)[3][:3].sum() < 250


@pytest.mark.slow
@pytest.mark.parametrize(("forgetting", "weight"), [(0.99999, 1.0), (0.9999, 1e12), (1.0, 1e12)])
def test_one_feature_for_long(forgetting, weight):
    """Its examples excite few directions, whose variances vanish among the errors of the others."""
    rng, n = np.random.default_rng(3), 150_000
    X, y = pd.DataFrame(rng.normal(size=(n, 1))), pd.Series(rng.integers(3, size=n))
    model = rb.KernelLDA(20, forgetting, rb.RBF(GAMMA))
    model.learn_many(X, y, np.full(n, weight))
    stays_whole(model, [({0: value},) for value in X[0][:5].tolist()])


def test_fading_rounds_no_element_in_each_round():
    """A million roundings of P would add up to more than its smallest variances."""
    model, double = (
        rb.KernelLDA(20, 0.99999, rb.RBF(GAMMA), dtype=d) for d in ("float32", "float64")
    )
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 1)))
    for one in (model, double):
        one.learn_many(X, pd.Series(X[0] > 0))
    gap = statistics(model)[0] - statistics(double)[0]
    assert np.linalg.norm(gap, 2) < 1e-3 * statistics(double)[0].max()


def test_the_temperature_stays_while_there_is_one_label_for_ever():
    """What is known of it fades, to 0 in the end, and nothing new is learned of it."""
    model = rb.KernelLDA(n_features=10)
    for i in range(40):
        model.learn_one({"u": float(i % 5)}, "a")
    state = model.state()
    state["hypothesis"]["squares"] = 0.0
    faded = rb.KernelLDA(n_features=10)
    faded.restore(state)
    for i in range(5):
        faded.learn_one({"u": float(i)}, "a")
    assert faded.state()["hypothesis"]["beta"] == state["hypothesis"]["beta"]
