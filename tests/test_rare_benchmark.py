"""What `benchmarks.rare` measures, on models whose figures are known."""

from __future__ import annotations

import pytest

from benchmarks import rare
from river_budget import synth


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
def test_f1_and_the_area_under_the_curve(predicted, monkeypatch):
    oracle = Oracle(predicted)
    monkeypatch.setitem(rare.MODELS, "Oracle", lambda name, seed, balanced: oracle)
    recall = len(oracle.predicted) / len(oracle.positives)
    figures = rare.validated("Oracle", balanced=False, seed=1, n_samples=3000)
    assert figures == pytest.approx((100 * 2 * recall / (1 + recall), 100.0))


@pytest.mark.parametrize("name", rare.MODELS)
def test_every_model_is_measured(name):
    figures = rare.validated(name, balanced=True, seed=1, n_samples=150)
    assert all(0 <= value <= 100 for value in figures)
    for balanced in [False, True]:
        model = rare.MODELS[name](name, 1, balanced)
        weight = getattr(model, "class_weight", None)
        assert (weight == "balanced" or hasattr(model, "desired_dist")) == balanced


def test_a_row_has_the_means_over_the_seeds():
    figures = [rare.Figures(10.0, 60.0), rare.Figures(20.0, 70.0)], [rare.Figures(30.0, 90.0)]
    cells = rare.row(*figures)
    assert cells == {"F1": "15.0", "AUC": "65.0", "F1, balanced": "30.0", "AUC, balanced": "90.0"}
