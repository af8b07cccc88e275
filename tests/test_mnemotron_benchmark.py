"""What `benchmarks.mnemotron` measures, on models and streams whose figures are known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from constant import Constant

from benchmarks import mnemotron, suite
from benchmarks.ie_gp import IEGP
from benchmarks.mnemotron import Figures


def stream(*labels) -> list:
    return [({"place": float(i)}, label) for i, label in enumerate(labels)]


def figures(accuracy: float = 50.0, microseconds: float = 1.0, size: int = 1) -> Figures:
    return Figures(accuracy, 0.5, 5.0, 50.0, microseconds, size)


@pytest.fixture
def tiny(monkeypatch):
    """Two streams of a few examples, and a count of the times that each is read."""
    reads = {"two": 0, "three": 0}

    def reader(name: str, *labels):
        def read(n: int) -> list:
            reads[name] += 1
            return stream(*labels)[:n]

        return read

    streams = {"two": reader("two", True, False, True), "three": reader("three", "a", "b", "c")}
    monkeypatch.setattr(mnemotron, "STREAMS", streams)
    monkeypatch.setattr(mnemotron, "BINARY", {"two": streams["two"]})
    monkeypatch.setattr(
        mnemotron,
        "MODELS",
        {
            "sure": lambda is_binary: Constant({True: 1.0} if is_binary else {"a": 1.0}),
            "wrong": lambda is_binary: Constant({False: 1.0} if is_binary else {"c": 1.0}),
        },
    )
    return reads


def test_the_figures_of_constant_probabilities():
    model = Constant({True: 0.25, False: 0.75})
    found = mnemotron.measure(model, stream(False, False, False, True), is_binary=True)
    assert found.accuracy == 75.0
    assert found.f1 == 0.0
    assert found.calibration_error == pytest.approx(0.0)
    assert found.log_loss == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4)


def test_f1_is_that_of_the_rarer_label_or_the_mean_over_labels():
    sure = Constant({True: 0.9, False: 0.1})
    assert mnemotron.measure(sure, stream(True, False, False), is_binary=True).f1 == 50.0
    unsure = Constant({True: 0.1, False: 0.9})
    assert mnemotron.measure(unsure, stream(True, True, False), is_binary=True).f1 == 50.0
    assert mnemotron.measure(sure, stream(True, True, False), is_binary=True).f1 == 0.0
    several = mnemotron.measure(Constant({"a": 1.0}), stream("a", "b"), is_binary=False)
    assert several.f1 == pytest.approx(100 / 3)


def test_an_unknown_label_has_the_smallest_probability():
    found = mnemotron.measure(Constant({}), stream(True), is_binary=False)
    assert found.log_loss == pytest.approx(-math.log(mnemotron.SMALLEST_PROBABILITY))
    assert found.accuracy == 0.0


def test_models_of_equal_accuracy_share_their_rank():
    row = {name: figures(value) for name, value in [("a", 90.0), ("b", 80.0), ("c", 90.0)]}
    assert mnemotron.ranks(row) == {"a": 1.5, "b": 3.0, "c": 1.5}


def test_a_summary_has_the_streams_that_all_models_have_done():
    results = {"x": {"a": figures(90.0), "b": figures(80.0)}, "y": {"a": figures(10.0)}}
    lines = mnemotron.summary(results).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:4]] == ["a", "90.00", "1.00"]
    assert [cell.strip() for cell in lines[3].split("|")[1:4]] == ["b", "80.00", "2.00"]


def test_a_run_goes_on_where_its_file_ends(tiny, tmp_path, capsys):
    path = tmp_path / "run.json"
    mnemotron.main(["--models", "sure", "--save", str(path), "--raw"])
    assert tiny == {"two": 1, "three": 1}
    mnemotron.main(["--models", "sure", "--save", str(path), "--raw"])
    assert tiny == {"two": 1, "three": 1}
    mnemotron.main(["--streams", "two", "--save", str(path), "--raw"])
    assert tiny == {"two": 2, "three": 1}
    found = json.loads(path.read_text())["results"]
    assert found["two"]["sure"]["accuracy"] == pytest.approx(200 / 3)
    assert found["two"]["wrong"]["accuracy"] == pytest.approx(100 / 3)
    assert set(found["three"]) == {"sure"}


def test_a_file_of_other_settings_is_not_continued(tiny, tmp_path):
    path = tmp_path / "run.json"
    mnemotron.main(["--models", "sure", "--save", str(path)])
    with pytest.raises(SystemExit, match="settings"):
        mnemotron.main(["--models", "sure", "--save", str(path), "--examples", "2"])


def test_saved_rows_are_added_under_names_of_their_own(tiny, tmp_path, capsys):
    path = tmp_path / "first.json"
    mnemotron.main(["--save", str(path)])
    capsys.readouterr()
    mnemotron.main(["--models", "sure", "--streams", "two", "--against", str(path)])
    table = capsys.readouterr().out
    assert {"| sure ", "| sure (first) ", "| wrong "} <= {line[: line.find("|", 1)].rstrip() + " " for line in table.splitlines()}  # fmt: skip
    assert "three" not in table


def test_ratios_are_shares_of_one_model_a_label():
    row = {mnemotron.ONE_VS_REST: figures(90.0, 100.0, 1000), "Mnemotron": figures(80.0, 25.0, 100)}
    last = mnemotron.ratios({"x": row}).splitlines()[-1]
    assert [cell.strip() for cell in last.split("|")[5:7]] == ["0.250", "0.100"]


@pytest.mark.parametrize("name", ["Phishing", "SEA, drift", "LED, drift (10)", "RarePositives"])
def test_streams_repeat_and_have_the_labels_they_promise(name):
    first, again = (suite.STREAMS[name](120) for _ in range(2))
    assert first == again
    assert len(first) == 120
    assert {type(y) for _, y in first} == ({bool} if name in suite.BINARY else {int})


def test_random_features_learn_a_ring():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    labels = (np.square(X).sum(1) < 1.4).tolist()
    model, hits = IEGP(), []
    for (u, v), y in zip(X.tolist(), labels, strict=True):
        p = model.predict_proba_one({"u": u, "v": v})
        assert sum(p.values()) == pytest.approx(1.0)
        hits.append((p[True] > 0.5) == y)
        model.learn_one({"u": u, "v": v}, y)
    assert np.mean(hits[200:]) > 0.9
