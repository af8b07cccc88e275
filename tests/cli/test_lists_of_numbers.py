"""Lists of numbers in JSON lines are arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import answers_of

pytest.importorskip("typer")

import river_budget as rb

LEARN = ["learn", "--target", "y", "--model", "forgetron", "--budget", "20"]


@pytest.fixture
def lines():
    rng = np.random.default_rng(1)
    rows = [
        {"e": (rng.normal(size=3) + t % 2).round(3).tolist(), "n": t % 5, "y": "ab"[t % 2]}
        for t in range(60)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def predictions(text):
    model, seen = rb.Forgetron(budget=20), []
    for row in map(json.loads, text.splitlines()):
        x = {"e": np.array(row["e"]), "n": row["n"]}
        seen.append(model.predict_one(x))
        model.learn_one(x, row["y"])
    return seen


def test_a_list_of_numbers_is_an_array(run, stdin, lines):
    stdin(lines)
    code, out, err = run(*LEARN)
    assert code == 0
    assert [answer["prediction"] for answer in answers_of(out)] == predictions(lines)
    assert '1 number, 0 categories, 1 array, target "y"' in err


def test_the_other_commands_read_it_too(run, stdin, tmp_path, lines):
    saved, path = tmp_path / "model", tmp_path / "rows.jsonl"
    path.write_text(lines)
    assert run(*LEARN, path, "--checkpoint", saved)[0] == 0
    code, out, _ = run("predict", path, "--checkpoint", saved)
    assert (code, len(answers_of(out))) == (0, 60)
    models = ["--models", "forgetron,mnemotron"]
    assert run("compare", path, "--target", "y", *models)[0] == 0
    assert run("certify", path, "--target", "y", "--budget", 600)[0] == 0
    stdin(lines.replace('{"e"', '{"key": "k", "e"'))
    code, out, _ = run("keyed", "--model", "forgetron", "--budget", 20)
    assert [answer["prediction"] for answer in answers_of(out)] == predictions(lines)


def test_an_array_counts_in_a_certificate(run, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"e": [3.0 * (t % 2), 0.5], "y": t % 2} for t in range(60)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = run("certify", path, "--target", "y", "--budget", 600)
    assert (code, out.count("  mistakes          2 of 60 examples\n")) == (0, 9)


def test_parquet_has_arrays(run, tmp_path, lines):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.Table.from_pylist([*map(json.loads, lines.splitlines())]), path)
    code, out, _ = run(LEARN[0], path, *LEARN[1:])
    assert code == 0
    assert [answer["prediction"] for answer in answers_of(out)] == predictions(lines)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[1, null]", "has the value [1, None]"),
        ("[1, true]", "has the value [1, True]"),
        ("[[1], [2]]", "has the value [[1], [2]]"),
        ("[NaN, 1]", "feature 'e'"),
        ("[1e400, 1]", "feature 'e'"),
        (f"[1{400 * '0'}, 1]", "feature 'e'"),
    ],
)
def test_what_is_no_array(run, stdin, value, message):
    stdin(f'{{"e": {value}, "y": 0}}\n')
    code, out, err = run(*LEARN)
    assert (code, out) == (2, "")
    assert message in err


def test_arrays_of_another_length_are_bad_lines(run, stdin):
    stdin('{"e": [1, 2], "y": 0}\n{"e": [1, 2, 3], "y": 1}\n{"e": [2, 1], "y": 1}\n')
    code, out, _ = run(*LEARN, "--on-error", "skip")
    assert (code, [answer.get("line") for answer in answers_of(out)]) == (0, [None, 2, None])
