from __future__ import annotations

import collections
import decimal
import fractions
import pickle

import numpy as np
import pandas as pd
import pytest
from algorithms import each_algorithm, each_kernel, each_path, mnemotron
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

import river_budget as rb
from river_budget.support import Expansion, Target, vector_store

NAMES = ["a", "b", "c", 4]
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), st.floats(-4.0, 4.0), max_size=4)


def filled(kernel, examples):
    store = vector_store(kernel)
    for x in examples:
        store.add(store.query(x))
    return store


def test_the_oldest_is_the_one_that_was_stored_first():
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])
    assert store.oldest == 0
    store.replace(0, store.query({"a": 4.0}))
    assert store.oldest == 1
    assert store.by_age.tolist() == [1, 2, 0]
    store.remove([1])
    assert [store.vector(slot) for slot in store.by_age] == [{"a": 3.0}, {"a": 4.0}]


@each_kernel
@given(examples=st.lists(EXAMPLES, max_size=6), others=st.lists(EXAMPLES, max_size=3))
def test_rows_and_the_gram_matrix_hold_kernel_values(kernel, examples, others):
    store = filled(kernel, examples)
    gram = [[kernel(s, z) for z in examples] for s in examples]
    n = len(examples)
    assert store.gram() == pytest.approx(np.array(gram).reshape(n, n), abs=1e-8)
    rows = [[kernel(x, z) for z in examples] for x in others]
    assert store.rows(others) == pytest.approx(np.array(rows).reshape(len(others), n), abs=1e-8)
    for slot, x in enumerate(examples):
        assert store.self_value_of(slot) == pytest.approx(kernel(x, x), abs=1e-8)


@each_kernel
@given(examples=st.lists(EXAMPLES, min_size=1, max_size=6), x=EXAMPLES)
def test_distances_order_vectors_by_input_space(kernel, examples, x):
    """Euclidean distances up to a constant, or distances in feature space for a FunctionKernel."""
    store = filled(kernel, examples)

    def squared(s, z):
        if isinstance(kernel, rb.FunctionKernel):
            return kernel(s, s) - 2 * kernel(s, z)
        return sum((s.get(name, 0.0) - z.get(name, 0.0)) ** 2 for name in NAMES)

    expected = np.array([squared(s, x) for s in examples])
    assert store.distances(store.query(x)) == pytest.approx(expected, abs=1e-6)
    expected = np.array([squared(s, examples[0]) for s in examples])
    assert store.distances_of(0) == pytest.approx(expected, abs=1e-6)


def test_a_name_has_a_row_as_long_as_a_vector_has_it():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0, "b": 2.0}])
    store.replace(0, store.query({"b": 1.0, "c": 2.0}))
    assert store.vector(0) == {"b": 1.0, "c": 2.0}
    assert store._index.by_name.keys() == {"b", "c"}
    store.replace(0, store.query({}))
    assert len(store._index.by_name) == 0
    assert not store._values.features[:, :3].any()


def test_memory_stays_where_it_was_when_names_never_repeat():
    store, sizes = vector_store(rb.RBF(gamma=1.0)), set()
    for t in range(2000):
        query = store.query({f"{t:06}-{j}": 1.0 for j in range(10)})
        if store.n < 20:
            store.add(query)
        else:
            store.replace(t % 20, query)
        if t >= 100:
            sizes.add(store.nbytes)
    assert len(store._index.by_name) == 200
    assert max(sizes) - min(sizes) < 1024


def test_the_memory_of_sparse_examples_follows_their_values():
    """A thousand vectors with ten names of their own each: far from a dense 1,000 x 10,000."""
    examples = [{f"{t}-{j}": 1.0 for j in range(10)} for t in range(1000)]
    assert filled(rb.RBF(gamma=1.0), examples).nbytes < 0.15 * 1000 * 10_000 * 8


def test_prediction_leaves_nothing():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0}])
    store.query({"a": 2.0})
    before, saved = store.nbytes, pickle.dumps(store)
    for t in range(100):
        store.query({f"{t:03}": 1.0})
    assert store.nbytes == pytest.approx(before, abs=64)
    assert pickle.dumps(store) == saved


@each_kernel
def test_the_last_query_is_reused(kernel):
    store = filled(kernel, [{"a": 1.0}])
    query = store.query({"a": 2.0})
    assert store.query({"a": 2.0}) is query
    store.add(store.query({"a": 3.0}))
    assert store.query({"a": 2.0}) is not query


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": np.float16(1000.4)}, {"a": 1000.4}),
        ({"a": 0.1}, {"a": np.float32(0.1)}),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
        ({"a": 0.0}, {"a": -0.0}),
        ({"a": 1.0}, {"b": 1.0}),
    ],
)
def test_an_equal_but_not_identical_example_gets_a_new_query(first, second):
    store = filled(rb.Linear(), [{"a": 1.0, "b": 0.5}])
    query = store.query(first)
    assert store.query(second) is not query
    store.add(store.query(second))
    stored = store.vector(1)
    assert list(stored) == list(second)
    assert [repr(v) for v in stored.values()] == [repr(float(v)) for v in second.values()]


