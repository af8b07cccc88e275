"""Random draws that follow from a key and the number of the round."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
from plain import drawn
from scipy import stats
from states import content

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget._core.maintenance import uniform

MODELS = [
    rb.RandomizedBudgetPerceptron(gamma=1.0, budget=5),
    rb.ModifiedRandomizedBudgetPerceptron(gamma=1.0, budget=5),
    rb.BudgetedOGD(gamma=1.0, budget=5),
    rb.TighterPerceptron(gamma=1.0, budget=5, validation=9),
]


@pytest.mark.parametrize("key", [0, 1, 2**62 - 1])
def test_draws_are_those_of_splitmix64(key):
    rounds = [*range(1, 100), 2**40, 2**62 - 1]
    assert [uniform(key, n) for n in rounds] == [drawn(key, n) for n in rounds]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_draws_are_uniform_and_independent(seed):
    key = random.Random(seed).getrandbits(62)
    draws = np.array([uniform(key, n) for n in range(20_000)])
    assert ((draws >= 0) & (draws < 1)).all()
    for lag in (1, 2, 3):
        pairs = np.stack((draws[lag:], draws[:-lag]))
        counts, *_ = np.histogram2d(*pairs, bins=10, range=[(0, 1), (0, 1)])
        assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def trained(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_without_a_seed_draw_differently_and_their_copies_alike(model):
    stream = list(synth.TwoGaussians(600, seed=3))
    one, other = trained(model.clone(), stream[:300]), trained(model.clone(), stream[:300])
    assert content(one.state()) != content(other.state())
    copies = [copy.deepcopy(one), checkpoint.loads(checkpoint.dumps(one))]
    states = [content(trained(each, stream[300:]).state()) for each in [one, *copies]]
    assert states[0] == states[1] == states[2]
