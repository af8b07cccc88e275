"""The native store against plain implementations, over any sequence of changes."""

from __future__ import annotations

import collections
import copy
import decimal
import fractions
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from algorithms import each_kernel, each_path, mnemotron
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

import river_budget as rb
from river_budget._core.expansion import Expansion
from river_budget._core.store import Store

NAMES = ["a", "b", "c", 4]
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), st.floats(-4.0, 4.0), max_size=4)

# Kernels with each statistic. Some names are in most examples and others in few.
STATISTICS = [
    rb.RBF(gamma=0.3),
    rb.Laplacian(gamma=0.3),
    rb.AdditiveRationalQuadratic(gamma=0.3, names=tuple(range(40))),
    rb.Polynomial(degree=2),
]
each_statistic = pytest.mark.parametrize("kernel", STATISTICS, ids=lambda k: type(k).__name__)
VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.0, 0.1]) | st.floats(-4.0, 4.0)
SPARSE = st.dictionaries(st.integers(0, 3) | st.integers(0, 40), VALUES, max_size=12)
CHANGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), SPARSE), max_size=60)


def put(store, x, slot=None):
    store.evaluate(x)
    store.put(store.n if slot is None else slot)


def filled(kernel, examples):
    store = Store([kernel])
    for x in examples:
        put(store, x)
    return store


def row_at(store, x, kernel=0):
    store.evaluate(x)
    return store.row(kernel)


def rows_at(store, examples):
    rows = [row_at(store, x) for x in examples]
    return np.array(rows, np.float64).reshape(len(examples), store.n)


def vectors(store):
    return [store.vector(slot) for slot in range(store.n)]


def active(kernel, x):
    return {name: x[name] for name in x if kernel.known is None or name in kernel.known}


def changed(store, kept, change):
    """Add, replace or remove a vector, in a store and in a list."""
    kind, at, x = change
    if kind < 5 or not kept:
        put(store, x)
        kept.append(x)
    elif kind < 9:
        put(store, x, at % len(kept))
        kept[at % len(kept)] = x
    else:
        store.remove([at % len(kept)])
        del kept[at % len(kept)]


def assert_same_bits(store, other, examples):
    assert store.gram().tobytes() == other.gram().tobytes()
    assert rows_at(store, examples).tobytes() == rows_at(other, examples).tobytes()


# Kernel rows.


def test_the_oldest_is_the_one_that_was_stored_first():
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])
    assert Expansion(store).oldest == 0
    put(store, {"a": 4.0}, 0)
    assert Expansion(store).oldest == 1
    assert store.by_age.tolist() == [1, 2, 0]
    assert store.insertion_order.tolist() == [3, 1, 2]
    assert store.remove([1]).tolist() == [0, 2]
    assert [store.vector(slot) for slot in store.by_age] == [{"a": 3.0}, {"a": 4.0}]


@each_kernel
@settings(max_examples=15)
@given(examples=st.lists(EXAMPLES, max_size=6), others=st.lists(EXAMPLES, max_size=3))
def test_rows_and_the_gram_matrix_hold_kernel_values(kernel, examples, others):
    store = filled(kernel, examples)
    gram = [[kernel(s, z) for z in examples] for s in examples]
    n = len(examples)
    assert store.gram() == pytest.approx(np.array(gram).reshape(n, n), abs=1e-8)
    rows = [[kernel(x, z) for z in examples] for x in others]
    assert rows_at(store, others) == pytest.approx(np.array(rows).reshape(len(others), n), abs=1e-8)
    own = [kernel(x, x) for x in examples]
    assert store.self_values() == pytest.approx(np.array(own), abs=1e-8)
    for x in others:
        store.evaluate(x)
        assert store.self_value() == pytest.approx(kernel(x, x), abs=1e-8)
        assert store.example() == active(kernel, x)


@each_kernel
@settings(max_examples=12)
@given(examples=st.lists(EXAMPLES, min_size=1, max_size=6), x=EXAMPLES)
def test_distances_order_vectors_by_input_space(kernel, examples, x):
    """Euclidean distances up to a constant, or distances in feature space for a FunctionKernel."""
    store = filled(kernel, examples)

    def squared(s, z):
        if isinstance(kernel, rb.FunctionKernel):
            return kernel(s, s) - 2 * kernel(s, z)
        return sum((s.get(name, 0.0) - z.get(name, 0.0)) ** 2 for name in NAMES)

    store.evaluate(x)
    expected = np.array([squared(s, x) for s in examples])
    assert store.distances() == pytest.approx(expected, abs=1e-6)
    expected = np.array([squared(s, examples[0]) for s in examples])
    assert store.distances(0) == pytest.approx(expected, abs=1e-6)


SEVERAL = [
    rb.RBF(gamma=0.7), rb.RationalQuadratic(gamma=0.1), rb.Cosine(), rb.Linear(),
    rb.AdditiveRationalQuadratic(gamma=0.2, names=("a", 4)), rb.Laplacian(gamma=0.4),
    rb.Normalized(rb.Polynomial(degree=2)), rb.FunctionKernel(rb.RBF(gamma=0.2)),
]  # fmt: skip


