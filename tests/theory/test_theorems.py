"""Every algorithm satisfies its theorems, and incorrect variants are detected."""

from __future__ import annotations

import math
import operator
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems import (
    KERNELS,
    MODELS,
    SLACK,
    contradictions,
    hard_multiclass_stream,
    hard_stream,
    hardest_stream,
    summed_beta,
    summed_psi,
    trained,
    violated_theorems,
)

import river_budget as rb
from river_budget import synth
from river_budget.base import Perceptron
from river_budget.perceptrons import forgetron, projectron
from river_budget.theory import bounds, comparators
from river_budget.theory.comparators import Comparator

# They find each fault but that of a Projectron with twice its eta, which others find.
SEEDS = 0, 4, 7, 14
SEEDS_OF_ETA = 40, 48

seeds = st.integers(0, 2**32 - 1)
streams = st.sampled_from([hard_stream, hard_multiclass_stream])
kernels = st.sampled_from(KERNELS)
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.mark.slow
@each_model
@given(seed=seeds, make_stream=streams, kernel=kernels)
@settings(max_examples=2)
def test_no_algorithm_exceeds_its_bound(make, seed, make_stream, kernel):
    stream = make_stream(seed)
    assert violated_theorems(trained(make(kernel), stream), stream, seed) == []


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "make"), list(enumerate(MODELS.values())), ids=MODELS)
def test_no_algorithm_exceeds_its_bound_on_the_stream_that_is_hardest_for_it(seed, make):
    model = make(KERNELS[seed % len(KERNELS)])
    stream = hardest_stream(model, seed)
    assert violated_theorems(model, stream, seed) == []


@given(seeds, streams, st.integers(1, 12))
@settings(max_examples=30)
def test_the_removal_damage_is_bounded(seed, make_stream, budget):
    model = rb.Forgetron(rb.Linear(), budget=budget)
    for x, y in make_stream(seed):
        model.learn_one(x, y)
        assert model.removal_damage <= 15 / 32 * model.n_mistakes + SLACK


@given(seeds, streams, st.integers(1, 12), kernels)
@settings(max_examples=10)
def test_the_removal_damage_is_the_sum_of_psi(seed, make_stream, budget, kernel):
    model = rb.Forgetron(kernel, budget=budget)
    assert summed_psi(model, make_stream(seed)) == pytest.approx(model.removal_damage, abs=SLACK)


@pytest.mark.slow
@given(seeds, streams, kernels)
@settings(max_examples=10)
def test_the_bound_improvement_by_its_definition(seed, make_stream, kernel):
    model = rb.ProjectronPlusPlus(kernel, norm_bound=2.0)
    improvement = summed_beta(model, make_stream(seed))
    assert model.bound_improvement == pytest.approx(improvement, abs=1e-4)


def noisy_axes(norm, n_labels, shift=0, n_rounds=4000):
    """Return noisy examples on axes, as many as a norm bound admits, and a comparator.

    The comparator has a margin of 1 on every axis, and thus the largest norm that the theorem
    admits. A tenth of the labels is wrong, which gives it a hinge loss of 2 each. A shift changes
    the labels of all axes.

    """
    rng = np.random.default_rng(1)
    coefficients = 2 * (np.eye(n_labels) - 1 / n_labels)
    n_axes = int(norm**2 / (0.5 * (coefficients[0] ** 2).sum()) + SLACK)
    labels = (np.arange(n_axes) + shift) % n_labels
    vectors = [{axis: 1.0} for axis in range(n_axes)]
    comparator = Comparator(rb.Linear(), vectors, coefficients[labels], range(n_labels))
    drawn, wrong = rng.integers(n_axes, size=n_rounds), rng.random(n_rounds) < 0.1
    noisy = (labels[drawn] + wrong) % n_labels
    return [(vectors[i], y) for i, y in zip(drawn, noisy.tolist(), strict=True)], comparator


