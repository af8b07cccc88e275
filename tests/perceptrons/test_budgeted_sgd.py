from __future__ import annotations

import math

import numpy as np
import pytest
from river import datasets

import river_budget as rb

RBF = rb.RBF(gamma=1.0)


def learned(model, *examples):
    for x, y in examples:
        model.learn_one(x, y)
    return model


def test_pegasos_by_hand():
    """With lambda = 1/2, the coefficients after round t are 2 / t, of whatever was added."""
    model = rb.BudgetedSGD(rb.Linear(), regularization=0.5)
    learned(model, ({"a": 1.0}, True), ({"b": 1.0}, False), ({"a": 0.5, "c": 1.0}, True))
    # The margin of the third one is 1/2, that of the fourth one (2 / 3) (2 + 1 / 2).
    assert model.coefficients == pytest.approx([2 / 3, -2 / 3, 2 / 3])
    learned(model, ({"a": 2.0}, True))
    assert model.coefficients == pytest.approx([1 / 2, -1 / 2, 1 / 2])


def test_a_logistic_step_by_hand():
    model = learned(rb.BudgetedSGD(rb.Linear(), loss="logistic", regularization=0.5),
                    ({"a": 1.0}, True), ({"a": 1.0}, True))  # fmt: skip
    assert model.coefficients == pytest.approx([0.5, 1 / (1 + math.e)])


def test_a_removal_by_hand():
    """The smallest term goes, which may be that of the incoming example."""
    model = rb.BudgetedSGD(rb.Linear(), budget=2, regularization=1.0)
    learned(model, ({"a": 1.0}, True), ({"b": 1.0}, True), ({"c": 0.5}, False))
    assert model.support_vectors == [{"a": 1.0}, {"b": 1.0}]
    assert model.coefficients == pytest.approx([1 / 3, 1 / 3])
    learned(model, ({"d": 2.0}, False))
    assert model.support_vectors == [{"b": 1.0}, {"d": 2.0}]
    assert model.coefficients == pytest.approx([1 / 4, -1 / 4])


def test_a_merging_by_hand():
    """Equal coefficients meet halfway; a and b are near, c and d far away."""
    model = rb.BudgetedSGD(RBF, budget=3, regularization=1.0)
    learned(model, ({"u": 0.0}, True), ({"u": 0.2}, True), ({"u": 9.0}, False))
    learned(model, ({"u": -9.0}, False))
    assert model.support_vectors == [{"u": 9.0}, {"u": pytest.approx(0.1, abs=1e-4)}, {"u": -9.0}]
    assert model.coefficients == pytest.approx([-1 / 4, 2 / 4 * math.exp(-0.01), -1 / 4])


def test_opposite_labels_are_merged_into_the_larger_one():
    """With the weights 2 and 1 at a distance of 1/2, the coefficient is 2 - exp(-1/4)."""
    model = rb.BudgetedSGD(RBF, budget=1, regularization=1.0)
    model.learn_one({"u": 0.0}, True, 2.0)
    model.learn_one({"u": 0.5}, False, 1.0)
    assert model.support_vectors == [{"u": 0.0}]
    assert model.coefficients == pytest.approx([(2 - math.exp(-0.25)) / 2])


@pytest.mark.parametrize("n_labels", [2, 4])
def test_a_merging_is_the_best_one(n_labels):
    """No other pair with the smallest vector, and no other place on its segment, loses less.

    At these distances, what is kept has one maximum on a segment.
    """
    rng = np.random.default_rng(1)
    model = rb.BudgetedSGD(RBF, budget=6, regularization=0.1)
    for _ in range(35):
        x, y = (
            dict(zip("uv", rng.uniform(-0.5, 0.5, 2).tolist(), strict=True)),
            int(rng.integers(n_labels)),
        )
        if model.n_support < 6 or len(model.classes) < n_labels:
            model.learn_one(x, y)
            continue
        unmerged = model.clone({"budget": 7})
        unmerged.restore(model.state())
        model.learn_one(x, y)
        unmerged.learn_one(x, y)
        if unmerged.n_support == 6:
            continue
        vectors, rows = unmerged.support_vectors, unmerged.coefficients.reshape(7, -1)
        sizes = (rows**2).sum(axis=1)
        lost = distance(unmerged, model)
        r = int((sizes <= sizes.min() * (1 + 1e-9)).argmax())
        for i in range(7):
            for h in np.linspace(0, 1, 21) if i != r else []:
                z = {k: h * vectors[r][k] + (1 - h) * vectors[i][k] for k in "uv"}
                term = rows[r] * RBF(vectors[r], z) + rows[i] * RBF(vectors[i], z)
                whole = sizes[r] + sizes[i] + 2 * rows[r] @ rows[i] * RBF(vectors[r], vectors[i])
                scale = 1.0 if n_labels == 2 else 0.5
                assert lost**2 <= scale * (whole - term @ term) * (1 + 1e-3) + 1e-9


def distance(model, other):
    """Return the distance of two hypotheses in Hilbert space."""
    from river_budget.theory.comparators import Comparator

    vectors = model.support_vectors + other.support_vectors
    return Comparator(RBF, vectors, [*model.coefficients, *-other.coefficients]).norm


def test_merging_is_better_than_removal():
    accuracies = []
    for maintenance in ["removal", "merging"]:
        model = rb.BudgetedSGD(RBF, budget=15, maintenance=maintenance)
        learned(model, *datasets.Bananas().take(1500))
        accuracies.append(1 - model.n_mistakes / model.n_rounds)
    assert accuracies[1] > accuracies[0] + 0.05


@pytest.mark.parametrize("kernel", [None, rb.RBF(gamma=0.01)], ids=str)
def test_names_of_merged_vectors_are_freed(kernel):
    """A merged vector has the names of both, but at most twice those of the longest example."""
    rng = np.random.default_rng(1)
    model = rb.BudgetedSGD(kernel, budget=4)
    sizes = []
    for t, value in enumerate(rng.normal(size=1200).tolist()):
        model.learn_one({f"n{t}": value, f"m{t}": 1.0, "u": 1.0 * (t % 5)}, t % 2 == 0)
        sizes.append(model.memory_bytes)
        assert max(map(len, model.support_vectors)) <= 6
    assert model.n_support == 4
    assert max(sizes[300:]) <= 2 * max(sizes[:300])


def test_the_smallest_values_are_dropped_and_equal_ones_together():
    """The values are 1/2; then 1/3 of e and f, beside which two of the four 1/3 would fit."""
    model = rb.BudgetedSGD(rb.RBF(gamma=0.01), budget=1, regularization=1.0)
    learned(model, ({"a": 1.0, "b": 1.0}, True), ({"c": 1.0, "d": 1.0}, True))
    assert model.support_vectors == [pytest.approx(dict.fromkeys("abcd", 0.5), abs=1e-3)]
    learned(model, ({"e": 1.1, "f": 1.1}, True))
    assert model.support_vectors == [pytest.approx(dict.fromkeys("ef", 1.1 / 3), abs=1e-2)]


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"budget": 0}, "budget"),
        ({"loss": "squared"}, "loss"),
        ({"regularization": 0.0}, "regularization"),
        ({"maintenance": "oldest"}, "maintenance"),
        ({"kernel": rb.Linear(), "maintenance": "merging"}, "maintenance"),
    ],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.BudgetedSGD(**parameters)
