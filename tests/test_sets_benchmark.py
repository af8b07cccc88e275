"""The benchmark of prediction sets."""

from __future__ import annotations

import pytest
from river import dummy

import river_budget as rb
from benchmarks import sets
from benchmarks.record import Record


def test_the_best_constant_threshold_by_hand():
    forecasts = [
        ({"a": 0.9, "b": 0.1}, "a"),
        ({"a": 0.6, "b": 0.4}, "a"),
        ({"a": 0.7, "b": 0.3}, "b"),
        ({"a": 1.0}, "c"),
    ]
    # 0.6 covers two labels, and is exceeded in each set by one; 0.3 covers three.
    assert sets.constant_size(forecasts, coverage=0.5) == (1 + 1 + 1 + 1) / 4
    assert sets.constant_size(forecasts, coverage=0.75) == (1 + 2 + 2 + 1) / 4


@pytest.mark.parametrize("delay", [0, 3])
def test_rounds_without_known_labels_do_not_count(delay):
    examples = [({}, label) for label in "aaaaaabaaa"]
    model = rb.PredictionSets(dummy.PriorClassifier())
    figures = sets.measure(model, examples, delay, coverage=0.9)
    n = len(examples) - 1 - delay
    # The only label is certain, and b comes once, without having been known.
    assert (figures.coverage, figures.possible) == ((n - 1) / n, (n - 1) / n)


def test_the_table_marks_what_is_off_and_says_what_was_impossible():
    record = Record(None, {}, sets.Figures)
    for name, coverage, possible in [("SEA", 0.895, 1.0), ("Agrawal", 0.85, 0.88)]:
        record.add(name, "M @ 0", sets.Figures(coverage, 1.5, possible, 1.4, 10.0))
    table = sets.table(record, ["SEA", "Agrawal", "Elec2"], ["M"], 0, coverage=0.9)
    cells = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in table.splitlines()}
    assert cells["SEA"] == "89.5 / 1.50"
    assert cells["Agrawal"] == "85.0 * / 1.50"
    assert cells["streams within one point"] == "1 of 2"
    assert "Elec2" not in cells
    (line,) = sets.unreachable(record, ["SEA", "Agrawal"], coverage=0.9)
    assert line == "- Agrawal, M @ 0: possible are 88.0 %"


def test_the_command_continues_what_was_saved(tmp_path, capsys):
    path = tmp_path / "sets.json"
    chosen = ["--streams", "Bananas", "--models", "LogisticRegression", "--examples", "60"]
    sets.main([*chosen, "--delays", "0", "--save", str(path)])
    capsys.readouterr()
    sets.main([*chosen, "--delays", "0", "10", "--save", str(path)])
    shown = capsys.readouterr()
    assert shown.err.count("Bananas, LogisticRegression @") == 1
    assert "delay 10: coverage (%) / mean size" in shown.out
