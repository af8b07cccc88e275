from __future__ import annotations

import numpy as np
import pytest
from traces import replay

import river_budget as rb
from river_budget import synth
from river_budget.theory import bounds

RBF = rb.RBF(gamma=1.0)
GROWING = {
    "KernelPerceptron": lambda: rb.KernelPerceptron(RBF),
    "Stoptron": lambda: rb.Stoptron(RBF, budget=30),
    "Projectron": lambda: rb.Projectron(RBF, eta=0.3),
    "ProjectronPlusPlus": lambda: rb.ProjectronPlusPlus(RBF, eta=0.3),
    "KernelPAClassifier": lambda: rb.KernelPAClassifier(RBF),
}
each = pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)


@each
def test_it_is_the_mean_of_all_hypotheses(make):
    model, x = make(), {0: 0.3, 1: -0.2}
    assert model.averaged_scores_one(x) == {}
    values = []
    for z, y in synth.TwoGaussians(300, seed=2):
        model.learn_one(z, y)
        values.append(model.decision_function_one(x))
        for label, average in model.averaged_scores_one(x).items():
            assert average == pytest.approx(np.mean(values) if label else -np.mean(values))


@each
def test_evaluating_it_does_not_change_the_model(make):
    model, asked = make(), make()
    for x, y in synth.TwoGaussians(300, seed=2):
        asked.averaged_scores_one({0: 1.0, 5: 2.0})
        asked.averaged_scores_one(x)
        model.learn_one(x, y)
        asked.learn_one(x, y)
    assert asked.coefficients.tolist() == model.coefficients.tolist()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (rb.KernelPerceptron(RBF), "perceptron"),
        (rb.KernelPAClassifier(RBF), "pa1"),
        (rb.Projectron(RBF, norm_bound=bounds.forgetron_norm(1000)), "projectron_norm_bound"),
    ],
    ids=str,
)
def test_against_the_projectron_authors_library(model, name):
    model = model.clone()
    _, _, trace = replay(model, name)
    x = {0: 0.3, 1: -0.2}
    row = [RBF(s, x) for s in model.support_vectors]
    expected = np.dot(trace["alpha_cumsum"], row) / 2000
    assert model.averaged_scores_one(x)[True] == pytest.approx(expected, abs=1e-7)
