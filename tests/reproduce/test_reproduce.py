from __future__ import annotations

import json
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

from river_budget.published import PROJECTRON_MISTAKES, TIGHTEST_TABLE_2
from river_budget.reproduce import EXPERIMENTS, Cell, Table, Task, data, forgetron, run


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
    assert Cell("row", "column", values, (80.0, 1.0), bigger_is_better).verdict == verdict


def test_a_table_in_markdown():
    cells = (
        Cell("a", "x", (1.0, 3.0), (2.0, 0.5), False),
        Cell("a", "y", (7.0,), None, False),
        Cell("b", "y", (9.0,), (1.0, 0.0), False),
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


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
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


def test_what_was_done_before_a_failure_is_kept(tmp_path):
    with pytest.raises(ArithmeticError):
        run([Task("a", half, (1,)), Task("b", fail, (2,))], tmp_path, 1)
    assert json.loads((tmp_path / "results.jsonl").read_text()) == ["a", 0.5]


def test_tasks_have_names_of_their_own():
    for experiment in EXPERIMENTS.values():
        found, missing = experiment.tasks(None, False, 3)
        assert len({task.name for task in found}) == len(found)
        assert all("is not there" in note for note in missing)


def test_the_126_even_splits():
    assert len(forgetron.SPLITS) == 126
    halves = {frozenset(split) for split in forgetron.SPLITS}
    assert len(halves) == 126
    assert all(frozenset(range(10)) - half not in halves for half in halves)


@pytest.fixture
def folder(tmp_path):
    """Return a folder of small sets in the layout of the true ones."""
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


def test_tables_of_small_sets(folder):
    experiment = EXPERIMENTS["projectron"]
    tasks, missing = experiment.tasks(folder, True, 1)
    assert missing == ["Table 2: Vehicle is not there"]
    chosen = [task for task in tasks if "Adult9" in task.name]
    results = {task.name: task.function(*task.arguments) for task in chosen}
    (table,) = experiment.tables(results)
    assert table.title == "Projectron paper, Table 1: Adult9"
    assert {cell.row for cell in table.cells} == {
        f"{algorithm}, B=1500"
        for algorithm, budget in PROJECTRON_MISTAKES["Adult9"]
        if budget == 1500
    }
    assert experiment.draw(results, folder)
    assert (folder / "projectron.png").exists()


def test_digits_in_two_fives(folder):
    result = forgetron.one_run("MNIST", 0, "Forgetron", 50, None, folder)
    assert result["support"] <= 50
    assert 0 < result["mistakes"] < 20


def test_splits_for_the_table_of_test_accuracies(folder):
    X, y, X_test, _ = data.split("Adult9", 0, folder)
    assert (len(X), len(X_test)) == (200, 25)
    assert y.dtype == bool
    X, y, X_test, _ = data.split("MNIST", 0, folder)
    assert (X[:, 8] > 0).tolist() == y.tolist()
    assert (X[:, [3, 8]] > 0).any(axis=1).all()
    X, y, X_test, _ = data.split("NCheckerb", 0, None)
    assert (len(X), len(X_test)) == (10_000, 5_000)


class Downloaded:
    """A published set whose parts came over the wire when they were asked for."""

    there: ClassVar = set()

    def __init__(self, part):
        self.part = part

    @property
    def is_downloaded(self):
        return self.part in self.there

    def download(self):
        self.there.add(self.part)

    def __iter__(self):
        n = 3 if self.part == "train" else 2
        return iter([({"1": float(t), "3": 1.0}, t % 2 == 0) for t in range(n)])


def test_a_download_does_as_well_as_a_file(monkeypatch, folder):
    monkeypatch.setattr(data, "PUBLISHED", {"Letter": Downloaded})
    assert not data.has("Letter", folder)
    data.download(folder)
    assert data.has("Letter", folder)
    assert data.has("Letter", None)
    X, y, X_test, y_test = data.split("Letter", 0, folder)
    assert X.tolist() == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    assert y.tolist() == [True, False, True]
    assert (len(X_test), y_test.tolist()) == (2, [True, False])


def test_published_tables_have_all_cells():
    assert all(len(cells) == 8 for table in TIGHTEST_TABLE_2.values() for cells in table.values())
    assert [len(cells) for cells in PROJECTRON_MISTAKES.values()] == [12, 12, 12]
