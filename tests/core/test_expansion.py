from __future__ import annotations

import copy
import itertools
import math
import pickle
import threading

import numpy as np
import pytest
from algorithms import KERNELS, each_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from states import content

import river_budget as rb
from river_budget._core.engine import SCALES, UPDATE
from river_budget._core.expansion import Expansion
from river_budget._core.loops import use_lanes
from river_budget._core.store import Store
from river_budget._core.sums import Sums

NAMES = ["a", "b", "c", 4, None, ("f", 1)]
VALUES = st.floats(-4.0, 4.0).map(lambda value: round(value, 3))
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), VALUES)
RBF = rb.RBF(gamma=0.7)


def expansion_of(kernel=RBF, n_labels=2):
    f = Expansion(Store([kernel]))
    f.widen(n_labels)
    f.scales_due_at = 2**62
    return f


def begin(f, x, label=1, weight=1.0):
    """Begin a round that asks for an update."""
    assert f.round(x, label, weight, math.inf) == UPDATE
    return f.y


def put(f, x, slot=None, label=1, step=1.0):
    y = begin(f, x, label)
    f.add(y, step) if slot is None else f.replace(slot, y, step)
    f.commit()


def by_definition(kernel, vectors, x):
    return sum(alpha * kernel(x, s) for s, alpha in vectors)


def f_at(f, x):
    return f.scores(x)[1]


@pytest.mark.slow
@each_kernel
@settings(max_examples=10)
@given(data=st.data())
def test_an_expansion_is_the_sum_over_its_vectors(kernel, data):
    """Vectors are added, replaced and removed in any slot, and in a list of plain dicts."""
    f, vectors = expansion_of(kernel), []
    for _ in range(data.draw(st.integers(1, 25))):
        x = data.draw(EXAMPLES)
        assert f_at(f, x) == pytest.approx(by_definition(kernel, vectors, x), abs=1e-8)
        coefficient = data.draw(VALUES)
        what = data.draw(st.sampled_from(["add", "replace", "remove"])) if vectors else "add"
        if what == "replace":
            slot = data.draw(st.integers(0, len(vectors) - 1))
            put(f, x, slot, step=coefficient)
            vectors[slot] = (x, coefficient)
        elif what == "remove":
            removed = data.draw(st.sets(st.integers(0, len(vectors) - 1)))
            f.remove(sorted(removed))
            vectors = [v for slot, v in enumerate(vectors) if slot not in removed]
        else:
            put(f, x, step=coefficient)
            vectors.append((x, coefficient))
    assert [f.store.vector(slot) for slot in range(f.n)] == [x for x, _ in vectors]
    assert f.coefficients.tolist() == [alpha for _, alpha in vectors]
    square = sum(a * by_definition(kernel, vectors, s) for s, a in vectors)
    assert f.norm**2 == pytest.approx(max(0.0, square), abs=1e-6)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.spec is not None], ids=str)
def test_many_slots_and_features(kernel):
    """More slots than at first, and dense and sparse examples, against the definition."""
    rng = np.random.default_rng(3)
    f, vectors = expansion_of(kernel), []
    for t in range(40):
        n_features = 9 if t % 3 else rng.integers(0, 9)
        names = rng.permutation(9)[:n_features].tolist()
        x = dict(zip(names, rng.normal(size=n_features).tolist(), strict=True))
        assert f_at(f, x) == pytest.approx(by_definition(kernel, vectors, x), abs=1e-7)
        put(f, x)
        vectors.append((x, 1.0))


@each_kernel
def test_shrinking_and_shifting(kernel):
    f = expansion_of(kernel)
    for value in [1.0, 2.0]:
        put(f, {"a": value}, step=value)
    before = f_at(f, {"a": 0.5})
    f.shrink(0.25)
    assert f_at(f, {"a": 0.5}) == pytest.approx(before / 4)
    f.shift(f.y, np.array([0.0, 1.0]))
    assert f.coefficients == pytest.approx([0.25, 1.5])
    assert f_at(f, {"a": 0.5}) == pytest.approx(before / 4 + kernel({"a": 0.5}, {"a": 2.0}))


def test_a_common_factor_does_not_underflow():
    f = expansion_of()
    put(f, {"a": 1.0})
    for _ in range(5):
        f.shrink(1e-60)
    put(f, {"a": 2.0})
    assert f.coefficients == pytest.approx([1e-300, 1.0], rel=1e-12, abs=0.0)
    f.shrink(0.0)
    assert f.coefficients.tolist() == [0.0, 0.0]


def random_expansion(n_labels=3, n=5, seed=1):
    rng = np.random.default_rng(seed)
    f = expansion_of(n_labels=n_labels)
    for t in range(n):
        put(f, {"a": rng.normal(), "b": rng.normal()}, label=t % n_labels, step=1.0 + t)
    f.shrink(0.5)
    return f


