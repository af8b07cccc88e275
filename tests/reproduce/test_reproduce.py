from __future__ import annotations

import importlib.resources
import itertools
import json
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

from benchmarks.reproduce import (
    Cell,
    Table,
    Task,
    bsgd,
    data,
    forgetron,
    published,
    run,
    tightest,
)
from benchmarks.reproduce.__main__ import PAPERS, main
from benchmarks.reproduce.published import Published


@pytest.mark.parametrize(
    ("values", "bigger_is_better", "verdict"),
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
def test_verdicts(values, bigger_is_better, verdict):
    cell = Cell("row", "column", values, Published(80.0, 1.0), bigger_is_better)
    assert cell.verdict == verdict


def test_a_table_in_markdown():
    cells = (
        Cell("a", "x", (1.0, 3.0), Published(2.0, 0.5), False),
        Cell("a", "y", (7.0,), None, False),
        Cell("b", "y", (9.0,), Published(1.0, 0.0), False),
    )
    assert str(Table("Title", cells)).splitlines() == [
        "### Title",
        "",
        "|   | x                                | y                               |",
        "|---|----------------------------------|---------------------------------|",
        "| a | 2.00 ± 1.41 (2.00 ± 0.50) within | 7.00 ± 0.00                     |",
        "| b |                                  | 9.00 ± 0.00 (1.00 ± 0.00) worse |",
    ]


def half(n):
    return n / 2


def fail(n):
    raise ArithmeticError(n)


def test_an_interrupted_run_resumes(tmp_path):
    done = []
    tasks = [Task("a", half, (1,)), Task("b", half, (2,))]
    assert run(tasks[:1], tmp_path / "new", 1, done.append) == {"a": 0.5}
    with (tmp_path / "new" / "results.jsonl").open("a") as file:
        file.write('["b", 99.0]\n["c", 1')
    more = [*tasks, Task("c", half, (6,))]
    assert run(more, tmp_path / "new", 2, done.append) == {"a": 0.5, "b": 99.0, "c": 3.0}
    assert done == ["a", "a", "b", "c"]
    assert run(more, tmp_path / "new", 1) == {"a": 0.5, "b": 99.0, "c": 3.0}
    assert (tmp_path / "new" / "results.jsonl").read_text().count('["c", 3.0]\n') == 1


def test_results_before_a_failure_are_kept(tmp_path):
    with pytest.raises(ArithmeticError):
        run([Task("a", half, (1,)), Task("b", fail, (2,))], tmp_path, 1)
    assert json.loads((tmp_path / "results.jsonl").read_text()) == ["a", 0.5]


def test_task_names_are_unique():
    for experiment in PAPERS.values():
        found, missing = experiment.tasks(None, False, 3)
        assert len({task.name for task in found}) == len(found)
        assert all("is not there" in note for note in missing)


def test_the_126_even_splits():
    assert len(forgetron.SPLITS) == 126
    assert all(0 in split and len(set(split)) == 5 for split in forgetron.SPLITS)
    halves = {frozenset(split) for split in forgetron.SPLITS}
    assert len(halves) == 126
    assert all(frozenset(range(10)) - half not in halves for half in halves)


@pytest.fixture
def directory(tmp_path):
    """Return a directory of small data sets in the format of the real ones."""
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
    return tmp_path


def test_tables_of_small_sets(directory):
    experiment = PAPERS["projectron"]
    tasks, missing = experiment.tasks(directory, True, 1)
    assert missing == ["Table 2: Vehicle is not there"]
    chosen = [task for task in tasks if "Adult9" in task.name]
    results = {task.name: task.function(*task.arguments) for task in chosen}
    (table,) = experiment.tables(results)
    assert table.title == "Projectron paper, Table 1: Adult9"
    assert {cell.row for cell in table.cells} == {
        f"{setting.algorithm}, B=1500"
        for setting in published.projectron_results()
        if setting.budget == 1500
    }
    assert experiment.draw(results, directory)
    assert (directory / "projectron.png").exists()


def test_a_split_of_the_digits(directory):
    result = forgetron.one_run("MNIST", 0, "Forgetron", 50, None, directory)
    assert result["support"] <= 50
    assert 0 < result["mistakes"] < 20


def test_a_cell_of_the_table_of_budgeted_gradient_descent(monkeypatch):
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 600})
    monkeypatch.setattr(bsgd, "WIDTHS", (2.0,))
    for algorithm in bsgd.ALGORITHMS:
        values = bsgd.accuracies("Gauss", algorithm, 20, 2, None)
        assert len(set(values)) == 2
        assert all(55 < value < 90 for value in values)