@given(examples=st.lists(EXAMPLES, min_size=1, max_size=6), x=EXAMPLES)
@settings(max_examples=30, deadline=None)
def test_several_kernels_share_the_vectors(examples, x):
    store = Store(SEVERAL)
    for s in examples:
        put(store, s)
    store.evaluate(x)
    for z, kernel in enumerate(SEVERAL):
        expected = np.array([kernel(x, s) for s in examples])
        assert store.row(z) == pytest.approx(expected, abs=1e-9)
        assert store.self_value(z) == pytest.approx(kernel(x, x), abs=1e-9)
        expected = np.array([kernel(examples[0], s) for s in examples])
        assert store.row_of(0, z) == pytest.approx(expected, abs=1e-9)
    assert vectors(store) == examples


@pytest.mark.parametrize(
    "kernel", [rb.RBF(gamma=0.5), rb.RationalQuadratic(gamma=0.5), rb.Laplacian(gamma=0.5)], ids=str
)
@pytest.mark.parametrize("large", [1e3, 1e6, 1.7e9])
def test_large_values_beside_missing_names_lose_no_digits(kernel, large):
    """A time stamp in one feature, and names that only some examples have."""
    rng = np.random.default_rng(1)
    examples = []
    for t in range(60):
        x = {"time": large + t, "a": float(rng.normal())}
        extra = {f"extra-{t % 7}": float(rng.normal())} if t % 3 == 0 else {}
        examples.append(x | extra)
    store = filled(kernel, examples[:40])
    for x in [*examples[40:], {"a": 1.0}, {"new": large}]:
        expected = [kernel(x, s) for s in examples[:40]]
        assert row_at(store, x) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("kernel", [rb.RBF(gamma=0.5), rb.Laplacian(gamma=0.5)], ids=str)
def test_a_large_value_beside_many_rare_names(kernel):
    """Squared norms of 1e18 cancel, and most features are in lists."""
    rng = np.random.default_rng(1)
    examples = []
    for t in range(60):
        rare = {f"{t * j % 37}": float(v) for j, v in enumerate(rng.normal(size=5))}
        examples.append({"time": 1.7e9 + t % 3} | rare)
    store = filled(kernel, examples[:50])
    expected = [[kernel(x, s) for s in examples[:50]] for x in examples[50:]]
    assert rows_at(store, examples[50:]) == pytest.approx(np.array(expected), abs=1e-9)
    for slot in (7, 3):
        put(store, examples[50], slot)
    store.remove([9])
    assert_same_bits(store, filled(kernel, vectors(store)), examples[50:])
    assert_same_bits(store, pickle.loads(pickle.dumps(store)), examples[50:])


