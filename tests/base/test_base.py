from __future__ import annotations

import functools
import math
import pickle

import estimator_checks
import numpy as np
import pandas as pd
import polars as pl
import pytest
from algorithms import (
    BUDGET,
    KERNELS,
    PATHS,
    each_budgeted,
    each_budgeted_class,
    each_class,
    each_kernel,
    each_path,
    each_perceptron_class,
)
from hypothesis import settings
from hypothesis import strategies as st
from refusals import refuses
from river import evaluate, metrics, preprocessing
from runs import learned

import river_budget as rb
from river_budget import synth, testing
from river_budget.base.frames import frame_of
from river_budget.catalog import ALGORITHMS

VALUES = st.floats(-3.0, 3.0).map(lambda value: round(value, 3) + 0.0)
EXAMPLES = st.fixed_dictionaries({"a": VALUES, "b": VALUES}, optional={"c": VALUES})
STREAMS = st.lists(st.tuples(EXAMPLES, st.booleans()), min_size=1, max_size=40)
FULL_EXAMPLES = st.tuples(VALUES, VALUES, VALUES).map(lambda v: dict(zip("abc", v, strict=True)))
FULL_STREAMS = st.lists(st.tuples(FULL_EXAMPLES, st.booleans()), min_size=1, max_size=60)

KERNEL = rb.RBF(gamma=0.7)

# Hypothesis draws this many examples for each algorithm.
few = settings(max_examples=10)


def some_stream(n, seed=1):
    return list(synth.TwoGaussians(n, seed=seed))


@pytest.mark.slow
@each_path
def test_the_checks_of_river(make):
    """What a class can break beside its path, those of this package find with fewer examples."""
    estimator_checks.run(make(None))


@each_class
def test_the_checks_of_river_without_examples(make):
    estimator_checks.run_those_without_examples(make(None))


@pytest.mark.slow
@each_path
def test_the_check_of_river_of_memory(make):
    estimator_checks.run_that_of_memory(make(None))


@each_budgeted
def test_the_budget_is_never_exceeded(make):
    testing.check_budget(make(KERNEL))


@each_class
def test_the_order_of_features_does_not_matter(make):
    testing.check_order_of_features(make(KERNEL))


@each_class
def test_learn_many_is_learn_one_many_times(make):
    testing.check_blocks(make(None))


@each_class
def test_models_with_equal_seeds_are_equal(make):
    testing.check_repeatability(make(None))


def two_sides(n):
    """Return noisy examples of two opposite points, with all names that the kernels read."""
    rng = np.random.default_rng(1)
    names = (0, 1, 2, 4, "a", "b", "c", None, ("f", 1))
    for positive in (rng.random(n) < 0.5).tolist():
        center = 1.0 if positive else -1.0
        yield dict(zip(names, rng.normal(center, 0.7, len(names)).tolist(), strict=True)), positive


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TightestPerceptron", "BudgetedSGD", "Mnemotron"])
@each_kernel
def test_every_kernel_learns(name, kernel):
    """The classes that ask a kernel for more than a row: for distances, vectors between two, one of norm 1."""
    model = PATHS[name](kernel).clone({"budget": 20})
    examples = list(two_sides(150))
    learned(model, examples[:100])
    assert sum(model.predict_one(x) != y for x, y in examples[100:]) <= 5
    if name == "Mnemotron":
        return
    x, _ = examples[-1]
    terms = zip(model.coefficients, model.support_vectors, strict=True)
    f = sum(alpha * kernel(s, x) for alpha, s in terms)
    assert model.decision_function_one(x) == pytest.approx(f, rel=1e-9, abs=1e-9) != 0


