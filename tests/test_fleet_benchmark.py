"""What `benchmarks.fleet` measures."""

from __future__ import annotations

import pytest

import river_budget as rb
from benchmarks import fleet


@pytest.fixture(scope="module")
def rows():
    return fleet.image_segments().learned[:500]


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
def test_the_merged_model_is_the_whole_one(by, rows):
    found = fleet.new_fleet(rows, 8, by, 20, "float64")
    *gaps, own_temperature, staged, _ = map(float, found.differences(rows[:50]))
    assert max(*gaps, staged) < 1e-8 < own_temperature
    assert found.whole.n_rounds == found.merged.n_rounds == (500 if by == "rows" else 244)


def test_models_that_differ_are_found(rows):
    model, other = (fleet.learn(rb.KernelLDA(20, kernel=rb.RBF(0.1)), rows[:n]) for n in (200, 100))
    gaps = fleet.Fleet([], model, other, model, 0.0).differences(rows[:50])
    assert min(map(float, gaps[:4])) > 1e-3


def test_the_results_of_a_fleet(rows):
    found = fleet.new_fleet(rows, 2, "labels", 20, "float64")
    range_alone, merged, whole, equal, *losses = found.results(rows[:100], rows[100:110])
    assert max(map(float, range_alone.split(" to "))) < float(merged)
    assert abs(float(merged) - float(whole)) <= 100 - float(equal) < 10
    assert all(0 < float(loss) < 5 for loss in losses)


class Scoring:
    def __init__(self, **scores):
        self.scores = scores

    def scores_one(self, x):
        return self.scores


def test_scores_are_added_by_label():
    models = [Scoring(a=1.0, b=0.5), Scoring(b=0.6, c=0.9)]
    assert fleet.sum_of_scores(models, {}) == "b"
