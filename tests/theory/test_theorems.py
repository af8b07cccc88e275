"""Every algorithm is held to its theorems, and broken ones are found out."""

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
    broken_promises,
    damage_of_removals,
    hard_stream,
    trained,
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
    assert broken_promises(trained(make(kernel), stream), stream, seed) == []


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=30)
def test_the_damage_of_removals_is_what_a_forgetron_may_do(seed, budget):
    model = rb.Forgetron(rb.Linear(), budget=budget)
    for x, y in hard_stream(seed):
        model.learn_one(x, y)
        assert model.removal_damage <= 15 / 32 * model.n_mistakes + SLACK


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_a_forgetron_tells_the_true_damage_of_its_removals(seed, budget, kernel):
    model = rb.Forgetron(kernel, budget=budget)
    assert damage_of_removals(model, hard_stream(seed)) == pytest.approx(
        model.removal_damage, abs=SLACK
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_what_margin_errors_gain(seed, kernel):
    """Eq. 16 and 17, from the Gram matrix of the support vectors."""
    bound, gain = 2.0, 0.0
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
            gain += max(0.0, tau * (2 * loss - tau * projected - 2 * bound * delta))
    assert model.bound_improvement == pytest.approx(gain, abs=1e-4)


def noisy_axes(budget, n_rounds):
    """Return examples on as many axes as the budget competes with, a tenth of the labels flipped.

    The competitor that has a margin of 1 on every axis has the largest norm, and loses 2 with each
    flipped label.

    """
    rng = np.random.default_rng(1)
    n_axes = int(bounds.modified_randomized_budget_norm(budget) ** 2)
    axes, flipped = rng.integers(n_axes, size=n_rounds).tolist(), rng.random(n_rounds) < 0.1
    signs = [(-1.0) ** axis for axis in range(n_axes)]
    competitor = Comparator(rb.Linear(), [{axis: 1.0} for axis in range(n_axes)], signs)
    stream = [({i: 1.0}, (signs[i] > 0) != flip) for i, flip in zip(axes, flipped, strict=True)]
    return stream, competitor


class OccupiedSlots:
    """Draws among a model's occupied slots, where the theorem has all slots of the budget."""

    def __init__(self, model):
        self.model, self.rng = model, random.Random(1)

    def randrange(self, n_slots):
        return self.rng.randrange(max(1, self.model.n_support))


def test_the_modified_randomized_budget_perceptron_on_average():
    budget = 256
    stream, competitor = noisy_axes(budget, n_rounds=4000)
    models = [
        rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget, seed=seed) for seed in range(20)
    ]
    (guarantee,) = models[0].guarantees(competitor.norm, competitor.hinge_loss(stream))
    mean = np.mean([trained(model, stream).n_mistakes for model in models])
    assert 0.6 * guarantee.mistakes < mean <= guarantee.mistakes


def test_a_modified_randomized_budget_perceptron_that_draws_occupied_slots_is_found_out():
    budget = 256
    stream, competitor = noisy_axes(budget, n_rounds=4000)
    model = rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget)
    model._rng = OccupiedSlots(model)
    (guarantee,) = model.guarantees(competitor.norm, competitor.hinge_loss(stream))
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
def test_against_a_competitor_that_moves(make, largest_norm):
    n, budget = 8000, 500
    stream = synth.RotatingGaussians(n, speed=0.001, deviation=0.2, flip=0.0, seed=1)
    kernel = rb.Normalized(rb.Linear())
    model = trained(make(kernel, budget), stream)
    size = min(largest_norm(budget), 1.5)
    loss = 0.0
    for t, (x, y) in enumerate(stream):
        competitor = Comparator(kernel, [stream.mean_at(t)], [size])
        loss += (
            competitor.hinge_loss([(x, y)])
            if y
            else max(0, 1 + competitor.decision_function_one(x))
        )
    moved = size * stream.path_length(n)
    (guarantee,) = model.guarantees(size, loss, moved)
    assert model.n_mistakes <= guarantee.mistakes < math.inf
    steps = [Comparator(kernel, [stream.mean_at(t)], [size]) for t in range(50)]
    assert path_length(steps) == pytest.approx(size * stream.path_length(50))


def some_promise_is_broken(make):
    for seed in SEEDS:
        stream = hard_stream(seed)
        model = trained(make(), stream)
        if broken_promises(model, stream, seed):
            return True
        if isinstance(model, rb.Forgetron):
            told, true = model.removal_damage, damage_of_removals(make(), stream)
            if abs(told - true) > SLACK or true > 15 / 32 * model.n_mistakes + SLACK:
                return True
    return False


MAKERS = {
    "Forgetron": lambda: rb.Forgetron(rb.Linear(), budget=2),
    "Projectron": lambda: rb.Projectron(rb.Linear(), eta=0.3),
    "Projectron-U": lambda: rb.Projectron(rb.Linear(), norm_bound=2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_sound_algorithms_keep_their_promises(make):
    assert not some_promise_is_broken(make)


def test_a_forgetron_that_never_shrinks_is_found_out(monkeypatch):
    monkeypatch.setattr(forgetron, "_largest_phi", lambda sigma, mu, leeway: 1.0)
    assert some_promise_is_broken(MAKERS["Forgetron"])


def test_a_forgetron_with_the_wrong_sign_of_mu_is_found_out(monkeypatch):
    def psi(sigma, phi, mu):
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 + phi * mu)

    def largest_phi(sigma, mu, leeway):
        grid = np.linspace(1.0, 0.0, 1001)
        return float(grid[np.argmax(psi(sigma, grid, mu) <= leeway)])

    monkeypatch.setattr(forgetron, "_psi", psi)
    monkeypatch.setattr(forgetron, "_largest_phi", largest_phi)
    assert some_promise_is_broken(MAKERS["Forgetron"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Projectron", "Projectron-U"])
def test_a_projectron_with_twice_its_eta_is_found_out(monkeypatch, name):
    threshold = projectron.Projectron._largest_distance
    monkeypatch.setattr(
        projectron.Projectron,
        "_largest_distance",
        lambda self, margin, projected: 2 * threshold(self, margin, projected),
    )
    assert some_promise_is_broken(MAKERS[name])
