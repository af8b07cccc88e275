"""Tables of validation examples: losses of removals, counts and scores, against plain sums."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from states import content

import river_budget as rb
from river_budget._core.expansion import Expansion
from river_budget._core.loops import use_lanes
from river_budget._core.removal import CountedTable, ValidationTable
from river_budget._core.store import Store
from river_budget._core.sums import Sums

KERNEL = rb.RBF(gamma=0.3)
each_number_of_labels = pytest.mark.parametrize("n_labels", [2, 3, 4, 7])


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


def expansion(n_labels=2):
    f = Expansion(Store([KERNEL]))
    f.widen(n_labels)
    return f


def point(rng):
    return dict(zip("ab", rng.normal(size=2).tolist(), strict=True))


def begin(f, x, label, weight=1.0):
    """Begin a round, which has to be committed."""
    assert f.round(x, label, weight, math.inf)


def learn(table, x, label, weight=1.0):
    """Add an example to a table of the vectors of an expansion, and to that."""
    begin(table.f, x, label, weight)
    table.join()
    table.finish()


def filled(n, n_labels, kind=CountedTable, most=40, seed=1, joins=0):
    """Return a table of the n vectors of an expansion, the latter, and a random generator.

    In an open round, another vector has joined the table if `joins` is 1.
    """
    rng, f = np.random.default_rng(seed), expansion(n_labels)
    table = kind(f, most)
    for i in range(n + joins):
        label = i if i < n_labels else int(rng.integers(n_labels))
        begin(f, point(rng), label, rng.random() + 0.5)
        table.join()
        if i < n:
            table.finish()
    return table, f, rng


def weigh(table, slots, weights):
    np.asarray(table.weights).T[slots] = weights


def sums_of(table, n):
    """Return the losses after the removal of each of n vectors."""
    return np.array(table.sums)[:n]


def stale(table):
    """Return the slots whose weights have to be computed anew."""
    return np.flatnonzero(np.isnan(np.asarray(table.weights)[0, : table.n])).tolist()


def margins(scores):
    """Return (g_c - the largest other score) / 2 for each label."""
    return [(g - max(np.delete(scores, c))) / 2 for c, g in enumerate(scores)]


def after_removals(f, gram):
    """Yield the scores of all examples, with kernel values (m, n), after each removal."""
    for j in range(f.n):
        matrix = f.matrix
        matrix[j] = 0.0
        yield gram @ matrix


@each_number_of_labels
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 30])
def test_the_losses_are_those_of_plain_sums(n, n_labels):
    table, f, rng = filled(n - 1, n_labels, most=n, joins=1)
    weights = rng.dirichlet(np.ones(n_labels), n)
    weigh(table, np.arange(n), weights)
    found = table.least_loss(), sums_of(table, n), table.least_loss(True)
    table.finish()
    labels, errors, losses = f.matrix.argmax(axis=1), [], []
    for scores in after_removals(f, f.store.gram()):
        own = [margins(g)[c] for g, c in zip(scores, labels, strict=True)]
        errors.append(sum(m <= 0 for m in own))
        losses.append(np.sum(weights * np.maximum(0, 1 - np.array(list(map(margins, scores))))))
    assert found[0] == int(np.argmin(errors))
    assert found[1].tolist() == errors
    assert found[2] == int(np.argmin(losses))
    assert sums_of(table, n) == pytest.approx(losses, abs=1e-11)


@each_number_of_labels
def test_examples_that_are_no_vectors(n_labels):
    rng, f = np.random.default_rng(2), expansion(n_labels)
    table, examples = (
        ValidationTable(f, 6, f.store.empty_like(), 20),
        [point(rng) for _ in range(13)],
    )
    for i, z in enumerate(examples):
        begin(f, z, 0)
        table.offer(z, np.zeros(0), np.zeros(n_labels), i % n_labels)
        table.finish(table.n, i)
    for i in range(6):
        begin(f, point(rng), i % n_labels)
        table.join()
        found = table.least_loss()
        table.finish()
    gram = np.array([[KERNEL(z, f.store.vector(j)) for j in range(6)] for z in examples])
    assert table.exact() == pytest.approx(gram, abs=1e-12)
    assert max(table.errors().values()) < 1e-12
    errors = [
        sum(margins(g)[i % n_labels] <= 0 for i, g in enumerate(scores))
        for scores in after_removals(f, gram)
    ]
    assert found == int(np.argmin(errors))
    assert sums_of(table, 6).tolist() == errors


@each_number_of_labels
def test_all_lanes_give_the_same_bits(lanes, n_labels):
    table, _, rng = filled(36, n_labels, joins=1)
    weigh(table, np.arange(37), rng.dirichlet(np.ones(n_labels), 37))
    results = []
    for most in (2, 4, 8):
        lanes(most)
        for is_hinge in (True, False):
            results.append((table.least_loss(is_hinge), sums_of(table, 37).tobytes()))
        results.append([table.nearest(i) for i in range(37)])
    assert results[:3] == results[3:6] == results[6:]


def test_the_oldest_of_equal_vectors_is_removed():
    f = expansion()
    table = CountedTable(f, 4)
    for _ in range(3):
        learn(table, {"a": 1.0}, 1)
    begin(f, {"a": 1.0}, 1)
    table.join()
    table.finish(0, 1)
    begin(f, {"a": 1.0}, 1)
    table.join()
    weigh(table, np.arange(4), np.full((4, 2), 0.5))
    assert f.store.by_age.tolist() == [1, 2, 0]
    assert table.least_loss() == table.least_loss(True) == 1


@each_number_of_labels
def test_scores_follow_additions_and_removals(n_labels):
    table, f, rng = filled(10, n_labels, ValidationTable, most=11)
    for _ in range(200):
        begin(f, point(rng), int(rng.integers(n_labels)), rng.random())
        table.join()
        table.finish(int(rng.integers(11)))
        assert max(table.errors().values()) < 1e-12


def test_the_nearest_vector_is_known_where_kernel_values_tie_or_underflow():
    f = expansion()
    table = CountedTable(f, 5)
    for a in (0.0, 1.0, -1.0, 3.0):
        learn(table, {"a": a}, 1)
    for a, nearest in [(0.1, 0), (0.9, 1), (-5.0, 2), (2.5, 3), (2.0, 1), (100.0, 3)]:
        f.best({"a": a})
        assert table.nearest(table.n) == nearest
    begin(f, {"a": 9.0}, 1)
    table.join()
    assert [table.nearest(i) for i in range(5)] == [1, 0, 0, 1, 3]


def test_a_larger_value_of_other_kernels_may_mean_a_larger_distance():
    table = CountedTable(Expansion(Store([rb.Linear()])), 5)
    for a in (1.0, 2.0):
        learn(table, {"a": a}, 1)
    assert (table.nearest(table.n), table.nearest(0)) == (1, 1)


def test_counts_move_to_the_nearest_vector_and_stay_bounded():
    f = expansion(3)
    table = CountedTable(f, 3)
    learn(table, {"a": 0.0}, 0)
    learn(table, {"a": 1.0}, 1, 1e13)
    begin(f, {"a": 0.9}, 2, 0.5)
    table.count()
    near = math.exp(-0.3 * 0.01)
    assert table.counts_of([0, 1]).tolist() == [[1, 0, 0], [0, 1e13, pytest.approx(0.5 * near)]]
    begin(f, {"a": -0.1}, 2)
    table.join()
    table.finish(1)
    between = math.exp(-0.3)
    assert table.counts_of([0, 1])[1].tolist() == [0, 0, 1]
    moved = [1, 1e12 * between, 0.05 * near * between]
    assert table.counts_of([0])[0] == pytest.approx(moved, rel=1e-12)
    assert stale(table) == [0, 1]


def values_of(table):
    return content([table.state(), table.kernel_values.copy()])


class Name(str):
    """A name that nothing finds while it is lost."""

    __slots__ = ()
    is_lost = False

    def __hash__(self):
        if Name.is_lost:
            raise LookupError
        return super().__hash__()


def cannot_end(f, end):
    """Check that an error at the end of a round, in the sums for scales, goes through."""
    f.sums = Sums()
    Name.is_lost = True
    try:
        with pytest.raises(LookupError):
            end()
    finally:
        Name.is_lost, f.sums = False, None
    assert f.roll_back()


@pytest.mark.parametrize("removed", [None, -1, 0, 1, 4, 5])
def test_a_round_that_ends_by_an_error_changes_nothing(removed):
    table, f, rng = filled(5, 3, most=6)
    before = content([values_of(table), f.state()])
    x = {**point(rng), Name("c"): 1.0}
    for n_labels in (3, 3, 4):
        begin(f, x, n_labels - 1)
        if removed is None:
            cannot_end(f, table.count)
        else:
            table.join()
            cannot_end(f, lambda: table.finish(removed))
        if n_labels == 3:
            assert content([values_of(table), f.state()]) == before
    assert table.counts_of(slice(5))[:, 3].tolist() == [0.0] * 5
    expected = CountedTable(f, 6)
    expected.restore(table.state())
    begin(f, x, 0)
    sums = []
    for each in (table, expected):
        each.join()
        weigh(each, np.arange(6), np.full((6, 4), 0.25))
        each.least_loss(True)
        sums.append(sums_of(each, 6))
    assert sums[0] == pytest.approx(sums[1], abs=1e-12)


@pytest.mark.parametrize("i", [0, 3, 4])
@pytest.mark.parametrize("joins", [False, True])
def test_an_example_that_is_not_put_changes_nothing(i, joins):
    rng, f = np.random.default_rng(5), expansion(3)
    table = ValidationTable(f, 6, f.store.empty_like(), 20)
    for _ in range(5):
        begin(f, point(rng), 2)
        table.join()
        table.finish()
    for j in range(4):
        begin(f, point(rng), 1)
        table.offer(point(rng), rng.random(5), rng.random(3), j % 3)
        table.finish(table.n, j)
    before = content([values_of(table), f.state()])
    begin(f, {**point(rng), Name("c"): 1.0}, 0)
    if joins:
        table.join()
    table.offer(point(rng), rng.random(5), rng.random(3), 2)
    cannot_end(f, lambda: table.finish(2, i) if joins else table.finish(table.n, i))
    assert content([values_of(table), f.state()]) == before


def test_a_new_label_has_no_counts():
    table, f, rng = filled(5, 2)
    weigh(table, np.arange(5), np.full((5, 2), 0.5))
    f.widen(3)
    learn(table, point(rng), 2)
    assert table.counts_of(slice(5))[:, 2].tolist() == [0.0] * 5
    assert stale(table) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
@pytest.mark.parametrize(
    "kind", [CountedTable, lambda f, most: ValidationTable(f, most, f.store.empty_like(), 20)]
)
def test_a_copy_goes_on_alone(twin_of, kind):
    table, f, rng = filled(5, 3, kind)
    f, table = twin_of((f, table))
    twin, other = twin_of((f, table))
    assert (table.f, other.f) == (f, twin)
    before = values_of(table)
    assert values_of(other) == before
    learn(other, point(rng), 1)
    assert values_of(table) == before
    assert (table.n, other.n) == (5, 6)


def test_a_restored_table_has_the_state():
    table, f, _ = filled(5, 3)
    other = CountedTable(f, 9)
    other.restore(table.state())
    assert content(other.state()) == content(table.state())
    other.derive(f.store.gram())
    assert other.kernel_values == pytest.approx(table.kernel_values, abs=1e-15)


def forged(state, name, index, value):
    array = state[name].copy()
    array[index] = value
    return {**state, name: array}


def test_forged_states_are_refused():
    table, f, _ = filled(5, 3)
    state = table.state()
    for other in [
        {**state, "scores": state["scores"][:4]},
        {**state, "scores": state["scores"][:, :2]},
        {**state, "columns": state["columns"][:4]},
        {**state, "columns": state["columns"].astype(float)},
        {**state, "counts": state["counts"][:4]},
        forged(state, "columns", 0, 3),
        forged(state, "columns", 0, -1),
        forged(state, "counts", (0, 0), -1e-9),
        forged(state, "counts", (0, 0), math.inf),
        forged(state, "scores", (0, 0), math.nan),
    ]:
        with pytest.raises(ValueError, match=r"array|labels|negative"):
            CountedTable(f, 9).restore(other)


@each_number_of_labels
def test_the_safest_vector_has_the_largest_margin_without_its_own_term(n_labels):
    table, f, rng = filled(8, n_labels, ValidationTable, most=9)
    for _ in range(80):
        begin(f, point(rng), int(rng.integers(n_labels)), rng.random())
        table.join()
        x, y = f.store.example(), f.y
        matrix = np.vstack((f.matrix, np.zeros(n_labels)))
        matrix[8, y.label], matrix[8, y.rival] = y.weight, -y.weight
        points = [*(f.store.vector(i) for i in range(8)), x]
        gram = np.array([[KERNEL(x, z) for z in points] for x in points]) - np.eye(9)
        own = [margins(g)[a.argmax()] for g, a in zip(gram @ matrix, matrix, strict=True)]
        assert table.safest() == int(np.argmax(own))
        table.finish(table.safest())
