"""What `benchmarks.scale` computes."""

from __future__ import annotations

import random

import pytest

from benchmarks import scale
from benchmarks.scale import Load


def test_the_expected_number_of_changed_keys_is_that_of_events_with_random_keys():
    rng = random.Random(1)
    n_changed = len({rng.randrange(1_000) for _ in range(700)})
    assert scale.changed_keys(Load(1_000, 70.0), 10) == pytest.approx(n_changed, rel=0.05)


def test_each_rare_event_changes_a_key_and_all_busy_keys_change():
    assert scale.changed_keys(Load(10**6, 2.0), 5) == pytest.approx(10, rel=1e-3)
    assert scale.changed_keys(Load(100, 100.0), 60) == pytest.approx(100)


def test_a_state_is_written_once_for_each_changed_key():
    """With a thousand bytes, a kilobyte for each rare event; busy keys share what they write."""
    found = {"models": {name: {"state": 1_000} for name in scale.WRITTEN}}
    rows = {
        row[0]: row[1:]
        for row in (
            [cell.strip() for cell in line.split("|")[1:-1]]
            for line in scale.changelog(found).splitlines()
        )
    }
    assert rows["each key once an hour, 5 s"][:4] == ["278", "1,388", "1.00", "0.3"]
    assert rows["10,000 busy keys, each once a second, 60 s"][:4] == [
        "10,000",
        "10,000",
        "0.02",
        "0.2",
    ]


def test_the_models_that_are_measured_have_full_budgets():
    make = scale.MODELS["Forgetron(budget=100)"]
    model = make()
    for event in scale.events(1, scale.N_FILLING):
        model.learn_one(event.x, event.y)
    assert model.n_support == model.budget == 100


@pytest.mark.slow
def test_the_bytes_and_times_of_a_model_are_those_of_its_state():
    small, large = (
        scale.of_model(scale.MODELS[f"Forgetron(budget={budget})"]) for budget in (30, 100)
    )
    assert small["state"] < large["state"] < 5 * small["state"]
    assert min(small.values()) > 0
