"""What `benchmarks.fleet` measures."""

from __future__ import annotations

import pytest

import river_budget as rb
from benchmarks import fleet


@pytest.mark.parametrize("by", fleet.WAYS)
@pytest.mark.parametrize("n", [2, 4])
def test_workers_divide_the_rows(by, n):
    parts = fleet.WAYS[by]([({"t": t}, t % 3) for t in range(60)], n)
    assert len(parts) == n
    assert sorted(x["t"] for part in parts for x, _ in part) == list(range(60))


def test_no_label_is_in_two_parts():
    parts = fleet.by_labels([({}, t % 5) for t in range(50)], 2)
    assert [{y for _, y in part} for part in parts] == [{0, 2, 4}, {1, 3}]


@pytest.mark.parametrize("by", fleet.WAYS)
def test_the_merged_model_is_the_whole_one(by):
    found = fleet.compared("ImageSegments", 8, by, 20)
    assert found["P, W, K"] < 1e-8 < found["probabilities"]
    assert abs(found["merged"] - found["one"]) <= 100 - found["equal"] < 10
    assert found["worst"] <= found["best"]
    assert all(0 < found[key] < 5 for key in fleet.SHOWN if "loss" in key or "later" in key)


def test_models_that_differ_are_found():
    rows, _ = fleet.image_segments()
    model, other = (fleet.learn(rb.KernelLDA(20, kernel=rb.RBF(0.1)), rows[:n]) for n in (200, 100))
    assert min(fleet.differences(model, other, rows[:50]).values()) > 1e-3