@each_kernel
def test_a_changed_example_gets_a_new_row(kernel):
    store = filled(kernel, [{"a": 1.0}])
    x = {"a": 2.0}
    store.query(x)
    x["a"] = 3.0
    assert store.query(x).row == pytest.approx([kernel({"a": 3.0}, {"a": 1.0})])
    x["b"] = 3.0
    assert store.query(x).row == pytest.approx([kernel({"a": 3.0, "b": 3.0}, {"a": 1.0})])
    store.add(store.query(x))
    x["a"] = 0.0
    assert store.vector(1) == {"a": 3.0, "b": 3.0}


def test_one_kernel_row_for_a_prediction_and_the_learning_after_it():
    calls = []

    def counted(x, z):
        calls.append((x, z))
        return x["a"] * z["a"]

    model = rb.KernelPerceptron(rb.FunctionKernel(counted))
    model.learn_one({"a": 1.0}, True)
    calls.clear()
    model.predict_one({"a": 2.0})
    model.learn_one({"a": 2.0}, True)
    assert len(calls) == 1


def test_arrays_as_values_of_a_function_kernel():
    store = filled(
        rb.FunctionKernel(lambda x, z: float(x["v"] @ z["v"])), [{"v": np.array([1.0, 2.0])}]
    )
    x = {"v": np.array([1.0, 2.0])}
    assert store.query(x).row == 5.0
    x["v"][0] = 0.0
    assert store.query(x).row == 4.0


# Numbers of many types, and values that only look like numbers.

NOT_NUMBERS = [
    np.complex64(1.0), np.complex128(1 + 2j), 1j, np.timedelta64(3), np.timedelta64(3, "s"),
    np.datetime64("2020-01-01"), np.void(b"12345678"), np.array("1.5"), np.array(["1.5"]),
    np.array([1.0, 2.0]), pd.NA, pd.NaT, np.str_("1.5"), np.array(1 + 2j), [1.0],
]  # fmt: skip
REAL_NUMBERS = [
    1, True, 1.0, np.float16(1.0), np.float32(1.0), np.longdouble(1.0), np.int8(1), np.uint64(1),
    np.bool_(True), decimal.Decimal(1), fractions.Fraction(1), np.array(1.0),
]  # fmt: skip