def test_an_explicit_zero_and_a_missing_name_give_the_same_bits():
    """Where most values are 0."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 60)) < 0.8, 0.0, rng.normal(size=(80, 60)))
    dense = [dict(enumerate(row)) for row in X.tolist()]
    store = filled(rb.RBF(gamma=0.1), dense[:70])
    missing = [{name: v for name, v in x.items() if v != 0.0} for x in dense[70:]]
    assert rows_at(store, dense[70:]).tobytes() == rows_at(store, missing).tobytes()


@each_statistic
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


# Changes of vectors.


@each_statistic
@given(changes=CHANGES, examples=st.lists(SPARSE, max_size=3))
@settings(max_examples=20, deadline=None)
def test_any_sequence_of_changes(kernel, changes, examples):
    """The bits of kernel rows follow from the vectors, whatever the store held before."""
    store, kept = Store([kernel]), []
    for change in changes:
        changed(store, kept, change)
    expected = [active(kernel, x) for x in kept]
    for slot, x in enumerate(expected):
        assert list(map(repr, store.vector(slot).items())) == list(map(repr, x.items()))
    assert set(store.names) == {name for x in expected for name in x}
    rows = np.array([[kernel(x, s) for s in kept] for x in examples])
    assert rows_at(store, examples) == pytest.approx(
        rows.reshape(len(examples), len(kept)), abs=1e-8
    )

    restored = Store([kernel])
    restored.restore(store.state())
    assert restored.insertion_order.tolist() == store.insertion_order.tolist()
    for other in (
        restored, filled(kernel, kept), pickle.loads(pickle.dumps(store)), copy.deepcopy(store)
    ):  # fmt: skip
        assert_same_bits(store, other, examples)


@each_statistic
@given(changes=CHANGES, x=SPARSE, at=st.integers(0, 99), examples=st.lists(SPARSE, max_size=3))
@settings(max_examples=20, deadline=None)
def test_a_change_is_taken_back(kernel, changes, x, at, examples):
    store, kept = Store([kernel]), []
    for change in changes:
        changed(store, kept, change)
    before = pickle.dumps(store)
    slot = at % (store.n + 1)
    saved = store.save(slot)
    store.evaluate(x)
    store.put(slot)
    store.undo(saved)
    assert pickle.dumps(store) == before
    assert set(store.names) == {name for x in kept for name in active(kernel, x)}
    assert_same_bits(store, pickle.loads(before), examples)


def test_the_parameters_of_a_kernel_are_left_open_again():
    store = Store([rb.RBF()])
    saved = store.save(0)
    put(store, {"a": 1.0, "b": 2.0})
    assert store.kernels == (rb.RBF(gamma=0.5),)
    store.undo(saved)
    assert store.kernels == (rb.RBF(),)
    put(store, {"a": 1.0})
    assert store.kernels == (rb.RBF(gamma=1.0),)


@each_statistic
@given(changes=CHANGES, exponents=st.lists(st.integers(-60, 60), min_size=41, max_size=41))
@settings(max_examples=15, deadline=None)
def test_rescaled_vectors(kernel, changes, exponents):
    """A store is the same whether it was scaled before or after it was filled."""
    store, kept = Store([kernel], scaled=[True]), []
    for change in changes:
        changed(store, kept, change)
    before = vectors(store)
    factors = {name: 2.0**e for name, e in enumerate(exponents)}
    store.rescale(store.kernels, factors, 1.0)
    assert vectors(store) == before
    anew = store.empty_like()
    for x in before:
        put(anew, x)
    assert_same_bits(store, anew, [])


@pytest.mark.parametrize("kernel", STATISTICS, ids=lambda k: type(k).__name__)
def test_scales_are_those_of_scaled_examples(kernel):
    """Only kernels that read scaled features see them."""
    factors, pooled = {0: 0.75, 1: 3.0, 2: 0.5}, 1.25
    rng = np.random.default_rng(1)
    examples = [
        {int(j): float(rng.normal()) for j in rng.permutation(6)[: 2 + t % 5]} for t in range(40)
    ]
    store = Store([kernel, kernel], scaled=[True, False])
    for x in examples[:30]:
        put(store, x)
    store.rescale(store.kernels, factors, pooled)
    scaled = [{name: v * factors.get(name, pooled) for name, v in x.items()} for x in examples]
    for x, z in zip(examples[30:], scaled[30:], strict=True):
        expected = [kernel(z, s) for s in scaled[:30]]
        assert row_at(store, x) == pytest.approx(np.array(expected))
        expected = [kernel(x, s) for s in examples[:30]]
        assert store.row(1) == pytest.approx(np.array(expected))
        expected = [
            sum((z.get(j, 0.0) - s.get(j, 0.0)) ** 2 for j in range(6)) for s in scaled[:30]
        ]
        assert store.distances() == pytest.approx(np.array(expected))


@pytest.mark.parametrize("slots", [[-1], [2], [0, 5]])
def test_a_slot_that_is_not_in_use_cannot_be_removed(slots):
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0}])
    with pytest.raises(IndexError, match="not in use"):
        store.remove(slots)
    assert store.n == 2


@pytest.mark.parametrize("slot", [-1, 3])
def test_there_are_no_gaps_between_slots(slot):
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0}])
    store.evaluate({"a": 3.0})
    with pytest.raises(IndexError, match="cannot be filled"):
        store.put(slot)
    for call in (store.vector, store.row_of, store.distances):
        with pytest.raises(IndexError, match="not in use"):
            call(slot)


def test_the_example_stays_while_vectors_are_removed():
    store = filled(rb.Linear(), [{"a": 1.0}, {"a": 2.0, "own": 1.0}, {"a": 3.0}])
    store.evaluate({"a": 2.0, "own": 3.0})
    store.remove([0])
    assert store.row().tolist() == [7.0, 6.0]
    store.put(2)
    assert store.vector(2) == {"a": 2.0, "own": 3.0}
    assert store.row_of(2).tolist() == [7.0, 6.0, 13.0]


# Memory.


def test_a_name_is_known_as_long_as_a_vector_has_it():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0, "b": 2.0}])
    put(store, {"b": 1.0, "c": 2.0}, 0)
    assert store.vector(0) == {"b": 1.0, "c": 2.0}
    assert set(store.names) == {"b", "c"}
    put(store, {}, 0)
    assert set(store.names) == set()


def test_names_are_in_the_order_in_which_they_came_so_that_states_are_reproducible():
    names = [f"name {i}" for i in range(30)]
    first, second = dict.fromkeys(names[:20], 1.0), dict.fromkeys(names[10:], 1.0)
    store = filled(rb.RBF(gamma=1.0), [first, second | {"array": np.ones(3)}])
    assert list(store.names) == [*names, "array"]


def test_memory_stays_where_it_was_when_names_never_repeat():
    store, sizes = Store([rb.RBF(gamma=1.0)]), set()
    for t in range(2000):
        put(store, {f"{t:06}-{j}": 1.0 for j in range(10)}, min(store.n, t % 20))
        if t >= 100:
            sizes.add(store.nbytes)
    assert len(store.names) == 200
    assert max(sizes) - min(sizes) < 0.1 * min(sizes)


def refusing_name(first):
    """Return a class of names of which one raises MemoryError when it is looked up so many times."""

    class Name(str):
        n_calls = -1000

        def __hash__(self):
            Name.n_calls += 1
            if Name.n_calls == first:
                raise MemoryError
            return super().__hash__()

    return Name


def check_that_no_put_is_lost(store, name, x):
    """Check a store whose next vector x cannot be put once, as code of the names raises."""
    vectors, order = [store.vector(slot) for slot in range(32)], store.insertion_order.tolist()
    store.evaluate(x)
    before = store.row().tolist()
    name.n_calls = 0
    with pytest.raises(MemoryError):
        store.put(32)
    name.n_calls = -1000
    same = [repr(store.vector(slot)) for slot in range(store.n)]
    assert same == list(map(repr, vectors))
    assert store.insertion_order.tolist() == order
    assert store.capacity == 32
    put(store, x)
    assert store.row_of(32)[:32].tolist() == before


@pytest.mark.parametrize("first", range(5, 62, 7))
def test_no_vector_is_lost_if_memory_lacks_for_arrays_of_a_new_name(first):
    name = refusing_name(first)
    store = filled(rb.RBF(gamma=1.0), [{name("a"): float(t), f"b{t}": 1.0} for t in range(32)])
    check_that_no_put_is_lost(store, name, {"c": 1.0, "array": np.ones(2)})


def test_no_vector_is_lost_if_memory_lacks_for_more_slots():
    name = refusing_name(1)
    vectors = [{name("a"): np.array([float(t)]), f"b{t}": 1.0} for t in range(32)]
    store = filled(rb.RBF(gamma=1.0), vectors)
    check_that_no_put_is_lost(store, name, {f"c{t}": 1.0 for t in range(9)})


def test_values_of_any_kind_stay_when_there_are_more_slots():
    rng = np.random.default_rng(3)
    additive = rb.AdditiveRationalQuadratic(gamma=0.5, names=("a", "e"))
    kernels = [rb.Polynomial(), rb.RBF(gamma=0.1), additive]
    vectors = [
        {"a": rng.normal(), f"rare {t % 9}": rng.normal(), "e": rng.normal(size=3)}
        for t in range(40)
    ]
    store = Store(kernels)
    for x in vectors:
        put(store, x)
    whole = Store(store.kernels)
    # This one gets all vectors at once.
    whole.__setstate__(store.__reduce__()[2])
    assert store.capacity == whole.capacity == 64
    assert store.by_age.tolist() == list(range(40))
    for z in range(3):
        assert store.gram(z).tolist() == whole.gram(z).tolist()
        assert store.self_values(z).tolist() == whole.self_values(z).tolist()
    for x in vectors:
        store.evaluate(x)
        whole.evaluate(x)
        assert [store.row(z).tolist() for z in range(3)] == [
            whole.row(z).tolist() for z in range(3)
        ]


def test_arrays_that_no_vector_has_any_more_count_in_all_rows():
    kernel = rb.AdditiveRationalQuadratic(gamma=0.5, names=("a", "e"))
    store = filled(kernel, [{"a": 1.0, "e": np.ones(3)}])
    put(store, {"a": 1.0}, slot=0)
    put(store, {"a": 2.0})
    rows = rows_at(store, [{"a": 1.0}, {"a": 2.0}]).tolist()
    assert store.gram().tolist() == rows
    restored = Store([kernel])
    restored.restore(store.state())
    assert restored.gram().tolist() == rows
    store.rescale(store.kernels, {}, 1.0)
    assert store.gram().tolist() == rows


def test_nothing_changes_while_memory_is_counted():
    class Name(str):
        n_calls = 0

        def __sizeof__(self):
            Name.n_calls += 1
            with pytest.raises(RuntimeError, match="in use"):
                put(store, {"b": 1.0})
            return super().__sizeof__()

    store = filled(rb.RBF(gamma=1.0), [{Name("a"): 1.0}])
    assert store.nbytes > 0
    assert (store.n, Name.n_calls) == (1, 1)


def test_names_that_no_vector_has_are_forgotten():
    class Name:
        refuses = False

        def __hash__(self):
            if Name.refuses:
                raise OSError("no hash")
            return id(self)

    store, alive = Store([rb.RBF(gamma=1.0)]), weakref.WeakSet()
    for t in range(1000):
        x = {Name(): 1.0 for _ in range(5)}
        alive.update(x)
        put(store, x, min(store.n, t % 20))
    assert 100 <= len(store.names) <= len(alive) < 600
    before = store.gram()
    Name.refuses = True
    with pytest.raises(OSError, match="no hash"):
        _ = store.nbytes
    Name.refuses = False
    assert store.nbytes > 0
    assert store.gram().tobytes() == before.tobytes()
    assert row_at(store, x).tolist() == store.row_of(19).tolist()


def test_forgotten_names_leave_the_rows_of_the_last_example_right():
    """The names of the example get other rows when the memory is counted after a prediction."""
    store = Store([rb.RBF(gamma=0.01)])
    for slot, x in (0, {"a": 1.0}), (1, {"b": 1.0, "c": 5.0}), (0, {"b": 2.0, "c": -5.0}):
        put(store, x, slot)
    store.evaluate({"b": 2.0, "other": 1.0})
    assert store.nbytes > 0
    x = {"b": 1.0, "other": 1.0}
    assert row_at(store, x).tolist() == row_at(copy.deepcopy(store), x).tolist()
    store.evaluate({"b": 2.0, "other": 1.0})
    assert store.nbytes > 0
    put(store, {"b": 7.0, "other": 1.0}, 1)
    assert vectors(store)[1] == {"b": 7.0, "other": 1.0}


def test_texts_of_different_lengths_leave_the_memory_where_it_was():
    """With common and rare words, and names that never repeat."""
    rng = np.random.default_rng(1)
    store, sizes = Store([rb.RBF(gamma=1.0)]), []
    for t in range(1500):
        own = {f"{t}-{j}": 1.0 for j in range(rng.integers(30))}
        x = {int(w): 1.0 for w in rng.zipf(1.5, 20) % 500} | own
        put(store, x, min(store.n, t % 50))
        sizes.append(store.nbytes)
    assert max(sizes[800:]) < 1.5 * max(sizes[200:800])
    assert set(store.names) == {name for x in vectors(store) for name in x}


def test_the_memory_of_sparse_examples_follows_their_values():
    """A thousand vectors with ten names of their own each: far from a dense 1,000 x 10,000."""
    examples = [{f"{t}-{j}": 1.0 for j in range(10)} for t in range(1000)]
    assert filled(rb.RBF(gamma=1.0), examples).nbytes < 0.15 * 1000 * 10_000 * 8


def test_the_memory_of_texts_follows_their_words():
    """Words of Zipf's law: far from a column for each."""
    rng = np.random.default_rng(1)
    texts = [np.unique(rng.zipf(1.3, 150) % 20_000).tolist() for _ in range(500)]
    store = filled(rb.RBF(gamma=1.0), [dict.fromkeys(words, 1.0) for words in texts])
    assert store.nbytes < 120 * sum(map(len, texts))