@pytest.mark.parametrize("n_labels", [2, 3])
def test_what_an_algorithm_asks_follows_from_the_coefficients(n_labels):
    f = random_expansion(n_labels)
    x = {"a": 0.3, "b": -0.2}
    y = begin(f, x, label=0, weight=2.0)
    matrix, row = f.matrix, np.array([RBF(x, f.store.vector(slot)) for slot in range(f.n)])
    scores = row @ matrix
    assert f.row == pytest.approx(row)
    assert f.last_scores() == pytest.approx(scores)
    rival = 1 + int(scores[1:].argmax())
    assert (y.label, y.rival, y.weight, y.self_value) == (0, rival, 2.0, 1.0)
    assert y.margin == pytest.approx((scores[0] - scores[rival]) / 2)
    values = f.store.gram() @ matrix
    assert f.norm**2 == pytest.approx((matrix * values).sum() / 2)
    for slot in range(f.n):
        label, other = matrix[slot].argmax(), matrix[slot].argmin()
        assert f.step_of(slot) == matrix[slot, label]
        assert f.margin_of(slot) == pytest.approx((values[slot, label] - values[slot, other]) / 2)
        z = np.eye(n_labels)
        overlap = (z[label] - z[other]) @ (z[0] - z[rival]) / 2
        assert f.overlap(slot) == overlap
        assert f.row_at(slot) == f.row[slot]
    assert f.step_of(f.smallest) == matrix.max(axis=1).min()


@pytest.mark.parametrize("n_labels", [2, 3])
def test_changes_of_all_labels(n_labels):
    f = random_expansion(n_labels)
    before, change = f.matrix, np.random.default_rng(2).normal(size=(f.n, n_labels))
    change -= change.mean(axis=1, keepdims=True)
    f.change(change)
    assert f.matrix == pytest.approx(before + change)


UPDATES = {
    "add": lambda f, y: f.add(y),
    "replace": lambda f, y: f.replace(1, y, 2.0),
    "shift": lambda f, y: f.shift(y, np.arange(5.0)),
    "shrink": lambda f, y: f.shrink(0.5),
    "shrink to 0": lambda f, y: f.shrink(1e-200),
    "change": lambda f, y: f.change(f.matrix),
    "remove": lambda f, y: f.remove([0, 3]),
}


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("n", [5, 8])
@pytest.mark.parametrize("names", list(itertools.permutations(["add", "replace", "shrink to 0"])))
def test_an_update_of_several_steps_is_taken_back(names, n, n_labels):
    f = random_expansion(n_labels, n)
    before = content(f.state())
    y = begin(f, {"a": 1.0, "c": 2.0}, weight=3.0)
    for name in names:
        UPDATES[name](f, y)
    assert f.roll_back()
    assert content(f.state()) == before


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_an_update_is_taken_back(name, n_labels):
    f = random_expansion(n_labels)
    x = {"a": 0.1}
    before, scores = content(f.state()), f.scores(x)
    UPDATES[name](f, begin(f, {"a": 1.0, "c": 2.0}, weight=3.0))
    assert f.roll_back()
    assert content(f.state()) == before
    assert f.scores(x) == scores
    assert not f.roll_back()


def test_the_counts_of_rounds():
    f = expansion_of()
    put(f, {"a": 1.0})
    assert f.round({"a": 1.0}, 1, 1.0, 0.0) == 0
    begin(f, {"a": 1.0}, 1, weight=2.0)
    f.commit()
    assert (f.n_rounds, f.n_mistakes, f.n_weighted) == (3, 1, 1)
    f.scales_due_at = 4
    assert f.round({"a": 1.0}, 1, 1.0, 0.0) == SCALES
    assert f.round({"a": 1.0}, 0, 1.0, 0.0) == UPDATE + SCALES
    f.commit()


def test_an_open_round_is_ended_before_the_next_one():
    f = expansion_of()
    begin(f, {"a": 1.0})
    with pytest.raises(RuntimeError, match="the update of the last round has not ended"):
        f.round({"a": 1.0}, 1, 1.0, 0.0)
    assert f.roll_back()
    assert f.n_rounds == 0


def test_an_open_round_belongs_to_its_thread():
    f, errors = expansion_of(), []
    f.claim()
    begin(f, {"a": 1.0})

    def predict():
        with pytest.raises(RuntimeError, match="two threads need two models, or a lock"):
            f.best({"a": 1.0})
        errors.append("in use")

    thread = threading.Thread(target=predict)
    thread.start()
    thread.join()
    assert errors == ["in use"]
    f.commit()
    assert f.best({"a": 1.0}) == 0


