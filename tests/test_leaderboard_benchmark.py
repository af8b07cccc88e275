"""The leaderboard: what is measured, what its file keeps, and what its page says."""

from __future__ import annotations

import itertools
import json
import re
import time

import pytest
from river import datasets, evaluate, metrics

from benchmarks import lifelong
from benchmarks.leaderboard import __main__ as board
from benchmarks.leaderboard import page, track
from benchmarks.leaderboard.cells import OURS, RIVERS, STREAMS, Cell, measure, models
from river_budget.catalog import ALGORITHMS


def cell(stream, model, accuracy=50.0, n=100):
    return Cell(
        stream, model, asked=n, examples=n, accuracy=accuracy, kappa=1.0, kappa_m=-2.0,
        kappa_t=0.0, window=50, windowed=[40.0, 60.0], processor=3.5, wall=4.5, bytes=1234,
    )  # fmt: skip


def written(*cells, **reproduced):
    found = {"versions": {"River": "9.9.9"}, "reproduced": reproduced, "tracks": {}, "late": {}}
    return page.page(found | {"cells": [c._asdict() for c in cells]})


@pytest.fixture
def no_plots(monkeypatch):
    """Leave out the plots of the page, which take long."""
    monkeypatch.setattr(page, "svg", lambda draw, name: "<svg></svg>\n")


@pytest.mark.parametrize("stream", STREAMS)
def test_every_class_and_the_last_label_run_on_every_stream(stream):
    assert {track.LAST_LABEL, *ALGORITHMS} <= set(models(stream))
    assert ("ALMA" in models(stream)) == STREAMS[stream].is_binary


@pytest.mark.parametrize("stream", ["Bananas", "Phishing", "ImageSegments"])
def test_streams_have_the_length_and_the_labels_that_they_name(stream):
    examples = list(STREAMS[stream].read())
    assert len(examples) == STREAMS[stream].n_examples
    assert (len({y for _, y in examples}) == 2) == STREAMS[stream].is_binary


def test_every_published_model_is_on_the_board():
    for stream, published in track.PUBLISHED.items():
        assert set(published) <= set(models(stream))


@pytest.mark.parametrize("model", ["ALMA", "Naive Bayes", track.LAST_LABEL])
def test_the_accuracy_is_that_of_rivers_progressive_validation(model):
    found = measure("Phishing", model, 220, seconds=60.0)
    expected = evaluate.progressive_val_score(
        datasets.Phishing().take(220), track.MODELS[model](), metrics.Accuracy()
    )
    assert found.accuracy == pytest.approx(100 * expected.get(), abs=1e-4)
    assert (found.asked, found.examples, found.window) == (220, 220, 100)
    assert len(found.windowed) == 2
    assert found.processor > 0
    assert found.bytes > 0


def test_the_last_label_has_kappa_t_zero():
    assert measure("Phishing", track.LAST_LABEL, 220, seconds=60.0).kappa_t == 0.0


