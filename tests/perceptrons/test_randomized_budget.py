from __future__ import annotations

import numpy as np
import pytest
from interpreted import interpret
from runs import mistakes_percent, orders
from split_mix import SplitMix
from traces import load, replay

import river_budget as rb
from benchmarks.reproduce import verdict
from benchmarks.reproduce.published import projectron_results
from river_budget import synth
from river_budget.perceptrons import randomized_budget
from river_budget.support.rule import draw


def test_the_generator_is_split_mix_64():
    """The first outputs for the seed 1234567, as in other implementations."""
    generator = SplitMix(1234567)
    outputs = [generator.next() for _ in range(3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    numbers = np.array([1234567], np.uint64).view(np.float64)
    draws = [draw(numbers, 0, 1000) for _ in range(3)]
    assert draws == [output * 1000 // 2**64 for output in outputs]


def test_draws_are_uniform():
    numbers = np.zeros(1)
    counts = np.bincount([draw(numbers, 0, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 30


def test_the_incoming_example_replaces_the_vector_drawn():
    stream = list(synth.TwoGaussians(600, seed=3))
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=5)
    rng, vectors = SplitMix.seeded(5), []
    for x, y in stream:
        if model.decision_function_one(x) * (1 if y else -1) <= 0:
            if len(vectors) == 10:
                vectors[rng.randrange(10)] = x
            else:
                vectors.append(x)
        model.learn_one(x, y)
    assert [model._store.vector(slot) for slot in range(10)] == vectors


def test_the_seed_determines_the_draws():
    def run(seed):
        model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=seed)
        for x, y in synth.TwoGaussians(600, seed=3):
            model.learn_one(x, y)
        return model.support_vectors

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_replayed_against_the_projectron_authors_library(monkeypatch):
    """The trace has the removed slots, which take the place of the draws."""
    replaced = load("randomized_budget_100")["replaced_slot"]
    slots = (int(slot) - 1 for slot in replaced if slot > 0)
    interpret(monkeypatch)
    monkeypatch.setattr(randomized_budget, "draw", lambda numbers, place, n: next(slots))
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    margins, sizes, trace = replay(model, "randomized_budget_100")
    assert np.array_equal(sizes, trace["num_sv"])
    assert np.abs(margins - trace["margin"]).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("budget", [1500, 3000])
def test_adult9_as_published(adult9, budget):
    errors = [
        mistakes_percent(
            rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1 / 50), budget, seed=1), adult9, order
        )
        for order in orders(len(adult9))
    ]
    published = projectron_results()["Adult9", "RandomizedBudgetPerceptron", budget]
    assert verdict(errors, published.mistakes) == "within"
