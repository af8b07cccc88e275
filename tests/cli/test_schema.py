"""The columns that a model knows, beside those of an input."""

from __future__ import annotations

import json

import pytest
from commands import CSV, answers_of, learned

pytest.importorskip("typer")

from river_budget import checkpoint

OPTIONS = ["--target", "y", "--model", "stoptron", "--budget", "5"]

RENAMED = "the model knows u, which this file lacks; new: U"


@pytest.fixture
def saved(run, tmp_path):
    return learned(run, tmp_path, *OPTIONS)


@pytest.mark.parametrize(
    "command", [["predict", "--checkpoint"], ["learn", *OPTIONS, "--checkpoint"]]
)
def test_a_column_that_was_renamed_is_noticed(run, stdin, saved, command):
    stdin(CSV.replace("u,", "U,", 1))
    code, out, err = run(*command, saved)
    assert (code, len(answers_of(out))) == (0, 60)
    assert f"river-budget: {RENAMED}\n" in err


@pytest.mark.parametrize(
    "command", [["predict", "--checkpoint"], ["learn", *OPTIONS, "--checkpoint"]]
)
def test_it_is_an_error_if_that_is_asked(run, stdin, saved, command):
    before = saved.read_bytes()
    stdin(CSV.replace("u,", "U,", 1))
    code, out, err = run(*command, saved, "--strict")
    assert (code, out, saved.read_bytes() == before) == (2, "", True)
    assert err == f"river-budget: standard input: {RENAMED}\n"


@pytest.mark.parametrize(
    ("header", "options", "text"),
    [
        ("u,v,y", [], ""),
        ("v,u,y", [], ""),  # The order means nothing.
        ("u,v,z", [], "new: z"),
        ("u,w,y", ["--features", "u"], ""),
        ("u,w,y", ["--ignore", "v"], "new: w"),
        ("u,w,y", ["--ignore", "v,w"], ""),
        ("a,b,c", ["--target", "c"], "the model knows u, v, which this file lacks; new: a, b"),
    ],
)
def test_what_counts_as_another_column(run, stdin, saved, header, options, text):
    stdin(f"{header}\n1,2,0\n")
    code, _, err = run("predict", "--checkpoint", saved, "--strict", *options)
    *_, last = err.splitlines()
    assert code == (2 if text else 0)
    assert last.startswith("river-budget: standard input: ") == (code == 2)
    assert text in last


def test_rows_of_json_need_not_have_every_key(run, stdin, tmp_path):
    data, saved = tmp_path / "some.jsonl", tmp_path / "model"
    rows = [{"u": t % 3, "y": t % 2} | ({"rare": 1} if t % 5 == 0 else {}) for t in range(20)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("learn", data, *OPTIONS, "--checkpoint", saved)[0] == 0
    for line in ('{"u": 1}', '{"u": 1, "rare": 1}'):
        stdin(line)
        assert run("predict", "--checkpoint", saved, "--strict")[0] == 0
    stdin('{"U": 1}')
    _, _, err = run("predict", "--checkpoint", saved, "--strict")
    assert "the model knows u, which the first line lacks; new: U\n" in err
    stdin('{"U": 1}\n{"U": 2}\n')
    _, _, err = run("predict", "--checkpoint", saved, "--strict")
    assert "the model knows u, which the first 2 lines lack; new: U\n" in err


def test_libsvm_has_no_columns(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin("0 a:1\n1 b:2\n")
    assert run("learn", *OPTIONS[2:], "--checkpoint", saved)[0] == 0
    stdin("0 c:1\n")
    assert run("predict", "--checkpoint", saved, "--strict")[0] == 0


def test_many_names_are_counted(run, stdin, saved):
    stdin(",".join(f"c{i}" for i in range(20)) + "\n" + ",".join(20 * "1") + "\n")
    _, _, err = run("predict", "--checkpoint", saved)
    assert "new: c0, c1, c2, c3, c4, c5, c6, c7 and 12 more\n" in err


def test_a_column_that_stays_away_is_named_once(run, tmp_path, saved):
    data = tmp_path / "other.csv"
    data.write_text("u,y\n1,yes\n2,no\n")
    for text in ("the model knows v, which this file lacks", ""):
        code, _, err = run("learn", data, *OPTIONS, "--checkpoint", saved)
        assert (code, "the model knows" in err, text in err) == (0, bool(text), True)


def test_an_older_checkpoint_names_no_columns(run, stdin, saved):
    model, extra = checkpoint.restore(saved)
    del extra["run"]["feature_names"]
    checkpoint.save(model, saved, extra)
    stdin("other,v,y\n1,2,yes\n")
    code, out, err = run("predict", "--checkpoint", saved, "--strict")
    assert (code, len(answers_of(out)), "knows" in err) == (0, 1, False)
