"""The arrays of a store against a plain implementation, over any sequence of changes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import river_budget as rb
from river_budget.kernels._compiled import COLUMN, COUNT
from river_budget.support import vector_store
from river_budget.support._values_compiled import END, ENTRIES, N_BLOCKS, N_FREE
from river_budget.support.values import COLUMN_SHARE

KERNELS = [
    rb.RBF(gamma=0.3),
    rb.Laplacian(gamma=0.3),
    rb.AdditiveRationalQuadratic(gamma=0.3, names=tuple(range(40))),
    rb.Polynomial(degree=2),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)

# Some names are in most examples and others in few.
NAMES = st.integers(0, 3) | st.integers(0, 40)
VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.0, 0.1]) | st.floats(-4.0, 4.0)
EXAMPLES = st.dictionaries(NAMES, VALUES, max_size=12)
CHANGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), EXAMPLES), max_size=60)


def active(kernel, x):
    positions = kernel.active(list(x))
    return x if positions is None else {list(x)[i]: list(x.values())[i] for i in positions}


def changed(store, vectors, change):
    """Add, replace or remove a vector, in a store and in a list."""
    kind, at, x = change
    if kind < 5 or not vectors:
        store.add(store.query(x))
        vectors.append(x)
    elif kind < 9:
        store.replace(at % len(vectors), store.query(x))
        vectors[at % len(vectors)] = x
    else:
        store.remove([at % len(vectors)])
        del vectors[at % len(vectors)]


def assert_same_bits(store, other, examples):
    assert store.gram().tobytes() == other.gram().tobytes()
    assert store.rows(examples).tobytes() == other.rows(examples).tobytes()


@each_kernel
@given(changes=CHANGES, examples=st.lists(EXAMPLES, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_sequence_of_changes(kernel, changes, examples):
    """The bits of kernel rows follow from the vectors, whatever the store held before."""
    store, vectors = vector_store(kernel), []
    for change in changes:
        changed(store, vectors, change)
    kept = [active(kernel, x) for x in vectors]
    for slot, x in enumerate(kept):
        assert list(map(repr, store.vector(slot).items())) == list(map(repr, x.items()))
    assert set(store.names) == {name for x in kept for name in x}
    rows = np.array([[kernel(x, s) for s in vectors] for x in examples])
    assert store.rows(examples) == pytest.approx(
        rows.reshape(len(examples), len(vectors)), abs=1e-8
    )

    restored, anew = vector_store(kernel), vector_store(kernel)
    restored.restore(store.state())
    for x in vectors:
        anew.add(anew.query(x))
    for other in (restored, anew, pickle.loads(pickle.dumps(store)), copy.deepcopy(store)):
        assert_same_bits(store, other, examples)


@each_kernel
@given(changes=CHANGES, exponents=st.lists(st.integers(-60, 60), min_size=41, max_size=41))
@settings(max_examples=30, deadline=None)
def test_rescaled_vectors(kernel, changes, exponents):
    store, vectors = vector_store(kernel), []
    for change in changes:
        changed(store, vectors, change)
    if not vectors:
        return
    factors = {name: 2.0**e for name, e in enumerate(exponents)}
    before = [store.vector(slot) for slot in range(store.n)]
    store.rescale(store.kernel, factors, 1.0)
    anew = store.empty_like()
    for x in before:
        anew.add(anew.entry(x))
    assert_same_bits(store, anew, [])
    assert [store.vector(slot) for slot in range(store.n)] == [
        anew.vector(slot) for slot in range(store.n)
    ]


@given(sizes=st.lists(st.integers(0, 40), max_size=30))
@settings(deadline=None)
def test_nothing_is_left_of_replaced_vectors(sizes):
    store = vector_store(rb.RBF(gamma=1.0))
    for t, size in enumerate(sizes):
        query = store.query({f"{t % 7}-{j}": 1.0 for j in range(size)})
        if store.n < 10:
            store.add(query)
        else:
            store.replace(t % 10, query)
    for slot in range(store.n):
        store.replace(slot, store.query({}))
    heap = store._values.heap
    assert not store._values.features[:, : COLUMN + 1].any()
    assert heap[N_FREE] == (heap[END] - heap[N_BLOCKS]) * ENTRIES
    assert len(store._index.by_name) == 0


def test_a_common_feature_is_in_a_column_and_a_rare_one_in_a_list():
    store = vector_store(rb.RBF(gamma=1.0))
    for t in range(COLUMN_SHARE + 1):
        store.add(store.query({"common": 1.0, t: 1.0}))
    in_column = store._values.features[:, COLUMN] != 0
    assert in_column.sum() == in_column[store._index.by_name["common"]] == 1
    assert store.names == {"common", *range(COLUMN_SHARE + 1)}


def test_the_memory_of_texts_follows_their_words():
    """Words of Zipf's law: far from a tile of 512 bytes for each value."""
    rng = np.random.default_rng(1)
    store, n_values = vector_store(rb.RBF(gamma=1.0)), 0
    for _ in range(500):
        words = np.unique(rng.zipf(1.3, 150) % 20_000)
        store.add(store.query({int(word): 1.0 for word in words}))
        n_values += len(words)
    arrays = store._values
    assert arrays.nbytes < 4 * 12 * n_values