@each_path
def test_frames_of_any_kind(make):
    examples = some_stream(200)
    names = ["u", "v"]
    values = np.array([list(x.values()) for x, _ in examples])
    y = [label for _, label in examples]
    one = learned(
        make(None),
        [(dict(zip(names, v, strict=True)), t) for v, t in zip(values.tolist(), y, strict=True)],
    )
    f = [one.decision_function_one(dict(zip(names, v, strict=True))) for v in values.tolist()]
    for frame, series in [
        (pd.DataFrame(values, columns=names), pd.Series(y)),
        (pd.DataFrame(values, columns=names).convert_dtypes(), pd.Series(y)),
        (pd.DataFrame(values, columns=names, dtype=object), pd.Series(y)),
        (pl.DataFrame(values, schema=names), pl.Series(y)),
    ]:
        many = make(None)
        many.learn_many(frame, series)
        assert many.coefficients.tolist() == one.coefficients.tolist()
        assert list(many.decision_function_many(frame)) == f
        assert list(many.predict_many(frame)) == [value > 0 for value in f]
        p = many.predict_proba_many(frame)
        assert isinstance(p, type(frame))
        assert np.asarray(p).sum(axis=1) == pytest.approx(1.0)


COLUMNS = {
    "halves": [np.arange(200) / 2, np.arange(200)[::-1] / 2],
    "every type of numbers": [
        np.arange(200) % 7, (np.arange(400) / 4)[::2], np.arange(200, dtype=np.float32) / 4,
        np.arange(200) % 3 == 0, np.arange(200, dtype=np.uint8), list(range(200)),
        np.arange(200, dtype=np.float16) / 8,
    ],
    "numbers as objects": [np.array([t % 5 for t in range(200)], object), np.arange(200) / 2],
}  # fmt: skip


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_dicts_of_arrays_of_numbers(columns):
    X = {f"f{i}": values for i, values in enumerate(columns)}
    examples = [dict(zip(X, row, strict=True)) for row in zip(*columns, strict=True)]
    y = [t % 3 for t in range(200)]
    one, many = rb.Forgetron(budget=BUDGET), rb.Forgetron(budget=BUDGET)
    learned(one, zip(examples, y, strict=True))
    many.learn_many(X, np.array(y))
    assert many.coefficients.tolist() == one.coefficients.tolist()
    assert many.support_vectors == one.support_vectors
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x in examples]


def test_dicts_of_arrays_of_numbers_become_one_array():
    rows = frame_of({"a": np.arange(3), "b": np.array([0.5, 1.0, 2.0], np.float32)}).rows
    assert rows.dtype == np.float64
    assert rows.tolist() == [[0.0, 0.5], [1.0, 1.0], [2.0, 2.0]]


LABELS_OF_FRAMES = {
    "numbers and texts": ([1, "a"], object),
    "pairs": ([(1, 2), (3, 4)], object),
    "tuples of two lengths": ([(1,), (1, 2)], object),
    "a truth value and a text": ([True, "x"], object),
    "a truth value and a number": ([0, True], object),
    "texts": (["a", "bc"], np.dtype("U2")),
    "numbers": ([1, 2], np.int64),
    "truth values": ([False, True], bool),
}


@pytest.mark.parametrize(("labels", "dtype"), LABELS_OF_FRAMES.values(), ids=LABELS_OF_FRAMES)
def test_labels_for_dicts_of_arrays_are_those_of_single_examples(labels, dtype):
    examples = [({"a": 0.0}, labels[0]), ({"a": 9.0}, labels[1])]
    model = learned(rb.KernelPerceptron(rb.RBF(gamma=1.0)), examples)
    found = model.predict_many({"a": np.array([0.0, 9.0])})
    assert (found.dtype, found.tolist()) == (dtype, labels)
    assert list(map(type, found.tolist())) == list(map(type, labels))
    assert model.predict_many({"a": np.array([])}).dtype == object
    assert model.decision_function_many({"a": np.array([])}).dtype == np.float64


@pytest.mark.parametrize("values", [[1.0, 5.0, 2.0], [1, 5, 2], ["red", "red", "blue"]])
def test_masked_columns_are_refused(values):
    column, y = np.ma.array(values, mask=[False, True, False]), [True, False, True]
    model, X = rb.Forgetron(), {"a": column, "b": np.arange(3.0)}
    refuses("column 'a' has masked values: give NaN or None", model.learn_many, X, y)
    model.learn_many({"a": np.ma.array(values)}, y)
    assert model.n_rounds == 3


