from __future__ import annotations

import importlib.resources
import itertools

import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks.reproduce import bsgd, data, forgetron, papers, published, tightest
from benchmarks.reproduce.published import Published, Setting
from benchmarks.reproduce.verdicts import by_budget, verdict


@pytest.mark.parametrize(
    ("values", "bigger_is_better", "expected"),
    [
        ((80.0,), True, "within"),
        ((82.0,), True, "within"),
        ((82.1,), True, "better"),
        ((77.9,), True, "worse"),
        ((82.1,), False, "worse"),
        ((77.9,), False, "better"),
        ((75.0, 95.0), True, "within"),
    ],
)
def test_verdicts(values, bigger_is_better, expected):
    assert verdict(values, Published(80.0, 1.0), bigger_is_better=bigger_is_better) == expected


def test_a_table_by_budget():
    """What has no budget is beside the budgets of its data set, and only what is not within is said."""
    measured = {
        Setting("D", "a", None): {"accuracy": [81.0, 83.0]},
        Setting("D", "b", 20): {"accuracy": [60.0]},
        Setting("D", "b", 1000): {"accuracy": [90.0]},
        Setting("E", "b", 20): {"accuracy": [70.0]},
    }
    known = {
        Setting("D", "a", None): {"accuracy": Published(82.0, 0.5)},
        Setting("D", "b", 20): {"accuracy": Published(82.0, 0.5)},
    }
    assert by_budget(measured, known, "accuracy").splitlines() == [
        "|      |                    B=20 |           B=1,000 |",
        "|------|------------------------:|------------------:|",
        "| D: a |       82.0 ± 1.4 (82.0) | 82.0 ± 1.4 (82.0) |",
        "| D: b | 60.0 ± 0.0 (82.0) worse |        90.0 ± 0.0 |",
        "| E: b |              70.0 ± 0.0 |                   |",
    ]


def test_the_summary_counts_figures_and_names_those_that_are_worse():
    found = {
        "projectron": {
            "Adult9/Forgetron/1500": {"mistakes": [30.0], "support": [1500]},
            "Adult9/KernelPerceptron/None": {"mistakes": [20.99], "support": [6000]},
        }
    }
    text = papers.summary(found)
    counts = next(line for line in text.splitlines() if "projectron" in line)
    assert counts.split()[3::2] == ["54", "3", "1", "1", "1"]
    assert text.endswith("\n\nWorse: mistakes of Adult9: Forgetron, B=1,500.")


def test_settings_are_found_again_from_their_columns():
    for cell in papers.cells(False):
        assert papers.setting_of(cell.column) == cell.arguments[:3]


def test_the_126_even_splits():
    assert len(forgetron.SPLITS) == 126
    assert all(0 in split and len(set(split)) == 5 for split in forgetron.SPLITS)
    halves = {frozenset(split) for split in forgetron.SPLITS}
    assert len(halves) == 126
    assert all(frozenset(range(10)) - half not in halves for half in halves)


@pytest.fixture
def small_sets(monkeypatch, tmp_path):
    """Write small data sets in the format of the real ones."""
    rng = np.random.default_rng(1)
    X = (rng.random((400, 6)) < 0.4).astype(np.uint8)
    y = np.where(X[:, 0] ^ X[:, 1], 1, -1)
    complete = np.arange(400) % 2 == 0
    np.savez(
        tmp_path / "adult_a9a.npz", X_train=X, y_train=y, X_test=X[:50], y_test=y[:50],
        complete_train=complete, complete_test=complete[:50],
    )  # fmt: skip
    digits = rng.integers(10, size=300)
    images = np.eye(10, dtype=np.uint8)[digits] * 255
    np.savez(tmp_path / "mnist.npz", X_train=images, y_train=digits, X_test=images, y_test=digits)
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))


@pytest.mark.usefixtures("small_sets")
def test_a_split_of_the_digits():
    assert 0 < forgetron.mistakes("MNIST", "Forgetron", 50, 0) < 20


@pytest.mark.usefixtures("small_sets")
def test_splits_for_the_table_of_test_accuracies():
    X, y, X_test, _ = data.split("Adult9", 0)
    assert (len(X), len(X_test)) == (200, 25)
    assert y.dtype == bool
    X, y, X_test, _ = data.split("MNIST", 0)
    assert (X[:, 8] > 0).tolist() == y.tolist()
    assert (X[:, [3, 8]] > 0).any(axis=1).all()
    X, y, X_test, _ = data.split("NCheckerb", 0)
    assert (len(X), len(X_test)) == (10_000, 5_000)