def test_prediction_leaves_nothing():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0}])
    store.evaluate({"a": 2.0})
    before, saved = store.nbytes, pickle.dumps(store)
    for t in range(100):
        store.evaluate({f"{t:03}-{j}": 1.0 for j in range(t)})
    assert store.nbytes == before
    assert pickle.dumps(store) == saved


@pytest.mark.slow
def test_an_example_with_a_million_names_leaves_nothing():
    store = Store([rb.RBF(gamma=1.0)])
    for t in range(50):
        put(store, {"a": float(t), f"own-{t}": 1.0})
    before, saved = store.nbytes, len(pickle.dumps(store))
    kept = vectors(store)
    put(store, {f"name-{i}": 1.0 for i in range(10**6)}, 7)
    kept[7] = {"a": 2.0, "b": 1.0}
    put(store, kept[7], 7)
    assert store.nbytes < 2 * before
    assert len(pickle.dumps(store)) < 2 * saved
    assert vectors(store) == kept
    x = {"a": 3.0, "own-9": 1.0}
    assert row_at(store, x) == pytest.approx([rb.RBF(gamma=1.0)(x, s) for s in kept])


# The last example.


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
def test_what_is_put_is_what_was_set_last(first, second):
    store = filled(rb.Linear(), [{"a": 1.0, "b": 0.5}])
    store.evaluate(first)
    put(store, second)
    stored = store.vector(1)
    assert list(stored) == list(second)
    assert [repr(v) for v in stored.values()] == [repr(float(v)) for v in second.values()]


