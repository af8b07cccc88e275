from __future__ import annotations

import random

import numpy as np
import pytest
from plain import drawn
from runs import mistakes_percent, orders
from traces import load, replay

import river_budget as rb
from benchmarks.reproduce import published
from benchmarks.reproduce.verdicts import verdict
from river_budget import synth


def test_the_incoming_example_replaces_the_vector_drawn():
    stream = list(synth.TwoGaussians(600, seed=3))
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=5)
    key, vectors = random.Random(5).getrandbits(62), []
    for t, (x, y) in enumerate(stream, 1):
        if model.decision_function_one(x) * (1 if y else -1) <= 0:
            if len(vectors) == 10:
                vectors[int(10 * drawn(key, t))] = x
            else:
                vectors.append(x)
        model.learn_one(x, y)
    assert [model._f.store.vector(slot) for slot in range(10)] == vectors


def test_the_seed_determines_the_draws():
    def run(seed):
        model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=seed)
        for x, y in synth.TwoGaussians(600, seed=3):
            model.learn_one(x, y)
        return model.support_vectors

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_replayed_against_the_projectron_authors_library():
    """The trace has the removed slots, which take the place of the draws."""
    replaced = load("randomized_budget_100")["replaced_slot"]
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    model._random = ((slot - 0.5) / 100 for slot in replaced if slot > 0).__next__
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
    expected = published.projectron()["Adult9", "RandomizedBudgetPerceptron", budget]
    assert verdict(errors, expected["mistakes"]) == "within"