def test_an_open_round_keeps_its_example():
    f = expansion_of()
    y = begin(f, {"a": 1.0})
    for use in (f.best, f.scores, lambda x: f.round(x, 0, 1.0, 0.0), lambda x: f.claim()):
        with pytest.raises(RuntimeError, match="the update of the last round has not ended"):
            use({"a": 2.0})
    for use in (f.state, lambda: copy.deepcopy(f)):
        with pytest.raises(RuntimeError, match="the update of the last round has not ended"):
            use()
    f.add(y)
    f.commit()
    assert f.store.vector(0) == {"a": 1.0}


def test_a_label_that_is_new_is_a_rival_from_its_first_round_on():
    f = expansion_of()
    put(f, {"a": 1.0}, label=0)
    assert len(f.scores({"a": 1.0})) == 2
    begin(f, {"a": 1.0}, label=4)
    assert f.last_scores() == [1.0, -1.0, 0.0, 0.0, 0.0]
    assert (f.y.rival, f.y.margin) == (0, -0.5)


def test_rows_are_scanned_as_single_examples():
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    weights = rng.choice([0.5, 1.0], 200)
    one, many = expansion_of(), expansion_of()
    for f in (one, many):
        f.sums = Sums()
    for row, label, weight in zip(rows.tolist(), labels.tolist(), weights.tolist(), strict=True):
        if one.round(dict(zip("abc", row, strict=True)), label, weight, 0.0):
            one.add(one.y)
            one.commit()
    block = many.store.block(list("abc"), rows)
    block.begin(labels, weights)
    while block.row < 200:
        if many.scan(block, 0.0):
            many.add(many.y)
            many.commit()
    assert content(many.state()) == content(one.state())
    assert content(many.sums.state()) == content(one.sums.state())
    scores = [one.scores(dict(zip("abc", row, strict=True))) for row in rows.tolist()]
    assert many.score_block(block).tolist() == scores


@pytest.mark.parametrize("step", [math.nan, math.inf, 1e200])
def test_a_coefficient_that_is_no_number_is_refused(step):
    f = random_expansion()
    before = content(f.state())
    y = begin(f, {"a": 1.0})
    with pytest.raises(ValueError, match="a coefficient is not finite or too large"):
        f.add(y, step)
    assert f.roll_back()
    assert content(f.state()) == before


@pytest.mark.parametrize("slot", [-1, 5])
def test_a_slot_that_is_not_in_use_is_refused(slot):
    f = random_expansion()
    y = begin(f, {"a": 1.0})
    for ask in [f.row_at, f.step_of, f.margin_of, f.overlap, f.self_value_of]:
        with pytest.raises(IndexError, match=f"slot {slot} is not in use: there are 5"):
            ask(slot)
    with pytest.raises(IndexError, match=f"slot {slot} is not in use"):
        f.replace(slot, y)


@each_kernel
def test_copies_and_pickles_continue_alike(kernel):
    f = expansion_of(kernel)
    for value in [1.0, 2.0]:
        put(f, {"a": value, "b": -value}, step=value)
    f.sums = Sums()
    for other in [copy.deepcopy(f), pickle.loads(pickle.dumps(f))]:
        assert other.coefficients.tolist() == f.coefficients.tolist()
        assert other.scores({"a": 0.5}) == f.scores({"a": 0.5})
        put(other, {"a": 0.5}, slot=0)
        assert other.store.vector(0) == {"a": 0.5}
        assert f.store.vector(0) == {"a": 1.0, "b": -1.0}
        assert (other.sums.n_observed, f.sums.n_observed) == (1, 0)


def test_copies_share_what_the_originals_share():
    f = random_expansion()
    store, other = pickle.loads(pickle.dumps((f.store, f)))
    assert other.store is store


FORGED = [
    ("coefficients", np.ones((3, 5))), ("coefficients", np.zeros((2, 5))),
    ("coefficients", np.full((3, 5), math.nan)), ("scale", 0.0), ("scale", 2.0),
    ("n_mistakes", 10**6), ("rounds", np.array([-1, 5, 5])), ("largest_self_value", math.inf),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), FORGED, ids=str)
def test_a_forged_state_is_refused(key, value):
    state = random_expansion().state()
    expansion_of(n_labels=3).restore(state)
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own message)
        expansion_of(n_labels=3).restore({**state, key: value})


@settings(max_examples=30)
@given(n=st.integers(1, 70), n_labels=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_all_widths_of_vectors_give_the_same_bits(n, n_labels, seed):
    f, x = random_expansion(n_labels, n, seed), {"a": 0.3, "b": -1.0}
    y = begin(f, x)
    f.commit()
    try:
        answers = []
        for lanes in (8, 4, 2):
            use_lanes(lanes)
            f.shift(y, np.zeros(f.n))
            answers.append((f.scores(x), f.norm))
    finally:
        use_lanes(8)
    assert answers[0] == answers[1] == answers[2]
