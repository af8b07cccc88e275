"""What `benchmarks.keyed` computes."""

from __future__ import annotations

import random

import pytest

from benchmarks import keyed
from benchmarks.keyed import Load


def test_the_expected_number_of_changed_keys_is_that_of_events_with_random_keys():
    rng = random.Random(1)
    n_changed = len({rng.randrange(1_000) for _ in range(700)})
    assert keyed.changed_keys(Load(1_000, 70.0), 10) == pytest.approx(n_changed, rel=0.05)


def test_each_rare_event_changes_a_key_and_all_busy_keys_change():
    assert keyed.changed_keys(Load(10**6, 2.0), 5) == pytest.approx(10, rel=1e-3)
    assert keyed.changed_keys(Load(100, 100.0), 60) == pytest.approx(100)


def test_a_state_is_written_once_for_each_changed_key():
    """With a thousand bytes, a kilobyte for each rare event; busy keys share what they write."""
    found = {name: {"state": {"state": 1_000}} for name in keyed.WRITTEN}
    rare = keyed.written(found, keyed.LOADS["each key once an hour"], 5)
    assert list(rare.values())[:4] == ["278", "1,388", "1.00", "0.3"]
    busy = keyed.written(found, keyed.LOADS["10,000 busy keys, each once a second"], 60)
    assert list(busy.values())[:4] == ["10,000", "10,000", "0.02", "0.2"]


def test_the_models_that_are_measured_have_full_budgets():
    model = keyed.MODELS["Forgetron(budget=100)"]()
    for event in keyed.events(1, keyed.N_FILLING):
        model.learn_one(event.x, event.y)
    assert model.n_support == model.budget == 100