@each_path
def test_drops_into_rivers_evaluation(make):
    classifier = make(KERNEL)
    model = preprocessing.StandardScaler() | classifier
    metric = metrics.Accuracy() + metrics.ROCAUC()
    evaluate.progressive_val_score(some_stream(500), model, metric)
    accuracy, _ = metric.get()
    assert accuracy == pytest.approx(1 - classifier.n_mistakes / 500, abs=0.05)


# Labels


@pytest.mark.parametrize(
    ("first", "second", "negative", "positive"),
    [
        (False, True, False, True),
        (True, False, False, True),
        (0, 1, 0, 1),
        (1, 0, 0, 1),
        (-1, 1, -1, 1),
        (1, -1, -1, 1),
        ("spam", "ham", "spam", "ham"),
        ("ham", 1, "ham", 1),
        (1, "ham", "ham", 1),
        ("ham", 0, "ham", 0),
        (2, 1, 2, 1),
        (1, 2, 2, 1),
        (0, -1, 0, -1),
        (np.bool_(True), np.bool_(False), False, True),
        (np.int64(1), np.int64(-1), -1, 1),
    ],
)
def test_which_label_is_positive(first, second, negative, positive):
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    model.learn_one({"a": 0.0}, first)
    model.learn_one({"a": 9.0}, second)
    probabilities = model.predict_proba_one({"a": 0.0 if first == negative else 9.0})
    assert list(probabilities) == [negative, positive]
    assert probabilities[negative] > 0.5
    for example, label in [({"a": 0.0}, first), ({"a": 9.0}, second)]:
        assert model.predict_one(example) == label
        assert (model.decision_function_one(example) > 0) == (label == positive)


# Bad input, as in the table of the design


@each_class
def test_what_is_refused_changes_nothing(make):
    testing.check_refusals(make(rb.RBF(gamma=1.0)))


@each_path
def test_errors_shorten_numbers_of_many_digits(make):
    with pytest.raises(ValueError, match=r"'a' has the value 10000000000000000000\.\.\.: expected"):
        make(None).learn_one({"a": 10**400}, True)


def of_two_labels(make):
    """Return a model that takes two labels."""
    return make(None).clone({"max_classes": 2})


@each_class
def test_one_label_too_many_changes_nothing(make):
    model = learned(of_two_labels(make), [({"a": 1.0, "b": 2.0}, True), ({"a": -1.0}, False)])
    for x in [{"a": 1.0}, {"new": 1.0}]:
        message = "'third' is one class too many, at most 2 are allowed"
        refuses(message, model.learn_one, x, "third")
    block = pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([True, 7], dtype=object)
    refuses("row 1: the label 7 is one class too many", model.learn_many, *block)


@each_path
def test_what_cannot_be_scored(make):
    model = make(rb.RBF(gamma=1.0))
    for value in [math.nan, math.inf, b"red", None, 1e300]:
        refuses("'b'", model.decision_function_one, {"a": 1.0, "b": value})


BAD_BLOCKS = [
    *({"a": np.arange(3), "b": np.array([1.0, v, 2.0])} for v in [math.nan, 1e300]),
    *(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, v, 2.0]}) for v in [math.nan, b"red", None, 1e300]),
    *(pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, v, 2.0]}) for v in [math.nan, None, 1e300]),
    pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [b"1.0", b"red", b"2.0"]}),
]  # fmt: skip


@each_class
def test_a_block_with_a_bad_row_is_refused_whole(make):
    model = learned(make(rb.RBF(gamma=1.0)), [({"a": 1.0, "b": 2.0}, True)])
    for X in BAD_BLOCKS:
        series = pd.Series if isinstance(X, pd.DataFrame) else pl.Series
        refuses("'b'", model.learn_many, X, series([True, False, True]))
        refuses("'b'", model.predict_many, X)