@pytest.mark.parametrize(("budget", "n_labels"), [(256, 2), (256, 3), (512, 5)])
def test_the_modified_randomized_budget_perceptron_on_average(budget, n_labels):
    stream, comparator = noisy_axes(bounds.modified_randomized_budget_norm(budget), n_labels)
    models = [
        rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget, seed=seed) for seed in range(8)
    ]
    (guarantee,) = models[0].guarantees(comparator.norm, comparator.hinge_losses(stream).sum())
    mean = np.mean([trained(model, stream).n_mistakes for model in models])
    assert 0.5 * guarantee.mistakes < mean <= guarantee.mistakes


@pytest.mark.parametrize("n_labels", [2, 4])
def test_the_ahpatron_against_the_largest_norm(n_labels):
    budget, norm = 500, 3.0
    stream, comparator = noisy_axes(norm, n_labels)
    model = trained(rb.Ahpatron(rb.Linear(), budget, norm_bound=norm), stream)
    theorem, run = model.guarantees(comparator.norm, comparator.hinge_losses(stream).sum())
    assert theorem.failed == []
    assert 0.2 * theorem.mistakes < model.n_mistakes <= run.mistakes <= theorem.mistakes


@pytest.mark.parametrize("n_labels", [2, 3])
def test_a_modified_randomized_budget_perceptron_that_draws_used_slots_is_detected(
    monkeypatch, n_labels
):
    budget = 256
    stream, comparator = noisy_axes(bounds.modified_randomized_budget_norm(budget), n_labels)
    model = rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget)
    rng = random.Random(1)
    draw = lambda: rng.randrange(max(1, model.n_support)) / budget  # noqa: E731
    monkeypatch.setattr(model, "_random", draw)
    (guarantee,) = model.guarantees(comparator.norm, comparator.hinge_losses(stream).sum())
    assert trained(model, stream).n_mistakes > guarantee.mistakes


@pytest.mark.slow
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
    n, budget = 3000, 500
    stream = synth.RotatingGaussians(n, speed=0.001, deviation=0.2, flip=0.0, seed=1)
    kernel = rb.Normalized(rb.Linear())
    model = trained(make(kernel, budget), stream)
    size = min(largest_norm(budget), 1.5)
    loss = 0.0
    for t, (x, y) in enumerate(stream):
        comparator = Comparator(kernel, [stream.mean_at(t)], [size])
        loss += max(0.0, 1 - comparator.scores([x])[0, int(y)])
    moved = size * stream.path_length(n)
    (guarantee,) = model.guarantees(size, loss, moved)
    assert model.n_mistakes <= guarantee.mistakes < math.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda: rb.SimplifiedForgetron(rb.Linear(), budget=8192),
        lambda: rb.ModifiedRandomizedBudgetPerceptron(rb.Linear(), budget=256, seed=1),
    ],
    ids=["SimplifiedForgetron", "ModifiedRandomizedBudgetPerceptron"],
)
def test_against_a_comparator_that_moves_among_labels(make):
    norm, n_moves = 2.0, 4
    parts = [noisy_axes(norm, 3, shift) for shift in range(n_moves + 1)]
    model = make()
    for stream, _ in parts:
        trained(model, stream)
    loss = sum(comparator.hinge_losses(stream).sum() for stream, comparator in parts)
    # In each move, two scores change by 2 on each of the three axes.
    moved = n_moves * 2 * math.sqrt(3)
    (guarantee,) = model.guarantees(norm, loss, moved)
    assert 0.2 * guarantee.mistakes < model.n_mistakes <= guarantee.mistakes


def violates_a_theorem(make, make_stream=hard_stream, seeds=SEEDS):
    return any(contradictions(make, make_stream(seed), seed) for seed in seeds)


MAKERS = {
    "Perceptron": lambda: rb.KernelPerceptron(rb.Linear()),
    "Forgetron": lambda: rb.Forgetron(rb.Linear(), budget=2),
    "Projectron": lambda: rb.Projectron(rb.Linear(), eta=0.3),
    "Projectron-U": lambda: rb.Projectron(rb.Linear(), norm_bound=2.0),
    "ProjectronPlusPlus-U": lambda: rb.ProjectronPlusPlus(rb.Linear(), norm_bound=2.0),
    "ModifiedRandomizedBudgetPerceptron": lambda: rb.ModifiedRandomizedBudgetPerceptron(
        rb.Linear(), budget=5, seed=1
    ),
    "BudgetPassiveAggressive": lambda: rb.BudgetPassiveAggressive(rb.Linear(), budget=2),
    "Ahpatron": lambda: rb.Ahpatron(rb.Linear(), budget=2, norm_bound=3.0),
}

