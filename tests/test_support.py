from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from algorithms import KERNELS, each_kernel
from hypothesis import given
from hypothesis import strategies as st

import river_budget as rb
from river_budget.loops import TILE
from river_budget.support import support_set

NAMES = ["a", "b", "c", 4, None, ("f", 1)]
VALUES = st.floats(-4.0, 4.0).map(lambda value: round(value, 3))
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), VALUES)


def by_definition(kernel, vectors, x):
    return sum(alpha * kernel(x, s) for s, alpha in vectors)


@each_kernel
@given(data=st.data())
def test_a_support_set_is_the_kernel_expansion_of_what_it_holds(kernel, data):
    """Examples come and go in any slot; the plain dicts beside it are the truth."""
    support = support_set(kernel)
    vectors = []
    for _ in range(data.draw(st.integers(1, 25))):
        x = data.draw(EXAMPLES)
        assert support.decide(x) == pytest.approx(by_definition(kernel, vectors, x), abs=1e-8)
        coefficient = data.draw(VALUES)
        if vectors and data.draw(st.booleans()):
            slot = data.draw(st.integers(0, len(vectors) - 1))
            support.replace(slot, coefficient)
            vectors[slot] = (x, coefficient)
        else:
            support.add(coefficient)
            vectors.append((x, coefficient))
    assert [support.vector(slot) for slot in range(support.n)] == [x for x, _ in vectors]
    assert support.coefficients.tolist() == [alpha for _, alpha in vectors]
    assert [support.coefficient_of(slot) for slot in range(support.n)] == [a for _, a in vectors]
    square = sum(a * by_definition(kernel, vectors, s) for s, a in vectors)
    assert support.norm**2 == pytest.approx(max(0.0, square), abs=1e-6)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.program is not None], ids=str)
def test_many_slots_and_features(kernel):
    """More slots than a tile has, dense and sparse examples, against the definition."""
    rng = np.random.default_rng(3)
    support, vectors = support_set(kernel), []
    for t in range(3 * TILE):
        n_features = 9 if t % 3 else rng.integers(0, 9)
        names = rng.permutation(9)[:n_features].tolist()
        x = dict(zip(names, rng.normal(size=n_features).tolist(), strict=True))
        assert support.decide(x) == pytest.approx(by_definition(kernel, vectors, x), abs=1e-7)
        support.add(1.0)
        vectors.append((x, 1.0))


def test_the_oldest_goes_by_when_it_was_stored():
    support = support_set(rb.Linear())
    for value in [1.0, 2.0, 3.0]:
        support.decide({"a": value})
        support.add(value)
    assert support.oldest == 0
    support.decide({"a": 4.0})
    support.replace(0, 4.0)
    assert support.oldest == 1
    assert support.coefficients[support.by_age].tolist() == [2.0, 3.0, 4.0]


def test_names_live_as_long_as_they_are_used():
    support = support_set(rb.RBF(gamma=1.0))
    support.decide({"a": 1.0, "b": 2.0})
    support.add(1.0)
    support.decide({"b": 1.0, "c": 2.0})
    support.replace(0, 1.0)
    assert support.vector(0) == {"b": 1.0, "c": 2.0}
    assert set(support._index) == {"b", "c"}
    assert not support._table[[row for row in range(9) if not support._row_uses[row]]].any()


def test_memory_stays_where_it_was_when_names_never_repeat():
    support = support_set(rb.RBF(gamma=1.0))
    sizes = set()
    for t in range(2000):
        support.decide({f"{t:06}-{j}": 1.0 for j in range(10)})
        if support.n < 20:
            support.add(1.0)
        else:
            support.replace(t % 20, 1.0)
        if t >= 100:
            sizes.add(support.nbytes)
    assert len(support._index) == 200
    assert max(sizes) - min(sizes) < 1024


def test_sparse_examples_cost_what_they_hold():
    """A thousand vectors with ten names of their own each: far from a dense 1,000 x 10,000."""
    support = support_set(rb.RBF(gamma=1.0))
    for t in range(1000):
        support.decide({f"{t}-{j}": 1.0 for j in range(10)})
        support.add(1.0)
    assert support.nbytes < 0.15 * 1000 * 10_000 * 8


def test_prediction_leaves_nothing():
    support = support_set(rb.RBF(gamma=1.0))
    support.decide({"a": 1.0})
    support.add(1.0)
    support.decide({"a": 2.0})
    before, saved = support.nbytes, pickle.dumps(support)
    for t in range(100):
        support.decide({f"{t:03}": 1.0})
    assert support.nbytes == pytest.approx(before, abs=64)
    assert pickle.dumps(support) == saved


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


@each_kernel
def test_a_changed_example_gets_a_row_of_its_own(kernel):
    support = support_set(kernel)
    support.decide({"a": 1.0})
    support.add(1.0)
    x = {"a": 2.0}
    support.decide(x)
    x["a"] = 3.0
    assert support.decide(x) == pytest.approx(kernel({"a": 3.0}, {"a": 1.0}))
    x["b"] = 3.0
    assert support.decide(x) == pytest.approx(kernel({"a": 3.0, "b": 3.0}, {"a": 1.0}))
    support.add(1.0)
    x["a"] = 0.0
    assert support.vector(1) == {"a": 3.0, "b": 3.0}


def test_arrays_as_values_of_a_function_kernel():
    support = support_set(rb.FunctionKernel(lambda x, z: float(x["v"] @ z["v"])))
    x = {"v": np.array([1.0, 2.0])}
    support.decide(x)
    support.add(1.0)
    assert support.decide(x) == 5.0
    x["v"][0] = 0.0
    assert support.decide(x) == 4.0


@each_kernel
def test_copies_and_pickles_continue_alike(kernel):
    support = support_set(kernel)
    for value in [1.0, 2.0]:
        support.decide({"a": value, "b": -value})
        support.add(value)
    support.decide({"a": 0.5})
    for twin in [copy.deepcopy(support), pickle.loads(pickle.dumps(support))]:
        assert twin.decide({"a": 0.5}) == support.decide({"a": 0.5})
        twin.replace(0, 1.0)
        assert twin.vector(0) == {"a": 0.5}
        assert support.vector(0) == {"a": 1.0, "b": -1.0}


def test_what_is_not_a_dict():
    with pytest.raises(ValueError, match="x must be a dict"):
        support_set(rb.RBF()).decide([1.0, 2.0])