@each_kernel
def test_a_changed_example_gets_a_new_row(kernel):
    store = filled(kernel, [{"a": 1.0}])
    x = {"a": 2.0}
    store.evaluate(x)
    x["a"] = 3.0
    assert row_at(store, x) == pytest.approx([kernel({"a": 3.0}, {"a": 1.0})])
    x["b"] = 3.0
    assert row_at(store, x) == pytest.approx([kernel({"a": 3.0, "b": 3.0}, {"a": 1.0})])
    store.put(1)
    x["a"] = 0.0
    assert store.vector(1) == {"a": 3.0, "b": 3.0}


@each_kernel
def test_a_row_follows_the_vectors(kernel):
    x, others = {"a": 2.0}, [{"a": 1.0}, {"a": 3.0}]
    store = filled(kernel, others[:1])
    store.evaluate(x)
    put(store, others[1])
    assert row_at(store, x) == pytest.approx([kernel(x, s) for s in others])


def test_a_function_is_called_once_for_each_vector_and_once_for_the_example():
    calls = []

    def counted(x, z):
        calls.append((x, z))
        return x["a"] * z["a"]

    model = rb.KernelPerceptron(rb.FunctionKernel(counted))
    model.learn_one({"a": 1.0}, True)
    calls.clear()
    model.predict_one({"a": 2.0})
    model.learn_one({"a": 2.0}, True)
    assert calls == [({"a": 2.0}, {"a": 1.0}), ({"a": 2.0}, {"a": 2.0})]


def test_arrays_as_values_of_a_function_kernel():
    store = filled(
        rb.FunctionKernel(lambda x, z: float(x["v"] @ z["v"])), [{"v": np.array([1.0, 2.0])}]
    )
    x = {"v": np.array([1.0, 2.0])}
    assert row_at(store, x) == 5.0
    x["v"][0] = 0.0
    assert row_at(store, x) == 4.0


def test_an_array_that_changes_in_place_gets_a_new_row():
    store, value = filled(rb.Linear(), [{"a": 1.0}]), np.array(1.0)
    x = {"a": value}
    store.evaluate(x)
    value[()] = 5.0
    assert row_at(store, x) == 5.0


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


@pytest.mark.parametrize(
    ("rows", "flat"), [((0.999, 0.995), True), ((0.001, 0.005), True), ((0.5, 0.999), False)]
)
def test_a_flat_row(rows, flat):
    store = Store([rb.Linear()])
    for value in rows:
        put(store, {"a": value})
    store.evaluate({"a": 1.0})
    assert store.is_flat(0.01, 0.99) is flat


# Arrays.

LINEAR_IN_ARRAYS = [rb.Linear(), rb.RBF(gamma=0.1), rb.Laplacian(gamma=0.1), rb.Cosine()]
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])
ADDITIVE = rb.AdditiveRationalQuadratic(gamma=0.2, names=("a", "v", "w"))


def with_arrays(n, dtype=np.float64):
    """Return examples, some of which lack a number or an array."""
    rng = np.random.default_rng(1)
    parts = {"a": lambda: float(rng.normal()), "b": lambda: float(rng.normal())}
    parts |= {"v": lambda: rng.normal(size=11).astype(dtype), "w": lambda: rng.normal(size=3)}
    return [{name: part() for name, part in parts.items() if rng.random() < 0.7} for _ in range(n)]