each_stream = pytest.mark.parametrize("make_stream", [hard_stream, hard_multiclass_stream])


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@each_stream
def test_correct_algorithms_satisfy_their_theorems(make, make_stream):
    assert not violates_a_theorem(make, make_stream)


@pytest.mark.slow
@each_stream
def test_a_forgetron_that_never_shrinks_is_detected(monkeypatch, make_stream):
    monkeypatch.setattr(forgetron, "_largest_phi", lambda sigma, mu, slack: 1.0)
    assert violates_a_theorem(MAKERS["Forgetron"], make_stream)


def test_a_forgetron_with_the_wrong_sign_of_mu_is_detected(monkeypatch):
    def psi(sigma, phi, mu):
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 + phi * mu)

    def largest_phi(sigma, mu, slack):
        grid = np.linspace(1.0, 0.0, 1001)
        return float(grid[np.argmax(psi(sigma, grid, mu) <= slack)])

    monkeypatch.setattr(forgetron, "_psi", psi)
    monkeypatch.setattr(forgetron, "_largest_phi", largest_phi)
    assert violates_a_theorem(MAKERS["Forgetron"])


class Replaced:
    """The hypothesis or the example of an update, with other answers to some questions."""

    def __init__(self, real, **answers):
        self.real, self.answers = real, answers

    def __getattr__(self, name):
        return self.answers.get(name) or getattr(self.real, name)


def replace_update(monkeypatch, kind, replace):
    """Let an algorithm update with the hypothesis and the example that `replace` returns."""
    update = kind._update

    def replaced(self, f, y):
        found = replace(f, y)
        if found[1].margin <= self._threshold:
            update(self, *found)

    monkeypatch.setattr(kind, "_update", replaced)


def stored_columns(f, slot):
    """Return the label and the rival of a vector as stored."""
    row = f.matrix[slot]
    return [int(row.argmax()), int(row.argmin())]


def current_columns(f, slot):
    """Return the label of a vector as stored, and what is its rival now."""
    label, _ = stored_columns(f, slot)
    scores = scores_of(f)[slot]
    scores[label] = -math.inf
    return [label, int(scores.argmax())]


def scores_of(f):
    """Return the scores at each vector (n, labels)."""
    return f.store.gram() @ f.matrix


def replace_mu(monkeypatch, combine, columns=stored_columns):
    """Combine the scores of a removed vector's label and rival in another way than by theorem."""

    def replace(f, y):
        if f.n_labels == 2:
            return f, y

        def margin_of(slot):
            return combine(*scores_of(f)[slot][columns(f, slot)].tolist())

        def overlap(slot):
            return combine(*((c == y.label) - (c == y.rival) for c in columns(f, slot)))

        return Replaced(f, margin_of=margin_of, overlap=overlap), y

    for kind in [rb.Forgetron, rb.ModifiedRandomizedBudgetPerceptron]:
        replace_update(monkeypatch, kind, replace)


def half_difference(label, rival):
    return (label - rival) / 2


def test_the_half_difference_of_the_stored_columns_is_the_original(monkeypatch):
    original = trained(MAKERS["Forgetron"](), hard_multiclass_stream(0))
    replace_mu(monkeypatch, half_difference)
    replaced = trained(MAKERS["Forgetron"](), hard_multiclass_stream(0))
    assert replaced.removal_damage == pytest.approx(original.removal_damage)
    assert replaced.coefficients == pytest.approx(original.coefficients)