def test_the_parameters_that_are_best_on_held_out_examples_are_chosen(monkeypatch):
    """A width of almost 0 makes all examples alike."""
    monkeypatch.setattr(bsgd, "N_TRAIN", {"Gauss": 600})
    monkeypatch.setattr(bsgd, "WIDTHS", (1e-9, 2.0))
    monkeypatch.setattr(bsgd, "COSTS", (10.0,))
    frames = data.frames(bsgd.gauss(0), 0)
    assert bsgd.choice(bsgd.ALGORITHMS["BudgetedSGD, merging"], 20, frames).gamma == 1.0


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


def test_the_table_of_budgeted_gradient_descent():
    results = {"bsgd/Pen/BudgetedSGD, merging/500/5": [97.0, 98.0]}
    (table,) = bsgd.tables(results)
    (cell,) = table.cells
    assert cell.published == Published(97.63, 0.14)
    assert cell.verdict == "within"
    assert (cell.row, cell.column) == ("BudgetedSGD, merging", "B=500")


def test_splits_for_the_table_of_test_accuracies(directory):
    X, y, X_test, _ = data.split("Adult9", 0, directory)
    assert (len(X), len(X_test)) == (200, 25)
    assert y.dtype == bool
    X, y, X_test, _ = data.split("MNIST", 0, directory)
    assert (X[:, 8] > 0).tolist() == y.tolist()
    assert (X[:, [3, 8]] > 0).any(axis=1).all()
    X, y, X_test, _ = data.split("NCheckerb", 0, None)
    assert (len(X), len(X_test)) == (10_000, 5_000)


class Downloaded:
    """A data set whose parts are available once downloaded."""

    downloaded: ClassVar = set()

    def __init__(self, part):
        self.part = part

    @property
    def is_downloaded(self):
        return self.part in self.downloaded

    def download(self):
        self.downloaded.add(self.part)

    def __iter__(self):
        n = 3 if self.part == "train" else 2
        return iter([({"1": float(t), "3": 1.0}, t % 2 == 0) for t in range(n)])


def test_a_download_in_place_of_a_file(monkeypatch, directory):
    monkeypatch.setattr(data, "DOWNLOADS", {"Letter": Downloaded})
    assert not data.has("Letter", directory)
    data.download(directory)
    assert data.has("Letter", directory)
    assert data.has("Letter", None)
    X, y, X_test, y_test = data.split("Letter", 0, directory)
    assert X.tolist() == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    assert y.tolist() == [True, False, True]
    assert (len(X_test), y_test.tolist()) == (2, [True, False])


def test_published_tables_have_all_cells():
    settings = published.projectron_results()
    assert [setting.data_set for setting in settings] == [
        data_set for data_set in published.projectron_data_sets() for _ in range(12)
    ]
    assert set(published.tightest_accuracies()) == set(
        itertools.product(published.tightest_data_sets(), tightest.ALGORITHMS, tightest.BUDGETS)
    )
    assert set(published.tightest_support()) == set(published.tightest_data_sets())
    assert set(published.forgetron_support()) == set(forgetron.BUDGETS)


def test_published_figures():
    results = published.projectron_results()
    assert results["Adult9", "ProjectronPlusPlus", 3000] == ((20.16, 0.11), (1364.2, 4.76))
    assert results["Synthetic", "Stoptron", 500] == ((21.96, 4.62), None)
    assert published.projectron_data_sets()["Synthetic"] == (10_000, 0.5)
    assert published.tightest_accuracies()["Waveform", "TightestPerceptron", 500] == (87.3, 0.6)
    assert published.tightest_data_sets()["MNIST"] == (11_982, 1_984, 784, 392.0)
    assert published.tightest_support()["Covertypes"] == 28_056
    assert published.forgetron_support()["census-income"] == 14_626
    accuracies = published.bsgd_accuracies()
    assert len(accuracies) == 34
    assert accuracies["Adult", "BudgetedSGD, merging", 100] == (84.55, 0.17)
    assert accuracies["Checkerb", "BudgetPassiveAggressive", 500] == (99.70, 0.01)


def test_every_published_table_has_a_source():
    directory = importlib.resources.files(published)
    sources = (directory / "README.md").read_text("utf-8")
    tables = [file.name for file in directory.iterdir() if file.name.endswith(".csv")]
    assert len(tables) == 9
    assert all(f"`{table}`" in sources for table in tables)


@pytest.mark.slow
def test_papers_are_reproduced(capsys, tmp_path):
    options = ["--quick", "--papers", "projectron", "--out", f"{tmp_path}/out", "--processes", "1"]
    main([*options, "--data", str(tmp_path)])
    out = capsys.readouterr().out
    assert "Left out: Projectron paper, Table 1: Adult9 is not there." in out
    assert "### Projectron paper, Table 3: Synthetic" in out
    assert (tmp_path / "out" / "report.md").read_text() == out
    assert len(json.loads((tmp_path / "out" / "figures.json").read_text())) == 12
    main(options)
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--papers", "bible"], "no paper is called 'bible'"),
        (["--data", "absent"], "absent is not a directory"),
        (["--splits", "0"], "splits"),
    ],
)
def test_what_cannot_be_reproduced(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