@pytest.mark.parametrize("algorithm", dict.fromkeys(own.algorithm for own in bsgd.SETTINGS))
def test_a_cell_of_the_table_of_budgeted_gradient_descent(monkeypatch, algorithm):
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 600})
    monkeypatch.setattr(bsgd, "WIDTHS", (2.0,))
    values = bsgd.measured("Gauss", algorithm, 20, 2)["accuracy"]
    assert len(set(values)) == 2
    assert all(55 < value < 90 for value in values)


def test_the_parameters_that_are_best_on_held_out_examples_are_chosen(monkeypatch):
    """A width of almost 0 makes all examples alike."""
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 600})
    monkeypatch.setattr(bsgd, "WIDTHS", (1e-9, 2.0))
    monkeypatch.setattr(bsgd, "COSTS", (10.0,))
    frames = data.frames(bsgd.gauss(0), 0)
    assert bsgd.choice("BudgetedSGD, merging", 20, frames).gamma == 1.0


def test_each_fold_is_held_out_once(monkeypatch):
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 605})
    frames = data.frames(bsgd.gauss(0), 0)
    folds = [bsgd.fold(frames, k) for k in range(10)]
    assert sorted(row for part in folds for row in part.test.index) == list(range(605))
    for part in folds:
        assert len(part.test) in (60, 61)
        assert sorted([*part.train.index, *part.test.index]) == list(range(605))
        assert part.truth.tolist() == frames.labels[part.test.index].tolist()


def test_models_that_are_compared_learn_no_more_than_a_limit(monkeypatch):
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 600})
    monkeypatch.setattr(bsgd, "N_CHOICE", 100)
    part = bsgd.fold(data.frames(bsgd.gauss(0), 0), 0)
    assert (len(part.train), len(part.labels), len(part.test)) == (100, 100, 60)


def test_the_two_gaussians():
    X, y, _, y_test = bsgd.gauss(1)
    assert (len(y), len(y_test)) == (10_000, 5_000)
    assert X[y].mean(axis=0) == pytest.approx([2, 0], abs=0.1)
    assert X[~y].mean(axis=0) == pytest.approx([0, 0], abs=0.1)
    assert X[y].var(axis=0) == pytest.approx([4, 4], rel=0.1)
    assert X[~y].var(axis=0) == pytest.approx([1, 1], rel=0.1)


def test_published_tables_have_all_cells():
    settings = published.projectron()
    assert [setting.data_set for setting in settings] == [
        data_set for data_set in published.projectron_sigma_squared() for _ in range(12)
    ]
    algorithms = {own.algorithm for own in published.tightest()} - {"KernelPerceptron"}
    sets = published.tightest_data_sets()
    assert set(published.tightest()) == {
        *itertools.product(sets, algorithms, (20, 100, 500)),
        *itertools.product(sets, ["KernelPerceptron"], [None]),
    }
    assert {own.data_set for own in published.forgetron()} == set(forgetron.BUDGETS)
    assert len(published.bsgd()) == 34


def test_published_figures():
    results = published.projectron()
    assert results["Adult9", "ProjectronPlusPlus", 3000] == {
        "mistakes": (20.16, 0.11), "support": (1364.2, 4.76),
    }  # fmt: skip
    assert results["Synthetic", "Stoptron", 500] == {"mistakes": (21.96, 4.62)}
    assert published.projectron_sigma_squared()["Synthetic"] == 0.5
    accuracies = published.tightest()
    assert accuracies["Waveform", "TightestPerceptron", 500] == {"accuracy": (87.3, 0.6)}
    assert accuracies["Pendigits", "KernelPerceptron", None] == {"accuracy": (97.7, 1.3)}
    assert published.tightest_data_sets()["MNIST"] == (11_982, 1_984, 784, 392.0)
    perceptron = published.forgetron()["MNIST", "KernelPerceptron", None]
    assert perceptron["mistakes"].mean == pytest.approx(100 * 1_886 / 60_000)
    assert published.bsgd()["Adult", "BudgetedSGD, merging", 100] == {"accuracy": (84.55, 0.17)}


def test_every_published_table_has_a_source():
    directory = importlib.resources.files(published)
    sources = (directory / "README.md").read_text("utf-8")
    tables = [file.name for file in directory.iterdir() if file.name.endswith(".csv")]
    assert tables
    assert all(f"`{table}`" in sources for table in tables)


def test_tighter_with_all_examples_is_only_measured_where_it_is_fast():
    full = {own.data_set for own in tightest.SETTINGS if own.algorithm == "TighterFull"}
    assert full == set(tightest.FULL_SETS)
