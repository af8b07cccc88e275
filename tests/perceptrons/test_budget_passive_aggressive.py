from __future__ import annotations

import copy
import math
import pickle
import random

import numpy as np
import pytest

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget._core.expansion import Expansion
from river_budget._core.store import Store
from river_budget.perceptrons._maintenance import Projection

MAINTENANCE = ["simple", "nearest", "projection"]
each_maintenance = pytest.mark.parametrize("maintenance", MAINTENANCE)

# Three vectors of length 1 in the plane, and one across it.
U, V, W, Z = {"a": 1.0}, {"a": 0.8, "b": 0.6}, {"b": 1.0}, {"c": 1.0}


def weights_of(model):
    """Return f as a linear function, its weight for each feature."""
    names = sorted({name for x in model.support_vectors for name in x})
    pairs = list(zip(model.support_vectors, model.coefficients.tolist(), strict=True))
    return {name: sum(alpha * x.get(name, 0.0) for x, alpha in pairs) for name in names}


def learned(maintenance, *examples, budget=2, C=1.0):
    model = rb.BudgetPassiveAggressive(rb.Linear(), budget, C=C, maintenance=maintenance)
    for x, y in examples:
        model.learn_one(x, y)
    return model


def test_the_simple_removal_by_hand():
    """On u with +1 then z with -1, f = (1, 0, -1). The example v with +1 has a margin of 0.8.

    The step is 0.2. Without u, its projection 0.8 v stays, at a distance of 0.6; without z, nothing
    stays, at a distance of 1. So u is removed, and v has the coefficient 0.8 + 0.2.
    """
    model = learned("simple", (U, True), (Z, False), (V, True))
    assert model.support_vectors == [Z, V]
    assert model.coefficients == pytest.approx([-1.0, 1.0])
    assert model.decision_function_one(V) == pytest.approx(1.0)
    assert model.removal_displacement == pytest.approx(0.6)
    assert model.excess_step == pytest.approx(1 + 1 + 0.2 - 2)


def test_the_removal_with_the_nearest_by_hand():
    """With u, z and v as above, and w with -1: f(w) = 0, and the step is 1.

    The nearest vector of u is v, and that of v is u: both are in the span of the other one and w, at
    a distance of 0. The oldest is removed: u = v / 0.8 - 0.75 w.
    """
    model = learned("nearest", (U, True), (Z, False), (V, True), budget=3)
    assert model.coefficients == pytest.approx([1.0, -1.0, 0.2])
    model.learn_one(W, False)
    step = 1 + 0.2 * 0.6
    assert model.support_vectors == [Z, V, W]
    assert model.coefficients == pytest.approx([-1.0, 0.2 + 1.25, -0.75 - min(1.0, step)])
    assert model.removal_displacement == pytest.approx(0.0, abs=1e-6)


def test_the_projection_by_hand():
    """Once u and v span the plane, w is projected onto them: w = (v - 0.8 u) / 0.6."""
    model = learned("projection", (U, True), (V, True), (W, False))
    assert model.support_vectors == [U, V]
    step = min(1.0, 1 + 0.2 * 0.6)
    assert model.coefficients == pytest.approx([1 + step * 0.8 / 0.6, 0.2 - step / 0.6])
    assert model.n_support == 2


def test_the_projection_removes_what_costs_least():
    """z is outside the plane: u is 0.6 from the span of v and z, v with its 0.2 is nearer."""
    model = learned("projection", (U, True), (V, True), (Z, False))
    assert model.support_vectors == [U, Z]
    assert weights_of(model) == pytest.approx({"a": 1 + 0.2 * 0.8, "c": -1.0})
    assert model.removal_displacement == pytest.approx(0.2 * 0.6)


def test_an_example_whose_loss_is_smaller_than_any_removal_is_not_stored():
    """f(x) = 0.9: a loss of 0.1 is less than half the squared distance of u or w."""
    x = {"a": 0.5, "b": -0.4, "c": 0.59**0.5}
    for maintenance in ["simple", "nearest"]:
        model = learned(maintenance, (U, True), (W, False), (x, True))
        assert model.support_vectors == [U, W]
        assert model.coefficients == pytest.approx([1.0, -1.0])


def test_an_example_that_is_not_stored_is_projected():
    x = {"a": 0.9, "c": 0.19**0.5}
    model = learned("projection", (U, True), (W, False), (x, True))
    assert model.support_vectors == [U, W]
    assert model.coefficients == pytest.approx([1 + 0.1 / 0.9, -1.0])
    assert model.removal_displacement == pytest.approx(0.1 / 0.81 * 0.19**0.5)


def test_the_limit_of_the_step():
    model = learned("simple", (U, True), (W, False), C=0.3)
    assert model.coefficients == pytest.approx([0.3, -0.3])


