from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
from commands import CSV, answers_of

pytest.importorskip("typer")

STOPTRON = ["--model", "stoptron"]


@pytest.mark.parametrize(
    ("command", "header"),
    [(["learn", "--target", "y"], "u,v,u,y"), (["keyed"], "key,u,u,y")],
)
def test_a_name_that_the_header_has_twice(run, stdin, command, header):
    stdin(f"{header}\n1,2,3,0\n")
    code, out, err = run(*command, *STOPTRON, "--on-error", "skip")
    assert (code, out) == (2, "")
    assert err == "river-budget: standard input: the header has the column 'u' twice\n"


def test_a_stream_with_a_name_twice(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("u,u,y\n1,2,0\n")
    code, _, err = run("compare", path, "--target", "y")
    assert code == 2
    assert "the header has the column 'u' twice" in err


@pytest.mark.parametrize("text", ["u,v,y\n1,2,0\n", "u\ty\n1\t2\n", "u;v;y\n1;2;0\n"])
def test_csv_without_a_target(run, stdin, text):
    stdin(text)
    code, _, err = run("learn", *STOPTRON)
    assert code == 2
    assert err == "river-budget: standard input: no --target names the label\n"


@pytest.mark.parametrize("text", ["0 a:1\n", "+1 1:0.5 7:2\n", "-1\n", "spam a:1\n", "", "\n"])
def test_libsvm_needs_no_target(run, stdin, text):
    stdin(text)
    _, _, err = run("learn", *STOPTRON)
    assert "--target" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "absent.csv", "--target", "y"], "absent.csv: "),
        (["compare", "absent.libsvm"], "absent.libsvm: "),
        (["learn", "--target", "y"], "standard input: line 2: "),
        (["keyed"], "standard input: no column 'key'"),
        (["compare", "{inf}"], "{inf}: feature 'a'"),
        (["certify", "{inf}"], "{inf}: feature 'a'"),
    ],
)
def test_what_goes_wrong_at_work_is_no_wrong_option(run, stdin, tmp_path, arguments, message):
    inf = tmp_path / "inf.libsvm"
    inf.write_text("0 a:inf\n1 a:1\n")
    stdin("u,y\ninf,0\n")
    arguments = [argument.format(inf=inf) for argument in arguments]
    code, _, err = run(*arguments)
    assert code == 2
    assert err.splitlines()[-1].startswith("river-budget: " + message.format(inf=inf))


def test_a_field_that_is_too_large_names_its_line(run, stdin, tmp_path):
    text = f'u,y\n1,0\n"{200_000 * "x"}",1\n'
    stdin(text)
    assert "line 3: field larger than field limit" in run("learn", "--target", "y", *STOPTRON)[2]
    path = tmp_path / "some.csv"
    path.write_text(text)
    _, _, err = run("compare", path, "--target", "y")
    assert "line 3: field larger than field limit" in err
    stdin(f"{200_000 * 'x'},y\n1,0\n")
    assert (
        "standard input: field larger than field limit"
        in run("learn", "--target", "y", *STOPTRON)[2]
    )


@pytest.mark.parametrize(
    "text", [CSV, '{"a":1,"y":"b"}\n{"a":2,"y":"c"}\n', '{"a":1,"y":false}\n{"a":2,"y":true}\n']
)
def test_nothing_is_predicted_before_the_first_label(run, stdin, text):
    stdin(text)
    _, out, _ = run("learn", "--target", "y", *STOPTRON)
    first, second, *_ = answers_of(out)
    assert (first["prediction"], first["accuracy"]) == (None, 0.0)
    assert second["prediction"] == first["label"]


def test_no_key_predicts_before_its_first_label(run, stdin):
    stdin("key,t,u,y\na,0,1,\nb,0,1,0\na,1,2,\na,0,,0\na,1,,0\nb,1,1,0\n")
    _, out, _ = run("keyed", *STOPTRON, "--seq", "t")
    answers = answers_of(out)
    assert [answer["prediction"] for answer in answers] == [None, None, None, None, 0, 0]
    assert [answer["accuracy"] for answer in answers] == [None, 0.0, None, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("nothing", ["", "NA", "null", "NaN"])
def test_what_means_no_label(run, stdin, nothing):
    stdin(f"a,y\n1,0\n2,1\n3,{nothing}\n")
    assert [a["label"] for a in answers_of(run("learn", "--target", "y", *STOPTRON)[1])] == [
        0,
        1,
        None,
    ]
    stdin(f'{{"a":1,"y":0}}\n{{"a":2,"y":1}}\n{{"a":3,"y":"{nothing}"}}\n{{"a":3,"y":null}}\n')
    code, out, _ = run("learn", "--target", "y", *STOPTRON)
    assert code == 0
    assert [a["label"] for a in answers_of(out)] == [0, 1, None, None]
    stdin(f"key,a,y\n1,1,0\n1,2,1\n1,3,{nothing}\n")
    code, out, _ = run("keyed", *STOPTRON)
    assert (code, len(answers_of(out))) == (0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "certify"])
