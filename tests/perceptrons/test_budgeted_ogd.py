from __future__ import annotations

import math
from collections import Counter

import pytest

import river_budget as rb
from river_budget import synth
from river_budget.perceptrons.budgeted_ogd import slope_of


def names_of(model):
    return "".join(next(iter(x)) for x in model.support_vectors)


def test_a_uniform_removal_by_hand():
    """Steps of 1/2 and a decay of 0.9 a round. The third of three slots is drawn for d."""
    model = rb.BudgetedOGD(
        rb.Linear(), budget=3, learning_rate=0.5, regularization=0.2, sampling="uniform"
    )
    model._random = iter([0.7, 0.1]).__next__
    for name in "abc":
        model.learn_one({name: 1.0}, True)
    assert model.coefficients == pytest.approx([0.5 * 0.81, 0.5 * 0.9, 0.5])
    model.learn_one({"d": 1.0}, False)
    assert names_of(model) == "abd"
    assert model.coefficients == pytest.approx([0.5 * 0.9**3 * 1.5, 0.5 * 0.81 * 1.5, -0.5])
    model.learn_one({"e": 1.0}, True)
    assert names_of(model) == "bde"
    assert model.coefficients == pytest.approx([0.5 * 0.9**3 * 1.5**2, -0.5 * 0.9 * 1.5, 0.5])


def test_a_weighted_removal_by_hand():
    """Sizes of 1, 2 and 3: the chances are 1 - 2/6, 1 - 4/6 and 1 - 6/6."""
    model = rb.BudgetedOGD(rb.Linear(), budget=3, learning_rate=1.0, regularization=0.0)
    for name, weight in [("a", 1.0), ("b", 2.0), ("c", 3.0)]:
        model.learn_one({name: 1.0}, True, weight)
    model._random = iter([0.66, 0.1]).__next__
    model.learn_one({"d": 1.0}, True)
    assert names_of(model) == "bcd"
    assert model.coefficients == pytest.approx([3.0, 3.0, 1.0])
    # Now the sizes are 3, 3 and 1, with d in the slot of a: the chances are 5/7, 1/7 and 1/7.
    model.learn_one({"e": 1.0}, True)
    assert names_of(model) == "bce"
    assert model.coefficients == pytest.approx([3.5, 3.5, 1.0])


def test_a_negative_chance_is_0():
    """Sizes of 1, 1 and 3: 1 - 2/5 twice and 1 - 6/5, so a chance of 1/2, 1/2 and 0."""
    model = rb.BudgetedOGD(rb.Linear(), budget=3, learning_rate=1.0, regularization=0.0)
    for name, weight in [("a", 1.0), ("b", 1.0), ("c", 3.0)]:
        model.learn_one({name: 1.0}, True, weight)
    model._random = iter([0.9]).__next__
    model.learn_one({"d": 1.0}, True)
    assert names_of(model) == "acd"
    assert model.coefficients == pytest.approx([2.0, 3.0, 1.0])


def test_coefficients_are_clipped():
    model = rb.BudgetedOGD(rb.Linear(), budget=3, learning_rate=1.0, regularization=0.0, clip=2.5)
    for name, weight in [("a", 1.0), ("b", 2.0), ("c", 3.0)]:
        model.learn_one({name: 1.0}, True, weight)
    model._random = iter([0.0]).__next__
    model.learn_one({"d": 1.0}, True)
    assert model.coefficients == pytest.approx([2.5, 2.5, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["weighted", "uniform"])
def test_the_expected_hypothesis_is_that_without_a_removal(sampling):
    """The mean over many draws of each coefficient, 0 where the vector was removed."""
    total, n = Counter(), 4000
    for seed in range(n):
        model = rb.BudgetedOGD(
            rb.Linear(), 3, learning_rate=1.0, regularization=0.0, clip=9.0, sampling=sampling,
            seed=seed,
        )  # fmt: skip
        for name, weight in [("a", 1.0), ("b", 1.5), ("c", 2.0), ("d", 1.0)]:
            model.learn_one({name: 1.0}, True, weight)
        coefficients = model.coefficients.tolist()
        total.update(dict(zip(names_of(model), coefficients, strict=True)))
    means = {name: value / n for name, value in total.items()}
    assert means == pytest.approx({"a": 1.0, "b": 1.5, "c": 2.0, "d": 1.0}, abs=0.08)


def test_the_slopes_of_the_losses():
    assert [slope_of("hinge", m) for m in (-5.0, 0.999, 1.0, 7.0)] == [1, 1, 0, 0]
    for m in (-3.0, 0.0, 0.4, 5.0):
        numeric = (math.log1p(math.exp(-m + 1e-6)) - math.log1p(math.exp(-m - 1e-6))) / 2e-6
        assert slope_of("logistic", m) == pytest.approx(numeric, rel=1e-6)
    assert slope_of("logistic", -1e9) == 1.0
    assert slope_of("logistic", 1e9) == 0.0


def test_every_example_has_a_logistic_loss():
    model = rb.BudgetedOGD(rb.RBF(gamma=1.0), budget=50, loss="logistic", seed=1)
    for x, y in synth.TwoGaussians(40, seed=1):
        model.learn_one(x, y)
    assert model.n_support == 40


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"budget": 0}, "budget"),
        ({"loss": "squared"}, "loss"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"regularization": -1.0}, "regularization"),
        ({"learning_rate": 2.0, "regularization": 0.5}, "learning_rate"),
        ({"clip": 0.5}, "clip"),
        ({"sampling": "oldest"}, "sampling"),
    ],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.BudgetedOGD(**parameters)