def test_names_that_never_repeat_leave_the_memory_where_it_was():
    """Texts of different lengths, with common and rare words."""
    rng = np.random.default_rng(1)
    store, sizes = vector_store(rb.RBF(gamma=1.0)), []
    for t in range(3000):
        own = {f"{t}-{j}": 1.0 for j in range(rng.integers(30))}
        query = store.query({int(w): 1.0 for w in rng.zipf(1.5, 20) % 500} | own)
        if store.n < 50:
            store.add(query)
        else:
            store.replace(t % 50, query)
        sizes.append(store.nbytes)
    assert max(sizes[1000:]) < 1.5 * max(sizes[200:1000])
    counts = store._values.features[1:, COUNT]
    assert np.count_nonzero(counts) == len(store.names)


@each_kernel
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_frames_with_zeros_are_learned_as_dicts(kernel, share):
    """Explicit zeros and missing names, row by row and in blocks."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((300, 40)) < share, 0.0, rng.normal(size=(300, 40)))
    y = X[:, 0] + X[:, 1] + rng.normal(size=300) > 0
    frame = pd.DataFrame(X)
    one, many, sparse = (rb.Forgetron(kernel, budget=30) for _ in range(3))
    for x, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        missing = {name: value for name, value in x.items() if value != 0.0}
        assert one.decision_function_one(missing) == pytest.approx(
            one.decision_function_one(x), abs=1e-9
        )
        one.learn_one(x, label)
        sparse.learn_one(missing, label)
    for start in range(0, 300, 100):
        rows = slice(start, start + 100)
        many.learn_many(frame[rows], pd.Series(y[rows]))
    assert many.coefficients.tolist() == one.coefficients.tolist()
    assert many.support_vectors == one.support_vectors
    assert sparse.coefficients == pytest.approx(one.coefficients, abs=1e-9)
    assert sparse.support_vectors == [
        {name: value for name, value in x.items() if value != 0.0} for x in one.support_vectors
    ]


def test_an_explicit_zero_and_a_missing_name_give_the_same_bits():
    """Where most values are 0."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 60)) < 0.8, 0.0, rng.normal(size=(80, 60)))
    dense = [dict(enumerate(row)) for row in X.tolist()]
    store = vector_store(rb.RBF(gamma=0.1))
    for x in dense[:70]:
        store.add(store.query(x))
    missing = [{name: v for name, v in x.items() if v != 0.0} for x in dense[70:]]
    assert store.rows(dense[70:]).tobytes() == store.rows(missing).tobytes()


@pytest.mark.parametrize("kernel", [rb.RBF(gamma=0.5), rb.Laplacian(gamma=0.5)], ids=str)
def test_a_large_value_beside_many_rare_names(kernel):
    """Squared norms of 1e18 cancel, and most features are in lists."""
    rng = np.random.default_rng(1)
    examples = []
    for t in range(60):
        rare = {f"{t * j % 37}": float(v) for j, v in enumerate(rng.normal(size=5))}
        examples.append({"time": 1.7e9 + t % 3} | rare)
    store = vector_store(kernel)
    for x in examples[:50]:
        store.add(store.query(x))
    expected = [[kernel(x, s) for s in examples[:50]] for x in examples[50:]]
    assert store.rows(examples[50:]) == pytest.approx(np.array(expected), abs=1e-9)