def test_pictures_without_matplotlib_name_the_extra(tmp_path, command):
    absent = "import sys; sys.modules.update(dict.fromkeys(['matplotlib', 'cycler']))"
    program = f"{absent}; from river_budget.__main__ import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, command, "--limit", "50", "--plot", tmp_path / "out.png"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith(": pip install matplotlib\n")


@pytest.mark.parametrize("command", ["compare", "certify"])
def test_a_title_has_no_kernel_without_a_width(run, tmp_path, command):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    code, out, _ = run(command, path, "--target", "y")
    assert code == 0
    assert out.startswith(f"{path}: 60 examples, budget ")
    assert "None" not in out.splitlines()[0]


@pytest.mark.parametrize("command", [["learn", "--target", "y"], ["keyed"], ["compare"]])
def test_columns_that_nothing_known_separates(run, tmp_path, command):
    path = tmp_path / "some.csv"
    path.write_text(CSV.replace("u,", "key,", 1).replace(",", ":"))
    first, *options = command
    arguments = [first, path, "--target", "y"] if first == "compare" else [first, path]
    code, out, err = run(*arguments, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the header is one column, 'key:v:y': give --delimiter" in err
    assert run(*arguments, *options, "--delimiter", ":")[0] == 0


def test_help_is_not_cut_off(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("--help")
    assert code == 0
    commands = out.partition("Commands:")[2].splitlines()[1:]
    assert len(commands) == 6
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


HUGE = 400 * "1"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (f'{{"key":1,"a":{HUGE},"y":0}}\n', ["learn", "--target", "y"]),
        (f'{{"key":1,"a":{HUGE},"y":0}}\n', ["keyed"]),
        (f"a,y\n{HUGE},0\n", ["learn", "--target", "y"]),
        (f"key,t,a,y\n1,{HUGE},1,0\n", ["keyed", "--seq", "t"]),
        (f'{{"a":1,"y":[{HUGE}]}}\n', ["learn", "--target", "y"]),
        ("", ["compare", "--models", HUGE]),
    ],
)
@pytest.mark.parametrize("mode", ["stop", "skip"])
def test_numbers_of_many_digits_are_shortened(run, stdin, text, arguments, mode):
    stdin(text)
    options = ["--on-error", mode] if arguments[0] != "compare" else []
    code, out, err = run(*arguments, *options)
    assert code == 2
    message = answers_of(out)[0]["error"] if out else err
    assert HUGE[:40] not in message
    assert "111..." in message


@pytest.mark.parametrize("arguments", [["learn"], ["compare", "--models", "mnemotron,forgetron"]])
def test_no_kernel_is_named_that_was_not_given(run, tmp_path, arguments):
    path = tmp_path / "some.libsvm"
    path.write_text("0 a:1e80\n1 a:2\n")
    command, *options = arguments
    code, _, err = run(command, path, *options)
    assert code == 2
    assert "feature 'a' has the value 1e+80, which is too large" in err
    assert "Polynomial" not in err
    assert "RBF" not in err


def test_names_in_brackets_are_printed_as_they_are(run, tmp_path):
    data = tmp_path / "[red]rows.csv"
    data.write_text("n,label\n" + "".join(f"{t % 7},{t % 2}\n" for t in range(20)))
    code, out, _ = run("compare", data, "--target", "label", "--budget", "5")
    assert (code, "[red]rows.csv" in out) == (0, True)


def test_a_list_of_texts_has_no_certificate(run, tmp_path):
    data = tmp_path / "rows.jsonl"
    rows = [{"tags": ["a", "b"] if t % 2 else ["c"], "n": t, "y": t % 2} for t in range(20)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = run("certify", data, "--target", "y", "--budget", "100")
    assert (code, "feature 'tags' has the value ['c']" in err) == (2, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files")
@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
def test_a_checkpoint_is_a_regular_file(run, stdin, tmp_path, kind):
    path = pathlib.Path("/dev/full") if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    stdin(CSV)
    code, out, err = run("learn", "--target", "y", *STOPTRON, "--checkpoint", path)
    assert (code, out) == (2, "")
    assert err == f"river-budget: {path} is not a regular file: no checkpoint can be there\n"
