"""What the sections `long` and `capymoa` measure, on models and streams whose figures are known."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from constant import Constant
from river.datasets import synth

from benchmarks import long
from benchmarks.long import capymoa, models
from benchmarks.long.measure import Entrant, figures
from benchmarks.long.streams import FUNCTIONS, STREAMS, Stream

SYNTHETIC = [
    "RandomRBFDrift", "Hyperplane", "Agrawal, five concepts", "Agrawal, function 1", "RandomTree",
    "LED, drift", "RecurringConcepts",
]  # fmt: skip


def of_constant(probabilities: dict, *labels: bool) -> dict:
    """Return the figures of constant probabilities on a stream of these labels."""
    stream = Stream(lambda: (({"place": 0.0}, y) for y in labels))
    return figures(lambda _: Entrant(Constant(probabilities), lambda x: x), stream)


def row(n_examples: int = 100, **accuracies: float) -> dict[str, dict]:
    """Return figures of models with these accuracies."""
    return {
        model: {
            "accuracy": accuracy, "last_fifth": 60.0, "log_loss": 0.5, "microseconds": 7.0, "bytes": 8_000,
            "n_examples": n_examples,
        }
        for model, accuracy in accuracies.items()
    }  # fmt: skip


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """CapyMOA has not been measured."""
    monkeypatch.setattr("benchmarks.cells.RESULTS", tmp_path)


def test_the_figures_of_constant_probabilities():
    found = of_constant({True: 0.25, False: 0.75}, False, False, False, True)
    assert found["accuracy"] == 75.0
    assert found["last_fifth"] == 0.0
    loss = -(3 * math.log(0.75) + math.log(0.25)) / 4
    assert found["log_loss"] == pytest.approx(loss, abs=1e-4)
    assert found["n_examples"] == 4


def test_an_unknown_label_has_a_probability_of_a_thousandth():
    found = of_constant({}, True)
    assert found["accuracy"] == 0.0
    assert found["log_loss"] == pytest.approx(-math.log(0.001), abs=1e-4)


@pytest.mark.parametrize(("n_before", "last_fifth"), [(8, 50.0), (9, 200 / 3)])
def test_the_last_fifth_is_rounded_up(n_before, last_fifth):
    """Of ten examples it is the last two, of eleven the last three."""
    found = of_constant({True: 1.0}, *[True] * n_before, False, True)
    assert found["last_fifth"] == pytest.approx(last_fifth, abs=1e-3)


def test_categories_become_texts_or_columns():
    of_categories = Stream(lambda: iter([]), categories={"color": 3, "flag": 2})
    large = models.large_categories(of_categories)
    x = {"size": 0.5, "color": 2, "flag": 1.0}
    assert models.with_texts(large, x) == {"size": 0.5, "color": "c2", "flag": 1.0}
    assert models.with_columns(large, x) == {
        "size": 0.5, "flag": 1.0, "color=0": 0.0, "color=1": 0.0, "color=2": 1.0
    }  # fmt: skip


@pytest.mark.parametrize("name", SYNTHETIC)
def test_streams_repeat_and_are_what_they_promise(name):
    first, again = (STREAMS[name](120) for _ in range(2))
    examples = list(first.read())
    assert examples == list(first.read()) == list(again.read())
    assert len(examples) == 120
    assert {y for _, y in examples} <= set(first.labels)
    for category, size in first.categories.items():
        assert {x[category] for x, _ in examples} <= set(range(size))


def test_agrawal_has_all_its_functions_in_equal_parts():
    examples = list(STREAMS["Agrawal, five concepts"](50).read())
    for function, (start, end) in zip(FUNCTIONS, pairwise(range(0, 51, 10)), strict=True):
        plain = synth.Agrawal(function, seed=1).take(10)
        assert examples[start:end] == [(x, bool(y)) for x, y in plain]


def test_figures_of_other_examples_are_not_joined():
    found = {"x": row(a=1.0), "y": row(a=2.0), "z": row(a=3.0)}
    others = {"x": row(b=4.0), "y": row(n_examples=50, b=5.0), "unknown": row(b=6.0)}
    accuracies = {
        stream: {model: one["accuracy"] for model, one in cells.items()}
        for stream, cells in long.joined(found, others).items()
    }
    assert accuracies == {"x": {"a": 1.0, "b": 4.0}, "y": {"a": 2.0}, "z": {"a": 3.0}}


def test_means_are_over_the_streams_that_all_models_have():
    found = {
        "x": row(a=90.0, b=70.0, c=70.0),
        "y": row(a=40.0, c=80.0),
        "z": row(a=50.0, b=60.0, c=70.0),
    }
    found["z"]["c"]["bytes"] = None
    means = long.summaries(found)
    assert [one.accuracy for one in means.values()] == [70.0, 65.0, 70.0]
    assert [one.rank for one in means.values()] == [2.0, 2.25, 1.75]
    assert [one.bytes for one in means.values()] == [8_000, 8_000, None]


def test_the_last_row_is_of_the_streams_that_all_have(alone):
    table = long.accuracies({"x": row(a=90.0, b=70.0), "y": row(a=40.0)})
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert cells[0] == ["", "a", "b"]
    assert cells[2:] == [
        ["x (100)", "90.0 (60.0)", "70.0 (60.0)"],
        ["y (100)", "40.0 (60.0)", ""],
        ["mean of the 1 that all have", "90.0 (60.0)", "70.0 (60.0)"],
    ]


def test_learners_of_capymoa_get_nominal_attributes_and_learn():
    if missing := capymoa.missing():
        pytest.skip(missing)
    tree = STREAMS["RandomTree"](2_000)
    model = capymoa.LEARNERS["CapyMOA HAT"](tree).model
    assert "@attribute x_cat_0 {0,1,2,3,4}" in str(model.schema)
    assert "@attribute x_num_0 numeric" in str(model.schema)
    found = figures(capymoa.LEARNERS["CapyMOA HAT"], tree)
    majority = max(np.bincount([y for _, y in tree.read()])) / 20
    assert found["accuracy"] > majority
    assert found["bytes"] > 10_000
