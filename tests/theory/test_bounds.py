from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import river_budget as rb
from river_budget.theory import bounds

# What the theorems about a known run read of its model.
RUN = SimpleNamespace(
    removal_damage=-3.0, shrinking_loss=2.0, C=0.5, norm=3.0, removal_displacement=2.0,
    excess_step=1.0, norm_bound=50.0, gradients=3.0, residuals=2.0, excess_loss=1.0,
    learning_rate=0.25, bound_improvement=1.0,
)  # fmt: skip
NORMS, LOSSES = st.floats(0, 100), st.floats(0, 1e6)


def test_formulas_by_hand():
    assert bounds.perceptron(3.0, 10.0).mistakes == 9 + 20
    assert bounds.forgetron(1.0, 10.0, budget=100).mistakes == 2 + 40
    run = SimpleNamespace(removal_damage=5.0, shrinking_loss=0.5)
    assert bounds.forgetron_run(2.0, 10.0, run).mistakes == 24 + 5 + 2
    assert bounds.projectron(2.0, 10.0, eta=0.125).mistakes == 24 / 0.5
    assert bounds.projectron(2.0, 10.0, eta=0.125, bound_improvement=4.0).mistakes == 20 / 0.5
    assert bounds.projectron_worst_case(3.0, 4.0, eta=0.0).mistakes == 16
    assert bounds.projectron_worst_case(3.0, 4.0, eta=0.25).mistakes == 16 / 0.25**2
    assert bounds.projectron_norm_bound(2.0, 10.0, norm_bound=2.0).mistakes == 48
    improved = bounds.projectron_plus_plus(2.0, 10.0, norm_bound=2.0, bound_improvement=7.0)
    assert improved.mistakes == 34
    randomized = bounds.modified_randomized_budget(1.0, 10.0, budget=64, path_length=2.0)
    assert randomized.mistakes == pytest.approx(4 / 3 * (10 + 32 + 96))
    square = 512 / (32 * math.log2(8 * 512))
    simplified = bounds.simplified_forgetron(0.5, 10.0, budget=512, path_length=2.0)
    assert simplified.mistakes == pytest.approx(20 + 32 * square + 192 * math.sqrt(square))


def test_norms_by_hand():
    assert bounds.forgetron_norm(1000) == pytest.approx(math.sqrt(1001 / math.log(1001)) / 4)
    assert bounds.modified_randomized_budget_norm(64) == 1.0
    assert bounds.simplified_forgetron_norm(512) == pytest.approx(
        math.sqrt(512 / (32 * math.log2(8 * 512))) / 2
    )


@pytest.mark.parametrize(
    ("guarantee", "failed"),
    [
        (bounds.forgetron(1.0, 0.0, budget=82), ["a budget of at least 83"]),
        (bounds.forgetron(1.2, 0.0, budget=100), ["a norm of at most 1.17"]),
        (bounds.projectron(2.0, 0.0, eta=0.25), ["eta ||g|| < 1/2"]),
        (bounds.projectron_worst_case(2.0, 0.0, eta=0.5), ["eta ||g|| < 1"]),
        (bounds.projectron_norm_bound(2.0, 0.0, norm_bound=1.5), ["a norm of at most 1.5"]),
        (bounds.projectron_plus_plus(2.0, 0.0, 1.5, 1.0), ["a norm of at most 1.5"]),
        (bounds.modified_randomized_budget(1.1, 0.0, budget=64), ["a norm of at most 1"]),
        (bounds.simplified_forgetron(0.1, 0.0, budget=499), ["a budget of at least 500"]),
    ],
    ids=lambda value: value.theorem if isinstance(value, bounds.Guarantee) else "",
)
def test_failed_assumptions_are_named_and_make_the_bound_infinite(guarantee, failed):
    assert guarantee.failed == failed
    assert guarantee.mistakes == math.inf


def test_assumptions_are_added_to_every_guarantee():
    first, second = rb.Projectron(gamma=1.0).guarantees(1.0, 0.0)
    common = [
        "a fixed comparator", "a support set below its budget", "a kernel that does not change",
        "all weights 1", "k(x, x) <= 1",
    ]  # fmt: skip
    assert list(first.assumptions) == ["eta ||g|| < 1/2", *common]
    assert list(second.assumptions) == ["eta ||g|| < 1", *common]
    assert first.mistakes == 1 / (1 - 0.2)


