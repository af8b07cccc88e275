"""Arrays as values of features."""

from __future__ import annotations

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import refuses
from river import compose, preprocessing
from runs import learned
from states import content

import river_budget as rb
from river_budget import checkpoint
from river_budget.preprocessing import UnitNorm
from tests.algorithms import each_path

N_ELEMENTS = 6
KERNELS = [
    rb.RBF(gamma=0.1), rb.Laplacian(gamma=0.1), rb.RationalQuadratic(gamma=0.1), rb.Linear(),
    rb.AdditiveRationalQuadratic(gamma=0.1), rb.Cosine(), rb.Polynomial(degree=2, gamma=0.1),
    rb.Normalized(rb.Polynomial(degree=2)),
]  # fmt: skip
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def clusters(n, n_labels, seed=1):
    """Return examples of an array in single precision and a number, with their labels."""
    rng = np.random.default_rng(seed)
    centers, labels = rng.normal(size=(n_labels, N_ELEMENTS)), rng.integers(0, n_labels, n)
    arrays = (centers[labels] + rng.normal(size=(n, N_ELEMENTS))).astype(np.float32)
    return [
        ({"e": array, "h": float(label + rng.normal())}, int(label))
        for array, label in zip(arrays, labels, strict=True)
    ]


def as_numbers(x):
    """Return an example with a feature for each element."""
    return {**{("e", i): float(value) for i, value in enumerate(x["e"])}, "h": x["h"]}


def assert_equal(model, other, x):
    assert model.scores_one(x) == other.scores_one(x)
    assert model.n_support == other.n_support
    assert model.n_mistakes == other.n_mistakes


@each_path
@pytest.mark.parametrize("n_labels", [2, 4])
def test_the_elements_are_features_like_others(make, n_labels):
    model, expected = make(KERNELS[0]), make(KERNELS[0])
    for x, y in clusters(60, n_labels):
        z = as_numbers(x)
        assert model.scores_one(x) == pytest.approx(expected.scores_one(z), abs=1e-5)
        assert model.predict_one(x) == expected.predict_one(z)
        model.learn_one(x, y)
        expected.learn_one(z, y)
    assert model.n_support == expected.n_support > 0
    assert model.novelty_one(x) == pytest.approx(expected.novelty_one(z), abs=1e-5)
    assert model.norm == pytest.approx(expected.norm, rel=1e-5)


@each_kernel
def test_a_kernel_called_directly_agrees_with_the_kernel_row(kernel):
    model = learned(rb.KernelPerceptron(kernel), clusters(20, 2))
    x, _ = clusters(1, 2, seed=5)[0]
    terms = zip(model.coefficients, model.support_vectors, strict=True)
    f = sum(alpha * model.resolved_kernel(x, s) for alpha, s in terms)
    assert model.decision_function_one(x) == pytest.approx(f, abs=1e-5)


@each_path
def test_an_array_that_is_changed_after_learning_changes_nothing(make):
    model, given = make(None), clusters(40, 2)
    expected = learned(make(None), copy.deepcopy(given))
    for x, y in given:
        model.learn_one(x, y)
        x["e"][:] = 1e6
    assert_equal(model, expected, clusters(1, 2, seed=3)[0][0])


def test_an_array_that_is_changed_between_predicting_and_learning_is_read_again():
    model = learned(rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1)), clusters(30, 2))
    x, _ = clusters(1, 2, seed=3)[0]
    before = model.decision_function_one(x)
    x["e"] *= 2
    assert model.decision_function_one(x) != before


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8])
def test_any_type_and_layout_of_an_array(dtype):
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1))
    expected = rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1))
    for x, y in clusters(40, 2):
        values = x["e"].round().astype(dtype)
        model.learn_one({"e": np.repeat(values, 2)[::2]}, y)
        expected.learn_one({"e": values.astype(np.float32)}, y)
    assert model.decision_function_one({"e": values}) == expected.decision_function_one(
        {"e": values}
    )


@each_path
def test_copies_and_checkpoints(make):
    examples = clusters(60, 3)
    model = learned(make(None), examples[:40])
    others = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        checkpoint.loads(checkpoint.dumps(model)),
    ]
    for x, y in examples[40:]:
        for other in others:
            assert model.scores_one(x) == pytest.approx(other.scores_one(x), abs=1e-9)
            other.learn_one(x, y)
        model.learn_one(x, y)
    assert checkpoint.dumps(model) == checkpoint.dumps(others[0])


