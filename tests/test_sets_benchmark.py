"""The benchmark of prediction sets."""

from __future__ import annotations

import pytest
from river import dummy

import river_budget as rb
from benchmarks import sets


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
    figures = sets.validated(model, examples, delay, coverage=0.9)
    n = len(examples) - 1 - delay
    # The only label is certain, and b comes once, without having been known.
    assert (figures.coverage, figures.possible) == ((n - 1) / n, (n - 1) / n)


def test_the_tables_have_the_extremes_and_what_is_off():
    def figures(coverage, possible):
        return sets.Figures(coverage, 1.5, possible, 1.4, 10.0)._asdict()

    columns = [f"{model}, {when}" for when in sets.DELAYS.values() for model in sets.MODELS]
    found = {
        "SEA": dict.fromkeys(columns, figures(0.895, 1.0)),
        "Agrawal": dict.fromkeys(columns, figures(0.85, 0.88)),
    }
    (row,) = {line.split("|", 2)[2] for line in sets.summary(found).splitlines()[2:]}
    shown = [cell.strip() for cell in row.split("|")]
    assert shown[:5] == ["87.2", "85.0 to 89.5", "1 of 2", "1.50", "1.40"]
    first, *_ = off = sets.misses(found).splitlines()[2:]
    assert len(off) == len(columns)
    cells = [cell.strip() for cell in first.split("|")[1:-1]]
    assert cells == ["Agrawal, Mnemotron, labels at once", "85.0", "88.0", "1.50"]
