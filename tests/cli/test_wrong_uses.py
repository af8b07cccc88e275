"""Wrong uses of the command line: each message names what was wrong, and the cure."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile

import pytest
from commands import CSV

pytest.importorskip("typer")

STOPTRON = "--model stoptron --budget 5"

# Commands, whose files the fixture `inputs` makes, and what the last line of the log then says.
USES = {
    "a target that no column is": (
        "learn some.csv --target lable",
        "some.csv: no column 'lable', only u, v, y",
    ),
    "no target": ("learn some.csv", "some.csv: no --target names the label"),
    "features that no column is": (
        "learn some.csv --target y --features u,w",
        "some.csv: no column 'w', only u, v, y",
    ),
    "a date": (
        "learn dates.csv --target y",
        "line 2: '2026-11-23' in column 'the day' is a date: give --ignore 'the day', or convert it to a number",
    ),
    "a decimal comma": (
        "learn commas.csv --target y",
        "line 2: '1,5' in column 'u' has a decimal comma: give --decimal ,",
    ),
    "columns that nothing known separates": (
        "learn colons.csv --target y",
        "the header is one column, 'u:v:y': give --delimiter",
    ),
    "a delimiter of two characters": (
        "learn some.csv --target y --delimiter ::",
        "'::' is not one character, nor tab",
    ),
    "UTF-16": ("learn wide.csv --target y", "this is UTF-16: convert it, or give learn --encoding"),
    "UTF-16 without a mark": (
        "learn unmarked.csv --target y",
        "this is no text: expected csv, libsvm, JSON lines or parquet; if it is UTF-16, give --encoding",
    ),
    "an archive": ("learn some.zip --target y", "packed, but not by gzip: unpack it first"),
    "a pickle of data": (
        "learn some.pkl --target y",
        "this is no text: expected csv, libsvm, JSON lines or parquet",
    ),
    "a checkpoint as data": (
        "compare model --target y",
        "this is no text: expected csv, libsvm, JSON lines or parquet",
    ),
    "a pickle as a checkpoint": (
        "predict some.csv --checkpoint some.pkl",
        "some.pkl: this is no valid checkpoint: it is a pickle; load that by pickle, and store the model by checkpoint.save",
    ),
    "csv as a checkpoint": (
        "predict some.csv --checkpoint some.csv",
        "some.csv: this is no valid checkpoint: it is damaged, or no file of checkpoint.save or river-budget learn --checkpoint",
    ),
    "noise as a checkpoint": (
        f"learn some.csv --target y {STOPTRON} --checkpoint noise",
        "noise: this is no valid checkpoint: it is damaged, or no file of checkpoint.save",
    ),
    "a folder as a checkpoint": (
        f"learn some.csv --target y {STOPTRON} --checkpoint folder",
        "folder is not a regular file: no checkpoint can be there",
    ),
    "no checkpoint": ("predict some.csv", "Missing option '--checkpoint'"),
    "another model than before": (
        "learn some.csv --target y --model forgetron --checkpoint model",
        "model holds another model than the options ask for: give those of its first run, or another file",
    ),
    "a column that was renamed": (
        "predict renamed.csv --checkpoint model --strict",
        "renamed.csv: the model knows u, which this file lacks; new: U",
    ),
    "a label that the model does not know": (
        "predict some.csv --checkpoint model --alert fraud",
        "the model knows no label fraud: there are no, yes",
    ),
    "a threshold of nothing": (
        "learn some.csv --target y --above 0.1",
        "give --alert LABEL, too: it says which label the alerts are about",
    ),
    "one cost of two": (
        "learn some.csv --target y --alert yes --cost-miss 5",
        "give both --cost-miss and --cost-alarm",
    ),
    "alerts that cost more than misses": (
        "learn some.csv --target y --alert yes --cost-miss 1 --cost-alarm 5",
        "--cost-miss must be above --cost-alarm: otherwise no alert pays",
    ),
    "a width for a model that learns it": (
        "learn some.csv --target y --gamma 1",
        "Mnemotron learns its widths: leave out --gamma",
    ),
    "a model that there is not": (
        "learn some.csv --target y --model forest",
        "no algorithm is called 'forest'; there are Mnemotron, ",
    ),
    "a number as the target": (
        f"learn numbers.csv --target y {STOPTRON}",
        "the target has many different numbers: river_budget classifies; for a number see river.linear_model",
    ),
    "numbers as the target of a comparison": (
        "compare numbers.csv --target y",
        "the target has many different numbers: river_budget classifies; for a number see river.linear_model",
    ),
    "a line without a label": (
        "compare holes.csv --target y",
        "line 3: no label: leave out such lines",
    ),
    "a curve of three labels": (
        "compare three.csv --target y --metric auc",
        "--metric auc needs two labels, this stream has 3: take balanced, f1 or logloss",
    ),
}


@pytest.fixture
def inputs(tmp_path, monkeypatch, run):
    """Make the files in a folder of their own, and work there."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "some.csv": CSV,
        "renamed.csv": CSV.replace("u,", "U,", 1),
        "colons.csv": CSV.replace(",", ":"),
        "dates.csv": "the day,y\n2026-11-23,a\n",
        "commas.csv": "u;y\n1,5;a\n",
        "numbers.csv": "u,y\n" + "".join(f"1,{1.25 * t:.2f}\n" for t in range(1200)),
        "holes.csv": "u,y\n1,a\n2,\n",
        "three.csv": "u,y\n" + "1,a\n2,b\n3,c\n" * 9,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "wide.csv").write_bytes(CSV.encode("utf-16"))
    (tmp_path / "unmarked.csv").write_bytes(CSV.encode("utf-16-le"))
    (tmp_path / "some.pkl").write_bytes(pickle.dumps({"u": [1, 2], "y": ["a", "b"]}))
    (tmp_path / "noise").write_bytes(bytes(range(1, 256)) * 9)
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("some.csv", CSV)
    (tmp_path / "folder").mkdir()
    options = ["--target", "y", *STOPTRON.split(), "--quiet"]
    assert run("learn", "some.csv", *options, "--checkpoint", "model")[0] == 0


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("command", "message"), USES.values(), ids=USES)
def test_a_wrong_use_is_told_its_cure(run, command, message):
    code, _, err = run(*command.split())
    last = err.splitlines()[-1]
    assert (code, last.startswith("river-budget: ")) == (2, True)
    assert message in last
    assert last.isprintable()
    assert "\\x" not in last
    assert len(last) < 500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["typer", "rich"])