def check_batch(model, X, y, expected, examples):
    """Let a model learn a frame, and compare it with one that learned its examples one by one."""
    model.predict_many(X)
    model.learn_many(X, y)
    assert model.n_mistakes == expected.n_mistakes
    assert model.scores_one(examples[0]) == pytest.approx(
        expected.scores_one(examples[0]), abs=1e-9
    )
    predicted = [
        getattr(label, "as_py", lambda label=label: label)() for label in model.predict_many(X)
    ]
    assert [int(label) for label in predicted] == [expected.predict_one(x) for x in examples]


@each_path
def test_frames_and_dicts_of_arrays(make):
    examples = clusters(50, 3)
    arrays, numbers = np.array([x["e"] for x, _ in examples]), [x["h"] for x, _ in examples]
    labels = [y for _, y in examples]
    expected = learned(make(None), examples)
    batches = [
        ({"e": arrays, "h": np.array(numbers)}, np.array(labels)),
        (pd.DataFrame({"e": list(arrays), "h": numbers}), pd.Series(labels)),
        (
            pl.DataFrame({"h": numbers}).with_columns(
                e=pl.Series(arrays, dtype=pl.Array(pl.Float32, N_ELEMENTS))
            ),
            pl.Series(labels),
        ),
    ]
    for X, y in batches:
        check_batch(make(None), X, y, expected, [x for x, _ in examples])


@pytest.mark.parametrize("of", [dict, pl.DataFrame])
@pytest.mark.parametrize("arrays", [[[1.0, 2.0], [3.0]], [[1.0, 2.0], None]])
def test_columns_of_arrays_of_different_lengths_are_refused(of, arrays):
    model = rb.Forgetron()
    with pytest.raises(ValueError, match="column 'e' has arrays of different lengths"):
        model.learn_many(of({"e": arrays}), [True, False])
    assert model.n_rounds == 0


@each_path
def test_tables_of_pyarrow(make):
    pa = pytest.importorskip("pyarrow")
    examples = clusters(50, 3)
    arrays = np.array([x["e"] for x, _ in examples])
    X = pa.table(
        {
            "e": pa.FixedSizeListArray.from_arrays(arrays.reshape(-1), N_ELEMENTS),
            "h": [x["h"] for x, _ in examples],
        }
    )
    y = pa.chunked_array([[y for _, y in examples]])
    check_batch(make(None), X, y, learned(make(None), examples), [x for x, _ in examples])


BAD = {
    "not a finite number": (
        {"e": np.array([0, 0, 0, np.nan, 0, 0]), "h": 0.0},
        "'e' .* not finite",
    ),
    "two dimensions": (
        {"e": np.zeros((2, 3)), "h": 0.0},
        "'e' is not an array of numbers in one dimension",
    ),
    "objects": ({"e": np.array([None] * 6), "h": 0.0}, "'e' is not an array of numbers"),
    "text": ({"e": np.array(list("abcdef")), "h": 0.0}, "'e' is not an array of numbers"),
    "masked": (
        {"e": np.ma.masked_array(np.zeros(6), [1, 0, 0, 0, 0, 0]), "h": 0.0},
        "'e' .* or has masked elements",
    ),
    "no elements": ({"e": np.zeros(0), "h": 0.0}, "'e' is not an array"),
    "another length": ({"e": np.zeros(7), "h": 0.0}, "'e' is an array of another length"),
    "too large": ({"e": np.full(6, 1e300), "h": 0.0}, "'e' .* too large"),
    "a number for an array": (
        {"e": 1.0, "h": 0.0},
        "'e' is an array .* or a number, in support vectors",
    ),
    "an array for a number": (
        {"h": np.zeros(6)},
        "'h' is an array .* or a number, in support vectors",
    ),
    "bytes beside an array": ({"e": np.zeros(6), "h": b"red"}, "'h' has the value b'red'"),
}


@each_path
def test_bad_input_is_refused_by_name_and_changes_nothing(make):
    model = learned(make(rb.RBF(gamma=0.1)), clusters(30, 2))
    before, good = checkpoint.dumps(model), {"e": np.zeros(6), "h": 0.0}
    for x, message in BAD.values():
        refuses(message, model.predict_one, x)
        refuses(message, model.novelty_one, x)
        refuses(message, model.learn_one, x, 1)
        refuses("row 1: ", model.learn_many, pd.DataFrame([good, x]), pd.Series([0, 1]))
    for column in ({"e": [1.0, 2.0]}, {"h": [np.zeros(6), np.ones(6)]}):
        refuses("row 0: .* in support vectors", model.learn_many, column, pd.Series(["new", 1]))
        refuses(
            "row 0: .* in support vectors",
            model.learn_many,
            pd.DataFrame(column),
            pd.Series(["new", 1]),
        )
    assert checkpoint.dumps(model) == before


