"""What `benchmarks.rare` measures, on models whose figures are known."""

from __future__ import annotations

import pytest

from benchmarks import rare
from river_budget import synth
from river_budget.catalog import ALGORITHMS


class Oracle:
    """A model that knows the positives, and predicts a share of them."""

    def __init__(self, predicted):
        self.positives = [x for x, y in synth.RarePositives(3000, rate=0.01, seed=1) if y]
        self.predicted = self.positives[: round(predicted * len(self.positives))]

    def predict_one(self, x):
        return x in self.predicted

    def predict_proba_one(self, x):
        return {True: 0.4 if x in self.positives else 0.2}

    def learn_one(self, x, y):
        pass


@pytest.mark.parametrize("predicted", [1.0, 0.5])
def test_f1_and_the_area_under_the_curve(predicted):
    oracle = Oracle(predicted)
    recall = len(oracle.predicted) / len(oracle.positives)
    figures = rare.validated(oracle, seed=1, n=3000)
    assert figures == pytest.approx((100 * 2 * recall / (1 + recall), 100.0))


@pytest.mark.parametrize("name", [*ALGORITHMS, *rare.RIVERS])
def test_only_the_balanced_model_has_weights(name):
    for is_balanced in [False, True]:
        model = rare.made(name, is_balanced, seed=1)
        is_weighted = getattr(model, "class_weight", None) == "balanced"
        assert (is_weighted or hasattr(model, "desired_dist")) == is_balanced
    assert all(0 <= value <= 100 for value in rare.validated(model, seed=1, n=150))