@each_class
def test_a_block_with_a_bad_label_is_refused_whole(make):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = make(None)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="'z' is one class too many"):
        of_two_labels(make).learn_many(X, pd.Series(["x", "y", "z"]))
    with pytest.raises(ValueError, match="the label is None"):
        model.learn_many(X, pd.Series(["x", "y", None], dtype=object))
    with pytest.raises(ValueError, match="y is a DataFrame: expected a series of labels"):
        model.learn_many(X, X)
    for other in (X.to_numpy(), X["a"], [[1.0], [2.0], [3.0]]):
        with pytest.raises(ValueError, match=f"X is a {type(other).__name__}: expected a frame"):
            model.learn_many(other, pd.Series(["x", "y", "x"]))
    with pytest.raises(ValueError, match="unique column names"):
        model.learn_many(pd.concat([X, X], axis=1), pd.Series(["x", "y", "x"]))
    with pytest.raises(ValueError, match="3 rows, but y has 2"):
        model.learn_many(X, pd.Series(["x", "y"]))
    assert pickle.dumps(model) == before


@each_class
def test_an_empty_example_is_legal(make):
    for kernel in KERNELS:
        model = learned(make(kernel), [({}, True), ({"a": 1.0}, False), ({}, True)])
        assert math.isfinite(model.decision_function_one({})), kernel
        model.learn_many(pd.DataFrame(index=range(3)), pd.Series([True, False, True]))
        assert model.n_rounds == 6, kernel


# The largest values that are valid: k(x, x) and the squares in it must not exceed 1e150. A
# FunctionKernel may take any example; only what it returns is limited.
LARGEST = {rb.Laplacian: 1e150, rb.Polynomial: 1e25, rb.FunctionKernel: math.inf}


def extremes(value):
    return [({"a": value}, True), ({"a": -value}, False), ({"a": 1.0, "b": value}, True)]


@each_kernel
@pytest.mark.filterwarnings("error")
def test_huge_and_tiny_values(kernel):
    for value in [1e-300, 1e20, 1e80, 1e155, 1e300]:
        model = rb.Forgetron(kernel, budget=BUDGET)
        if value <= LARGEST.get(type(kernel), 1e75):
            for x, y in extremes(value):
                model.learn_one(x, y)
                assert math.isfinite(model.decision_function_one(x)), value
            assert model.n_rounds == 3, value
            assert model.n_support >= 1, value
            assert math.isfinite(model.norm), value
        else:
            for x, y in extremes(value):
                refuses("too large", model.learn_one, x, y)


@each_budgeted_class
def test_budgets_out_of_range(make):
    for budget in [0, -1, 2.5, "ten", True, 10**8 + 1, 10**10]:
        message = f"budget must be a whole number from 1 to 100,000,000, got {budget!r}"
        refuses(message, type(make(None)), budget=budget)


@each_perceptron_class
def test_a_budget_in_the_place_of_the_kernel(make):
    with pytest.raises(ValueError, match="kernel must be a kernel, got 50: write budget=50"):
        type(make(None))(50)


@each_perceptron_class
def test_invalid_kernels(make):
    with pytest.raises(ValueError, match="kernel must be a kernel"):
        make(math.dist)


# Memory


@each_budgeted
def test_memory_stays_where_it_was(make):
    testing.check_memory(make(KERNEL))


def test_a_clone_has_new_parameters_or_what_was_learned():
    with pytest.raises(ValueError, match="new_params or include_attributes"):
        rb.Forgetron().clone({"max_classes": 3}, include_attributes=True)


def test_a_subclass_may_take_any_parameters():
    class Named(rb.Forgetron):
        def __init__(self, name, **others):
            super().__init__(**others)
            self.name = name

    model = Named("first", budget=7)
    assert (model.name, model.budget) == ("first", 7)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_error_about_arguments_names_the_class(name):
    class Own(ALGORITHMS[name].model):
        pass

    for kind in ALGORITHMS[name].model, Own:
        with pytest.raises(TypeError, match=rf"\b{kind.__name__}.__init__\(\) got an unexpected"):
            kind(unknown=1)


SEEDED = [
    *(row.model for row in ALGORITHMS.values() if row.takes("seed")),
    rb.bandit.ArmClassifiers,
    functools.partial(rb.active.Query, rb.Forgetron()),
    rb.synth.TwoGaussians,
]


@pytest.mark.parametrize("make", SEEDED)
def test_seeds_are_whole_numbers(make):
    for seed in (10**5000, -(10**5000), 2**1000 + 1, 1.5, "one", [1], math.nan):
        refuses("^seed must be a whole number", make, seed=seed)
    for seed in (0, -3, 2**1000):
        make(seed=seed)
