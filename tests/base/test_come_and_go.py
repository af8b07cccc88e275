"""Numbers, texts, arrays and gaps that come and go: each model stays exact, and goes on after loading."""

from __future__ import annotations

import pytest
from algorithms import ALGORITHMS, each, each_class

import river_budget as rb
from river_budget import testing

MODELS = {
    **ALGORITHMS,
    "KernelLDA": lambda kernel: rb.KernelLDA(n_features=10, kernel=kernel),
    "Mnemotron-archive": lambda kernel: rb.Mnemotron(budget=5, archive=10),
    "Mnemotron-regions": lambda kernel: rb.Mnemotron(budget=5, regions=4, region_budget=5),
}


@pytest.mark.slow
@each(MODELS)
def test_a_model_that_is_saved_and_loaded_at_random_moments(make):
    testing.check_saving(make(None), seed=1)


@each_class
def test_predictions_are_finite_and_what_is_updated_stays_exact(make):
    testing.check_predictions(make(None), seed=1)