@each_maintenance
def test_the_margin_of_the_incoming_example_is_that_of_the_unbounded_classifier(maintenance):
    """Where the example is stored, no removal changes its margin."""
    model = rb.BudgetPassiveAggressive(rb.RBF(gamma=1.0), budget=10, maintenance=maintenance)
    n_stored = 0
    for x, y in synth.TwoGaussians(400, seed=1):
        before = model.decision_function_one(x) * (1 if y else -1)
        model.learn_one(x, y)
        after = model.decision_function_one(x) * (1 if y else -1)
        if before < 1 and model.support_vectors[-1] == x:
            n_stored += 1
            assert after == pytest.approx(min(1.0, before + 1))
    assert n_stored > 50


def test_the_nearest_vectors_are_those_found_anew():
    """A restored model finds them from the Gram matrix. On a grid, most have several nearest ones."""
    kept = restored = rb.BudgetPassiveAggressive(rb.Linear(), budget=12, C=0.5)
    rng = np.random.default_rng(1)
    for point in rng.integers(4, size=(600, 3)).astype(float).tolist():
        state, restored = restored.state(), kept.clone()
        restored.restore(state)
        x, y = dict(enumerate(point)), bool(rng.random() < 0.5)
        for model in (kept, restored):
            model.learn_one(x, y)
        assert restored.coefficients.tolist() == kept.coefficients.tolist()
        assert restored.support_vectors == kept.support_vectors
    assert kept.n_mistakes > 200


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: checkpoint.loads(checkpoint.dumps(model)),
    ],
    ids=["deepcopy", "pickle", "checkpoint"],
)
def test_copies_go_on_bit_for_bit_where_names_come_and_go(copied):
    """The last bits of a kernel value depend on the names that the vectors had when it was computed."""
    kept, rng = rb.BudgetPassiveAggressive(rb.RBF(gamma=0.3), budget=2), np.random.default_rng(0)
    for t, values in enumerate(rng.normal(size=(300, 3)).tolist()):
        if t % 10 == 0:
            other = copied(kept)
        x = {name: value for name, value in zip("abc", values, strict=True) if rng.random() < 0.7}
        y = bool(rng.random() < 0.5)
        for model in (kept, other):
            model.learn_one(x, y)
        assert other.coefficients.tolist() == kept.coefficients.tolist()


@each_maintenance
def test_a_stream_of_few_points(maintenance):
    """Duplicates make Gram matrices singular."""
    model, rng = rb.BudgetPassiveAggressive(rb.RBF(gamma=1.0), 8, maintenance=maintenance), 0
    rng = np.random.default_rng(1)
    for i in rng.integers(12, size=600).tolist():
        model.learn_one({"a": float(i % 4), "b": float(i // 4)}, bool(rng.random() < 0.5))
    assert model.n_support <= 8
    assert np.isfinite(model.coefficients).all()
    assert model.numerical_errors()["maintenance"] < 1e-9


def test_the_errors_of_the_root_do_not_accumulate():
    """The Gram matrix of two features and a wide kernel is nearly singular."""
    model = rb.BudgetPassiveAggressive(rb.RBF(gamma=0.1), budget=40, maintenance="projection")
    rng = np.random.default_rng(1)
    for x in rng.normal(size=(6000, 2)).tolist():
        model.learn_one(dict(enumerate(x)), bool(rng.random() < 0.5))
    assert model.n_mistakes > 2000
    assert model.numerical_errors()["maintenance"] < 1e-6


def test_the_root_of_the_inverse_by_its_definition():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(30, 9))
    f, gram, kept = Expansion(Store([rb.Linear()])), points @ points.T, []
    projection = Projection(f)
    for t in range(30):
        f.round(dict(enumerate(points[t].tolist())), 1, 1.0, math.inf)
        projection.project()
        if len(kept) < 6:
            projection.on_put()
            f.add(f.y)
            kept.append(t)
        else:
            around = np.linalg.inv(gram[np.ix_([*kept, t], [*kept, t])])
            assert projection.squares() == pytest.approx(1 / around.diagonal()[:6])
            slot = t % 6
            weights = -around[slot] / around[slot, slot]
            weights[slot] = weights[6]
            assert projection.take_over(slot) == pytest.approx(weights[:6])
            projection.on_put(slot)
            f.replace(slot, f.y)
            kept[slot] = t
        f.commit()
        root = projection.state()["root"]
        inverse = np.linalg.inv(gram[np.ix_(kept, kept)])
        assert root @ root.T == pytest.approx(inverse)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"C": 0.0}, "C"), ({"budget": 0}, "budget"), ({"maintenance": "merge"}, "maintenance")],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.BudgetPassiveAggressive(**parameters)


def test_a_copy_goes_on_bit_for_bit_with_sparse_vectors():
    # The sums of a kernel value of two sparse vectors differ in the last bit by whose row it is of.
    rng = random.Random(1)
    rows = [{f"w{rng.randrange(60)}": rng.gauss(0, 1) for _ in range(8)} for _ in range(500)]
    model = rb.BudgetPassiveAggressive(rb.RBF(gamma=0.05), budget=30)
    for x in rows[:300]:
        model.learn_one(x, sum(x.values()) > 0)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    for x in rows[300:]:
        assert loaded.decision_function_one(x) == model.decision_function_one(x)
        for learner in (model, loaded):
            learner.learn_one(x, sum(x.values()) > 0)