def test_without_typer_there_is_the_advice_of_the_readme(name):
    absent = f"import sys; sys.modules['{name}'] = None"
    program = f"{absent}; from river_budget.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"river-budget needs {name}")
    assert ended.stderr.endswith(": pip install '.[cli]' in the checkout\n")


def test_a_hundred_numbers_are_told_at_once_and_classes_with_numbers_are_learned(run, stdin):
    stdin("u,y\n" + "".join(f"{t},{t}\n" for t in range(99)))
    command = ["learn", "--target", "y", "--model", "stoptron", "--budget", "5"]
    assert "many different numbers" not in run(*command)[2]
    stdin("u,y\n" + "".join(f"{t},{t % 150}\n" for t in range(300)))
    code, _, err = run(*command)
    assert (code, err.count("the target has many different numbers")) == (0, 1)
    stdin("u,y\n" + "".join(f"{t},shop {t % 150}\n" for t in range(300)))
    assert "many different numbers" not in run(*command)[2]


def test_both_names_of_a_checkpoint_are_read(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin(CSV)
    command = ["learn", "--target", "y", "--model", "stoptron", "--budget", "5"]
    assert run(*command, "--checkpoint", saved)[0] == 0
    outputs = set()
    for name in ("--checkpoint", "--model-file"):
        stdin(CSV)
        outputs.add(run("predict", name, saved)[1])
    assert len(outputs) == 1