@each_path
@pytest.mark.parametrize("n_learned", [0, 20])
def test_a_refused_array_leaves_a_model_of_numbers(make, n_learned):
    x, good = {"v": np.array([np.nan, 1.0])}, {"v": np.array([2.0, 1.0])}
    model = learned(
        make(rb.RBF(gamma=0.1)), [({"h": x["h"]}, y) for x, y in clusters(n_learned, 2)]
    )
    model.predict_one({"h": 0.0})
    before, size = checkpoint.dumps(model), model.memory_bytes
    frame = pd.DataFrame([good, x])
    for call in (
        lambda: model.predict_one(x),
        lambda: model.novelty_one(x),
        lambda: model.learn_one(x, 1),
        lambda: model.learn_one(x, 1, w=2.0),
        lambda: model.predict_many(frame),
        lambda: model.learn_many(frame, pd.Series([0, 1])),
    ):
        with pytest.raises(ValueError, match=r"'v' .* not finite"):
            call()
        assert checkpoint.dumps(model) == before
        assert model.memory_bytes == size
    model.learn_one(good, 1, w=0.0)
    assert checkpoint.dumps(model) == before


@each_path
def test_predictions_with_arrays_change_no_model_of_numbers(make):
    model = learned(make(rb.RBF(gamma=0.1)), [({"h": x["h"]}, y) for x, y in clusters(20, 2)])
    expected = copy.deepcopy(model)
    for x, _ in clusters(5, 2):
        model.predict_one(x)
        model.novelty_one(x)
    for learner in (model, expected):
        learner.learn_one({"h": 0.5}, 1)
    x, _ = clusters(1, 2, seed=3)[0]
    assert model.scores_one(x) == expected.scores_one(x)
    states = [content(each.state(), without=["tickets"]) for each in (model, expected)]
    assert states[0] == states[1]
    for learner in (model, expected):
        learned(learner, clusters(10, 2, seed=4))
    states = [content(each.state(), without=["tickets"]) for each in (model, expected)]
    assert states[0] == states[1]


@each_path
def test_an_array_of_one_element_is_an_array_and_one_without_dimensions_a_number(make):
    array, number = {"v": np.array([2.0]), "h": 1.0}, {"v": np.array(2.0), "h": 1.0}
    model, plain, arrays = (make(rb.RBF(gamma=0.1)) for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned(model, [(number, True)])
        learned(arrays, [(array, True), (array, False)])
        arrays.learn_many({"v": np.array([[3.0], [4.0]])}, np.array([True, False]))
    learned(plain, [({"v": 2.0, "h": 1.0}, True)])
    assert checkpoint.dumps(model) == checkpoint.dumps(plain)
    assert arrays.support_vectors[0]["v"].tolist() == [2.0]


@each_path
def test_a_model_of_numbers_goes_on_with_arrays(make):
    numbers = [({"h": x["h"]}, y) for x, y in clusters(20, 2)]
    model = learned(make(rb.RBF(gamma=0.1)), numbers)
    x, _ = clusters(1, 2, seed=3)[0]
    before = checkpoint.dumps(model)
    model.ask(x)
    assert checkpoint.dumps(model) == before
    expected = model.scores_one(x)
    assert model.scores_one({**x, "other": 0.0}) == pytest.approx(expected, abs=1e-12)
    learned(model, clusters(30, 2))
    assert model.n_rounds == 50
    assert model.predict_one(x) in (0, 1)


def test_an_example_without_the_array_is_zero_there():
    model = learned(rb.KernelPerceptron(rb.RBF(gamma=0.1)), clusters(20, 2))
    zeros = {"e": np.zeros(N_ELEMENTS), "h": 0.5}
    assert model.decision_function_one({"h": 0.5}) == model.decision_function_one(zeros)
    model.learn_one({"h": 100.0}, 1)
    assert "e" not in model.support_vectors[-1]


def test_an_array_that_no_support_vector_has_may_have_another_length():
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1), budget=1)
    model.learn_one({"e": np.zeros(3)}, 0)
    model.learn_one({"h": 0.0}, 1)
    model.learn_one({"e": np.ones(4)}, 0)
    np.testing.assert_array_equal(model.support_vectors[0]["e"], np.ones(4))


