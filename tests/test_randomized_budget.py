from __future__ import annotations

import random

import numpy as np

import river_budget as rb
from river_budget import synth


def test_the_newcomer_takes_the_place_of_the_vector_drawn():
    stream = list(synth.TwoGaussians(600, seed=3))
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=5)
    rng, vectors = random.Random(5), []
    for x, y in stream:
        if model.decision_function_one(x) * (1 if y else -1) <= 0:
            if len(vectors) == 10:
                vectors[rng.randrange(10)] = x
            else:
                vectors.append(x)
        model.learn_one(x, y)
    assert [model._support.vector(slot) for slot in range(10)] == vectors


def test_the_seed_decides():
    def run(seed):
        model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=10, seed=seed)
        for x, y in synth.TwoGaussians(600, seed=3):
            model.learn_one(x, y)
        return model.support_vectors

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_replayed_against_the_projectron_authors_library(shared):
    """The trace tells which old vector went; a generator that says so replays it."""
    data = shared("oracle/input_synth_p0_first2000.npz")
    trace = shared("oracle/synth_rbp_100.npz")

    class Replay:
        def __init__(self, slots):
            self.slots = iter(slots)

        def randrange(self, n):
            return next(self.slots)

    replaced = trace["replaced_slot"].ravel()
    model = rb.RandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    model._rng = Replay(int(slot) - 1 for slot in replaced if slot > 0)
    margins, sizes = [], []
    for x, y in zip(data["X"].tolist(), data["y"].ravel(), strict=True):
        margins.append(model.decision_function_one(dict(enumerate(x))))
        model.learn_one(dict(enumerate(x)), y > 0)
        sizes.append(model.n_support)
    assert sizes == trace["num_sv"].ravel().tolist()
    assert np.abs(margins - trace["margin"].ravel()).max() < 1e-9