@pytest.mark.parametrize("kernel", [*LINEAR_IN_ARRAYS, rb.Polynomial(degree=2)], ids=str)
@each_dtype
def test_elements_of_arrays_are_features(kernel, dtype):
    examples = with_arrays(40)
    store = Store([kernel], dtype)
    for x in examples[:30]:
        put(store, x)
    precision = 1e-12 if dtype == "float64" else 1e-5
    for x in examples[30:]:
        expected = np.array([kernel(x, s) for s in examples[:30]])
        assert row_at(store, x) == pytest.approx(expected, rel=precision, abs=precision)
        assert store.self_value() == pytest.approx(kernel(x, x), rel=precision)
    expected = [kernel(examples[3], s) for s in examples[:30]]
    assert store.row_of(3) == pytest.approx(np.array(expected), rel=precision, abs=precision)
    for other in (pickle.loads(pickle.dumps(store)), copy.deepcopy(store), restored(store, dtype)):
        assert_same_bits(store, other, examples[30:])


def restored(store, dtype):
    other = Store(store.kernels, dtype)
    other.restore(store.state())
    return other


def test_each_element_counts_in_a_sum_of_rationals():
    complete = [x for x in with_arrays(80) if x.keys() >= {"a", "v", "w"}]
    store = Store([ADDITIVE], "float64")
    for x in complete[:10]:
        put(store, x)
    for x in complete[10:]:
        expected = [ADDITIVE(x, s) for s in complete[:10]]
        assert row_at(store, x) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    "first", [{"a": 1.0}, {"a": 1.0, "v": np.ones(11)}], ids=["without", "with"]
)
def test_kernel_values_of_vectors_stay_while_arrays_come_and_go(first):
    """What a sum of rationals reads of arrays is that of the first vector."""
    store = filled(ADDITIVE, [first, {"a": 2.0}, {"b": 1.0}])
    before = store.gram()
    arrays = [{"v": np.ones(11)}, {"v": np.ones(11), "w": np.zeros(3)}, {}, {"w": np.ones(3)}]
    for x in arrays:
        row = row_at(store, x)[:3]
        put(store, x, 3)
        assert store.row_of(3)[:3] == pytest.approx(row, abs=1e-12)
        assert store.gram()[:3, :3] == pytest.approx(before, abs=1e-12)
        assert store.self_values() == pytest.approx(np.ones(4))
        assert np.linalg.eigvalsh(store.gram()).min() > -1e-12
        assert_same_bits(store, restored(store, "float32"), arrays)


def test_an_array_that_vanishes_leaves_nothing():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0}])
    before = store.nbytes
    put(store, {"v": np.ones(500)})
    assert store.nbytes > before + 500 * 4
    assert set(store.names) == {"a", "v"}
    put(store, {"a": 2.0}, 1)
    assert store.nbytes < before + 500
    put(store, {"v": np.ones(3)})
    assert store.vector(2)["v"].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.filterwarnings("error")
@each_dtype
def test_what_an_array_may_be(dtype):
    store = Store([rb.RBF(gamma=1.0)], dtype)
    put(store, {"v": np.ones(3), "a": 1.0})
    before = pickle.dumps(store)
    for x, message in [
        ({"v": np.ones(4)}, "'v' is an array of another length, or a number, in support vectors"),
        ({"v": 1.0}, "'v' is an array of another length, or a number, in support vectors"),
        ({"a": np.ones(3)}, "'a' is an array of another length, or a number, in support vectors"),
        ({"v": np.ones((3, 1))}, "not an array of numbers in one dimension"),
        ({"v": np.array(["a"])}, "not an array of numbers in one dimension"),
        ({"w": np.ones(0)}, "not an array of numbers in one dimension"),
        ({"v": np.array([1.0, np.nan, 0.0])}, "a value that is not finite"),
        ({"v": np.array([1.0, 1e90, 0.0])}, "or too large"),
        ({"v": np.array([1.0, 1e308, 0.0])}, "or too large"),
        ({"v": np.ones(3), "a": b"text"}, "'a' has the value b'text'"),
        ({"v": "text"}, "'v' is an array of another length, or a number, in support vectors"),
        ({"v": np.ones(3), "a": 1e90}, "the example is too large"),
    ]:
        with pytest.raises(ValueError, match=message):
            store.evaluate(x)
        assert pickle.dumps(store) == before


def test_arrays_are_compared_after_rounding():
    store = filled(rb.Linear(), [{"v": np.ones(2)}])
    store.evaluate({"v": np.array([0.1, 2.0])})
    x = {"v": np.array([0.1, 2.0], np.float32)}
    assert row_at(store, x) == np.float32(0.1) + np.float64(2.0)
    x["v"][0] = 7.0
    assert row_at(store, x) == 9.0


@given(
    changes=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 99), st.sampled_from(with_arrays(30))),
        max_size=30,
    )
)
@settings(max_examples=20, deadline=None)
def test_any_sequence_of_changes_with_arrays(changes):
    """The bits of kernel rows follow from the vectors, once it is known which arrays kernels with
    names read; a change is taken back."""
    kernels = [rb.RBF(gamma=0.1), ADDITIVE]
    store, kept = Store(kernels, "float64"), []
    for change in changes:
        before, slot = pickle.dumps(store), change[1] % (store.n + 1)
        saved = store.save(slot)
        put(store, change[2], slot)
        store.undo(saved)
        assert_same_bits(store, pickle.loads(before), [])
        changed(store, kept, change)
    assert repr(list(map(sorted, map(dict.items, vectors(store))))) == repr(
        list(map(sorted, map(dict.items, kept)))
    )
    anew = store.empty_like()
    for x in kept:
        put(anew, x)
    for other in (anew, pickle.loads(pickle.dumps(store))):
        for z in range(2):
            assert store.gram(z).tobytes() == other.gram(z).tobytes()


