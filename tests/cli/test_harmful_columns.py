"""Columns that are named in the log because they may harm."""

from __future__ import annotations

import json
import random

import pytest

pytest.importorskip("typer")

LEARN = ["learn", "--target", "y", "--model", "stoptron", "--budget", "5"]


def csv_of(n, **columns):
    """Return a file with columns whose values are functions of the number of the line."""
    rng = random.Random(1)
    lines = [f"a,{','.join(columns)},y\n"]
    for t in range(n):
        cells = [str(value(t)) for value in columns.values()]
        lines.append(",".join([f"{rng.random():.3f}", *cells, str(t % 2)]) + "\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("value", "harm"),
    [
        (lambda t: t, "only grows, as an id or a time does"),
        (lambda t: 1.7e9 + t // 2 + 0.5 * t, "only grows, as an id or a time does"),
        (lambda t: t if t % 2 else "", "only grows, as an id or a time does"),
        (lambda t: f"order no {t}", "1,000 different texts in 1,000 lines"),
        (lambda t: f"shop {t % 300}", "300 categories in 1,000 lines"),
        (
            lambda t: f"{t % 24}:{t % 60:02}",
            "clock times: convert them to numbers, such as the hour",
        ),
    ],
)
def test_what_may_harm(run, stdin, value, harm):
    stdin(csv_of(1000, column=value))
    code, _, err = run(*LEARN)
    assert code == 0
    assert (
        f"river-budget: columns that may harm; try --ignore column\n  column: {harm}\nriver-" in err
    )


@pytest.mark.parametrize(
    "value",
    [
        lambda t: 1,
        lambda t: t // 600,
        lambda t: t % 999,
        lambda t: f"shop {t % 100}",
        lambda t: "",
        lambda t: t if t < 50 else "",
        lambda t: t % 2 == 0,
    ],
)
def test_what_does_not(run, stdin, value):
    stdin(csv_of(1000, column=value))
    assert "may harm" not in run(*LEARN)[2]


def test_fewer_lines_tell_nothing(run, stdin):
    stdin(csv_of(999, id=lambda t: t))
    assert "may harm" not in run(*LEARN)[2]


def test_the_advice_can_be_followed_as_it_is(run, stdin):
    columns = {"id": lambda t: t, "the time": lambda t: f"{t % 24}:00"}
    stdin(csv_of(1000, **columns))
    assert "try --ignore 'id,the time'\n" in run(*LEARN)[2]
    stdin(csv_of(1000, **columns))
    assert "try --ignore 'id,the time'\n" in run(*LEARN, "--ignore", "id")[2]
    stdin(csv_of(1000, **columns))
    assert "may harm" not in run(*LEARN, "--ignore", "id,the time")[2]


@pytest.mark.parametrize("command", ["compare", "lifelong", "keyed"])
def test_other_commands_name_them_too(run, tmp_path, command):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of(1000, id=lambda t: t, key=lambda t: "k"))
    options = {
        "compare": ["--models", "stoptron"],
        "lifelong": ["--models", "stoptron", "--cycles", 1, "--learn", 500, "--test", 500],
        "keyed": ["--model", "stoptron", "--budget", 5],
    }
    _, _, err = run(command, path, "--target", "y", *options[command])
    assert "try --ignore id\n" in err


def test_a_model_that_learned_a_column_is_not_told_again(run, stdin, tmp_path):
    saved = ["--checkpoint", tmp_path / "model"]
    for is_first in (True, False):
        stdin(csv_of(1000, id=lambda t: t))
        assert ("may harm" in run(*LEARN, *saved)[2]) == is_first


def test_rows_of_json_are_watched(run, stdin):
    stdin("".join(json.dumps({"id": t, "a": 1, "y": t % 2}) + "\n" for t in range(1000)))
    assert "try --ignore id\n" in run(*LEARN)[2]
