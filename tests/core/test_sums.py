"""Running sums of features."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import content

from river_budget._core import sums as sums_module
from river_budget._core.store import Store
from river_budget._core.sums import Sums
from river_budget.kernels import RBF


def store_with(*names, **arrays):
    """Return a store with one vector, which has names and arrays."""
    store = Store([RBF(gamma=1.0)])
    store.evaluate({**dict.fromkeys(names, 1.0), **arrays})
    store.put(0)
    return store


def observe(sums, store, x):
    store.evaluate(x)
    sums.add(store)


def measured(sums):
    """Return number of values, variance and scale by name."""
    rows = sums.measures().T.tolist()
    return dict(zip(sums.names, map(tuple, rows), strict=True))


def plain(examples, name):
    """Return number of values, variance and scale of a feature, computed from all examples."""
    first = next(i for i, x in enumerate(examples) if name in x)
    values = np.array([x.get(name, 0.0) for x in examples[first:]])
    nonzero = values[values != 0]
    if 2 * len(nonzero) >= len(values):
        return len(values), values.var(), values.std()
    return len(values), values.var(), np.sqrt((nonzero**2).mean()) if len(nonzero) else 0.0


VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, -3.0, 1e6, 1e6 + 1])
EXAMPLES = st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), min_size=1, max_size=30)


@given(EXAMPLES)
def test_measures_are_those_of_all_examples(examples):
    sums, store = Sums(), store_with(*"abc")
    for x in examples:
        observe(sums, store, x)
    assert sums.n_observed == len(examples)
    assert set(sums.names) == {name for x in examples for name in x}
    for name, found in measured(sums).items():
        expected = plain(examples, name)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_large_values_lose_no_digits():
    sums, store = Sums(), store_with("t")
    for i in range(1000):
        observe(sums, store, {"t": 1e9 + i % 2})
    assert measured(sums)["t"] == pytest.approx((1000, 0.25, 0.5), rel=1e-12)


def test_a_rare_feature_has_the_root_mean_square_of_its_values_other_than_0():
    sums, store = Sums(), store_with("word")
    for i in range(80):
        observe(sums, store, {"word": 4.0} if i % 8 == 0 else {})
    assert measured(sums)["word"] == pytest.approx((80, 16 * 7 / 64, 4.0))


def test_only_names_that_some_vector_has_get_sums():
    sums, store = Sums(), store_with("a")
    for i in range(300):
        observe(sums, store, {"a": 1.0 * i, f"new-{i}": 1.0})
    assert sums.names == ["a"]


def test_a_name_gets_a_sum_as_soon_as_a_vector_has_it():
    sums, store = Sums(), store_with("a")
    x = {"a": 1.0, "b": 2.0}
    observe(sums, store, x)
    store.put(1)
    observe(sums, store, x)
    assert measured(sums) == {"a": (2, 0, 0), "b": (1, 0, 0)}


def test_unused_names_are_dropped_when_there_are_many():
    sums, store = Sums(), store_with("a")
    for i in range(1000):
        store.evaluate({"a": float(i % 2), f"new-{i}": 1.0})
        store.put(1)
        sums.add(store)
    assert len(sums.names) < 100
    assert measured(sums)["a"] == (1000, 0.25, 0.5)
    sums.drop_unused(store.names)
    sums.clear()
    assert sums.names == []
    observe(sums, store, {"a": 2.0})
    assert measured(sums) == {"a": (1, 0, 0)}


@given(st.lists(st.sampled_from(["ab", "a", "ac", "put", "state", "measures", "drop"])))
def test_sums_do_not_depend_on_what_happens_between_examples(events):
    """A list of names that comes again is the fast case, until anything else happens."""
    lists = {"ab": ["a", "b"], "a": ["a"], "ac": ["a", "c"]}
    store, sums, examples = store_with("a", "b"), Sums(), []
    for i, event in enumerate(events):
        if event in lists:
            examples.append({name: float(i * i + j) for j, name in enumerate(lists[event])})
            observe(sums, store, examples[-1])
        elif event == "put" and examples:
            store.put(1)
        elif event == "drop":
            sums.drop_unused(store.names)
        elif event != "put":
            getattr(sums, event)()
    for name in {"a", "b"} & {name for x in examples for name in x}:
        assert measured(sums)[name] == pytest.approx(plain(examples, name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_the_elements_of_an_array_share_a_scale(dtype):
    rng = np.random.default_rng(1)
    arrays = (8 * rng.normal(size=(50, 4)) + [0, 100, 0, 0]).astype(dtype)
    sums, store = Sums(), store_with("a", e=arrays[0])
    for i, array in enumerate(arrays):
        observe(sums, store, {"a": 1.0 * i, "e": array})
    size, variance, scale = measured(sums)["e"]
    assert size == 200
    assert variance == pytest.approx(arrays.var(axis=0).sum())
    assert scale == pytest.approx(np.sqrt(arrays.var(axis=0).mean()))
    assert measured(sums)["a"][0] == 50


def test_a_rare_array():
    sums, store = Sums(), store_with(e=np.ones(2))
    for i in range(10):
        observe(sums, store, {"e": np.full(2, 3.0)} if i % 5 == 0 else {})
    assert measured(sums)["e"] == pytest.approx((20, 2 * 9 * 0.16, 3.0))


def test_an_array_that_no_vector_has_any_more_has_no_sums():
    sums, store = Sums(), store_with(e=np.ones(2))
    observe(sums, store, {"e": np.ones(2)})
    store.evaluate({"f": np.ones(3)})
    store.put(0)
    sums.add(store)
    assert sums.names == ["f"]


def learned():
    sums, store = Sums(), store_with("a", "b", e=np.ones(2))
    for i in range(9):
        observe(sums, store, {"a": 1.0 * i, "e": np.array([1.0, i])})
        observe(sums, store, {"b": 2.0 * i, "other": 1.0})
    return sums, store


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_goes_on_bit_for_bit(copied):
    sums, store = learned()
    other = copied(sums)
    assert content(other.state()) == content(sums.state())
    observe(other, store, {"a": 5.0})
    assert other.n_observed == sums.n_observed + 1
    sums.add(store)
    assert content(other.state()) == content(sums.state())


def test_an_unknown_value_is_counted_with_its_example():
    class Name(str):
        __slots__ = ("fails",)

        def __hash__(self):
            if getattr(self, "fails", False):
                raise ZeroDivisionError
            return super().__hash__()

    array, sums = Name("array"), Sums()
    store = store_with("a", **{array: np.ones(2)})
    observe(sums, store, {"a": 1.0})
    store.means, before = sums, content(sums.state())
    store.evaluate({"a": None, array: np.ones(2)})
    array.fails = True
    with pytest.raises(ZeroDivisionError):
        sums.add(store)
    assert content(sums.state()) == before


def test_an_example_of_many_names_leaves_nothing():
    sums, store = Sums(), store_with("a")
    for _ in range(3):
        observe(sums, store, {"a": 1.0})
    before = sums.nbytes
    store.evaluate({"a": 1.0, **dict.fromkeys(range(100_000), 1.0)})
    store.put(1)
    sums.add(store)
    store.evaluate({"a": 1.0})
    store.put(1)
    sums.add(store)
    sums.drop_unused(store.names)
    assert sums.nbytes < 2 * before + 10_000


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("names", ("a", "a")),
        ("names", ("a",)),
        ("names", ["a", "b"]),
        ("n_observed", 3),
        ("n_observed", -1),
        ("sums", np.full((2, 6), np.nan)),
        ("sums", -np.ones((2, 6))),
        ("sums", np.ones((2, 5))),
        ("sums", np.ones((2, 6), np.float32)),
        ("arrays", {"e": -np.ones((2, 6))}),
        ("arrays", {"e": np.ones((2, 5))}),
        ("arrays", {"e": np.full((2, 6), 9e9)}),
        ("means", {"a": math.nan}),
        ("means", {"a": 1e200}),
    ],
)
def test_an_invalid_state_is_refused(path, value):
    sums, _ = learned()
    with pytest.raises(ValueError):  # noqa: PT011 (one message for each)
        Sums().restore({**sums.state(), path: value})


class FragileNumPy:
    """NumPy, whose calls deliver interrupts."""

    def __getattr__(self, name):
        if name in ("array", "zeros"):
            raise KeyboardInterrupt
        return getattr(np, name)


@pytest.mark.parametrize(
    "x", [{"new": 1.0}, {"a": 1.0, "array": np.ones(2)}], ids=["name", "array"]
)
def test_an_interrupted_example_leaves_no_sums(x, monkeypatch):
    store, sums = store_with("a", "new", array=np.ones(2)), Sums()
    observe(sums, store, {"a": 2.0})
    before = content(sums.state())
    with monkeypatch.context() as interrupted:
        interrupted.setattr(sums_module, "np", FragileNumPy())
        with pytest.raises(KeyboardInterrupt):
            observe(sums, store, x)
    assert content(sums.state()) == before
    observe(sums, store, x)
    undisturbed = Sums()
    observe(undisturbed, store, {"a": 2.0})
    observe(undisturbed, store, x)
    assert content(sums.state()) == content(undisturbed.state())