# Functions.


def test_an_error_of_a_function_changes_nothing():
    def fragile(x, z):
        if "bad" in x:
            raise OSError("broken")
        return x["a"] * z["a"]

    store = filled(rb.FunctionKernel(fragile), [{"a": 1.0}, {"a": 2.0}])
    store.evaluate({"a": 1.0})
    with pytest.raises(OSError, match="broken"):
        store.evaluate({"bad": 1.0})
    assert row_at(store, {"a": 3.0}).tolist() == [3.0, 6.0]
    with pytest.raises(ValueError, match="did not return a number up to"):
        store.evaluate({"a": float("nan")})
    assert vectors(store) == [{"a": 1.0}, {"a": 2.0}]


def test_a_kernel_cannot_use_the_store_that_calls_it():
    def reentrant(x, z):
        store.evaluate({"a": 5.0})
        return 0.0

    store = Store([rb.FunctionKernel(reentrant)])
    with pytest.raises(RuntimeError, match="in use"):
        store.evaluate({"a": 1.0})
    plain = filled(rb.RBF(gamma=1.0), [{"a": 1.0}])

    class Number:
        def __float__(self):
            plain.evaluate({"a": 1.0, "b": 2.0})
            return 1.0

    with pytest.raises(RuntimeError, match="in use"):
        plain.evaluate({"a": Number()})
    assert row_at(plain, {"a": 1.0}).tolist() == [1.0]


def test_an_example_that_changes_while_it_is_packed():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0, "b": 2.0}])

    class Number:
        def __float__(self):
            x.clear()
            return 1.0

    x = {"a": Number(), "b": 1.0}
    store.evaluate(x)
    assert store.example().keys() <= {"a", "b"}
    # Only the dict holds this name. A build with AddressSanitizer sees it if it is read too late.
    x = {"".join(["lon", "ely"]): Number()}
    store.evaluate(x)
    assert store.example().keys() <= {"lonely"}


def test_functions_cannot_change_the_store_that_calls_them():
    stores = []

    def kernel(x, z):
        for store in stores:
            with pytest.raises(RuntimeError, match="in use"):
                store.remove([0])
        return 1.0

    store = filled(rb.FunctionKernel(kernel), [{"a": 1.0}, {"a": 2.0}])
    stores.append(store)
    assert store.self_values().tolist() == [1.0, 1.0]
    assert store.n == 2


def test_blocks_do_not_have_the_arrays_of_the_last_example():
    store = Store([rb.Linear()], dtype="float64")
    put(store, {"a": 1.0})
    store.evaluate({"e": np.array([9e74])})
    assert store.block(["a"], np.array([[9e74]])).n_rows == 1


def test_rows_that_a_function_refuses_are_refused_as_a_block():
    store = Store([rb.FunctionKernel(rb.RBF(gamma=1.0))])
    with pytest.raises(ValueError, match=r"row 2: .* did not return a number"):
        store.block(["a"], np.array([[1.0], [2.0], [np.inf]]))


def test_the_length_of_an_array_is_that_of_its_elements():
    class Longer(np.ndarray):
        def __len__(self):
            return 3

    store = filled(rb.RBF(gamma=1.0), [{"e": np.ones(3)}])
    with pytest.raises(ValueError, match="an array of another length"):
        store.evaluate({"e": np.ones(2).view(Longer)})


# Numbers of many types, and values that only look like numbers.

NOT_NUMBERS = [
    np.complex64(1.0), np.complex128(1 + 2j), 1j, np.timedelta64(3, "s"),
    np.datetime64("2020-01-01"), np.void(b"12345678"), np.array("1.5"), np.array(["1.5"]),
    pd.NA, pd.NaT, np.array(1 + 2j), [1.0], b"1.5", None,
    float("nan"), float("inf"), 10**400,
]  # fmt: skip
REAL_NUMBERS = [
    1, True, 1.0, np.float16(1.0), np.float32(1.0), np.longdouble(1.0), np.int8(1), np.uint64(1),
    np.bool_(True), decimal.Decimal(1), fractions.Fraction(1), np.array(1.0),
]  # fmt: skip


@each_path
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_values_that_only_look_like_numbers_are_refused_by_name(make):
    message = r"feature 'b' (has the value|is not an array)"
    for is_cached in [False, True]:
        model = make(rb.RBF(gamma=1.0))
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


@each_path
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


def test_the_order_of_an_ordered_dict_is_its_own():
    x = collections.OrderedDict(a=1.0, b=2.0)
    x.move_to_end("a")
    assert list(filled(rb.Linear(), [x]).vector(0).items()) == [("b", 2.0), ("a", 1.0)]


@pytest.mark.parametrize("names", [("a", "a"), ["a"], "ab"])
def test_names_of_an_additive_kernel_are_a_tuple_of_different_ones(names):
    with pytest.raises(ValueError, match="names must be a tuple of different names"):
        rb.AdditiveRationalQuadratic(names=names)


