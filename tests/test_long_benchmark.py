"""What `benchmarks.long` measures, on models and streams whose figures are known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from constant import Constant
from river.datasets import synth

from benchmarks.long import __main__ as long
from benchmarks.long import moa, models, picture, tables
from benchmarks.long.measure import Figures, ends_of_windows, last_fifth, measure, windows
from benchmarks.long.models import Entrant
from benchmarks.long.streams import FUNCTIONS, STREAMS, Stream
from river_budget.datasets import DatasetError

SYNTHETIC = [
    "RandomRBFDrift", "Hyperplane", "Agrawal, five concepts", "Agrawal, function 1", "RandomTree",
    "LED, drift", "RecurringConcepts",
]  # fmt: skip


class Slow(Constant):
    """Takes time that the clock of the test counts."""

    def __init__(self, clock):
        super().__init__({True: 1.0})
        self.clock = clock

    def learn_one(self, x, y):
        self.clock.now += 1.0


class Clock:
    """The processor time of a thread, as a number that a test moves on."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def stream(*labels) -> Stream:
    return Stream(lambda: (({"place": float(i)}, y) for i, y in enumerate(labels)), len(labels))


def entrant(model) -> Entrant:
    return Entrant(model, lambda x: x)


def figures(accuracy=50.0, n_done=100) -> Figures:
    return Figures(accuracy, 60.0, 0.5, 7.0, 8_000, n_done, 100, [accuracy] * (n_done // 2))


@pytest.fixture
def tiny(monkeypatch):
    """A stream of three examples, two models, one without its library, and how often it is read."""
    reads = []

    def read(n: int) -> Stream:
        reads.append(n)
        return stream(True, False, True)

    def unavailable(_):
        raise moa.UnavailableError("no library")

    makers = {
        "sure": lambda _: entrant(Constant({True: 1.0})),
        "wrong": lambda _: entrant(Constant({False: 1.0})),
        "absent": unavailable,
    }
    monkeypatch.setattr(long, "STREAMS", {"three": read})
    monkeypatch.setattr(long, "MODELS", makers)
    return reads


def test_the_figures_of_constant_probabilities():
    model = Constant({True: 0.25, False: 0.75})
    found = measure(entrant(model), stream(False, False, False, True), most_seconds=60.0)
    assert found.accuracy == 75.0
    assert found.last_fifth == 0.0
    assert found.log_loss == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4, abs=1e-5)
    assert found.windows == [100.0, 100.0, 100.0, 0.0]
    assert found.is_complete


def test_an_unknown_label_has_a_probability_of_a_thousandth():
    found = measure(entrant(Constant({})), stream(True), most_seconds=60.0)
    assert found.accuracy == 0.0
    assert found.log_loss == pytest.approx(-math.log(0.001), abs=1e-5)


def test_the_last_fifth_is_rounded_up():
    """Of ten examples it is the last two, of eleven the last three."""
    hits = np.array([True] * 8 + [False, True])
    assert last_fifth(hits) == 50.0
    assert last_fifth(np.append(hits, True)) == pytest.approx(200 / 3, abs=1e-4)


def test_windows_are_fiftieths_of_the_stream():
    assert ends_of_windows(100) == list(range(2, 101, 2))
    assert ends_of_windows(3) == [1, 2, 3]
    assert ends_of_windows(75)[:4] == [1, 3, 4, 6]
    assert windows(np.array([True, True, True, False, False]), 100) == [100.0, 50.0]


def test_a_model_ends_after_its_time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("benchmarks.long.measure.time.thread_time", clock)
    found = measure(entrant(Slow(clock)), stream(*[True] * 10), most_seconds=3.5)
    assert found.n_done == 4
    assert not found.is_complete
    assert found.microseconds == 1e6
    assert found.windows == [100.0] * 4


def test_categories_become_texts_or_columns():
    of_categories = Stream(lambda: iter([]), 0, categories={"color": 3, "flag": 2})
    x = {"size": 0.5, "color": 2, "flag": 1.0}
    assert models.texts(of_categories)(x) == {"size": 0.5, "color": "c2", "flag": 1.0}
    assert models.columns(of_categories)(x) == {
        "size": 0.5, "flag": 1.0, "color=0": 0.0, "color=1": 0.0, "color=2": 1.0
    }  # fmt: skip


@pytest.mark.parametrize("name", SYNTHETIC)
def test_streams_repeat_and_are_what_they_promise(name):
    first, again = (STREAMS[name](120) for _ in range(2))
    examples = list(first.read())
    assert examples == list(first.read()) == list(again.read())
    assert len(examples) == first.n_examples == 120
    assert {y for _, y in examples} <= set(first.labels)
    for category, size in first.categories.items():
        assert {x[category] for x, _ in examples} <= set(range(size))


def test_a_short_stream_is_the_start_of_a_long_one():
    read = [list(STREAMS["Agrawal, five concepts"](n).read()) for n in (50, 80)]
    assert read[0] == read[1][:50]


def test_the_function_of_agrawal_changes_after_a_period(monkeypatch):
    monkeypatch.setattr("benchmarks.long.streams.PERIOD", 10)
    examples = list(STREAMS["Agrawal, five concepts"](50).read())
    for i, function in enumerate(FUNCTIONS):
        plain = synth.Agrawal(function, seed=1).take(10)
        assert examples[10 * i : 10 * i + 10] == [(x, bool(y)) for x, y in plain]


def test_a_run_goes_on_where_its_file_ends(tiny, tmp_path, capsys):
    path = tmp_path / "run.json"
    chosen = ["--models", "sure", "--save", str(path)]
    long.main(chosen)
    long.main(chosen)
    assert tiny == [long.N_EXAMPLES]
    long.main(["--models", "sure", "wrong", "--save", str(path)])
    assert len(tiny) == 2
    found = json.loads(path.read_text())["results"]["three"]
    assert found["sure"]["accuracy"] == pytest.approx(200 / 3, abs=1e-4)
    assert found["wrong"]["windows"] == [0.0, 100.0, 0.0]


def test_what_was_ended_by_the_limit_of_time_is_measured_again_with_more():
    ended = figures(n_done=30)._replace(microseconds=1e6)
    assert long.is_due(None, 1.0)
    assert not long.is_due(figures(), 1e9)
    assert not long.is_due(ended, 30.0)
    assert long.is_due(ended, 31.0)


def test_a_file_of_other_settings_is_not_continued(tiny, tmp_path):
    path = tmp_path / "run.json"
    long.main(["--models", "sure", "--save", str(path)])
    with pytest.raises(SystemExit, match="settings"):
        long.main(["--models", "sure", "--save", str(path), "--examples", "2"])


def test_what_is_left_out_is_said(tiny, tmp_path, monkeypatch, capsys):
    def without_data(n: int) -> Stream:
        raise DatasetError("no directory")

    monkeypatch.setitem(long.STREAMS, "lost", without_data)
    long.main([])
    out, progress = capsys.readouterr()
    assert "three, absent: left out, no library" in progress
    assert "lost: left out, no directory" in progress
    assert "absent" not in out
    long.main(["--streams", "lost"])
    assert "nothing was measured" in capsys.readouterr().err


def test_tables_tell_what_is_missing_and_what_was_ended():
    results = {
        "x": {"b": figures(70.0), "a": figures(90.0)},
        "y": {"a": figures(40.0, n_done=30), "other": figures()},
    }
    heading, _, *rows = tables.tables(results, ["a", "b"]).split("\n\n")[1].splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in [heading, *rows]]
    assert cells == [
        ["", "a", "b", "other"],
        ["x (100)", "90.0 (60.0)", "70.0 (60.0)", "not measured"],
        ["y (100)", "40.0 (60.0) of 30", "not measured", "50.0 (60.0)"],
    ]