@each_algorithm
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_values_that_only_look_like_numbers_are_refused_by_name(make):
    message = r"feature 'b' (has the value|is an array)"
    for is_cached in [False, True]:
        model = make(None)
        model.learn_one({"a": 0.5, "b": 1.0}, True)
        if is_cached:
            model.predict_one({"a": 0.5, "b": 1.0})
        for value in NOT_NUMBERS:
            frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series([1.0, value], dtype=object)})
            refuses(message, model.predict_one, {"a": 0.5, "b": value})
            refuses(message, model.learn_one, {"a": 0.5, "b": value}, False)
            refuses(f"row 1: {message}", model.learn_many, frame, pd.Series([True, False]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [complex, object])
def test_a_complex_column_is_refused_without_a_warning(dtype):
    frame = pd.DataFrame({"b": pd.Series([1 + 2j, 2j], dtype=dtype)})
    with pytest.raises(ValueError, match="row 0: feature 'b' has the value"):
        rb.Stoptron().learn_many(frame, pd.Series([True, False]))


@each_path
def test_numbers_of_any_type_are_learned_as_doubles(make):
    model, other = make(None), make(None)
    for t, value in enumerate(REAL_NUMBERS):
        model.learn_one({"a": value, "b": t / 2}, t % 2 == 0)
        other.learn_one({"a": 1.0, "b": t / 2}, t % 2 == 0)
    assert model.support_vectors == other.support_vectors
    assert model.coefficients.tolist() == other.coefficients.tolist()


@each_algorithm
def test_an_x_that_is_not_a_mapping_is_refused(make):
    for is_cached in [False, True]:
        model = make(None)
        model.learn_one({"a": 0.5}, True)
        if is_cached:
            model.predict_one({"a": 0.5})
        for x in [None, pd.NA, 7, [1.0], "text", np.zeros(2), {"a"}]:
            refuses("x must be a dict of features", model.predict_one, x)
            refuses("x must be a dict of features", model.learn_one, x, True)


@each_path
@pytest.mark.parametrize("kernel", [None, rb.FunctionKernel(rb.RBF(gamma=0.7))], ids=str)
def test_any_mapping_is_accepted(make, kernel):
    model, other = make(kernel), make(kernel)
    for t in range(9):
        x, y = {"a": t % 4 / 2, "b": 1.0 - t}, t % 3 == 0
        model.learn_one(collections.ChainMap(collections.UserDict(x)), y)
        other.learn_one(dict(collections.ChainMap(x)), y)
    assert model.support_vectors == other.support_vectors


@pytest.mark.parametrize(
    "kernel", [rb.RBF(gamma=0.5), rb.RationalQuadratic(gamma=0.5), rb.Laplacian(gamma=0.5)], ids=str
)
@pytest.mark.parametrize("large", [1e3, 1e6, 1.7e9])
def test_large_values_beside_missing_names_lose_no_digits(kernel, large):
    """A time stamp in one feature, and names that only some examples have."""
    rng = np.random.default_rng(1)
    examples = []
    for t in range(150):
        x = {"time": large + t, "a": float(rng.normal())}
        extra = {f"extra-{t % 7}": float(rng.normal())} if t % 3 == 0 else {}
        examples.append(x | extra)
    store = filled(kernel, examples[:100])
    for x in [*examples[100:], {"a": 1.0}, {"new": large}]:
        expected = [kernel(x, s) for s in examples[:100]]
        assert store.query(x).row == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.slow
def test_an_example_with_a_million_names_leaves_nothing():
    store = vector_store(rb.RBF(gamma=1.0))
    for t in range(50):
        store.add(store.query({"a": float(t), f"own-{t}": 1.0}))
    before, saved = store.nbytes, len(pickle.dumps(store))
    vectors = [store.vector(slot) for slot in range(50)]
    store.replace(7, store.query({f"name-{i}": 1.0 for i in range(10**6)}))
    vectors[7] = {"a": 2.0, "b": 1.0}
    store.replace(7, store.query(vectors[7]))
    assert store.nbytes < 2 * before
    assert len(pickle.dumps(store)) < 2 * saved
    assert [store.vector(slot) for slot in range(50)] == vectors
    x = {"a": 3.0, "own-9": 1.0}
    assert store.query(x).row == pytest.approx([rb.RBF(gamma=1.0)(x, s) for s in vectors])


@pytest.mark.parametrize(
    ("first", "second"), [(np.float16(1000.4), 1000.4), (np.float32(0.1), 0.1)], ids=str
)
def test_a_dict_whose_value_becomes_another_type_gets_a_new_query(first, second):
    store, x = filled(rb.Linear(), [{"a": 1.0}]), {"a": first}
    store.query(x)
    x["a"] = second
    store.add(store.query(x))
    assert store.vector(1) == {"a": second}


def test_an_array_that_changes_in_place_gets_a_new_query():
    store, value = filled(rb.Linear(), [{"a": 1.0}]), np.array(1.0)
    x = {"a": value}
    store.query(x)
    value[()] = 5.0
    assert store.query(x).row == 5.0


def reorder(x):
    x["a"] = x.pop("a")


def negate_the_zero(x):
    x["b"] = -0.0


@each_kernel
@pytest.mark.parametrize("change", [reorder, negate_the_zero])
@pytest.mark.parametrize("make", [rb.RemoveOldestPerceptron, mnemotron])
def test_what_is_learned_is_what_learn_one_was_given(kernel, change, make):
    """The same dict, changed between the prediction and the learning without becoming unequal."""
    x, given, expected = {"a": 1.0, "b": 0.0, "c": 2.0}, make(kernel), make(kernel)
    given.predict_one(x)
    change(x)
    for model in (given, expected):
        model.learn_one(x, True)
    assert repr(given.support_vectors) == repr(expected.support_vectors)
    (vector,) = given.support_vectors
    assert [name for name in x if name in vector] == list(vector)
    assert np.signbit(vector["b"]) == np.signbit(x["b"])


def test_a_query_belongs_to_one_hypothesis():
    f = Expansion(vector_store(rb.RBF(gamma=1.0)))
    f.add(f.query({"a": 1.0}), Target(1, 0, 0.0))
    f.store.rows([{"a": 1.0}])
    assert f.query({"a": 1.0}).answer == 1.0


@pytest.mark.parametrize("names", [("a", "a"), ["a"], "ab"])
def test_names_of_an_additive_kernel_are_a_tuple_of_different_ones(names):
    with pytest.raises(ValueError, match="names must be a tuple of different names"):
        rb.AdditiveRationalQuadratic(names=names)


@pytest.mark.parametrize("slots", [[-1], [2], [0, 5]])
def test_a_slot_that_is_not_in_use_cannot_be_removed(slots):
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0}])
    with pytest.raises(IndexError, match="not in use"):
        store.remove(slots)
    assert store.n == 2