@pytest.mark.parametrize(
    ("kernel", "x", "message"),
    [
        (rb.RBF(gamma=1.0), {"a": 1.0, "b": -1e80}, r"'b' has the value -1e\+80, which is too l"),
        (rb.Polynomial(degree=9), {"a": 1e20}, r"exceeds 1e\+150"),
        (rb.Polynomial(coef0=1e60), {}, "the example is too large"),
    ],
)
def test_what_is_too_large_is_refused(kernel, x, message):
    store = Store([kernel])
    with pytest.raises(ValueError, match=message):
        store.evaluate(x)
    with pytest.raises(ValueError, match=r"row 1: .*too large"):
        Store([rb.RBF(gamma=1.0)]).block(["a", "b"], np.array([[0.0, 0.0], [1.0, 1e80]]))


# Blocks.


@each_kernel
def test_rows_of_a_block_are_examples(kernel):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20, 3)).round(1)
    one, many = Store([kernel]), Store([kernel])
    block = many.block(["a", "b", 4], rows)
    assert block.n_rows == 20
    for i, values in enumerate(rows.tolist()):
        x = dict(zip(["a", "b", 4], values, strict=True))
        one.evaluate(x)
        many.evaluate_row(block, i)
        assert one.row().tobytes() == many.row().tobytes()
        assert many.example() == x
        for store in (one, many):
            store.put(min(store.n, i % 7))
    with pytest.raises(IndexError, match="row 20"):
        many.evaluate_row(block, 20)


def test_a_block_with_arrays():
    values = np.empty((3, 2), object)
    values[:, 0], values[:, 1] = [1.0, 2.0, 3.0], [np.ones(2), np.zeros(2), np.ones(2)]
    store = Store([rb.Linear()])
    block = store.block(["a", "v"], values)
    for i in range(3):
        store.evaluate_row(block, i)
        store.put(i)
    assert store.gram().tolist() == [[3.0, 2.0, 5.0], [2.0, 4.0, 6.0], [5.0, 6.0, 11.0]]
    values[2, 1] = np.ones(3)
    with pytest.raises(ValueError, match=r"row 2: .* an array of another length"):
        store.block(["a", "v"], values)


# States.


FORGED = [
    ("kernels", (rb.RBF(gamma=9.0),), "expected the kernels"),
    ("names", ("a", "a"), "a name occurs twice"),
    ("sizes", np.array([2, 2]), "the sizes of the vectors are wrong"),
    ("places", np.array([0, 1, 2]), "a feature without a name"),
    ("values", np.array([1.0, np.nan, 3.0]), "not finite or too large"),
    ("inserted", np.array([1, 1]), "the insertion order is invalid"),
    ("n_inserted", -1, "-1 is not a count"),
    ("names", (2**2000, "b"), "a name may have integers"),
    ("names", ["a", "b"], "the names of the features are missing"),
    ("places", np.array([0, 0, 0]), "a vector has a feature twice"),
    ("places", np.array([0, 1]), "the sizes of the vectors are wrong"),
]


@pytest.mark.parametrize(("key", "value", "message"), FORGED)
def test_a_forged_state_is_refused(key, value, message):
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0, "b": 2.0}, {"a": 3.0}])
    with pytest.raises(ValueError, match=message):
        Store([rb.RBF(gamma=1.0)]).restore({**store.state(), key: value})


def test_a_forged_vector_is_not_too_large():
    kernel = rb.Polynomial(degree=9)
    state = filled(kernel, [{"a": 1.0}]).state()
    with pytest.raises(ValueError, match="a vector is too large for the kernel"):
        Store([kernel]).restore({**state, "values": np.array([1e40])})


def test_a_forged_vector_has_no_feature_that_no_kernel_reads():
    kernel = rb.AdditiveRationalQuadratic(gamma=1.0, names=("a",))
    state = filled(kernel, [{"a": 1.0}]).state()
    with pytest.raises(ValueError, match="a feature that no kernel reads"):
        Store([kernel]).restore({**state, "names": ("b",)})


ONES = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (({"v": ONES}, {"v": ONES[:2]}), "'v' is an array of two lengths"),
        (({}, {"v": ONES * np.inf}), "a value that is not finite"),
        (({}, {"v": ONES[:0]}), "not an array of numbers in one dimension"),
        (({}, {"v": [1.0]}), "not an array of numbers in one dimension"),
        (({}, {"a": ONES}), "'a' is an array of two lengths, or a number, too"),
        (({"v": ONES},), "the arrays of the vectors are wrong"),
    ],
)
def test_forged_arrays_are_refused(arrays, message):
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0, "v": np.ones(3)}, {"v": np.ones(3)}])
    with pytest.raises(ValueError, match=message):
        Store([rb.RBF(gamma=1.0)]).restore({**store.state(), "arrays": arrays})


def jaccard(x, z):
    return len(x["words"] & z["words"]) / len(x["words"] | z["words"])


def test_functions_cannot_be_saved_but_copied():
    store = filled(rb.FunctionKernel(jaccard), [{"words": {"a", "b"}}, {"words": {"b"}}])
    with pytest.raises(ValueError, match="cannot be stored: its function is code"):
        store.state()
    for other in (copy.deepcopy(store), pickle.loads(pickle.dumps(store))):
        assert vectors(other) == vectors(store)
        assert other.vector(0) is not store.vector(0)


def test_a_store_stays_one_object():
    store = filled(rb.RBF(gamma=1.0), [{"a": 1.0}])
    first, second = pickle.loads(pickle.dumps((store, store)))
    assert first is second
    first, second = copy.deepcopy((store, store))
    assert first is second