def test_the_elements_of_an_array_share_a_scale():
    rng = np.random.default_rng(1)
    model = rb.Forgetron(budget=20)
    for _ in range(300):
        y = bool(rng.random() < 0.5)
        model.learn_one({"e": 1000 * rng.normal(loc=y, size=4), "h": 1e-3 * rng.normal()}, y)
    scales = dict(model.resolved_kernel.scales)
    assert 500 < scales["e"] < 2100
    assert scales["h"] < 0.01


def test_single_precision_takes_half_the_memory_of_a_dict():
    rng = np.random.default_rng(1)
    arrays, numbers = (rb.Stoptron(rb.RBF(gamma=1e-3), budget=128) for _ in range(2))
    for _ in range(300):
        e, y = rng.normal(size=256), bool(rng.random() < 0.5)
        arrays.learn_one({"e": e}, y)
        numbers.learn_one(dict(enumerate(e.tolist())), y)
    assert arrays.n_support == numbers.n_support == 128
    assert arrays.memory_bytes < 1.2 * 128 * 256 * 4
    assert arrays.memory_bytes < 0.55 * numbers.memory_bytes


@each_path
def test_arrays_in_double_precision_are_exact(make):
    rng = np.random.default_rng(1)
    model, expected = make(rb.RBF(gamma=0.1)).clone({"dtype": "float64"}), make(rb.RBF(gamma=0.1))
    examples = [
        ({"e": x["e"] + rng.normal(size=N_ELEMENTS), "h": x["h"]}, y) for x, y in clusters(40, 3)
    ]
    for x, y in examples:
        model.learn_one(x, y)
        expected.learn_one(as_numbers(x), y)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    for copied in (model, loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.dtype == "float64"
        assert copied.scores_one(x) == pytest.approx(expected.scores_one(as_numbers(x)), abs=1e-12)
        for s, z in zip(copied.support_vectors, expected.support_vectors, strict=True):
            assert as_numbers(s) == z


@pytest.mark.parametrize("n_elements", [16, 256])
def test_double_precision_takes_twice_the_memory(n_elements):
    singles, doubles = (
        rb.Stoptron(rb.RBF(gamma=0.1), budget=128, dtype=dtype) for dtype in ("float32", "float64")
    )
    for i in range(128):
        x = {"e": np.full(n_elements, float(i))}
        singles.learn_one(x, i % 2)
        doubles.learn_one(x, i % 2)
    assert singles.n_support == doubles.n_support == 128
    assert doubles.memory_bytes - singles.memory_bytes == 4 * 128 * n_elements


def test_double_precision_stores_what_single_precision_refuses():
    x = {"e": np.array([1e50, 0.0])}
    with pytest.raises(ValueError, match=r"'e' is an array .* or too large"):
        rb.KernelPerceptron(rb.RBF(gamma=0.1)).learn_one(x, 0)
    model = learned(rb.KernelPerceptron(rb.RBF(gamma=0.1), dtype="float64"), [(x, 0)])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.support_vectors[0]["e"].tolist() == [1e50, 0.0]


def test_an_array_that_is_too_large_once_it_is_scaled_is_refused():
    model = rb.Forgetron(dtype="float64")
    learned(model, [({"e": 1e-3 * x["e"]}, y) for x, y in clusters(40, 2)])
    with pytest.raises(ValueError, match=r"'e' is an array .* or too large"):
        model.predict_one({"e": np.full(N_ELEMENTS, 1e308)})


@each_path
def test_types_that_are_refused(make):
    for dtype in ("int8", "double", np.int32, np.float32, np.dtype("float32"), None, []):
        message = f"dtype must be one of ['float32', 'float64'], got {dtype!r}"
        with pytest.raises(ValueError, match=re.escape(message)):
            make(None).clone({"dtype": dtype})


def test_arrays_and_scaled_numbers_in_a_pipeline():
    model = (
        (compose.Select("h") | preprocessing.StandardScaler())
        + (compose.Select("e") | UnitNorm("e"))
    ) | rb.Forgetron(rb.RBF(gamma=1.0))
    for x, y in clusters(100, 2):
        model.predict_one(x)
        model.learn_one(x, y)
    (s, *_) = model["Forgetron"].support_vectors
    assert np.linalg.norm(s["e"]) == pytest.approx(1.0)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.predict_one(x) == model.predict_one(x)