@pytest.mark.parametrize(
    "combine",
    [lambda label, rival: label, lambda label, rival: 2 * label, operator.sub],
    ids=["the label's score", "twice the label's score", "the difference"],
)
@pytest.mark.parametrize("name", ["Forgetron", "ModifiedRandomizedBudgetPerceptron"])
def test_another_mu_than_the_half_difference_is_detected(monkeypatch, combine, name):
    replace_mu(monkeypatch, combine)
    assert violates_a_theorem(MAKERS[name], hard_multiclass_stream)


def test_a_rival_of_now_instead_of_the_stored_one_is_detected(monkeypatch):
    replace_mu(monkeypatch, half_difference, current_columns)
    assert violates_a_theorem(MAKERS["Forgetron"], hard_multiclass_stream)


@pytest.mark.parametrize("name", ["Projectron-U", "ProjectronPlusPlus-U"])
def test_a_margin_without_the_half_is_detected(monkeypatch, name):
    def replace(f, y):
        if f.n_labels == 2:
            return f, y
        doubled = Replaced(y, margin=2 * y.margin)
        add, shift = (lambda _, *of: f.add(y, *of)), (lambda _, change: f.shift(y, change))
        return Replaced(f, add=add, shift=shift), doubled

    replace_update(monkeypatch, type(MAKERS[name]()), replace)
    assert violates_a_theorem(MAKERS[name], hard_multiclass_stream)


def test_a_hinge_loss_without_the_half_is_detected(monkeypatch):
    losses = comparators._losses
    stream = [({axis: 1.0}, axis % 3) for axis in range(12)]
    assert contradictions(MAKERS["Perceptron"], stream, seed=0) == []
    monkeypatch.setattr(comparators, "_losses", lambda scores, y: losses(2 * scores, y))
    assert contradictions(MAKERS["Perceptron"], stream, seed=0) != []


@pytest.mark.parametrize("factor", [math.sqrt(0.5), math.sqrt(2)])
def test_a_norm_off_by_the_root_of_2_is_detected(monkeypatch, factor):
    norm = Perceptron.norm.fget
    monkeypatch.setattr(Perceptron, "norm", property(lambda self: factor * norm(self)))
    assert violates_a_theorem(MAKERS["Perceptron"], hard_multiclass_stream)


@pytest.mark.slow
@each_stream
@pytest.mark.parametrize("name", ["BudgetPassiveAggressive", "Ahpatron"])
def test_a_removal_that_is_not_counted_is_detected(monkeypatch, make_stream, name):
    uncounted = property(lambda self: 0.0, lambda self, value: None)
    monkeypatch.setattr(type(MAKERS[name]()), "removal_displacement", uncounted, raising=False)
    assert violates_a_theorem(MAKERS[name], make_stream)


def test_a_projection_that_is_not_counted_is_detected(monkeypatch):
    """Neighbours with different labels are projected onto one vector, again and again."""

    def make():
        return rb.ProjectedGradient(rb.Linear(), budget=1, norm_bound=0.6)

    stream = [({"a": 1.0, "b": side}, side > 0) for side in (1.0, -1.0)] * 300
    scaled = [({k: v / math.sqrt(2) for k, v in x.items()}, y) for x, y in stream]
    assert not contradictions(make, scaled, 0)
    uncounted = property(lambda self: 0.0, lambda self, value: None)
    monkeypatch.setattr(rb.ProjectedGradient, "residuals", uncounted, raising=False)
    assert contradictions(make, scaled, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Projectron", "Projectron-U"])
def test_a_projectron_with_twice_its_eta_is_detected(monkeypatch, name):
    assert not violates_a_theorem(MAKERS[name], seeds=SEEDS_OF_ETA)
    update = projectron.Projectron._update

    def update_with_twice_its_eta(self, f, y):
        eta, norm_bound = self._eta, self.norm_bound
        # By Eq. 13, half of the norm bound gives twice the eta.
        twice = {"norm_bound": norm_bound / 2} if norm_bound else {"_eta": 2 * eta}
        vars(self).update(twice)
        update(self, f, y)
        vars(self).update(_eta=eta, norm_bound=norm_bound)

    monkeypatch.setattr(projectron.Projectron, "_update", update_with_twice_its_eta)
    assert violates_a_theorem(MAKERS[name], seeds=SEEDS_OF_ETA)
