"""Every algorithm satisfies its theorems, and incorrect variants are detected."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems import (
    KERNELS,
    MODELS,
    SLACK,
    hard_stream,
    summed_psi,
    trained,
    violated_theorems,
)

import river_budget as rb
from river_budget import synth
from river_budget.perceptrons import forgetron, projectron
from river_budget.theory import bounds
from river_budget.theory.comparators import Comparator, path_length

SEEDS = range(60)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@given(seed=st.integers(0, 2**32 - 1), kernel=st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_no_algorithm_exceeds_its_bound(make, seed, kernel):
    stream = hard_stream(seed)
    assert violated_theorems(trained(make(kernel), stream), stream, seed) == []


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=30)
def test_the_removal_damage_is_bounded(seed, budget):
    model = rb.Forgetron(rb.Linear(), budget=budget)
    for x, y in hard_stream(seed):
        model.learn_one(x, y)
        assert model.removal_damage <= 15 / 32 * model.n_mistakes + SLACK


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_the_removal_damage_is_the_sum_of_psi(seed, budget, kernel):
    model = rb.Forgetron(kernel, budget=budget)
    assert summed_psi(model, hard_stream(seed)) == pytest.approx(model.removal_damage, abs=SLACK)


@given(st.integers(0, 2**32 - 1), st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_the_bound_improvement_by_its_definition(seed, kernel):
    """Eq. 16 and 17, from the Gram matrix of the support vectors."""
    bound, improvement = 2.0, 0.0
    model = rb.ProjectronPlusPlus(kernel, norm_bound=bound)
    for x, y in hard_stream(seed):
        vectors = model.support_vectors
        margin = (1.0 if y else -1.0) * model.decision_function_one(x)
        model.learn_one(x, y)
        if 0 < margin < 1:
            loss = 1 - margin
            gram = np.array([[kernel(a, b) for a in vectors] for b in vectors])
            row = np.array([kernel(a, x) for a in vectors])
            projected = row @ np.linalg.solve(gram, row)
            delta = math.sqrt(max(0.0, kernel(x, x) - projected))
            tau = min(loss / projected, 1.0)
            improvement += max(0.0, tau * (2 * loss - tau * projected - 2 * bound * delta))
    assert model.bound_improvement == pytest.approx(improvement, abs=1e-4)


def noisy_axes(budget, n_rounds):
    """Return noisy examples on axes, as many as the norm bound of a budget admits, and a comparator.

    The comparator has a margin of 1 on every axis, and thus the largest norm that the theorem
    admits. A tenth of the labels is flipped, which gives it a hinge loss of 2 each.

    """
    rng = np.random.default_rng(1)
    n_axes = int(bounds.modified_randomized_budget_norm(budget) ** 2)
    axes, flipped = rng.integers(n_axes, size=n_rounds).tolist(), rng.random(n_rounds) < 0.1
    signs = [(-1.0) ** axis for axis in range(n_axes)]
    comparator = Comparator(rb.Linear(), [{axis: 1.0} for axis in range(n_axes)], signs)
    stream = [({i: 1.0}, (signs[i] > 0) != flip) for i, flip in zip(axes, flipped, strict=True)]
    return stream, comparator


class UsedSlots:
    """Draws from the used slots of a model only, instead of all slots of the budget."""

    def __init__(self, model):
        self.model, self.rng = model, random.Random(1)

    def randrange(self, n_slots):
        return self.rng.randrange(max(1, self.model.n_support))


def test_the_modified_randomized_budget_perceptron_on_average():
    budget = 256
    stream, comparator = noisy_axes(budget, n_rounds=4000)
    models = [
        rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget, seed=seed) for seed in range(20)
    ]
    (guarantee,) = models[0].guarantees(comparator.norm, comparator.hinge_loss(stream))
    mean = np.mean([trained(model, stream).n_mistakes for model in models])
    assert 0.6 * guarantee.mistakes < mean <= guarantee.mistakes


def test_a_modified_randomized_budget_perceptron_that_draws_used_slots_is_detected():
    budget = 256
    stream, comparator = noisy_axes(budget, n_rounds=4000)
    model = rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget)
    model._rng = UsedSlots(model)
    (guarantee,) = model.guarantees(comparator.norm, comparator.hinge_loss(stream))
    assert trained(model, stream).n_mistakes > guarantee.mistakes


@pytest.mark.parametrize(
    ("make", "largest_norm"),
    [
        (rb.SimplifiedForgetron, bounds.simplified_forgetron_norm),
        (
            lambda kernel, budget: rb.ModifiedRandomizedBudgetPerceptron(kernel, budget, seed=1),
            bounds.modified_randomized_budget_norm,
        ),
    ],
)
def test_against_a_moving_comparator(make, largest_norm):
    n, budget = 8000, 500
    stream = synth.RotatingGaussians(n, speed=0.001, deviation=0.2, flip=0.0, seed=1)
    kernel = rb.Normalized(rb.Linear())
    model = trained(make(kernel, budget), stream)
    size = min(largest_norm(budget), 1.5)
    loss = 0.0
    for t, (x, y) in enumerate(stream):
        comparator = Comparator(kernel, [stream.mean_at(t)], [size])
        loss += (
            comparator.hinge_loss([(x, y)])
            if y
            else max(0, 1 + comparator.decision_function_one(x))
        )
    moved = size * stream.path_length(n)
    (guarantee,) = model.guarantees(size, loss, moved)
    assert model.n_mistakes <= guarantee.mistakes < math.inf
    steps = [Comparator(kernel, [stream.mean_at(t)], [size]) for t in range(50)]
    assert path_length(steps) == pytest.approx(size * stream.path_length(50))


def violates_a_theorem(make):
    for seed in SEEDS:
        stream = hard_stream(seed)
        model = trained(make(), stream)
        if violated_theorems(model, stream, seed):
            return True
        if isinstance(model, rb.Forgetron):
            reported, true = model.removal_damage, summed_psi(make(), stream)
            if abs(reported - true) > SLACK or true > 15 / 32 * model.n_mistakes + SLACK:
                return True
    return False


MAKERS = {
    "Forgetron": lambda: rb.Forgetron(rb.Linear(), budget=2),
    "Projectron": lambda: rb.Projectron(rb.Linear(), eta=0.3),
    "Projectron-U": lambda: rb.Projectron(rb.Linear(), norm_bound=2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_correct_algorithms_satisfy_their_theorems(make):
    assert not violates_a_theorem(make)


def test_a_forgetron_that_never_shrinks_is_detected(monkeypatch):
    monkeypatch.setattr(forgetron, "_largest_phi", lambda sigma, mu, slack: 1.0)
    assert violates_a_theorem(MAKERS["Forgetron"])


def test_a_forgetron_with_the_wrong_sign_of_mu_is_detected(monkeypatch):
    def psi(sigma, phi, mu):
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 + phi * mu)

    def largest_phi(sigma, mu, slack):
        grid = np.linspace(1.0, 0.0, 1001)
        return float(grid[np.argmax(psi(sigma, grid, mu) <= slack)])

    monkeypatch.setattr(forgetron, "_psi", psi)
    monkeypatch.setattr(forgetron, "_largest_phi", largest_phi)
    assert violates_a_theorem(MAKERS["Forgetron"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Projectron", "Projectron-U"])
def test_a_projectron_with_twice_its_eta_is_detected(monkeypatch, name):
    threshold = projectron.Projectron._largest_distance
    monkeypatch.setattr(
        projectron.Projectron,
        "_largest_distance",
        lambda self, margin, projected: 2 * threshold(self, margin, projected),
    )
    assert violates_a_theorem(MAKERS[name])