def test_a_model_stops_at_the_limit_of_time(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(time, "thread_time", lambda: next(ticks))
    found = measure("Phishing", track.LAST_LABEL, 1000, seconds=150)  # two ticks an example
    assert (found.asked, found.examples) == (1000, 100)


@pytest.fixture
def run(tmp_path, monkeypatch, no_plots):
    """Return a function that runs the command with imitated measurements, and tells which it made."""
    made = []

    def imitated(function, where, model, n=100, seconds=0.0):
        made.append((where, model, n))
        is_cell = function is measure
        return cell(where, model, n=n) if is_cell else dict.fromkeys(lifelong.HEADINGS, 12.5)

    monkeypatch.setattr(board, "in_own_process", imitated)

    def run(*arguments, tracks=()):
        made.clear()
        common = ["--out", str(tmp_path), "--streams", "Phishing", "--tracks", *tracks]
        board.main([*common, *arguments])
        return list(made)

    return run


def test_an_interrupted_run_continues(run, tmp_path):
    assert run("--models", "ALMA") == [("Phishing", "ALMA", 1250)]
    assert run("--models", "ALMA", "PA") == [("Phishing", "PA", 1250)]
    found = json.loads((tmp_path / "leaderboard.json").read_text())
    assert [c["model"] for c in found["cells"]] == ["ALMA", "PA"]
    assert "PA" in (tmp_path / "leaderboard.md").read_text()


def test_a_short_cell_is_replaced_and_a_long_one_kept(run):
    assert run("--models", "ALMA", "--limit", "60") == [("Phishing", "ALMA", 60)]
    assert run("--models", "ALMA", "--limit", "50") == []
    assert run("--models", "ALMA") == [("Phishing", "ALMA", 1250)]
    assert run("--models", "ALMA", "--limit", "60") == []


def test_models_are_measured_again(run):
    run("--models", "ALMA", "PA")
    assert run("--models", "ALMA", "PA", "--again", "PA") == [("Phishing", "PA", 1250)]


def test_tracks_are_kept_measured_again_and_shown(run, tmp_path):
    chosen = ["--models", "Naive Bayes", "Mnemotron, archive", "--limit", "60"]
    rows = [
        ("ClassIncremental", "Mnemotron, archive", 100),
        ("ClassIncremental", "Naive Bayes", 100),
    ]
    assert run(*chosen, tracks=["ClassIncremental"])[1:] == rows
    assert run(*chosen, tracks=["ClassIncremental"]) == []
    assert run(*chosen, "--again", "Mnemotron, archive", tracks=["ClassIncremental"]) == rows[:1]
    section = (tmp_path / "leaderboard.md").read_text().partition("### ClassIncremental")[2]
    assert "Naive Bayes</td>" in section
    assert section.count(">12.5<") == 6
    assert "Not measured: Mnemotron, KernelLDA, " in section


def test_other_versions_are_not_continued(run, tmp_path):
    run("--models", "ALMA")
    path = tmp_path / "leaderboard.json"
    path.write_text(path.read_text().replace(board.VERSIONS["River"], "0.1"))
    with pytest.raises(SystemExit, match=r"0\.1"):
        run("--models", "ALMA")


@pytest.mark.slow
def test_a_cell_is_measured_in_its_own_process(tmp_path):
    arguments = ["--streams", "Phishing", "--models", track.LAST_LABEL, "--limit", "60"]
    board.main(["--out", str(tmp_path), *arguments])
    (found,) = json.loads((tmp_path / "leaderboard.json").read_text())["cells"]
    assert found["examples"] == 60


@pytest.mark.slow
def test_the_page_has_every_row():
    streams = ["Phishing", "ImageSegments"]
    cells = [cell(s, m, i) for s in streams for i, m in enumerate(models(s))]
    text = written(*cells)
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## )", text, re.DOTALL | re.MULTILINE))
    assert {"All streams", *streams} <= set(sections)
    for name in streams:
        rows = re.findall(r'<td data-value="([^"]*)">\1</td>', sections[name])
        assert {c.model for c in cells if c.stream == name} <= set(rows)
        assert sections[name].count("<svg") == 2


def test_mean_ranks_are_over_the_streams_that_all_models_have_done(no_plots):
    cells = [
        cell(stream, model, accuracy=i + 1)
        for stream in ["Phishing", "Bananas"]
        for i, model in enumerate({**RIVERS, **OURS})
    ]
    text = written(*cells, cell("Elec2", track.LAST_LABEL, 99.0))
    assert "have done (2 of 3)" in text
    n = len(RIVERS) + len(OURS)
    last_label, best = next(iter(RIVERS)), next(reversed(OURS))
    for model, rank in [(last_label, n), (best, 1)]:
        assert re.search(rf">{model}</td><td[^>]*>{rank}\.00<", text)


def test_the_page_names_what_is_not_measured(no_plots):
    text = written(cell("Phishing", "ALMA"))
    assert "Not measured: last label, Naive Bayes, " in text


def test_the_page_needs_no_other_file():
    text = written(cell("Bananas", "ALMA"), cell("Bananas", track.LAST_LABEL))
    assert re.findall(r"(?:src|href)=\"(?!#)[^\"]*", text) == []
    assert all("\n\n" not in html for html in re.findall(r"<div.*?</div>", text, re.DOTALL))
    assert "@import" not in text
    assert "url(http" not in text


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [(90.0, "The last label wins here."), (60.0, "beats 1 of 2 models"), (10.0, "does better.")],
)
def test_the_page_says_where_the_last_label_wins(no_plots, accuracy, said):
    text = written(
        cell("Elec2", "ALMA", 80.0), cell("Elec2", "PA", 50.0),
        cell("Elec2", track.LAST_LABEL, accuracy),
    )  # fmt: skip
    assert said in text


def test_published_figures_are_beside_those_found_here(no_plots):
    text = written(cell("Bananas", "ALMA", 50.25), Bananas={"ALMA": 50.7415})
    section = text.partition("published figures")[2]
    for figure in [">50.64<", ">50.74<", ">+0.10<", ">50.25<"]:
        assert figure in section


def test_late_labels_are_taken_from_their_own_benchmark(tmp_path, no_plots):
    """Those of a delay of 100, with their means."""
    saved, path = tmp_path / "late.json", tmp_path / "leaderboard.json"
    rows = {"A": 50.0, "B": 60.0}
    results = {
        stream: {
            f"it @ {delay}": {"accuracy": a + delay, "microseconds": 1.0} for delay in (10, 100)
        }
        for stream, a in rows.items()
    }
    saved.write_text(json.dumps({"settings": {}, "results": results}))
    taking = board.Board(path)
    board.take_late(taking, saved)
    assert board.Board(path).late == {"A": {"it": 150.0}, "B": {"it": 160.0}}
    lines = page.late_labels(taking.late).splitlines()
    assert [cell.strip() for cell in lines[-1].strip("|").split("|")] == ["mean", "155.0"]