def test_the_picture_has_a_panel_a_stream_and_a_line_a_model(tmp_path):
    results = {"x": {"a": figures(), "b": figures(n_done=30)}, "y": {"a": figures()}}
    drawn = picture.picture(results, ["a", "b"])
    first, second, empty = drawn.axes
    assert [line.get_xdata()[-1] for line in first.lines] == [100, 30]
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["x", "y"]
    assert not empty.axison
    picture.write_picture(results, ["a", "b"], tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_short_run_of_all_models_that_are_installed(tmp_path, capsys):
    path, drawn = tmp_path / "run.json", tmp_path / "curves.png"
    long.main([
        "--streams", "RandomTree", "LED, drift", "--examples", "300",
        "--save", str(path), "--picture", str(drawn),
    ])  # fmt: skip
    table = capsys.readouterr().out
    found = json.loads(path.read_text())["results"]
    for row in found.values():
        assert {"Mnemotron", "HAT", "LogisticRegression", "ARF(10)"} <= set(row)
        assert all(cells["n_done"] == 300 and len(cells["windows"]) == 50 for cells in row.values())
        assert all(cells["microseconds"] > 0 for cells in row.values())
    assert "RandomTree (300)" in table
    assert drawn.exists()


def test_learners_of_capymoa_get_nominal_attributes_and_learn():
    try:
        moa.imported("capymoa")
    except moa.UnavailableError as error:
        pytest.skip(str(error))
    tree = STREAMS["RandomTree"](2_000)
    model, form = models.MODELS["CapyMOA HAT"](tree)
    assert "@attribute x_cat_0 {0,1,2,3,4}" in str(model.schema)
    assert "@attribute x_num_0 numeric" in str(model.schema)
    found = measure(models.Entrant(model, form), tree, most_seconds=60.0)
    majority = max(np.bincount([y for _, y in tree.read()])) / 20
    assert found.accuracy > majority
    assert found.bytes > 10_000
