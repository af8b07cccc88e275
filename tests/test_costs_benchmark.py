"""What `benchmarks.costs` and `benchmarks.soak` say of what they measure."""

from __future__ import annotations

from benchmarks import costs, soak

FULL = {"microseconds": 2.345, "bytes": 22_800, "is_full": True}


def test_a_model_whose_cost_was_not_measured_grows():
    found = {"Forgetron": {"B=1000, d=10": FULL}}
    assert costs.cost_of(found, "Forgetron", 1000) == {"µs": "2.3", "kB": "22.8"}
    assert costs.cost_of(found, "KernelPAClassifier") == {"µs": "grows", "kB": "grows"}


def test_a_budget_that_was_not_full_is_marked():
    found = {"Ahpatron": {"B=100, d=10": FULL | {"is_full": False}}}
    assert "2.3*" in costs.by_budget(found)
    assert "2.3*" in costs.by_dimension(found)


def test_a_model_without_the_columns_of_a_table_is_left_out_of_it():
    found = {"Forgetron": {"B=20, d=10": FULL}, "NoChange": {"B=100, d=2": FULL}}
    assert "NoChange" not in costs.by_budget(found)
    assert "Forgetron" not in costs.by_dimension(found)


def test_each_model_is_measured_once_at_each_setting():
    places = [(cell.row, cell.column) for cell in costs.cells(False)]
    assert len(places) == len(set(places))
    assert ("KNNClassifier", "B=1000, d=10") in places
    assert ("KernelLDA", "B=100, d=784") in places
    assert ("KernelLDA", "B=20, d=10") not in places


def test_a_run_of_the_soak_says_what_failed(monkeypatch):
    """A model whose bad rows are not refused, or whose residuals are too large, is not passed over."""
    monkeypatch.setattr(soak, "BAD_ROWS", [({"u": 1.0}, True)])
    monkeypatch.setattr(soak, "LARGEST_RESIDUAL", -1.0)
    report = soak.soak("TightestPerceptron", 1_000)
    assert {"bad rows", "accuracy", "rounds"} <= set(report["failed"])
