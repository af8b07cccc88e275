"""Numbers, texts, arrays and gaps that come and go: each model stays exact, and goes on after loading."""

from __future__ import annotations

import random

import pytest
from algorithms import ALGORITHMS
from come_and_go import stream
from states import content

import river_budget as rb
from river_budget import checkpoint

MODELS = {
    **ALGORITHMS,
    "KernelLDA": lambda kernel: rb.KernelLDA(n_features=10, kernel=kernel),
    "Mnemotron-archive": lambda kernel: rb.Mnemotron(budget=5, archive=10),
}


@pytest.mark.slow
@pytest.mark.parametrize("share_of_arrays", [0.05, 0.5])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_saved_and_loaded_at_random_moments(name, share_of_arrays):
    model, undisturbed, rng = MODELS[name](None), MODELS[name](None), random.Random(1)
    for x, label, weight in stream(1, share_of_arrays):
        for each in (model, undisturbed):
            each.predict_one(x)
        if rng.random() < 0.2:
            model = checkpoint.loads(checkpoint.dumps(model))
        for each in (model, undisturbed):
            each.learn_one(x, label, weight)
        assert all(error < 1e-6 for error in model.numerical_errors().values())
    assert content(model.state()) == content(undisturbed.state())
