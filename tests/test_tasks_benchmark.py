"""What `benchmarks.tasks` measures, and what its table says where a model has no figures on a track."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import tasks


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Three classes with places of their own, as `pendigits.npz`."""
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    labels = np.repeat(np.arange(3), 40)
    X = labels[:, None] + np.zeros(2)
    np.savez(tmp_path / "pendigits.npz", X_train=X, y_train=labels, X_test=-X, y_test=labels)


@pytest.mark.parametrize("takes_arrays", [True, False])
def test_each_task_has_classes_of_its_own_and_its_test_rows_first(data, takes_arrays):
    track = tasks.Track(3, n_learn=7, n_test=4, budget=10, file="pendigits")
    streams = tasks.tasks_of(track, takes_arrays)
    assert [len(stream) for stream in streams] == [11, 11, 11]
    assert sorted({y for _, y in stream} for stream in streams) == [{0}, {1}, {2}]
    for stream in streams:
        signs = [-1] * 4 + [1] * 7
        assert [x["x"][0] if takes_arrays else x[0] for x, _ in stream] == [
            sign * y for sign, (_, y) in zip(signs, stream, strict=True)
        ]


def test_a_model_that_keeps_everything_forgets_nothing(data, monkeypatch):
    track = tasks.Track(3, n_learn=7, n_test=4, budget=10, file="pendigits", has_arrays=True)
    monkeypatch.setitem(tasks.TRACKS, "apart", track._replace(n_tasks=3))
    found = tasks.kept("KNNClassifier(1000)", "apart", 7, 4)
    # The test rows of all classes are nearest to the class at zero.
    assert found["final"] == pytest.approx(100 / 3, abs=0.01)
    assert found["forgetting"] == 0.0


def figures(final, forgetting):
    return tasks.Kept(final, forgetting, progressive=50.0)._asdict()


FOUND = {
    "Forgetron": {"MNIST": figures(20.0, 90.0), "clinc150": figures(90.0, 1.0)},
    "GaussianNB": {"MNIST": figures(30.0, 10.0)},
}


def test_means_are_over_the_tracks_that_all_models_have_and_the_best_is_first():
    assert tasks.means(FOUND) == {"GaussianNB": (30.0, 10.0, 50.0), "Forgetron": (20.0, 90.0, 50.0)}
    assert list(tasks.means(FOUND)) == ["GaussianNB", "Forgetron"]


def test_a_model_without_figures_on_a_track_has_an_empty_cell_there():
    heading, _, first, second = tasks.final(FOUND).splitlines()
    assert [cell.strip() for cell in heading.split("|")][2:-1] == [
        "mean", "MNIST", "clinc150", "before learning",
    ]  # fmt: skip
    assert [cell.strip() for cell in first.split("|")][4] == ""
    assert "90.0 (1.0)" in second


def test_all_models_with_a_budget_are_measured_on_all_tracks():
    made = {(cell.row, cell.column) for cell in tasks.cells(False)}
    assert {("Mnemotron", "clinc150"), ("KernelLDA", "MNIST")} <= made
    assert not made & tasks.LEFT_OUT
