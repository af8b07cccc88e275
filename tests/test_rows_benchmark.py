"""What `benchmarks.rows` measures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import rows


def test_all_boards_at_the_end_of_a_game():
    boards = rows.boards()
    assert len({tuple(x.values()) for x, _ in boards}) == len(boards) == 958
    assert sum(y for _, y in boards) == 626


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_holes(share, by_column):
    cells = [({f"n{j}": 1.0 for j in range(30)}, True)] * 300
    X = np.array([[v is None for v in x.values()] for x, _ in rows.holes(cells, share, by_column)])
    assert X.mean() == pytest.approx(share, abs=0.02)
    assert (X.any(axis=0).mean() < 0.6) == by_column


def test_distances_differ_in_what_is_unknown_only():
    stream = [({"u": 1.0, "c": "a"}, 0), ({"u": 3.0, "c": "b"}, 1)]
    x, z = stream[0][0], {"u": 3.0, "c": None}
    values = {fill: rows.Distance(stream, fill)(x, z) for fill in ("mean", "zero", "common")}
    assert values == pytest.approx(
        {"mean": np.exp(-5 / 2), "zero": np.exp(-5 / 2), "common": np.exp(-4)}
    )
    z = {"u": None, "c": "a"}
    values = {fill: rows.Distance(stream, fill)(x, z) for fill in ("mean", "zero", "common")}
    assert values == pytest.approx({"mean": np.exp(-1 / 2), "zero": np.exp(-1 / 2), "common": 1.0})


def test_a_file_of_numbers_and_categories(tmp_path, monkeypatch):
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    np.savez(tmp_path / "some.npz", X_num=np.ones((2, 1)), X_cat=np.array([["a"], ["7"]]), y=[0, 1])
    assert rows.table("some") == [({"n0": 1.0, "c0": "va"}, 0), ({"n0": 1.0, "c0": "v7"}, 1)]


@pytest.mark.parametrize("measure", [rows.of_categories, rows.of_holes, rows.of_distances])
def test_every_model_is_measured(measure):
    stream = [({"n0": float(t % 3), "c0": f"v{t % 2}"}, t % 2) for t in range(150)]
    figures = measure(stream if measure is rows.of_categories else rows.holes(stream, 0.1, False))
    assert all(0 <= value <= 100 for value in figures.values())
    known = [figures[name] for name in figures if "numbers" not in name and name not in rows.TREES]
    assert min(known) > 50


def test_costs_of_a_round():
    figures = rows.costs(rows.rb.Forgetron(budget=5), 10, 3)
    assert min(figures.values()) > 0
    assert figures["inside / outside"] == pytest.approx(figures["inside"] / figures["outside"])


def test_a_row_of_means_has_those_of_the_figures_that_there_are():
    table = rows.measured({"a": {"x": 1.0, "y": 3.0}, "b": {"x": 2.0}})
    assert [cell.strip() for cell in table.splitlines()[-1].strip("|").split("|")] == [
        "mean", "1.5", "3.0",
    ]  # fmt: skip
