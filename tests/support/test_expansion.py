from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from algorithms import KERNELS, each_kernel
from hypothesis import given
from hypothesis import strategies as st

from river_budget.support import Expansion, Target, vector_store
from river_budget.support._compiled import TILE

NAMES = ["a", "b", "c", 4, None, ("f", 1)]
VALUES = st.floats(-4.0, 4.0).map(lambda value: round(value, 3))
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), VALUES)
POSITIVE = Target(label=1, rival=0, margin=0.0)


def by_definition(kernel, vectors, x):
    return sum(alpha * kernel(x, s) for s, alpha in vectors)


@each_kernel
@given(data=st.data())
def test_an_expansion_is_the_sum_over_its_vectors(kernel, data):
    """Vectors are added, replaced and removed in any slot, and in a list of plain dicts."""
    f, vectors = Expansion(vector_store(kernel)), []
    for _ in range(data.draw(st.integers(1, 25))):
        x = data.draw(EXAMPLES)
        query = f.query(x)
        assert query.answer == pytest.approx(by_definition(kernel, vectors, x), abs=1e-8)
        coefficient = data.draw(VALUES)
        what = data.draw(st.sampled_from(["add", "replace", "remove"])) if vectors else "add"
        if what == "replace":
            slot = data.draw(st.integers(0, len(vectors) - 1))
            f.replace(slot, query, POSITIVE, coefficient)
            vectors[slot] = (x, coefficient)
        elif what == "remove":
            removed = data.draw(st.sets(st.integers(0, len(vectors) - 1)))
            f.remove(sorted(removed))
            vectors = [v for slot, v in enumerate(vectors) if slot not in removed]
        else:
            f.add(query, POSITIVE, coefficient)
            vectors.append((x, coefficient))
    slots = range(f.store.n)
    assert [f.store.vector(slot) for slot in slots] == [x for x, _ in vectors]
    assert f.coefficients.tolist() == [alpha for _, alpha in vectors]
    square = sum(a * by_definition(kernel, vectors, s) for s, a in vectors)
    assert f.norm**2 == pytest.approx(max(0.0, square), abs=1e-6)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.spec is not None], ids=str)
def test_many_slots_and_features(kernel):
    """More slots than in a tile, and dense and sparse examples, against the definition."""
    rng = np.random.default_rng(3)
    f, vectors = Expansion(vector_store(kernel)), []
    for t in range(3 * TILE):
        n_features = 9 if t % 3 else rng.integers(0, 9)
        names = rng.permutation(9)[:n_features].tolist()
        x = dict(zip(names, rng.normal(size=n_features).tolist(), strict=True))
        query = f.query(x)
        assert query.answer == pytest.approx(by_definition(kernel, vectors, x), abs=1e-7)
        f.add(query, POSITIVE)
        vectors.append((x, 1.0))


@each_kernel
def test_shrinking_and_shifting(kernel):
    f = Expansion(vector_store(kernel))
    for value in [1.0, 2.0]:
        f.add(f.query({"a": value}), POSITIVE, value)
    before = f.query({"a": 0.5}).answer
    f.shrink(0.25)
    assert f.query({"a": 0.5}).answer == pytest.approx(before / 4)
    f.shift(POSITIVE, np.array([0.0, 1.0]))
    assert f.coefficients == pytest.approx([0.25, 1.5])
    assert f.query({"a": 0.5}).answer == pytest.approx(before / 4 + kernel({"a": 0.5}, {"a": 2.0}))


@each_kernel
def test_copies_and_pickles_continue_alike(kernel):
    f = Expansion(vector_store(kernel))
    for value in [1.0, 2.0]:
        f.add(f.query({"a": value, "b": -value}), POSITIVE, value)
    for other in [copy.deepcopy(f), pickle.loads(pickle.dumps(f))]:
        query = other.query({"a": 0.5})
        assert query.answer == f.query({"a": 0.5}).answer
        other.replace(0, query, POSITIVE)
        assert other.store.vector(0) == {"a": 0.5}
        assert f.store.vector(0) == {"a": 1.0, "b": -1.0}