@given(NORMS, LOSSES, st.floats(0.1, 100), st.floats(0, 10))
def test_bounds_grow_with_norm_and_loss(norm, loss, more, eta):
    for theorem in [
        bounds.perceptron,
        lambda norm, loss: bounds.forgetron(norm, loss, budget=1000),
        lambda norm, loss: bounds.forgetron_run(norm, loss, RUN),
        lambda norm, loss: bounds.projectron(norm, loss, eta),
        lambda norm, loss: bounds.projectron_worst_case(norm, loss, eta),
        lambda norm, loss: bounds.projectron_norm_bound(norm, loss, norm_bound=50.0),
        lambda norm, loss: bounds.modified_randomized_budget(norm, loss, budget=1000),
        lambda norm, loss: bounds.simplified_forgetron(norm, loss, budget=1000),
        lambda norm, loss: bounds.budget_passive_aggressive_run(norm, loss, RUN),
        lambda norm, loss: bounds.projected_gradient_run(norm, loss, RUN),
        lambda norm, loss: bounds.ahpatron(norm, loss, 1000, 0.5, 0.25, norm_bound=50.0),
        lambda norm, loss: bounds.ahpatron_run(norm, loss, 50.0, RUN),
    ]:
        here = theorem(norm, loss).mistakes
        assert theorem(norm + more, loss).mistakes >= here
        assert theorem(norm, loss + more).mistakes >= here


@pytest.mark.parametrize(
    ("largest_norm", "least"),
    [
        (bounds.forgetron_norm, 83),
        (bounds.simplified_forgetron_norm, 500),
        (bounds.modified_randomized_budget_norm, 1),
    ],
)
@given(norm=st.floats(0.01, 30))
def test_the_smallest_budget_is_the_smallest(largest_norm, least, norm):
    budget = bounds.smallest_budget(largest_norm, norm)
    assert largest_norm(budget) >= norm
    assert budget == least or largest_norm(budget - 1) < norm


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: bounds.perceptron(-1.0, 0.0), "norm"),
        (lambda: bounds.perceptron(1.0, -1.0), "loss"),
        (lambda: bounds.perceptron(math.nan, 0.0), "norm"),
        (lambda: bounds.forgetron(1.0, 0.0, budget=0), "budget"),
        (lambda: bounds.forgetron_run(1.0, -1.0, RUN), "loss"),
        (lambda: bounds.projectron(1.0, 0.0, eta=-1.0), "eta"),
        (lambda: bounds.projectron_worst_case(1.0, 0.0, eta=-1.0), "eta"),
        (lambda: bounds.simplified_forgetron(1.0, 0.0, 500, path_length=-1.0), "path_length"),
        (lambda: bounds.modified_randomized_budget(1.0, 0.0, 500, path_length=-1.0), "path_length"),
        (lambda: rb.KernelPerceptron().guarantees(1.0, 0.0, path_length=-1.0), "path_length"),
        (lambda: bounds.smallest_budget(bounds.forgetron_norm, 0.0), "norm"),
        (lambda: bounds.budget_passive_aggressive_run(-1.0, 0.0, RUN), "norm"),
        (lambda: bounds.projected_gradient_run(math.nan, 0.0, RUN), "norm"),
        (lambda: bounds.forgetron_norm(0), "budget"),
    ],
)
def test_arguments_out_of_range(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize(
    "guarantee",
    [
        bounds.projectron_norm_bound(1.0, 0.0, norm_bound=0.0),
        bounds.projectron_plus_plus(1.0, 0.0, -1.0, 0.0),
        bounds.ahpatron(1.0, 0.0, 10, -0.5, 0.25, 1.0),
        bounds.ahpatron(1.0, 0.0, 10, 0.5, -0.25, 1.0),
        bounds.ahpatron_run(1.0, 0.0, 0.0, RUN),
    ],
)
def test_parameters_that_no_model_has_give_no_bound(guarantee):
    assert guarantee.mistakes == math.inf


def test_the_guarantees_of_models():
    def theorems(model):
        return [guarantee.theorem for guarantee in model.guarantees(1.0, 10.0)]

    assert theorems(rb.KernelPerceptron()) == ["Forgetron paper, Theorem 1"]
    assert theorems(rb.Forgetron()) == [
        "Forgetron paper, Theorem 2",
        "after Forgetron paper, Lemma 1 (our derivation, for a known run)",
    ]
    assert theorems(rb.Projectron(eta=0.1)) == [
        "Projectron paper, Theorem 2", "Projectron paper, Theorem 3",
    ]  # fmt: skip
    assert theorems(rb.Projectron(norm_bound=2.0)) == ["Projectron paper, Corollary 1"]
    assert theorems(rb.ProjectronPlusPlus(eta=0.1)) == [
        "after Projectron paper, Theorem 2 (our derivation)"
    ]
    assert theorems(rb.ProjectronPlusPlus(norm_bound=2.0)) == ["Projectron paper, Eq. 15"]
    assert theorems(rb.SimplifiedForgetron()) == ["unified analysis, Theorem 2"]
    assert theorems(rb.ModifiedRandomizedBudgetPerceptron()) == [
        "unified analysis, Theorem 1 (mean)"
    ]
    assert theorems(rb.BudgetPassiveAggressive()) == [
        "after the proof of the Perceptron's bound (our derivation, for a known run)"
    ]
    assert theorems(rb.ProjectedGradient()) == [
        "adaptive gradient descent (our derivation, for a known run)"
    ]
    assert theorems(rb.Ahpatron()) == [
        "after Ahpatron paper (our derivation)",
        "after Ahpatron paper (our derivation, for a known run)",
    ]


PROVEN = [getattr(rb, name) for name in rb.__all__ if hasattr(getattr(rb, name), "guarantees")]
each_proven = pytest.mark.parametrize("algorithm", PROVEN)


@each_proven
def test_every_guarantee_assumes_a_bounded_norm(algorithm):
    for guarantee in algorithm().guarantees(0.1, 10.0):
        assert guarantee.assumptions["k(x, x) <= 1"]


@each_proven
def test_a_kernel_whose_width_is_learned_has_no_guarantee(algorithm):
    for guarantee in algorithm().guarantees(0.1, 10.0):
        assert "a kernel that does not change" in guarantee.failed
    for guarantee in algorithm(gamma=1.0).guarantees(0.1, 10.0):
        assert "a kernel that does not change" not in guarantee.failed


@each_proven
def test_a_value_of_100_fails_every_guarantee_of_a_linear_kernel(algorithm):
    model = algorithm(rb.Linear())
    model.learn_one({"a": 100.0}, True)
    for guarantee in model.guarantees(0.01, 0.0):
        assert "k(x, x) <= 1" in guarantee.failed
        assert guarantee.mistakes == math.inf


@each_proven
def test_guarantees_assume_the_same_of_any_number_of_labels(algorithm):
    model = algorithm(rb.Linear())
    for i, label in enumerate("abcdeedcba"):
        model.learn_one({i % 3: 1.0}, label)
    here, untrained = (
        model.guarantees(0.1, 10.0, 1.0),
        algorithm(rb.Linear()).guarantees(0.1, 10.0, 1.0),
    )
    assert [guarantee.theorem for guarantee in here] == [g.theorem for g in untrained]
    assert [guarantee.assumptions for guarantee in here] == [g.assumptions for g in untrained]
    model.learn_one({"a": 1.1}, "f")
    for guarantee in model.guarantees(0.1, 10.0, 1.0):
        assert not guarantee.assumptions["k(x, x) <= 1"]


def failed(model, norm=0.1, path_length=0.0):
    return model.guarantees(norm, 10.0, path_length)[0].failed


def test_failed_assumptions_of_models():
    assert failed(rb.Forgetron(gamma=1.0, budget=100)) == []
    assert failed(rb.Forgetron(gamma=1.0, budget=100), path_length=1.0) == ["a fixed comparator"]
    assert failed(rb.SimplifiedForgetron(gamma=1.0, budget=500), path_length=1.0) == []
    assert failed(rb.SimplifiedForgetron(gamma=1.0, learning_rate=0.1)) == [
        "a learning rate of 1/32"
    ]
    assert failed(rb.ModifiedRandomizedBudgetPerceptron(gamma=1.0, learning_rate=0.1)) == [
        "a learning rate of 1/16"
    ]
    full = rb.Projectron(rb.Linear(), budget=1)
    assert failed(full) == []
    full.learn_one({"a": 1.0}, True)
    assert failed(full) == ["a support set below its budget"]
    full = rb.Projectron(rb.Linear(), budget=3)
    for label in "abc":
        assert failed(full) == []
        full.learn_one({label: 1.0}, label)
    assert failed(full) == ["a support set below its budget"]


def test_no_budget_is_large_enough_for_any_norm():
    with pytest.raises(ValueError, match="norm must be at most"):
        bounds.smallest_budget(bounds.forgetron_norm, 1e9)


def test_invalid_numbers_are_named():
    for budget in (0, -1):
        for bound in (bounds.modified_randomized_budget, bounds.simplified_forgetron):
            with pytest.raises(ValueError, match="budget must be"):
                bound(1.0, 1.0, budget)
        with pytest.raises(ValueError, match="budget must be"):
            bounds.ahpatron(1.0, 1.0, budget, 0.1, 0.1, 1.0)
    with pytest.raises(ValueError, match="loss must be"):
        bounds.projectron_worst_case(1.0, -1.0, 0.1)
